"""constant_value knows what TF's Python code knows, no more and no less."""

from __future__ import annotations

import numpy as np
import pytest

import minitf as tf
from minitf.ops.constant_value import constant_value, constant_value_as_shape


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def partly():
    return tf.placeholder(tf.float32, [2, None], "x")


KNOWN = {
    "const": (lambda: tf.constant([1, 2]), [1, 2]),
    "rank": (lambda: tf.raw_ops.Rank(input=partly()), 2),
    "cast": (lambda: tf.cast(tf.constant([1.7]), tf.int32), [1]),
    "range": (lambda: tf.range(1, 6, 2), [1, 3, 5]),
    "concat": (lambda: tf.concat([[1], tf.constant([2])], 0), [1, 2]),
    "pack": (lambda: tf.stack([tf.constant(1), tf.constant(2)]), [1, 2]),
    "fill": (lambda: tf.fill([2], 5), [5, 5]),
    "equal": (lambda: tf.equal([1, 2], [1, 3]), [True, False]),
    "not equal": (lambda: tf.not_equal([1, 2], [1, 3]), [False, True]),
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_values(name):
    make, expected = KNOWN[name]
    assert np.asarray(constant_value(make())).tolist() == expected


UNKNOWN = {
    "sum": lambda: tf.constant(1) + 1,
    "identity": lambda: tf.identity(1),
    "shape": lambda: tf.shape(partly()),
    "element": lambda: tf.constant([1, 2])[0],
    "default": lambda: tf.placeholder_with_default(1, []),
    "column": lambda: tf.stack([tf.constant([1]), tf.constant([2])], axis=1),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_unknown_values(name):
    assert constant_value(UNKNOWN[name]()) is None


def test_what_is_no_tensor_is_its_own_value():
    assert constant_value([1, 2]) == [1, 2]


def test_a_known_value_cannot_be_fed_any_more():
    x = tf.constant([1, 2])
    constant_value(x)
    with tf.Session() as session, pytest.raises(ValueError, match="may not be fed"):
        session.run(x, {x: [3, 4]})


def test_partly_known_stacks():
    x = tf.placeholder(tf.int32, [])
    assert constant_value(tf.stack([1, x])) is None
    assert constant_value(tf.stack([1, x]), partial=True).tolist() == [1, None]


SHAPES = {
    "shape": (lambda: tf.shape(partly()), [2, None]),
    "pack": (lambda: tf.stack([3, tf.placeholder(tf.int32, []), -1]), [3, None, None]),
    "concat": (lambda: tf.concat([tf.shape(partly()), [7]], 0), [2, None, 7]),
    "slice": (lambda: tf.shape(partly())[:1], [2]),
    "const": (lambda: tf.constant([4, -1]), [4, None]),
    "empty": (lambda: tf.constant([], tf.int32), []),
    "length": (lambda: tf.placeholder(tf.int32, [3]), [None] * 3),
}


@pytest.mark.parametrize("name", SHAPES)
def test_known_shapes(name):
    make, expected = SHAPES[name]
    assert constant_value_as_shape(make()).as_list() == expected


def test_a_scalar_is_a_shape_only_if_it_is_minus_one():
    assert constant_value_as_shape(tf.constant(-1)).ndims is None
    with pytest.raises(ValueError, match="Received a scalar"):
        constant_value_as_shape(tf.constant(3))
