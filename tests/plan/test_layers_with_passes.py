"""Layers and their gradients give the same with and without passes, also of NaN, inf, no rows."""

from __future__ import annotations

import numpy as np
import pytest

import minitf as tf

PLAIN = tf.ConfigProto(
    graph_options=tf.GraphOptions(optimizer_options=tf.OptimizerOptions(opt_level=-1))
)


def values_of(fetches, feeds, config):
    with tf.Session(config=config) as sess:
        sess.run(tf.global_variables_initializer())
        return [sess.run(fetches, feeds) for _ in range(3)]


@pytest.mark.parametrize("special", [0.0, np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("rows", [0, 1, 6])
@pytest.mark.parametrize("known", [False, True], ids=["any rows", "known rows"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_convolution_bias_product_and_softmax(special, rows, known):
    random = np.random.RandomState(rows)
    x = tf.placeholder(tf.float32, [rows if known else None, 6, 6, 2])
    labels = tf.placeholder(tf.int64, [None])
    kernel, bias, w, b = params = [
        tf.Variable(random.randn(*shape).astype("f")) for shape in ([3, 3, 2, 4], [4], [36, 5], [5])
    ]
    h = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, kernel, [1, 1, 1, 1], "SAME"), bias))
    h = tf.nn.max_pool(h, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    logits = tf.matmul(tf.reshape(h, [-1, 36]), w) + b
    each = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    fetches = [logits, each, *tf.gradients(tf.reduce_sum(each), [x, *params])]
    bias_grad = 4
    fed = random.randn(rows, 6, 6, 2).astype("f")
    fed[:1, 0, 0] = special
    feeds = {x: fed, labels: random.randint(5, size=rows)}
    for want, got in zip(values_of(fetches, feeds, PLAIN), values_of(fetches, feeds, None)):
        for i, (a, b) in enumerate(zip(want, got)):
            assert a.dtype == b.dtype
            if i == bias_grad:  # summed before the pool spreads it
                np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
            else:
                np.testing.assert_array_equal(a, b)
