"""tf.group, tf.tuple and tf.no_op: what they refuse, and that they wait."""

from __future__ import annotations

import pytest

import minitf as tf


def test_group_takes_things_with_a_device():
    with pytest.raises(TypeError, match="Expected tf.group"):
        tf.group("x")


def test_tuple_needs_a_tensor():
    with pytest.raises(ValueError, match="Must have at least one Tensor"):
        tf.tuple([None])
    with pytest.raises(TypeError, match="Control input must be Operation or Tensor"):
        tf.tuple([tf.constant(1)], control_inputs=["x"])


def test_tuple_converts_values_and_keeps_none():
    first, second, third = tf.tuple([tf.constant(1), None, 2.5])
    assert second is None
    with tf.Session() as session:
        assert session.run([first, third]) == [1, 2.5]


def test_group_runs_all():
    v = tf.get_variable("v", initializer=1)
    w = tf.get_variable("w", initializer=2)
    both = tf.group(v.assign_add(10), [w.assign_add(20)], name="both")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(both) is None
        assert session.run([v, w]) == [11, 22]


def test_group_of_nothing():
    op = tf.group(name="nothing")
    assert (op.name, op.type, op.control_inputs) == ("nothing", "NoOp", [])


def test_group_of_many_ops():
    ops = [tf.no_op() for _ in range(20_000)]
    assert len(tf.group(*ops).control_inputs) == 20_000
