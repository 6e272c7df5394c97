"""Registering gradients, overriding them, and what happens where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

import minitf as tf
from minitf.gradients.registry import all_gradients
from minitf_runtime.ops.registry import OPS

# The op types that TF 1.15.5 has a gradient (or no_gradient) for.
TENSORFLOWS = Path(__file__).parents[1] / "data" / "gradient_op_types.txt"
DECLARED = set(all_gradients())  # before any test registers its own


def test_no_gradient_is_missing():
    assert set(TENSORFLOWS.read_text().split()) & OPS.keys() - DECLARED == set()


def test_every_gradient_has_an_op():
    assert DECLARED - OPS.keys() == set()


@pytest.fixture
def made():
    """Op types to forget after the test."""
    names: list[str] = []
    yield names
    for name in names:
        all_gradients().pop(name, None)


def test_a_type_is_registered_once():
    with pytest.raises(KeyError, match="Registering two gradient with name 'Sin'!"):
        tf.RegisterGradient("Sin")(lambda op, grad: grad)
    with pytest.raises(KeyError, match="Registering two gradient with name 'Shape'!"):
        tf.no_gradient("Shape")


@pytest.mark.parametrize("register", [tf.RegisterGradient, tf.no_gradient, tf.NotDifferentiable])
def test_a_type_is_a_string(register):
    with pytest.raises(TypeError, match="op_type must be a string"):
        register(3)


def test_override_map(made):
    made.append("MinusOne")
    tf.RegisterGradient("MinusOne")(lambda op, grad: -grad)
    x = tf.placeholder(tf.float32, [2])
    graph = tf.get_default_graph()
    with graph.gradient_override_map({"Sin": "MinusOne"}):
        y = tf.sin(x)
    (dx,) = tf.gradients(y, x)
    assert dx.op.type == "Neg"
    assert dx.op._original_op is y.op
    (dx,) = tf.gradients(tf.sin(x), x)
    assert dx.op.type == "Mul"
    with pytest.raises(TypeError), graph.gradient_override_map({"Sin": 3}):
        tf.sin(x)


def test_no_gradient_registered(made):
    x = tf.placeholder(tf.float32, [2])
    with tf.get_default_graph().gradient_override_map({"Sin": "Missing"}):
        y = tf.sin(x, name="y")
    message = r"No gradient defined for operation 'y' \(op type: Sin\)"
    with pytest.raises(LookupError, match=message):
        tf.gradients(y, x)


def test_not_differentiable_gives_none(made):
    made.append("Silent")
    tf.no_gradient("Silent")
    x = tf.placeholder(tf.float32, [2])
    with tf.get_default_graph().gradient_override_map({"Sin": "Silent"}):
        y = tf.sin(x)
    assert tf.gradients(y, x) == [None]


def test_wrong_number_of_gradients(made):
    made.append("TooMany")
    tf.RegisterGradient("TooMany")(lambda op, grad: [grad, grad])
    x = tf.placeholder(tf.float32, [2])
    with tf.get_default_graph().gradient_override_map({"Sin": "TooMany"}):
        y = tf.sin(x)
    with pytest.raises(ValueError, match="Num gradients 2 generated for op"):
        tf.gradients(y, x)


def test_wrong_shape_of_a_gradient(made):
    made.append("Long")
    tf.RegisterGradient("Long")(lambda op, grad: tf.ones([3]))
    x = tf.placeholder(tf.float32, [2])
    with tf.get_default_graph().gradient_override_map({"Sin": "Long"}):
        y = tf.sin(x, name="y")
    message = (
        r"Incompatible shapes between op input and calculated input gradient.  "
        r"Forward operation: y.  Input index: 0. Original input shape: \(2,\).  "
        r"Calculated input gradient shape: \(3,\)"
    )
    with pytest.raises(ValueError, match=message):
        tf.gradients(y, x)
