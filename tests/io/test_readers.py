"""Readers: records of files, one unit of work after the other, in steps that may wait."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

import minitf as tf
from data.pipelines.record import PROGRAMS
from minitf.errors import CancelledError, NotFoundError, OutOfRangeError, UnimplementedError
from recording import load, record

RECORDED = load(Path(__file__).parents[1] / "data" / "pipelines" / "graphs.json.gz")


@pytest.mark.parametrize("name", ["readers", "rows_of_text", "strings"])
def test_graphs_are_as_recorded(name):
    got = record(tf, PROGRAMS[name])
    assert got["said"] == RECORDED[name]["said"]
    assert got["nodes"] == RECORDED[name]["nodes"]


def queue_of(session, *names):
    """A closed queue of names."""
    queue = tf.FIFOQueue(99, [tf.string], shapes=())
    session.run(queue.enqueue_many([list(map(str, names))]))
    session.run(queue.close())
    return queue


def all_of(session, fetch):
    got = []
    while True:
        try:
            got.append(session.run(fetch))
        except OutOfRangeError:
            return got


@pytest.fixture
def files(tmp_path):
    paths = [tmp_path / "a", tmp_path / "b"]
    paths[0].write_bytes(b"H12345F")
    paths[1].write_bytes(b"Hxy\r\n\nF")
    return paths


def read(reader, files):
    with tf.Session() as session:
        records = all_of(session, reader.read(queue_of(session, *files)))
    return [(key.decode().rpartition("/")[2], value) for key, value in records]


def test_lines(files):
    assert read(tf.TextLineReader(), files) == [
        ("a:1", b"H12345F"), ("b:1", b"Hxy"), ("b:2", b""), ("b:3", b"F"),
    ]  # fmt: skip
    assert read(tf.TextLineReader(skip_header_lines=2), files) == [("b:3", b"F")]


def test_whole_files(files):
    assert read(tf.WholeFileReader(), files) == [("a", b"H12345F"), ("b", b"Hxy\r\n\nF")]


@pytest.mark.parametrize(
    "layout, values",
    [
        (dict(record_bytes=3), [b"H12", b"345"]),
        (dict(record_bytes=2, header_bytes=1, footer_bytes=1), [b"12", b"34"]),
        (dict(record_bytes=2, header_bytes=1, hop_bytes=1), [b"12", b"23", b"34", b"45", b"5F"]),
        (dict(record_bytes=1, footer_bytes=1, hop_bytes=4), [b"H", b"4"]),
        (dict(record_bytes=8), []),
    ],
)
def test_records_of_one_length(files, layout, values):
    got = read(tf.FixedLengthRecordReader(**layout), files[:1])
    assert got == [(f"a:{i}", value) for i, value in enumerate(values)]


@pytest.mark.parametrize("kind", ["", "ZLIB", "GZIP"])
def test_record_files(tmp_path, kind):
    for name in "ab":
        with tf.python_io.TFRecordWriter(str(tmp_path / name), kind) as writer:
            for i in range(3):
                writer.write(f"{name}{i}".encode())
    reader = tf.TFRecordReader(options=kind)
    assert read(reader, [tmp_path / "a", tmp_path / "b"]) == [
        ("a:0", b"a0"), ("a:18", b"a1"), ("a:36", b"a2"),
        ("b:0", b"b0"), ("b:18", b"b1"), ("b:36", b"b2"),
    ]  # fmt: skip


def test_several_at_once_are_of_one_file(files):
    reader = tf.FixedLengthRecordReader(2)
    with tf.Session() as session:
        _, values = reader.read_up_to(queue_of(session, *files), 2)
        _, none = reader.read_up_to(queue_of(session), 0)
        got = [v.tolist() for v in all_of(session, values)]
        counts = [reader.num_records_produced(), reader.num_work_units_completed()]
        assert session.run(counts) == [6, 2]
        assert session.run(none).shape == (0,)
    assert got == [[b"H1", b"23"], [b"45"], [b"Hx", b"y\r"], [b"\n\n"]]


def test_state(files):
    reader = tf.IdentityReader(name="same")
    with tf.Session() as session:
        value = reader.read(queue_of(session, "x", "y", "z"))[1]
        counts = [reader.num_records_produced(), reader.num_work_units_completed()]
        assert session.run(value) == b"x"
        state = session.run(reader.serialize_state())
        assert session.run(value) == b"y"
        assert session.run(counts) == [2, 2]
        session.run(reader.restore_state(state))
        assert session.run(counts) == [1, 1]
        session.run(reader.reset())
        assert session.run(counts) == [0, 0]
        for bad in (state[1:], state[:-1], b"BOGUS" + state[5:]):
            with pytest.raises(tf.OpError, match="Could not parse state for IdentityReader 'same'"):
                session.run(reader.restore_state(bad))
        with pytest.raises(tf.OpError, match="Inconsistent work started vs. finished"):
            session.run(reader.restore_state(b"\x08\x01"))
        with pytest.raises(UnimplementedError, match="Reader SerializeState"):
            session.run(tf.TextLineReader().serialize_state())


def test_a_file_that_is_not_there_fails_its_step_alone(files):
    with tf.Session() as session:
        _, value = tf.TextLineReader().read(queue_of(session, files[0] / "none", files[0]))
        with pytest.raises(tf.OpError, match="Not a directory"):
            session.run(value)
        assert session.run(value) == b"H12345F"
        _, value = tf.WholeFileReader().read(queue_of(session, "/none"))
        with pytest.raises(NotFoundError, match="/none; No such file"):
            session.run(value)


@pytest.mark.parametrize(
    "make, error",
    [
        (lambda: tf.FIFOQueue(9, [tf.int32], [()]), "queue with single string component"),
        (lambda: tf.FIFOQueue(9, [tf.string] * 2, [(), ()]), "single component queue"),
        (lambda: tf.FIFOQueue(9, [tf.string], [(2,)]), "dequeue a one-element string tensor"),
    ],
)
def test_queues_that_hold_no_names(make, error):
    queue = make()
    values = [tf.zeros(s, t) if t is tf.int32 else tf.fill(s.as_list(), "x")
              for t, s in zip(queue.dtypes, queue.shapes)]  # fmt: skip
    with tf.Session() as session:
        session.run(queue.enqueue(values))
        with pytest.raises(tf.OpError, match=error):
            session.run(tf.IdentityReader().read(queue))


def test_layouts_that_cannot_be():
    for name in ("record_bytes", "header_bytes", "footer_bytes", "hop_bytes"):
        reader = tf.FixedLengthRecordReader(**{"record_bytes": 1, name: -1})
        with tf.Session() as session, pytest.raises(tf.OpError, match=f"{name} must be >= 0"):
            session.run(reader.read(queue_of(session)))


# ---- waiting


def in_thread(fn):
    """Starts a call; its result or error is in the list when the thread has ended."""
    done = []

    def run():
        try:
            done.append(fn())
        except tf.OpError as e:
            done.append(e)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, done


def test_a_reader_waits_for_work_and_steps_take_turns():
    queue = tf.FIFOQueue(9, [tf.string], shapes=())
    reader = tf.IdentityReader()
    _, value = reader.read(queue)
    with tf.Session() as session:
        waiting = [in_thread(lambda: session.run(value)) for _ in range(2)]
        assert session.run(reader.num_records_produced()) == 0
        session.run(queue.enqueue_many([["a", "b"]]))
        for thread, _ in waiting:
            thread.join(10)
        assert sorted(done[0] for _, done in waiting) == [b"a", b"b"]


def test_closing_the_session_ends_the_waiting():
    _, value = tf.IdentityReader().read(tf.FIFOQueue(9, [tf.string], shapes=()))
    session = tf.Session()
    waiting = [in_thread(lambda: session.run(value)) for _ in range(2)]
    while not all(thread.is_alive() for thread, _ in waiting):
        pass
    session.close()
    for thread, done in waiting:
        thread.join(10)
        assert isinstance(done[0], (CancelledError, RuntimeError))


# ---- whole pipelines


def test_rows_of_text_in_batches(tmp_path):
    for name in "ab":
        rows = "".join(f"{name}{i},{i}.5\n" for i in range(5))
        (tmp_path / name).write_text("name,number\n" + rows)
    queue = tf.train.string_input_producer(
        [str(tmp_path / name) for name in "ab"], num_epochs=1, shuffle=False
    )
    _, line = tf.TextLineReader(skip_header_lines=1).read(queue)
    batch = tf.train.batch(tf.decode_csv(line, [[""], [0.0]]), 4, allow_smaller_final_batch=True)
    coord, names, numbers = tf.train.Coordinator(), [], []
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        threads = tf.train.start_queue_runners(session, coord)
        for name, number in all_of(session, batch):
            names += name.tolist()
            numbers += number.tolist()
        coord.request_stop()
        coord.join(threads)
    assert names == [f"{name}{i}".encode() for name in "ab" for i in range(5)]
    assert numbers == [i + 0.5 for _ in "ab" for i in range(5)]


@pytest.mark.cluster
def test_on_a_cluster(cluster, files):
    with tf.device("/job:ps/task:0"):
        queue = tf.train.string_input_producer(list(map(str, files)), 1, shuffle=False)
        key, value = tf.FixedLengthRecordReader(2, header_bytes=1).read(queue)
    with tf.device("/job:worker/task:0"):
        text = tf.string_join([key, value], "=")
    coord = tf.train.Coordinator()
    with tf.Session(cluster[1]) as session:
        session.run(tf.local_variables_initializer())
        threads = tf.train.start_queue_runners(session, coord)
        got = [v.decode().rpartition("/")[2] for v in all_of(session, text)]
        coord.request_stop()
        coord.join(threads)
    assert got == ["a:0=12", "a:1=34", "a:2=5F", "b:0=xy", "b:1=\r\n", "b:2=\nF"]
