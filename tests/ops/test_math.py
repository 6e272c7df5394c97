"""Rules of the math functions that show neither in a graph nor in a value."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import minitf as tf
from minitf_runtime.ops import special_functions


class Foreign:
    """A type with operators of its own."""

    def __radd__(self, other):
        return "radd"

    def __rmatmul__(self, other):
        return "rmatmul"


def test_an_operand_that_knows_better_takes_over():
    x = tf.constant([1.0])
    assert x + Foreign() == "radd"
    assert x @ Foreign() == "rmatmul"
    with pytest.raises(TypeError):
        x - Foreign()


def test_equality_of_tensors_is_identity():
    x = tf.constant(1.0)
    assert x == x
    assert (x != tf.constant(1.0)) is True


def test_nothing_is_made_where_nothing_changes():
    x = tf.constant([1.0, 2.0])
    n = tf.constant([1])
    made = len(tf.get_default_graph().get_operations())
    assert tf.cast(x, tf.float32) is x
    assert tf.conj(x) is x
    assert tf.real(x) is x
    assert tf.round(n) is n
    assert tf.add_n([x]) is x
    assert tf.accumulate_n([x]) is x
    assert len(tf.get_default_graph().get_operations()) == made


def test_scalar_mul_and_cast_keep_indexed_slices():
    slices = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([3]), tf.constant([5, 1]))
    for made in (tf.scalar_mul(2.0, slices), tf.cast(slices, tf.float64), -slices):
        assert isinstance(made, tf.IndexedSlices)
        assert made.indices is slices.indices
        assert made.dense_shape is slices.dense_shape


def test_dense_form_of_unknown_size_warns():
    slices = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([3]), tf.placeholder(tf.int32, [2]))
    with pytest.warns(UserWarning, match="dense Tensor of unknown shape"):
        tf.convert_to_tensor(slices)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tf.convert_to_tensor(tf.IndexedSlices(slices.values, slices.indices, tf.constant([5, 1])))


def test_range_and_reduction_know_their_static_shapes():
    assert tf.range(2, 11, 3).shape == [3]
    assert tf.range(0.0, 1.0, 0.3).shape == [4]
    x = tf.placeholder(tf.float32, [None, 3, 4])
    assert tf.reduce_sum(x, [-1]).shape.as_list() == [None, 3]
    assert tf.reduce_max(x, 0, keepdims=True).shape.as_list() == [1, 3, 4]
    assert tf.reduce_mean(tf.placeholder(tf.float32)).shape == []


def test_long_float_range_adds_its_step_as_tensorflow_does():
    with tf.Session() as session:
        values = session.run(tf.range(0.0, 1000.0, 0.1))
    step = np.float32(0.1)
    total = np.float32(0)
    for value in values[:2000]:
        assert value == total
        total = total + step


def test_integer_division_by_zero_is_an_error_of_the_run():
    quotient = tf.constant([1, 2]) // tf.placeholder(tf.int32, [2])
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError) as caught:
        session.run(quotient, {quotient.op.inputs[1]: [1, 0]})
    assert "Integer division by zero" in str(caught.value)
    assert "floordiv" in str(caught.value)


def test_clip_of_what_is_not_finite_is_nan():
    clipped, norm = tf.clip_by_global_norm([tf.constant([np.inf, 1.0]), None], 1.0)
    assert clipped[1] is None
    with tf.Session() as session:
        values, size = session.run([clipped[0], norm])
    assert np.isnan(values).all()
    assert size == np.inf


@pytest.mark.parametrize("copies", [1, 20_000])  # the latter runs in blocks
def test_the_sign_of_what_is_no_number_is_zero_as_in_tensorflow(copies):
    values = np.tile([np.nan, 0.0, -0.0, np.inf, -np.inf, -2.5], copies).astype("f")
    x = tf.placeholder(tf.float32, [6 * copies])
    with tf.Session() as session:
        got = session.run(-tf.sign(x) * 2, {x: values})
    np.testing.assert_array_equal(got, np.tile([0, 0, 0, -2, 2, 2], copies))


def test_error_functions_are_exact_to_the_last_digits():
    import math

    x = np.linspace(-6, 6, 601)
    for ours, theirs in ((special_functions.erf, math.erf), (special_functions.erfc, math.erfc)):
        np.testing.assert_allclose(ours(np, x), [theirs(v) for v in x], rtol=1e-13)


def test_gamma_functions_obey_their_recurrences():
    x = np.linspace(0.1, 40, 300)
    with np.errstate(all="ignore"):
        lgamma, digamma = special_functions.lgamma, special_functions.digamma
        np.testing.assert_allclose(lgamma(np, x + 1) - lgamma(np, x), np.log(x), atol=1e-12)
        np.testing.assert_allclose(digamma(np, x + 1) - digamma(np, x), 1 / x, atol=1e-13)
        p = special_functions.igamma(np, x, x + 1)
        q = special_functions.igammac(np, x, x + 1)
        np.testing.assert_allclose(p + q, 1, rtol=1e-14)
        half = special_functions.betainc(np, x, x, np.full_like(x, 0.5))
        np.testing.assert_allclose(half, 0.5, rtol=1e-11)
