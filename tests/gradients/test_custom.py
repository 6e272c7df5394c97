"""tf.custom_gradient and tf.grad_pass_through."""

from __future__ import annotations

import numpy as np
import pytest

import minitf as tf


def value(fetches):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches)


def test_the_given_gradient_is_used():
    @tf.custom_gradient
    def log1pexp(x):
        e = tf.exp(x)
        return tf.log(1 + e), lambda dy: dy * (1 - 1 / (1 + e))

    x = tf.constant(100.0)
    y = log1pexp(x)
    (dx,) = tf.gradients(y, x)
    assert value(dx) == 1.0  # the formula of log and exp would give NaN


def test_structures():
    @tf.custom_gradient
    def swap(x, y):
        return (y, {"x": x}), lambda dy, dx: (dx * 10, dy * 100)

    x, y = tf.constant(1.0), tf.constant(2.0)
    first, rest = swap(x, y)
    assert value([first, rest["x"]]) == [2.0, 1.0]
    assert value(tf.gradients([first, rest["x"]], [x, y], grad_ys=[3.0, 5.0])) == [50.0, 300.0]


def test_variables():
    @tf.custom_gradient
    def scale(x):
        v = tf.get_variable("v", initializer=2.0, use_resource=True)

        def grad(dy, variables=None):
            assert variables == [v]
            return dy * 7, [dy * 11]

        return x * v, grad

    x = tf.constant(3.0)
    y = scale(x)
    (v,) = tf.trainable_variables()
    assert value([y, *tf.gradients(y, [x, v])]) == [6.0, 7.0, 11.0]


def test_variables_need_the_argument():
    @tf.custom_gradient
    def scale(x):
        v = tf.get_variable("v", initializer=2.0, use_resource=True)
        return x * v, lambda dy: dy

    with pytest.raises(TypeError, match="keyword argument 'variables'"):
        scale(tf.constant(1.0))


def test_reference_variables_are_refused():
    @tf.custom_gradient
    def scale(x):
        v = tf.get_variable("v", initializer=2.0, use_resource=False)
        return x * v, lambda dy, variables: (dy, variables)

    with pytest.raises(TypeError, match="ResourceVariable"):
        scale(tf.constant(1.0))


def test_keywords_are_refused():
    @tf.custom_gradient
    def f(x):
        return x, lambda dy: dy

    with pytest.raises(ValueError, match="keywords"):
        f(x=tf.constant(1.0))


def test_grad_pass_through():
    rounded = tf.grad_pass_through(tf.round)
    x = tf.constant([0.2, 1.7])
    y = rounded(x)
    (dx,) = tf.gradients(y * y, x)
    got = value([y, dx])
    np.testing.assert_array_equal(got[0], [0, 2])
    np.testing.assert_array_equal(got[1], [0, 4])
