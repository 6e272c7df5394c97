"""The engine's random ops draw what TensorFlow 1.15.5 drew (tests/data/random), bit for bit."""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minitf_runtime.ops  # noqa: F401  (fills the registry)
from minitf_runtime.errors import InvalidArgumentError
from minitf_runtime.ops import box_muller
from minitf_runtime.ops.philox import OUTPUT_SAMPLES, PhiloxState, Stream
from minitf_runtime.ops.registry import OPS, find_kernel
from minitf_runtime.plan.state import KernelNode, Resources
from minitf_runtime.types import as_dtype

DATA = Path(__file__).parents[1] / "data" / "random" / "draws.json"
ROWS = json.loads(DATA.read_text())


def make_node(op: str, inputs: dict[str, Any], attrs: dict[str, Any]) -> KernelNode:
    """A node with its attributes complete: given, told by the inputs, or by default."""
    opdef = OPS[op]
    known = {k: as_dtype(v) if opdef.attrs[k].kind == "type" else v for k, v in attrs.items()}
    for arg in opdef.inputs:
        if arg.type_attr:
            known[arg.type_attr] = as_dtype(inputs[arg.name].dtype)
    for name, attr in opdef.attrs.items():
        known.setdefault(name, attr.default)
    return KernelNode("node", op, known, "/device:CPU:0", Resources("localhost"))


def run(node: KernelNode, inputs: dict[str, Any]) -> Any:
    kernel = find_kernel(node.op, node.attrs, "CPU")
    assert kernel is not None
    given = {"node": node, **node.attrs}
    values = [inputs[arg.name] for arg in OPS[node.op].inputs]
    return kernel.fn(np, *values, **{k: given[k] for k in kernel.keywords})


def draw(op: str, attrs: dict[str, Any] | None = None, **inputs: Any) -> Any:
    return run(make_node(op, inputs, attrs or {}), inputs)


def as_recorded(array: Any, expected: dict[str, Any]) -> dict[str, Any]:
    shown: dict[str, Any] = {"dtype": array.dtype.name, "shape": list(array.shape)}
    if "sha256" in expected:
        return {**shown, "sha256": hashlib.sha256(array.tobytes()).hexdigest()}
    return {**shown, "data": array.ravel().tolist()}


@pytest.mark.parametrize("op", sorted({row["op"] for row in ROWS}))
def test_draws_as_tensorflow(op: str) -> None:
    for row in (r for r in ROWS if r["op"] == op):
        inputs = {k: np.array(value, dtype) for k, (value, dtype) in row["inputs"].items()}
        node = make_node(op, inputs, row["attrs"])
        for step, expected in enumerate(row["steps"]):
            got = as_recorded(run(node, inputs), expected)
            assert got == expected, (row["inputs"], row["attrs"], step)


