"""The walk of tf.gradients: its arguments, its errors, what it gives, and how long it takes."""

from __future__ import annotations

import time

import numpy as np
import pytest

import minitf as tf


def value(fetches, feeds=None):
    with tf.Session() as session:
        return session.run(fetches, feeds)


def test_product_rule():
    x = tf.constant(3.0)
    y = tf.constant(5.0)
    assert value(tf.gradients(x * x * y, [x, y])) == [30.0, 9.0]


def test_single_and_listed_arguments():
    x = tf.constant(3.0)
    y = x * x
    (single,) = tf.gradients(y, x)
    (listed,) = tf.gradients([y], [x])
    assert value([single, listed]) == [6.0, 6.0]
    assert tf.gradients([], [x]) == [None]


def test_grad_ys():
    x = tf.constant([1.0, 2.0])
    (dx,) = tf.gradients(x * x, x, grad_ys=[[10.0, 100.0]])
    assert value(dx).tolist() == [20.0, 400.0]
    with pytest.raises(ValueError, match="Passed 1 grad_ys for 2 ys"):
        tf.gradients([x, x * 2], x, grad_ys=[x])


def test_an_x_may_be_a_y():
    x = tf.constant(3.0)
    y = x * x
    assert value(tf.gradients([y, x], [x, y])) == [7.0, 1.0]


def test_partial_and_total_derivatives():
    """The example of TensorFlow's documentation."""
    a = tf.constant(0.0)
    b = 2 * a
    assert value(tf.gradients(a + b, [a, b], stop_gradients=[a, b])) == [1.0, 1.0]
    assert value(tf.gradients(a + b, [a, b])) == [3.0, 1.0]


def test_unconnected():
    x, y = tf.constant([1.0, 2.0]), tf.constant(3.0)
    assert tf.gradients(y * 2, [x]) == [None]
    for zero in ("zero", tf.UnconnectedGradients.ZERO):
        (dx,) = tf.gradients(y * 2, [x], unconnected_gradients=zero)
        assert value(dx).tolist() == [0.0, 0.0]
    with pytest.raises(ValueError, match="Unknown value for unconnected_gradients: 'nought'"):
        tf.gradients(y, [x], unconnected_gradients="nought")


def test_integers_carry_no_gradient():
    x = tf.constant([1.5, 2.5])
    y = tf.cast(tf.cast(x, tf.int32), tf.float32)
    assert tf.gradients(y, x) == [None]


def test_complex_ys_need_grad_ys():
    z = tf.complex(1.0, 2.0)
    with pytest.raises(TypeError, match="Gradients of complex tensors must set grad_ys"):
        tf.gradients(z * z, z)
    with pytest.raises(TypeError, match="must be real"):
        tf.gradients(z * z, z, grad_ys=[1.0])
    (dz,) = tf.gradients(z * z, z, grad_ys=[tf.complex(1.0, 0.0)])
    assert value(dz) == np.conj(2 * (1 + 2j))


def test_strings_have_no_default_gradient():
    s = tf.constant("a")
    with pytest.raises(TypeError):
        tf.gradients(s, s, grad_ys=[tf.constant("b")])


def test_aggregation_methods():
    x = tf.constant(2.0)
    y = x * x + tf.sin(x) + 3 * x
    for method in ("ADD_N", "DEFAULT", "EXPERIMENTAL_TREE", "EXPERIMENTAL_ACCUMULATE_N"):
        (dx,) = tf.gradients(y, x, aggregation_method=getattr(tf.AggregationMethod, method))
        assert value(dx) == pytest.approx(7 + np.cos(2.0))
    with pytest.raises(ValueError, match="Invalid aggregation_method specified 9."):
        tf.gradients(y, x, aggregation_method=9)


def test_second_derivative():
    x = tf.constant(2.0)
    (dx,) = tf.gradients(x**3, x)
    (d2x,) = tf.gradients(dx, x)
    assert value([dx, d2x]) == [12.0, 12.0]


def test_rows_of_a_gather():
    x = tf.constant(np.zeros((4, 2), np.float32))
    (dx,) = tf.gradients(tf.gather(x, [1, 3, 1]), x)
    assert isinstance(dx, tf.IndexedSlices)
    got = value([dx.values, dx.indices, dx.dense_shape])
    assert got[0].tolist() == [[1, 1]] * 3
    assert got[1].tolist() == [1, 3, 1]
    assert got[2].tolist() == [4, 2]
    dense = value(tf.convert_to_tensor(dx))
    assert dense.tolist() == [[0, 0], [2, 2], [0, 0], [1, 1]]


def test_made_ops_are_marked_as_gradients():
    x = tf.constant(2.0)
    tf.gradients(tf.sin(x), x)
    roles = {op.name: op._role for op in tf.get_default_graph().get_operations()}
    assert roles["Sin"] == "forward"
    assert roles["gradients/Sin_grad/Cos"] == "gradient"


def test_prevent_gradient():
    logits = tf.constant([[1.0, 2.0]])
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0], logits=logits)
    (dx,) = tf.gradients(loss, logits)
    with pytest.raises(LookupError, match="Gradient explicitly disabled. Reason: "):
        tf.gradients(dx, logits)


def test_time_grows_with_the_number_of_ops():
    """A chain of 20,000 ops, in far less than a quadratic walk would take."""
    x = tf.constant(1.0)
    y = x
    for _ in range(20_000):
        y = tf.identity(y)
    start = time.process_time()
    tf.gradients(y, x)
    assert time.process_time() - start < 20


def test_many_terms_at_one_tensor():
    x = tf.constant(1.0)
    y = tf.add_n([tf.identity(x) for _ in range(3_000)])
    (dx,) = tf.gradients(y, x)
    assert len(dx.op.inputs) == 3_000


def test_lines_of_ops_in_a_gradient():
    """Ops of our own functions belong to the line of tf.gradients, those of a user's to its own."""

    @tf.custom_gradient
    def double(x):
        def grad(dy):
            return tf.multiply(dy, 2.0, name="of_user")

        return x * 2.0, grad

    x = tf.constant(3.0)
    y = tf.tanh(double(x))
    tf.gradients(y, x)
    after = tf.identity(y)
    graph = tf.get_default_graph()
    functions = {op.name: op.traceback[0][2] for op in graph.get_operations()}
    here = "test_lines_of_ops_in_a_gradient"
    (theirs,) = (name for name in functions if name.endswith("of_user"))
    assert functions[theirs] == "grad"
    (ours,) = (op.name for op in graph.get_operations() if op.type == "TanhGrad")
    assert functions[ours] == here
    assert functions[after.op.name] == here
