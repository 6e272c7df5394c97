"""tf.assert_*: what is known fails when the graph is made, the rest in the run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minitf as tf

HOLDS = {
    "equal": (2, 2),
    "none_equal": (2, 3),
    "less": (2, 3),
    "less_equal": (2, 2),
    "greater": (3, 2),
    "greater_equal": (2, 2),
}
FAILS = {
    "equal": (2, 3),
    "none_equal": (2, 2),
    "less": (2, 2),
    "less_equal": (3, 2),
    "greater": (2, 2),
    "greater_equal": (2, 3),
}


def check(name: str) -> Any:
    return getattr(tf, "assert_" + name)


@pytest.mark.parametrize("name", sorted(HOLDS))
def test_comparison_of_constants(name):
    check(name)(*HOLDS[name])
    with pytest.raises(tf.errors.InvalidArgumentError, match="(?s)why.*did not hold") as caught:
        check(name)(*map(float, FAILS[name]), message="why")
    assert f"x (assert_{name}_" in str(caught.value)


@pytest.mark.parametrize("name", sorted(HOLDS))
@pytest.mark.parametrize("dtype", [tf.int32, tf.float32])
def test_comparison_in_the_run(name, dtype):
    x, y = tf.placeholder(dtype), tf.placeholder(dtype)
    op = check(name)(x, y, message="why")
    with tf.Session() as session:
        session.run(op, dict(zip((x, y), HOLDS[name])))
        session.run(op, {x: np.zeros((0, 2)), y: np.zeros((0, 2))})
        with pytest.raises(tf.errors.InvalidArgumentError, match="assertion failed: .why. .Cond"):
            session.run(op, dict(zip((x, y), FAILS[name])))


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("negative", [-1, -2], [-1, 0]),
        ("positive", [1, 2], [1, 0]),
        ("non_negative", [0, 2], [0, -1]),
        ("non_positive", [0, -2], [0, 1]),
    ],
)
def test_signs(name, good, bad):
    x = tf.placeholder(tf.int32, [2])
    op = check(name)(x)
    check(name)(good)
    with pytest.raises(tf.errors.InvalidArgumentError, match="did not hold element-wise"):
        check(name)(bad)
    with tf.Session() as session:
        session.run(op, {x: good})
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"0 did not hold element-wise"):
            session.run(op, {x: bad})


def test_near():
    x = tf.placeholder(tf.float32, [])
    op, loose = tf.assert_near(x, 1.0), tf.assert_near(x, 1.0, rtol=0.0, atol=0.5)
    with tf.Session() as session:
        session.run(op, {x: 1.0 + 1e-7})
        session.run(loose, {x: 1.4})
        for one, value in ((op, 1.1), (loose, 1.6)):
            with pytest.raises(tf.errors.InvalidArgumentError, match="not equal to tolerance"):
                session.run(one, {x: value})


def test_ranks_that_are_known():
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    for op in (tf.assert_rank(x, 2), tf.assert_rank_at_least(x, 1), tf.assert_rank_in(x, (1, 2))):
        assert op.name.endswith("static_checks_determined_all_ok")
    with pytest.raises(ValueError, match="why.  Tensor x:0 must have rank 1.  Received rank 2"):
        tf.assert_rank(x, 1, message="why")
    with pytest.raises(ValueError, match="must have rank at least 3.  Received rank 2"):
        tf.assert_rank_at_least(x, 3)
    with pytest.raises(ValueError, match=r"must have rank in \(0, 1\).  Received rank 2"):
        tf.assert_rank_in(x, (0, 1))
    with pytest.raises(ValueError, match="Rank must be a scalar."):
        tf.assert_rank(x, [2])
    with pytest.raises(TypeError, match="must be of type <dtype: 'int32'>"):
        tf.assert_rank(x, 2.0)


def test_ranks_in_the_run():
    x, r = tf.placeholder(tf.float32), tf.placeholder(tf.int32, [])
    ops = [tf.assert_rank(x, 1), tf.assert_rank_in(x, (1, r)), tf.assert_rank_at_least(x, r)]
    with tf.Session() as session:
        session.run(ops, {x: [1.0], r: 0})
        for op, text in zip(ops, ("must have rank. ", "must have rank in. ", "rank at least. ")):
            with pytest.raises(tf.errors.InvalidArgumentError, match=text):
                session.run(op, {x: np.zeros((2, 2)) if op is not ops[2] else 1.0, r: 3})


def test_types():
    x = tf.placeholder(tf.float32, [2], name="x")
    with pytest.raises(TypeError, match='Expected "x" to be integer type.  Found: x:0 of dtype'):
        tf.assert_integer(x)
    with pytest.raises(TypeError, match="x:0 must be of type <dtype: 'int32'>"):
        tf.assert_type(x, tf.int32)
    with pytest.raises(ValueError, match=r"Expected scalar shape for x:0, saw shape: \(2,\)."):
        tf.assert_scalar(x)
    assert tf.assert_scalar(3).shape == []
    assert tf.is_numeric_tensor(x)
    assert not tf.is_numeric_tensor(tf.constant("a"))
    assert not tf.is_numeric_tensor(3)


def test_ensure_shape():
    x = tf.placeholder(tf.float32)
    y = tf.ensure_shape(x, [None, 3])
    assert y.shape.as_list() == [None, 3]
    with tf.Session() as session:
        assert session.run(y, {x: np.ones((2, 3))}).shape == (2, 3)
        text = r"Shape of tensor \[2,4\] is not compatible with expected shape \[\?,3\]"
        with pytest.raises(tf.errors.InvalidArgumentError, match=text):
            session.run(y, {x: np.ones((2, 4))})
    with pytest.raises(ValueError, match="Dimension 1 in both shapes must be equal"):
        tf.ensure_shape(np.ones((2, 4)), [2, 3])


def test_proper_iterables():
    tf.assert_proper_iterable([1, 2])
    for value in ("text", np.zeros(2), tf.constant([1]), 3):
        with pytest.raises(TypeError, match='Expected argument "values" to be'):
            tf.assert_proper_iterable(value)


def test_same_float_type():
    a, b = tf.constant(1.0), tf.constant(1.0, tf.float64)
    assert tf.assert_same_float_dtype() is tf.float32
    assert tf.assert_same_float_dtype([None, b]) is tf.float64
    assert tf.assert_same_float_dtype([a], tf.float32) is tf.float32
    with pytest.raises(ValueError, match="must be of the same type"):
        tf.assert_same_float_dtype([a, b])
    with pytest.raises(ValueError, match="Expected floating point type"):
        tf.assert_same_float_dtype([tf.constant(1)])


def test_order():
    x = tf.placeholder(tf.int32)
    ops = [tf.is_non_decreasing(x), tf.is_strictly_increasing(x)]
    with tf.Session() as session:
        for value, expected in (
            ([1, 2, 5], [True, True]),
            ([[1, 2], [2, 5]], [True, False]),
            ([3, 2], [False, False]),
            ([], [True, True]),
            (4, [True, True]),
        ):
            assert session.run(ops, {x: value}) == expected


def test_shapes():
    x, y = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32)
    op = tf.debugging.assert_shapes([(x, ("N", "D")), (y, ("*", "N"))], message="why")
    ones = np.ones
    with tf.Session() as session:
        session.run(op, {x: ones((2, 3)), y: ones((4, 2))})
        text = "Specified by tensor Placeholder:0 dimension 0"
        with pytest.raises(tf.errors.InvalidArgumentError, match=text):
            session.run(op, {x: ones((2, 3)), y: ones((4, 5))})
    with pytest.raises(ValueError, match="dimension 1 must have size 4.  Received size 3"):
        tf.debugging.assert_shapes({x: (".", 4)})
    with pytest.raises(ValueError, match="only allowed as the first entry"):
        tf.debugging.assert_shapes({x: ("N", "*")})
