"""SparseTensor in sessions and in the graph; its ops are in test_array_programs.py."""

from __future__ import annotations

import numpy as np
import pytest

import minitf as tf

VALUE = tf.SparseTensorValue([[0, 1], [2, 0]], [3.0, 4.0], [3, 2])
DENSE = [[0, 3], [0, 0], [4, 0]]


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def test_a_sparse_tensor_is_fetched_as_a_value():
    sp = tf.SparseTensor.from_value(VALUE)
    with tf.Session() as session:
        found = session.run(sp)
        assert isinstance(found, tf.SparseTensorValue)
        assert [np.asarray(p).tolist() for p in found] == [list(p) for p in VALUE]
        assert session.run([sp])[0].values.tolist() == [3, 4]
        assert sp.eval().dense_shape.tolist() == [3, 2]


@pytest.mark.parametrize("shape", [None, [None, 2], [3, 2]])
def test_a_sparse_placeholder_is_fed(shape):
    sp = tf.sparse_placeholder(tf.float32, shape)
    dense = tf.sparse_tensor_to_dense(sp)
    with tf.Session() as session:
        assert session.run(dense, {sp: VALUE}).tolist() == DENSE
        assert session.run(dense, {sp: tuple(VALUE)}).tolist() == DENSE


def test_parts_must_fit_each_other():
    with pytest.raises(ValueError):
        tf.SparseTensor([[0, 1]], [1.0, 2.0], [3, 2])
    with pytest.raises(ValueError):
        tf.SparseTensor([[0, 1]], [1.0], [3])


def test_dense_values_are_no_sparse_tensors():
    for call in (tf.sparse_reorder, tf.sparse_tensor_to_dense):
        with pytest.raises(TypeError, match="SparseTensor"):
            call(tf.constant([1.0]))
    assert isinstance(tf.convert_to_tensor_or_sparse_tensor([1.0]), tf.Tensor)
    assert isinstance(tf.convert_to_tensor_or_sparse_tensor(VALUE), tf.SparseTensor)


def test_type_asked_for_must_be_the_one_it_has():
    with pytest.raises(RuntimeError, match="requested = int32, actual = float32"):
        tf.convert_to_tensor_or_sparse_tensor(VALUE, tf.int32)


def test_static_shape():
    assert tf.SparseTensor.from_value(VALUE).shape.as_list() == [3, 2]
    assert tf.sparse_placeholder(tf.float32, [None, 2]).shape.as_list() == [None, None]
    assert tf.sparse_placeholder(tf.float32).shape.ndims is None
