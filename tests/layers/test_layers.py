"""Layers on their own: training handed on, copies, sharing, and constraints."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import minitf as tf


def test_training_is_handed_to_inner_layers():
    class Block(tf.layers.Layer):
        def __init__(self):
            super().__init__()
            self.drop = tf.layers.Dropout(0.5)

        def call(self, inputs, training=False):
            return self.drop(inputs)

    block, x = Block(), tf.ones([100])
    with tf.Session() as session:
        still, dropped = session.run([block(x), block(x, training=True)])
    assert np.all(still == 1)
    assert np.any(dropped == 0)


def test_training_is_not_handed_to_a_call_without_it():
    class Plain(tf.layers.Layer):
        def call(self, inputs):
            return inputs

    x = tf.ones([2])
    assert Plain()(x, training=True) is x


def test_a_scope_is_handed_to_a_call_that_asks():
    class Scoped(tf.layers.Layer):
        def call(self, inputs, scope=None):
            return tf.get_variable("v", [2]) + inputs

    with tf.variable_scope("outer"):
        Scoped(name="mine")(tf.ones([2]))
    assert [v.op.name for v in tf.global_variables()] == ["outer/mine/v"]


def test_values_become_tensors():
    layer = tf.layers.Dense(2, kernel_initializer="ones")
    out = layer(np.ones([3, 4], np.float32))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert np.all(session.run(out) == 4)


def test_a_copy_of_a_layer():
    layer = tf.layers.Dense(2, name="a")
    other = copy.deepcopy(layer)
    other(tf.ones([1, 2]))
    assert not layer.built
    assert [v.op.name for v in other.weights] == ["a/kernel", "a/bias"]
    third = copy.deepcopy(other)
    assert third.kernel is other.kernel
    assert third.weights == other.weights
    assert third.weights is not other.weights


def test_a_constraint_holds_after_an_update():
    layer = tf.layers.Dense(
        1, use_bias=False, kernel_constraint=lambda v: tf.clip_by_value(v, 0, 1)
    )
    loss = -tf.reduce_sum(layer(tf.ones([1, 2])))
    train = tf.train.GradientDescentOptimizer(10.0).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        assert np.all(session.run(layer.kernel) == 1)


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (dict(kernel_initializer="nothing"), "Unknown initializer:nothing"),
        (dict(kernel_initializer=3), "Could not interpret initializer identifier: 3"),
        (dict(kernel_regularizer=3), "Could not interpret regularizer identifier: 3"),
        (dict(kernel_constraint=3), "Could not interpret constraint function identifier: 3"),
    ],
)
def test_arguments_that_mean_nothing(given, error):
    with pytest.raises(ValueError, match=error):
        tf.layers.dense(tf.ones([1, 2]), 3, **given)


def test_a_function_form_names_its_arguments():
    with pytest.raises(TypeError, match="unexpected keyword argument 'kernel'"):
        tf.layers.dense(tf.ones([1, 2]), 3, kernel=1)
    assert tf.layers.conv2d.__name__ == "conv2d"


def test_batch_normalization_learns_the_averages():
    x = tf.placeholder(tf.float32, [None, 1])
    training = tf.placeholder(tf.bool, [])
    out = tf.layers.batch_normalization(x, momentum=0.5, training=training)
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    mean, variance = tf.global_variables()[2:]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(updates, {x: [[1.0], [3.0]], training: True})
        assert session.run([mean, variance]) == [[1.0], [1.0]]
        session.run(updates, {x: [[1.0], [3.0]], training: False})
        assert session.run([mean, variance]) == [[1.0], [1.0]]
        y = session.run(out, {x: [[2.0]], training: False})
    assert y[0, 0] == pytest.approx(1 / np.sqrt(1.001))
