"""Sparse tensors kept under handles: each is taken once; what is none is refused."""

from __future__ import annotations

import numpy as np
import pytest

import minitf as tf
from minitf.ops.apply import apply_op

BATCH = ([[0, 1], [2, 0], [2, 3]], [1.0, 2.0, 3.0], [3, 4])


def unknown(value, dtype):
    return tf.placeholder_with_default(np.array(value, dtype), None)


def add(indices, values, sizes, many=False, **options):
    return apply_op(
        "AddManySparseToTensorsMap" if many else "AddSparseToTensorsMap",
        unknown(indices, np.int64),
        unknown(values, np.float32),
        unknown(sizes, np.int64),
        **options,
    )


def take(handles, name, dtype=tf.float32):
    return apply_op("TakeManySparseFromTensorsMap", handles, dtype=dtype, shared_name=name)


def run(fetch):
    with tf.Session() as session:
        return [part.tolist() for part in session.run(fetch)]


def test_rows_of_a_batch_come_back():
    handles = add(*BATCH, many=True)
    indices, values, sizes = run(take(handles, handles.op.name))
    assert (indices, values, sizes) == BATCH


def test_tensors_of_two_ops_share_a_map_and_the_largest_sizes():
    a = add([[3]], [1.0], [5], name="first")
    b = add([[0], [7]], [2.0, 3.0], [9], shared_name="first")
    got = run(take(tf.stack([b, a]), "first"))
    assert got == [[[0, 0], [0, 7], [1, 3]], [2.0, 3.0, 1.0], [2, 9]]


def test_a_handle_is_taken_once():
    handle = tf.expand_dims(add(*BATCH, name="kept"), 0)
    with tf.Session() as session:
        handles = session.run(handle)
        session.run(take(handles, "kept"))
        with pytest.raises(tf.errors.InvalidArgumentError, match="Unable to find SparseTensor: 0"):
            session.run(take(handles, "kept"))


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (([0, 1], [1, 2], [3]), r"Input indices should be a matrix but received shape \[2\]"),
        (([[0]], [[1]], [3]), r"Input values should be a vector but received shape \[1,1\]"),
        (([[0]], [1], [[3]]), r"Input shape should be a vector but received shape \[1,1\]"),
        (([[0], [1]], [1], [3]), r"rows \(indexing dimension\) must match. \(indices = 2, values"),
        (([[0]], [1], [3, 4]), "Order length must be SparseTensor rank."),
        (([[0]], [1], [3]), "Rank of input SparseTensor should be > 1, but saw rank: 1"),
        (([[0, 0], [5, 0]], [1, 2], [3, 4]), r"indices\[1\] = \[5,0\] is out of bounds"),
        (([[1, 0], [0, 0]], [1, 2], [3, 4]), r"indices\[1\] = \[0,0\] is out of order"),
        (([[1, 0], [1, 0]], [1, 2], [3, 4]), r"indices\[1\] = \[1,0\] is repeated"),
    ],
)
def test_bad_batches(parts, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run([add(*parts, many=True)])


def test_bad_handles():
    a, b = add([[0]], [1.0], [3], name="a"), add([[0, 0]], [1.0], [3, 4], shared_name="a")
    both = tf.stack([a, b])
    for fetch, message in (
        (take(both, "a"), r"rank prior to SparseTensor\[1\] was: 2 but rank of SparseTensor\[1\]"),
        (take([a], "a", tf.int32), r"type int32 but SparseTensor\[0\].values.dtype\(\) == float"),
        (take(unknown(1, np.int64), "a"), r"should be a vector but received shape \[\]"),
        (take(np.zeros(0, np.int64), "a"), "but input matrix has 0 rows"),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            run(fetch)