def test_philox_known_answers() -> None:
    """The vectors of the Random123 distribution (kat_vectors, philox4x32 10)."""
    ones = 2**64 - 1
    digits = Stream(0x299F31D0A4093822, 0x0370734413198A2E85A308D3243F6A88)
    for stream, words in (
        (Stream(0, 0), "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        (Stream(ones, ones << 64 | ones), "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        (digits, "d16cfe09 94fdcceb 5001e420 24126ea1"),
    ):
        assert " ".join(f"{w:08x}" for w in stream.samples(1)[0]) == words


def test_counter_carries_over_64_bits() -> None:
    edge = Stream(3, 2**64 - 2)
    one_by_one = [edge.skip(i).samples(1)[0] for i in range(4)]
    np.testing.assert_array_equal(edge.samples(4), one_by_one)
    np.testing.assert_array_equal(edge.samples_at(np.arange(4, dtype=np.uint64)), one_by_one)


def test_reservations_follow_each_other() -> None:
    state = PhiloxState(1, 2)
    first, second = state.reserve_outputs(3), state.reserve(5)
    assert first == Stream(1, 2 << 64)
    assert second == first.skip(3 * OUTPUT_SAMPLES)
    assert state.reserve(0) == second.skip(5)


def test_zero_seeds_differ_from_run_to_run() -> None:
    shape = np.array([8], np.int32)
    a, b = (draw("RandomUniform", {"dtype": "float32"}, shape=shape) for _ in range(2))
    assert not np.array_equal(a, b)


def test_functions_of_float32_round_well() -> None:
    """Within 0.83 units in the last place of the true value, over all arguments of normals."""
    u = box_muller.uniform32(np.arange(1, 2**23, 7, dtype=np.uint32))
    angle = (2 * math.pi * u.astype(np.float64)).astype(np.float32)
    sine, cosine = box_muller.sincos32(angle)
    wide = angle.astype(np.float64)
    for got, true in (
        (box_muller.log32(u), np.log(u.astype(np.float64))),
        (sine, np.sin(wide)),
        (cosine, np.cos(wide)),
    ):
        unit = np.spacing(np.abs(true).astype(np.float32)).astype(np.float64)
        assert np.max(np.abs(got - true) / unit) < 0.83


def test_moments() -> None:
    shape = np.array([200_000], np.int32)
    seeds = {"seed": 7, "seed2": 11}
    normal = draw("RandomStandardNormal", {"dtype": "float64", **seeds}, shape=shape)
    assert abs(normal.mean()) < 0.01
    assert abs(normal.std() - 1) < 0.01
    gamma = draw("RandomGamma", seeds, shape=shape, alpha=np.array([0.5, 4.0]))
    np.testing.assert_allclose(gamma.mean(axis=0), [0.5, 4.0], rtol=0.02)
    poisson = draw("RandomPoissonV2", seeds, shape=shape, rate=np.array([2.0, 50.0]))
    np.testing.assert_allclose(poisson.var(axis=0), [2.0, 50.0], rtol=0.02)


def test_parameters_that_define_no_distribution_give_nan() -> None:
    shape = np.array([2], np.int32)
    gamma = draw("RandomGamma", shape=shape, alpha=np.array([-3.0, np.nan, 0.0], np.float32))
    np.testing.assert_array_equal(gamma, [[np.nan, np.nan, 0.0]] * 2)
    rate = np.array(np.nan, np.float32)
    assert np.isnan(draw("RandomPoissonV2", {"dtype": "float32"}, shape=shape, rate=rate)).all()


def test_multinomial_skips_classes_that_are_not_finite() -> None:
    rows = [[np.inf, 2.0], [np.nan, 1.0], [-np.inf, 0.0], [-np.inf, -np.inf]]
    logits = np.array(rows, np.float32)
    got = draw("Multinomial", {"seed": 4}, logits=logits, num_samples=np.array(3, np.int32))
    np.testing.assert_array_equal(got, [[1] * 3, [1] * 3, [1] * 3, [2] * 3])


INT = {name: np.array(value, np.int32) for name, value in (("minval", 5), ("maxval", 3))}
PAIR = np.array([2], np.int32)


@pytest.mark.parametrize(
    "op, inputs, message",
    [
        (
            "RandomUniform",
            {"shape": np.array(3, np.int32)},
            "vector of {int32,int64}, got shape []",
        ),
        ("RandomUniform", {"shape": np.array([-1])}, "Dimension -1 must be >= 0"),
        ("RandomUniformInt", {"shape": PAIR, **INT}, "Need minval < maxval, got 5 >= 3"),
        ("RandomUniformInt", {"shape": PAIR, **INT, "minval": PAIR}, "minval must be 0-D"),
        (
            "StatelessRandomUniform",
            {"shape": PAIR, "seed": np.array([1, 2, 3])},
            "seed must have shape [2], not [3]",
        ),
        (
            "Multinomial",
            {"logits": np.zeros(2), "num_samples": np.array(1, np.int32)},
            "logits should be a matrix, got shape [2]",
        ),
        (
            "Multinomial",
            {"logits": np.zeros((1, 2)), "num_samples": np.array(-3, np.int32)},
            "num_samples should be nonnegative, got -3",
        ),
        (
            "Multinomial",
            {"logits": np.zeros((2, 0)), "num_samples": np.array(3, np.int32)},
            "num_classes should be positive, got 0",
        ),
    ],
)
def test_bad_inputs(op: str, inputs: dict[str, Any], message: str) -> None:
    attrs = {"dtype": "float32"} if op.endswith("RandomUniform") else {}
    with pytest.raises(InvalidArgumentError) as caught:
        draw(op, attrs, **inputs)
    assert message in caught.value.message
