"""Ops that update variables give TensorFlow 1.15's values, and refuse what does not fit."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

import minitf as tf
from data.updates.record import cases, run
from minitf_runtime.ops.registry import OPS, find_kernel
from minitf_runtime.ops.training_rules import rounds
from minitf_runtime.plan.state import Variable
from minitf_runtime.types import float32
from recording import load

RECORDED = load(Path(__file__).parents[1] / "data" / "updates" / "results.json.gz")
CASES = {case[0]: case for case in cases()}


@pytest.mark.parametrize("label", CASES)
def test_as_recorded(label):
    for mine, real in zip(run(tf, tf.raw_ops, CASES[label]), RECORDED[label], strict=True):
        assert mine.keys() == real.keys()
        for name in real:
            np.testing.assert_allclose(mine[name], real[name], rtol=1e-6, atol=1e-6, err_msg=name)


def test_every_update_is_recorded():
    names = [n for n in OPS if "Apply" in n or "Scatter" in n]
    updates = {n for n in names if OPS[n].inputs[0].is_ref or n.startswith("Resource")}
    others = {n for n in updates if "Accumulator" in n}
    assert updates - others == {case[1] for case in CASES.values()}


def apply(op, *values, **attrs):
    """Runs a kernel on new variables (for the Ref inputs) and arrays; gives the variables."""
    full = {k: a.default for k, a in OPS[op].attrs.items()} | attrs
    kernel = find_kernel(op, full | {"T": float32}, "CPU")
    args, variables = [], []
    for arg, value in zip(OPS[op].inputs, values):
        if arg.is_ref:
            value = Variable(arg.name, float32, np.shape(value))
            value.assign(np.asarray(values[len(args)], "f"))
            variables.append(value)
        args.append(value)
    kernel.fn(np, *args, **{k: full[k] for k in kernel.keywords})
    return [v.read() for v in variables]


ROWS = np.ones((2, 3), "f")
ONE = np.float32(1)


def test_scalar_variables():
    (var, accum) = apply("ApplyMomentum", 1.0, 2.0, ONE, ONE, np.float32(0.5))
    assert (var.item(), accum.item()) == (-1, 2)
    assert var.shape == ()


@pytest.mark.parametrize(
    ("op", "values", "text"),
    [
        ("ApplyGradientDescent", (ROWS, ONE, np.ones(3, "f")), "do not have the same shape"),
        ("ApplyMomentum", (ROWS, ROWS[0], ONE, ROWS, ONE), "do not have the same shape"),
        (
            "SparseApplyAdagrad",
            (ROWS, ROWS, ONE, ROWS, np.array([0, 2])),
            r"= 2 is not in \[0, 2\)",
        ),
        ("SparseApplyAdagrad", (ROWS, ROWS, ONE, ROWS, np.array([0])), "same size as indices"),
        ("SparseApplyAdagrad", (ROWS, ROWS, ONE, ROWS[:, :1], np.array([0, 1])), "must match"),
        ("SparseApplyAdagrad", (ONE, ONE, ONE, ROWS, np.array([0, 1])), "at least 1 dim"),
        ("SparseApplyAdagrad", (ROWS, ROWS, ONE, ROWS, np.array([[0]])), "one-dimensional"),
        ("ScatterAdd", (ROWS, np.array([[0]]), ROWS), "Must have updates.shape"),
    ],
)
def test_refused(op, values, text):
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        apply(op, *values)


def test_shapes_are_checked_when_the_graph_is_built():
    v, w = tf.Variable(ROWS), tf.Variable(ROWS, use_resource=True)
    row = tf.constant(ROWS[0])
    for call in (
        lambda: tf.raw_ops.ApplyGradientDescent(var=v._ref(), alpha=1.0, delta=row),
        lambda: tf.raw_ops.ApplyGradientDescent(var=v._ref(), alpha=[1.0], delta=ROWS),
        lambda: tf.raw_ops.ResourceApplyGradientDescent(var=w.handle, alpha=1.0, delta=row),
        lambda: tf.raw_ops.ResourceScatterAdd(resource=w.handle, indices=[0], updates=row),
        lambda: tf.raw_ops.AssignVariableOp(resource=w.handle, value=row),
        lambda: tf.raw_ops.ScatterNdAdd(ref=v._ref(), indices=[[0]], updates=ROWS),
    ):
        with pytest.raises(ValueError, match="Shape|Dimension|dimensions"):
            call()


def test_float16_and_float64():
    for dtype in (tf.float16, tf.float64):
        with tf.Graph().as_default(), tf.Session() as session:
            v = tf.Variable(ROWS, dtype=dtype)
            step = tf.train.AdamOptimizer(0.5).minimize(tf.reduce_sum(v))
            session.run(tf.global_variables_initializer())
            session.run(step)
            assert session.run(v).dtype == dtype.as_numpy_dtype
            np.testing.assert_allclose(session.run(v), ROWS * 0.5, rtol=1e-3)


def test_rounds_cover_each_position_once_in_order():
    indices = np.array([3, 1, 3, 3, 0, 1])
    chosen = [np.arange(6)[at] for at in rounds(np, indices)]
    assert [sorted(c.tolist()) for c in chosen] == [[0, 1, 4], [2, 5], [3]]
    assert list(rounds(np, np.array([2, 0, 1]))) == [slice(None)]


def test_many_threads_lose_no_update():
    v = Variable("v", float32, ())
    v.assign(np.zeros((), "f"))
    w = Variable("w", float32, ())
    w.assign(np.zeros((), "f"))
    kernel = OPS["ApplyMomentum"].kernels[0].fn

    def work(first, second):
        for _ in range(200):
            kernel(np, first, second, ONE, ONE, ONE * 0, use_nesterov=False)

    threads = [threading.Thread(target=work, args=p) for p in ((v, w), (w, v), (v, w), (w, v))]
    for t in threads:
        t.start()
    for t in threads:
        t.join(30)
    assert not any(t.is_alive() for t in threads)
    assert float(v.read()) != 0
