"""tf.test.compute_gradient and compute_gradient_error."""

from __future__ import annotations

import numpy as np
import pytest

import minitf as tf


@pytest.fixture(autouse=True)
def session():
    with tf.Session() as s:
        yield s


def test_jacobians_of_a_square():
    x = tf.constant([1.0, 2.0], tf.float64)
    y = x * x
    by_theory, by_differences = tf.test.compute_gradient(
        x, [2], y, [2], x_init_value=np.array([1.0, 2.0])
    )
    np.testing.assert_allclose(by_theory, [[2, 0], [0, 4]])
    np.testing.assert_allclose(by_differences, by_theory, rtol=1e-6)


def test_several_xs():
    x, y = tf.constant([1.0, 2.0]), tf.constant(3.0)
    z = x * y
    (by_x, _), (by_y, _) = tf.test.compute_gradient(
        [x, y], [[2], []], z, [2], x_init_value=[np.array([1.0, 2.0]), np.array(3.0)]
    )
    np.testing.assert_allclose(by_x, [[3, 0], [0, 3]])
    np.testing.assert_allclose(by_y, [[1, 2]])


def test_error_is_small_for_a_right_gradient_and_large_for_a_wrong_one():
    x = tf.constant([[0.3, 0.7]], tf.float64)
    at = np.array([[0.3, 0.7]])
    assert tf.test.compute_gradient_error(x, [1, 2], tf.tanh(x), [1, 2], at) < 1e-6

    @tf.custom_gradient
    def wrong(x):
        return tf.tanh(x), lambda dy: dy

    assert tf.test.compute_gradient_error(x, [1, 2], wrong(x), [1, 2], at) > 0.05


def test_rows():
    x = tf.constant(np.arange(6.0).reshape(3, 2), tf.float64)
    y = tf.gather(x, [2, 0, 2])
    by_theory, by_differences = tf.test.compute_gradient(x, [3, 2], y, [3, 2])
    np.testing.assert_allclose(by_theory, by_differences, atol=1e-6)


def test_complex_numbers_count_twice():
    z = tf.constant([1 + 2j], tf.complex128)
    by_theory, by_differences = tf.test.compute_gradient(z, [1], z * z, [1])
    assert by_theory.shape == (2, 2)
    np.testing.assert_allclose(by_theory, by_differences, atol=1e-6)


def test_nothing_to_differentiate():
    x = tf.constant(np.zeros((0, 2), np.float32))
    assert tf.test.compute_gradient_error(x, [0, 2], x * 2, [0, 2]) == 0.0


def test_wrong_arguments():
    x = tf.constant([1.0, 2.0])
    with pytest.raises(AssertionError, match="x_shape"):
        tf.test.compute_gradient(x, [2], x * 2, [2], x_init_value=np.zeros(3))
    with pytest.raises(AssertionError, match="Don't support type int32"):
        tf.test.compute_gradient(tf.constant([1]), [1], x * 2, [2])
