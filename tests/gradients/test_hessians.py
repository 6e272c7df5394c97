"""tf.hessians, whose loop differentiates one element of the gradient after the other."""

from __future__ import annotations

import numpy as np

import minitf as tf


def test_hessian_of_a_cubic():
    x = tf.constant([1.0, 2.0, 3.0])
    (hessian,) = tf.hessians(tf.reduce_sum(x**3), x)
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(hessian), np.diag([6.0, 12.0, 18.0]))


def test_several_xs():
    x = tf.constant([[1.0, 2.0]])
    y = tf.constant([3.0])
    hessians = tf.hessians(tf.reduce_sum(x * x * y) + y[0] ** 2, [x, y])
    with tf.Session() as session:
        by_x, by_y = session.run(hessians)
    assert by_x.shape == (1, 2, 1, 2)
    np.testing.assert_allclose(by_x.reshape(2, 2), 6 * np.eye(2))
    np.testing.assert_allclose(by_y, [[2.0]])
