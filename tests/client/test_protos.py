"""Tensors as messages, specs of tensors and questions about the version, as in TensorFlow."""

from __future__ import annotations

from pathlib import Path

import pytest

import minitf as tf
from data.protos.record import PROGRAMS, run
from recording import load

RECORDED = load(Path(__file__).parents[1] / "data" / "protos" / "outcomes.json.gz")


@pytest.mark.parametrize("source", PROGRAMS)
def test_outcome(source):
    assert run(tf, PROGRAMS[source]) == RECORDED[source]


def test_init_scope_leaves_branches_and_dependencies():
    made = []

    def branch():
        with tf.name_scope("inner"), tf.init_scope():
            made.append(tf.no_op())
        return tf.constant(1)

    with tf.control_dependencies([tf.no_op()]):
        tf.cond(tf.constant(True), branch, branch)
    assert [op.name for op in made] == ["cond/inner/NoOp", "cond/inner_1/NoOp"]
    assert [op.control_inputs for op in made] == [[], []]


@pytest.mark.parametrize("enable", [tf.enable_eager_execution, tf.enable_v2_behavior])
def test_there_is_no_eager_execution(enable):
    with pytest.raises(tf.errors.UnimplementedError, match=enable.__name__):
        enable()
