"""Gradient accumulators: means, stale gradients, waiting, and bad input."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import minitf as tf


@pytest.fixture
def session() -> Iterator[Any]:
    with tf.Session() as s:
        yield s


def test_mean_of_all_that_came(session):
    a = tf.ConditionalAccumulator(tf.float32, shape=[2])
    for gradient in ([1.0, 2.0], [3.0, 4.0], [5.0, 9.0]):
        session.run(a.apply_grad(gradient))
    assert session.run(a.num_accumulated()) == 3
    assert session.run(a.take_grad(2)).tolist() == [3.0, 5.0]
    assert session.run(a.num_accumulated()) == 0


def test_sum(session):
    a = tf.ConditionalAccumulator(tf.float64, shape=[2], reduction_type="SUM")
    add = a.apply_grad(np.array([1.0, 2.0]))
    session.run(add)
    session.run(add)
    taken = session.run(a.take_grad(1))
    assert taken.tolist() == [2.0, 4.0]
    assert taken.dtype == np.float64
    with pytest.raises(ValueError, match='Op passed string \'X\' not in: "MEAN", "SUM"'):
        tf.ConditionalAccumulator(tf.float32, reduction_type="X")


def test_old_gradients_are_dropped(session):
    a = tf.ConditionalAccumulator(tf.float32, shape=[])
    step = tf.placeholder(tf.int64, [])
    add = a.apply_grad(1.0, local_step=step)
    count = a.num_accumulated()
    session.run(add, {step: 0})
    session.run(a.take_grad(1))
    session.run(add, {step: 0})
    assert session.run(count) == 0
    session.run(add, {step: 1})
    assert session.run(count) == 1
    session.run(a.set_global_step(10))
    session.run(add, {step: 9})
    session.run(add, {step: 10})
    assert session.run(count) == 2


def test_taking_waits(session):
    a = tf.ConditionalAccumulator(tf.float32, shape=[])
    add, take = a.apply_grad(3.0), a.take_grad(2)
    session.run(add)
    taken: list[Any] = []
    thread = threading.Thread(target=lambda: taken.append(session.run(take)), daemon=True)
    thread.start()
    thread.join(0.05)
    assert thread.is_alive()
    session.run(add)
    thread.join(10)
    assert taken == [3.0]


def test_a_take_that_times_out_leaves_the_gradients(session):
    a = tf.ConditionalAccumulator(tf.float32, shape=[])
    session.run(a.apply_grad(3.0))
    with pytest.raises(tf.errors.DeadlineExceededError):
        session.run(a.take_grad(2), options=tf.RunOptions(timeout_in_ms=100))
    assert session.run(a.take_grad(1)) == 3.0


def test_a_gradient_is_not_changed_later(session):
    v = tf.Variable([1.0])
    a = tf.ConditionalAccumulator(tf.float32, shape=[1])
    session.run(v.initializer)
    session.run(a.apply_grad(v))
    session.run(v.assign_add([10.0]))
    assert session.run(a.take_grad(1)).tolist() == [1.0]


def test_bad_input(session):
    a = tf.ConditionalAccumulator(tf.float32, shape=[2])
    x, n = tf.placeholder(tf.float32), tf.placeholder(tf.int32, [])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"expected \[2\], got \[3\]"):
        session.run(a.apply_grad(x), {x: [1.0, 2.0, 3.0]})
    for count in (0, -1):
        text = f"num_required must be positive, but was {count}"
        with pytest.raises(tf.errors.InvalidArgumentError, match=text):
            session.run(a.take_grad(n), {n: count})
    with pytest.raises(ValueError, match="are incompatible"):
        a.apply_grad([1.0, 2.0, 3.0])
    unknown = tf.ConditionalAccumulator(tf.float32)
    session.run(unknown.apply_grad([1.0, 2.0]))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"expected \[2\], got \[\]"):
        session.run(unknown.apply_grad(1.0))


def test_shared_by_name(session):
    a, b = (tf.ConditionalAccumulator(tf.float32, [], shared_name="s") for _ in range(2))
    session.run(a.apply_grad(1.0))
    assert session.run(b.num_accumulated()) == 1


# ---- rows


def test_rows_have_means_of_their_own(session):
    a = tf.SparseConditionalAccumulator(tf.float32)
    session.run(a.apply_grad([0, 2], [[1.0, 2.0], [3.0, 4.0]], [4, 2]))
    session.run(a.apply_grad([1, 2], [[1.0, 1.0], [1.0, 1.0]], [4, 2]))
    indices, values, shape = session.run(a.take_grad(2))
    assert indices.tolist() == [0, 1, 2]
    assert values.tolist() == [[1.0, 2.0], [1.0, 1.0], [2.0, 2.5]]
    assert shape.tolist() == [-1, 2]


def test_rows_of_more_axes_than_declared(session):
    a = tf.SparseConditionalAccumulator(tf.float32, shape=[None, 2])
    session.run(a.apply_grad([5], np.ones((1, 2, 3), "f")))
    text = "expected values dim 2 to be 3, got 4"
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        session.run(a.apply_grad([5], np.ones((1, 2, 4), "f")))
    assert session.run(a.take_grad(1)).shape.tolist() == [-1, 2, 3]


def test_rows_summed(session):
    a = tf.SparseConditionalAccumulator(tf.float32, shape=[4, 2], reduction_type="SUM")
    grad = tf.IndexedSlices([[1.0, 2.0], [1.0, 1.0]], [1, 0])
    session.run(a.apply_indexed_slices_grad(grad))
    session.run(a.apply_grad([1], [[1.0, 2.0]], local_step=3))
    taken = session.run(a.take_indexed_slices_grad(1))
    assert taken.indices.tolist() == [0, 1]
    assert taken.values.tolist() == [[1.0, 1.0], [2.0, 4.0]]
    assert taken.dense_shape.tolist() == [4, 2]


@pytest.mark.parametrize(
    ("indices", "values", "shape", "text"),
    [
        ([0], [[1.0, 2.0, 3.0]], [4, 2], "expected values dim 1 to be 2, got 3"),
        ([0], [[1.0, 2.0]], [5, 2], "expected shape dim 0 to be 4, got 5"),
        ([0], [[1.0, 2.0]], [4], "expected shape rank at least 2, got 1"),
        ([0], [1.0], [4, 2], "expected values rank at least 2, got 1"),
        ([0], 1.0, [4, 2], "Values cannot be 0-dimensional."),
        ([0, 1], [[1.0, 2.0]], [4, 2], "Expected 2 non-empty input values, got 1"),
        ([[0]], [[1.0, 2.0]], [4, 2], "indices should be vector"),
        ([1, 4], [[1.0, 2.0]] * 2, [4, 2], "slice 1 exceeded limits of shape; index is 4"),
    ],
)
def test_bad_rows(session, indices, values, shape, text):
    a = tf.SparseConditionalAccumulator(tf.float32, shape=[4, 2])
    i, v = tf.placeholder(tf.int64), tf.placeholder(tf.float32)
    add = a.apply_grad(i, v, shape)
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        session.run(add, {i: indices, v: values})
    assert session.run(a.num_accumulated()) == 0
