"""IndexedSlices: its parts, its dense form, and the warning that the dense form may be large."""

from __future__ import annotations

import numpy as np
import pytest

import minitf as tf


def rows(dense_shape=(4, 2)):
    shape = None if dense_shape is None else tf.constant(dense_shape)
    return tf.IndexedSlices(tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([1, 1]), shape)


def test_parts():
    slices = rows()
    assert slices.dtype is tf.float32
    assert slices.op is slices.values.op
    assert slices.graph is tf.get_default_graph()
    assert slices.name == slices.values.name
    assert str(slices).startswith("IndexedSlices(indices=")


def test_dense_form_sums_equal_indices():
    with tf.Session() as session:
        dense = session.run(tf.convert_to_tensor(rows()))
        negative = session.run(tf.convert_to_tensor(-rows()))
    np.testing.assert_array_equal(dense, [[0, 0], [4, 6], [0, 0], [0, 0]])
    np.testing.assert_array_equal(negative, -dense)


def test_kept_or_made():
    slices = rows()
    assert tf.convert_to_tensor_or_indexed_slices(slices) is slices
    assert isinstance(tf.convert_to_tensor_or_indexed_slices([1.0]), tf.Tensor)
    with pytest.raises(ValueError, match="requested dtype"):
        tf.convert_to_tensor_or_indexed_slices(slices, tf.int32)


def test_no_dense_form():
    with pytest.raises(ValueError, match="IndexedSlices without dense_shape"):
        tf.convert_to_tensor(rows(None))
    with pytest.raises(ValueError, match="requested dtype int32 for IndexedSlices"):
        tf.convert_to_tensor(rows(), tf.int32)


def test_warns_of_large_dense_forms():
    with pytest.warns(UserWarning, match="with 2000000000 elements"):
        tf.convert_to_tensor(rows((1_000_000_000, 2)))
    unknown = tf.IndexedSlices(
        tf.constant([[1.0]]), tf.constant([1]), tf.placeholder(tf.int32, [2])
    )
    with pytest.warns(UserWarning, match="of unknown shape"):
        tf.convert_to_tensor(unknown)


def test_parts_are_of_one_graph():
    with tf.Graph().as_default():
        alien = tf.constant([1, 1])
    with pytest.raises(ValueError, match="same graph"):
        tf.IndexedSlices(tf.constant([[1.0], [2.0]]), alien)


def test_components_are_flattened():
    slices = rows()
    parts = tf.nest.flatten([slices], expand_composites=True)
    assert parts == [slices.values, slices.indices, slices.dense_shape]
    packed = tf.nest.pack_sequence_as(slices, parts, expand_composites=True)
    assert packed.indices is slices.indices
