"""Sizes of transfers as a function of the batch size."""

from __future__ import annotations

import pytest

import minitf as tf
from minitf.viz.capture import Captured, step_of
from minitf.viz.sizes import Size, Total, edge_sizes, total
from minitf_runtime.errors import InvalidArgumentError

CLUSTER = tf.train.ClusterSpec({"ps": ["a:1"], "worker": ["b:1"]})


@pytest.fixture(autouse=True)
def graph():
    tf.reset_default_graph()


def on_ps(value):
    """The value, taken by an op on the ps."""
    with tf.device("/job:ps/task:0"):
        return tf.identity(value)


def sizes(made, batch=None):
    """Tensor -> size, of what a step with this op sends."""
    cut = step_of(Captured(("worker", 0), CLUSTER), [made.op.name])
    return {e.src: s for e, s in zip(cut.edges, edge_sizes(cut, batch)) if e.kind == "data"}


def made_of(shape, make, dtype=tf.float32):
    with tf.device("/job:worker/task:0"):
        x = tf.placeholder(dtype, shape, name="x")
        return on_ps(tf.identity(make(x), name="sent"))


@pytest.mark.parametrize(
    ("shape", "make", "size"),
    [
        ([None, 3], lambda x: x, Size(0, 12)),
        ([5, 3], lambda x: x, Size(60)),
        ([None, 3], lambda x: tf.concat([x, tf.ones([2, 3])], 0), Size(24, 12)),
        ([None, 3], lambda x: tf.reduce_sum(x, 0), Size(12)),
        ([None, 4], lambda x: tf.split(x, 2)[0], Size(0, 8)),
        ([None, 3], lambda x: tf.reshape(x, [-1]), Size(0, 12)),
        ([None, 3], lambda x: tf.shape(x), Size(8)),
        ([None, 2], lambda x: tf.cast(x, tf.float64)[1:], Size(-16, 16)),
        ([None, 3], lambda x: tf.matmul(x, x, transpose_b=True), None),  # grows as its square
        ([None, None], lambda x: x, None),
        (None, lambda x: x, None),
        ([None], lambda x: tf.boolean_mask(x, x > 0), None),
        ([None], tf.as_string, None),
    ],
)
def test_size(shape, make, size):
    assert sizes(made_of(shape, make))["sent"] == size


def test_batch_size_that_is_given():
    sent = made_of([None, 3], lambda x: tf.matmul(x, x, transpose_b=True))
    assert sizes(sent, 10)["sent"] == Size(400)


def test_batch_size_that_does_not_fit():
    sent = made_of([None], lambda x: tf.reshape(x, [3, 4]))
    assert sizes(sent)["sent"] == Size(48)
    with pytest.raises(InvalidArgumentError):
        sizes(sent, 10)


def test_placeholders_that_are_not_of_one_batch():
    with tf.device("/job:worker/task:0"):
        x = tf.placeholder(tf.float32, [None])
        fixed = tf.reshape(tf.placeholder(tf.float32, [None]), [7]) + tf.ones([7])
        sent = on_ps(tf.concat([x, fixed], 0, name="sent"))
    assert sizes(sent)["sent"] is None


def test_control_transfers_carry_no_bytes():
    with tf.device("/job:worker/task:0"):
        first = tf.no_op(name="first")
    with tf.device("/job:ps/task:0"), tf.control_dependencies([first]):
        last = tf.no_op()
    cut = step_of(Captured(("worker", 0), CLUSTER), [last.name])
    assert edge_sizes(cut) == [Size(0)]


def test_sums():
    assert total([Size(1, 2), None, Size(3)]) == Total(Size(4, 2), 1)
    assert Size(4, 2).at(10) == 24
