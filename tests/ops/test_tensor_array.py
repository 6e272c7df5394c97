"""Elements of a TensorArray whose shape is only known when it runs."""

from __future__ import annotations

import numpy as np
import pytest

import minitf as tf


def of_size(n):
    """A vector of ones whose size the graph does not know."""
    return tf.placeholder_with_default(np.ones(n, np.float32), None)


def test_an_element_not_written_is_zeros_of_the_shape_of_the_others():
    array = tf.TensorArray(tf.float32, 3).write(1, of_size(2))
    with tf.Session() as session:
        assert session.run(array.stack()).tolist() == [[0, 0], [1, 1], [0, 0]]


def test_elements_of_many_shapes_tell_none():
    array = tf.TensorArray(tf.float32, 2, infer_shape=False).write(0, of_size(2))
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError) as error:
        session.run(array.stack())
    assert "Could not read from TensorArray index 1.  Furthermore, the element" in str(error.value)


def test_elements_have_one_shape():
    array = tf.TensorArray(tf.float32, 2).write(0, of_size(2)).write(1, of_size(3))
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError) as error:
        session.run(array.flow)
    assert (
        "Could not write to TensorArray index 1 because the value shape is [3] which is "
        "incompatible with the TensorArray's inferred element shape: [2]"
    ) in str(error.value)


def test_elements_may_have_many_shapes():
    array = tf.TensorArray(tf.float32, 2, infer_shape=False)
    array = array.write(0, of_size(2)).write(1, of_size(3))
    with tf.Session() as session:
        assert session.run(array.concat()).tolist() == [1] * 5
