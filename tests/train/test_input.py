"""The input functions of tf.train: graphs as TensorFlow 1.15 makes them, and what comes out."""

from __future__ import annotations

from pathlib import Path

import pytest

import minitf as tf
from data.inputs.record import PROGRAMS
from recording import load, record

RECORDED = load(Path(__file__).parents[1] / "data" / "inputs" / "graphs.json.gz")


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_recorded(name):
    got = record(tf, PROGRAMS[name])
    assert got["said"] == RECORDED[name]["said"]
    assert got["nodes"] == RECORDED[name]["nodes"]


def test_filenames_are_matched_when_initialized(tmp_path):
    found = tf.train.match_filenames_once(str(tmp_path / "*.txt"))
    for name in ("b.txt", "a.txt", "c.bin"):
        (tmp_path / name).touch()
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        (tmp_path / "d.txt").touch()
        names = [Path(name.decode()).name for name in session.run(found)]
    assert names == ["a.txt", "b.txt"]


def taken(fetch, steps=100):
    """What a fetch gives until the input ends."""
    coord, got = tf.train.Coordinator(), []
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        threads = tf.train.start_queue_runners(session, coord)
        try:
            while len(got) < steps:
                got.append(session.run(fetch))
        except tf.errors.OutOfRangeError:
            got.append("end")
        coord.request_stop()
        coord.join(threads, stop_grace_period_secs=5)
    return got


def test_every_element_comes_once_in_each_epoch():
    queue = tf.train.range_input_producer(5, num_epochs=3, seed=1)
    got = taken(queue.dequeue())
    assert got[-1] == "end"
    assert sorted(got[:-1]) == sorted([*range(5)] * 3)
    assert set(got[:5]) == set(range(5))


def test_slices_of_all_tensors_stay_together():
    xs = tf.constant([10, 11, 12])
    pair = tf.train.slice_input_producer([xs, xs * 2], num_epochs=1, seed=2)
    got = taken(pair)
    assert sorted(got[:-1]) == [[10, 20], [11, 22], [12, 24]]


def test_strings_in_order_for_ever():
    queue = tf.train.string_input_producer(["a", "b"], shuffle=False)
    assert taken(queue.dequeue(), steps=5) == [b"a", b"b", b"a", b"b", b"a"]


def test_the_last_batch_may_be_smaller():
    queue = tf.train.range_input_producer(5, num_epochs=1, shuffle=False)
    batch = tf.train.batch([queue.dequeue()], 2, allow_smaller_final_batch=True)
    got = taken(batch)
    assert [list(b) for b in got[:-1]] == [[0, 1], [2, 3], [4]]


def test_batches_of_elements_of_different_length():
    queue = tf.train.range_input_producer(4, num_epochs=1, shuffle=False)
    row = tf.range(queue.dequeue())
    got = taken(tf.train.batch([row], 4, dynamic_pad=True))
    assert got[0].tolist() == [[0, 0, 0], [0, 0, 0], [0, 1, 0], [0, 1, 2]]


def test_only_wanted_elements_are_batched():
    number = tf.train.range_input_producer(8, num_epochs=1, shuffle=False).dequeue()
    even = tf.equal(tf.floormod(number, 2), 0)
    got = taken(tf.train.maybe_batch([number], even, 2))
    assert [list(b) for b in got[:-1]] == [[0, 2], [4, 6]]


def test_only_wanted_rows_of_a_batch_are_batched():
    number = tf.train.range_input_producer(8, num_epochs=1, shuffle=False).dequeue_many(4)
    even = tf.equal(tf.floormod(number, 2), 0)
    got = taken(tf.train.maybe_batch([number], even, 2, enqueue_many=True))
    assert [list(b) for b in got[:-1]] == [[0, 2], [4, 6]]


def test_several_sets_fill_one_shuffled_batch():
    sets = [[tf.train.range_input_producer(3, num_epochs=1).dequeue() + 10 * i] for i in (0, 1)]
    got = taken(tf.train.shuffle_batch_join(sets, 2, 10, 1, seed=1))
    assert sorted(x for b in got[:-1] for x in b) == [0, 1, 2, 10, 11, 12]


def test_without_local_initializer_the_real_error_comes_from_join():
    number = tf.train.range_input_producer(3, num_epochs=1).dequeue()
    coord = tf.train.Coordinator()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        threads = tf.train.start_queue_runners(session, coord)
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(number)
        with pytest.raises(tf.errors.FailedPreconditionError, match="epochs"):
            coord.join(threads, stop_grace_period_secs=5)


def test_a_batch_of_sparse_tensors():
    n = tf.train.range_input_producer(3, num_epochs=1, shuffle=False).dequeue()
    sparse = tf.SparseTensor([[0]], [n * 10], [tf.cast(n + 1, tf.int64)])
    batch, numbers = tf.train.batch([sparse, n], 3)
    (values, sizes), end = taken([[batch.values, batch.dense_shape], numbers])[0]
    assert (values.tolist(), sizes.tolist(), end.tolist()) == ([0, 10, 20], [3, 3], [0, 1, 2])
