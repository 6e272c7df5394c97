"""Random ops, initializers and matrix ops build TensorFlow 1.15's graphs and give its values."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import minitf as tf
from client.random_programs import PROGRAMS, ops_of, outcome
from minitf import initializers

RECORDED = json.loads((Path(__file__).parents[1] / "data" / "random" / "programs.json").read_text())
INEXACT = {"initializers", "matrices", "norms"}  # decompositions and sums round differently

by_name = pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)


@by_name
def test_builds_the_same_ops(program: Callable[..., Any]) -> None:
    graph = tf.Graph()
    with graph.as_default():
        program(tf)
    expected = RECORDED[program.__name__]["ops"]
    for got, wanted in zip(ops_of(graph), expected, strict=False):
        assert got == wanted
    assert len(graph.get_operations()) == len(expected)


@by_name
def test_gives_the_same_values(program: Callable[..., Any]) -> None:
    tolerance = 1e-5 if program.__name__ in INEXACT else 0.0
    expected = RECORDED[program.__name__]["steps"]
    for got_step, step in zip(outcome(tf, program)["steps"], expected, strict=True):
        for got, wanted in zip(got_step, step, strict=True):
            assert (got["dtype"], got["shape"]) == (wanted["dtype"], wanted["shape"])
            np.testing.assert_allclose(got["data"], wanted["data"], rtol=tolerance, atol=tolerance)


def test_two_sessions_start_anew() -> None:
    drawn = tf.random_uniform([4], seed=1)
    first, second = tf.Session(), tf.Session()
    a, b, c = first.run(drawn), first.run(drawn), second.run(drawn)
    assert not np.array_equal(a, b)
    np.testing.assert_array_equal(a, c)


def test_without_a_seed_values_differ() -> None:
    drawn = tf.random_normal([4]), tf.random_normal([4])
    a, b = tf.Session().run(drawn)
    assert not np.array_equal(a, b)


def test_get_seed() -> None:
    assert tf.get_seed(None) == (None, None)
    assert tf.get_seed(5) == (87654321, 5)
    tf.set_random_seed(0)
    assert tf.get_seed(0) == (0, 2**31 - 1)
    assert tf.get_seed(2**31 - 1) == (0, 2**31 - 1)
    tf.set_random_seed(9)
    tf.no_op()
    assert tf.get_seed(None) == (9, 1)


@pytest.mark.parametrize(
    "make, error, message",
    [
        (lambda: tf.random_uniform([1], dtype=tf.int32), ValueError, "Must specify maxval"),
        (lambda: tf.random_uniform([1], dtype=tf.bool), ValueError, "Invalid dtype"),
        (lambda: tf.random_uniform(3), ValueError, "Shape must be rank 1 but is rank 0"),
        (lambda: tf.random.stateless_uniform([1], [1, 2, 3]), ValueError, "must be 2 but is 3"),
        (lambda: tf.matrix_diag([1.0], k=1), tf.errors.UnimplementedError, "MatrixDiag"),
        (lambda: tf.eye(2.5), TypeError, "must be positive integer"),
        (lambda: tf.norm([[1.0]], ord="fro"), ValueError, "supported vector norm"),
        (lambda: tf.norm([[1.0]], axis="x"), ValueError, "'axis' must be None"),
        (lambda: tf.constant_initializer({}), TypeError, "Invalid type for initial value"),
        (lambda: tf.random_normal_initializer(dtype=tf.int32), ValueError, "floating point"),
        (lambda: tf.variance_scaling_initializer(0.0), ValueError, "must be positive"),
        (lambda: tf.variance_scaling_initializer(mode="fan"), ValueError, "Invalid `mode`"),
        (
            lambda: tf.variance_scaling_initializer(distribution="x"),
            ValueError,
            "Invalid `distribution`",
        ),
        (lambda: tf.orthogonal_initializer()([3]), ValueError, "at least two-dimensional"),
        (lambda: tf.initializers.identity()([3]), ValueError, "2D matrices"),
        (lambda: tf.constant_initializer([1, 2, 3])([2]), ValueError, "Too many elements"),
    ],
)
def test_bad_arguments(make: Callable[[], Any], error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize(
    "made",
    [
        initializers.Zeros(),
        initializers.Ones(tf.int32),
        initializers.Constant([1, 2]),
        initializers.RandomUniform(-1, 1, seed=3),
        initializers.RandomNormal(1.0, 2.0),
        initializers.TruncatedNormal(seed=1, dtype=tf.float64),
        initializers.UniformUnitScaling(2.0),
        initializers.VarianceScaling(2.0, "fan_out", "uniform"),
        initializers.Orthogonal(1.5),
        initializers.Identity(2.0),
        initializers.GlorotUniform(seed=4),
        initializers.GlorotNormal(),
    ],
    ids=lambda made: type(made).__name__,
)
def test_configuration_makes_the_initializer_again(made: Any) -> None:
    again = type(made).from_config(made.get_config())
    assert vars(again) == vars(made)


class Part(NamedTuple):
    """What a partitioned variable tells of one of its parts."""

    full_shape: list[int]
    var_offset: list[int]


def test_a_part_is_scaled_as_the_whole() -> None:
    whole = tf.variance_scaling_initializer(seed=1)([8, 2])
    part = tf.variance_scaling_initializer(seed=1)([2, 2], partition_info=Part([8, 2], [2, 0]))
    scale = [t.op.inputs[0].op.inputs[1] for t in (whole, part)]
    one, other = tf.Session().run(scale)
    assert one == other


def test_a_part_of_the_identity() -> None:
    part = tf.initializers.identity()([2, 4], partition_info=Part([4, 4], [2, 0]))
    np.testing.assert_array_equal(tf.Session().run(part), np.eye(4)[2:])
