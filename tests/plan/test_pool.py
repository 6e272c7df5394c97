"""Pooling before Relu gives what Relu before pooling does, to the last bit but for the bias."""

from __future__ import annotations

import numpy as np
import pytest

import minitf as tf
from plan.test_passes import PLAIN, last_plan, values_of


def network(size, window, stride, padding):
    """The input, and the Relu, the pool and the gradients of x and of a bias."""
    x = tf.placeholder(tf.float32, [3, size, size, 2])
    bias = tf.Variable([0.25, -0.5])
    shifted = tf.nn.bias_add(x, bias)
    relu = tf.nn.relu(shifted)
    pool = tf.nn.max_pool(relu, [1, window, window, 1], [1, stride, stride, 1], padding)
    weights = tf.constant(np.random.RandomState(1).randn(*pool.shape.as_list()).astype("f"))
    return x, relu, pool, tf.gradients(pool * weights, [x, bias])


def both(fetches, feeds):
    return zip(values_of(fetches, feeds, PLAIN)[0], values_of(fetches, feeds, None)[0])


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize(("window", "stride"), [(2, 2), (3, 2), (2, 3), (3, 1)])
@pytest.mark.parametrize("size", [6, 7])
@pytest.mark.parametrize("values", ["ties", "nan", "inf"])
def test_the_same_values_and_gradients(size, window, stride, padding, values):
    x, _, pool, grads = network(size, window, stride, padding)
    random = np.random.RandomState(0)
    fed = random.randint(-2, 3, (3, size, size, 2)).astype("f")
    if values != "ties":
        fed[random.rand(*fed.shape) < 0.2] = float(values)
    (a, b), (dx, dx_too), (db, db_too) = both([pool, *grads], {x: fed})
    np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(dx, dx_too)
    np.testing.assert_allclose(db, db_too, rtol=1e-5, atol=1e-6)


def ops_of_last_plan():
    """The kernels that the last plan calls, in order."""
    return [line.split("k_")[1].split("(")[0] for line in last_plan().splitlines() if " k_" in line]


def test_the_pool_comes_first_forward_and_last_backward():
    x, _, pool, grads = network(4, 2, 2, "SAME")
    values_of([pool, *grads], {x: np.ones([3, 4, 4, 2], "f")}, None)
    ops = ops_of_last_plan()
    assert ops.index("MaxPool") < ops.index("Relu")
    assert ops.index("ReluGrad") < ops.index("MaxPoolGrad")


def test_a_relu_that_others_take_stays_where_it_is():
    x, relu, pool, grads = network(4, 2, 2, "SAME")
    fed = np.random.RandomState(0).randn(3, 4, 4, 2).astype("f")
    for a, b in both([relu, pool, *grads], {x: fed}):
        np.testing.assert_array_equal(a, b)
    ops = ops_of_last_plan()
    assert ops.index("Relu") < ops.index("MaxPool")
    assert ops.index("MaxPoolGrad") < ops.index("ReluGrad")


def test_layers_upon_layers():
    x = tf.placeholder(tf.float32, [2, 16, 16, 1])
    h = x
    for _ in range(3):
        h = tf.nn.max_pool(tf.nn.relu(h), [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    (grad,) = tf.gradients(h, [x])
    fed = np.random.RandomState(0).randint(-3, 4, (2, 16, 16, 1)).astype("f")
    for a, b in both([h, grad], {x: fed}):
        np.testing.assert_array_equal(a, b)


def test_a_pass_of_its_own(monkeypatch):
    monkeypatch.setenv("MINITF_PASSES", "fold,fuse")
    x, _, pool, grads = network(4, 2, 2, "SAME")
    values_of([pool, *grads], {x: np.ones([3, 4, 4, 2], "f")}, None)
    ops = ops_of_last_plan()
    assert ops.index("Relu") < ops.index("MaxPool")
