"""Variable scopes: sharing, and what threads and errors do to them. Names: test_variables.py."""

from __future__ import annotations

import threading

import pytest

import minitf as tf


def test_shared_variables_are_one():
    def layer():
        with tf.variable_scope("layer", reuse=tf.AUTO_REUSE):
            return tf.get_variable("w", [2], initializer=tf.ones_initializer())

    assert layer() is layer()
    assert len(tf.global_variables()) == 1


def test_scopes_of_threads_are_apart():
    seen = []

    def other(graph):
        with graph.as_default():
            seen.append(tf.get_variable_scope().name)
            seen.append(tf.get_variable("v", [1]).name)

    with tf.variable_scope("mine"):
        thread = threading.Thread(target=other, args=(tf.get_default_graph(),))
        thread.start()
        thread.join()
        assert tf.get_variable("v", [1]).name == "mine/v:0"
    assert seen == ["", "v:0"]


def test_variables_of_threads_are_shared():
    v = tf.get_variable("v", [1])
    seen = []

    def other(graph):
        with graph.as_default(), tf.variable_scope("", reuse=True):
            seen.append(tf.get_variable("v"))

    thread = threading.Thread(target=other, args=(tf.get_default_graph(),))
    thread.start()
    thread.join()
    assert seen == [v]


def test_an_error_in_a_scope_closes_it():
    with pytest.raises(ZeroDivisionError), tf.variable_scope("a"), tf.variable_scope("b"):
        _ = 1 / 0
    assert tf.get_variable_scope().name == ""
    assert tf.get_default_graph().get_name_scope() == ""
    with pytest.raises(ValueError, match="not a valid scope name"), tf.variable_scope("no good"):
        raise AssertionError("not reached")
    assert tf.get_variable_scope().name == ""


def test_a_scope_object_may_be_opened_twice():
    scope = tf.variable_scope("a")
    for name in ("a/x:0", "a/y:0"):
        with scope:
            assert tf.get_variable(name[2], [1]).name == name


def test_scopes_of_a_value_are_in_its_graph():
    with tf.Graph().as_default():
        other = tf.constant(1.0)
    with tf.variable_scope("a", values=[other]):
        assert tf.get_variable("v", [1]).graph is other.graph
    assert tf.global_variables() == []


def test_defaults_of_a_scope_may_be_set():
    with tf.variable_scope("a") as scope:
        scope.set_dtype(tf.float64)
        scope.set_initializer(tf.zeros_initializer())
        scope.set_use_resource(True)
        v = tf.get_variable("v", [1])
        assert (v.dtype, v.op.type) == (tf.float64, "VarHandleOp")
        scope.set_partitioner(tf.fixed_size_partitioner(2))
        assert len(list(tf.get_variable("p", [4]))) == 2


def test_bad_getters_and_partitioners():
    with pytest.raises(ValueError, match="custom_getter which is not callable"):
        tf.get_variable("v", [1], custom_getter=3)
    with pytest.raises(ValueError, match="Partitioner must be callable"):
        tf.get_variable("v", [1], partitioner=3)
    with pytest.raises(TypeError, match="name_or_scope must be a string"):
        tf.variable_scope(3)


def test_a_slot_is_not_cut_again():
    with tf.variable_scope("", partitioner=tf.fixed_size_partitioner(2)):
        p = tf.get_variable("p", [4], initializer=tf.ones_initializer())
        loss = tf.reduce_sum(tf.convert_to_tensor(p))
        optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
        step = optimizer.minimize(loss)
    slots = [optimizer.get_slot(v, "momentum").name for v in p]
    assert slots == ["p/part_0/Momentum:0", "p/part_1/Momentum:0"]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step)
        assert session.run(tf.convert_to_tensor(p)).tolist() == pytest.approx([0.9] * 4)
