"""Candidate samplers: classes drawn to stand for all in sampled losses, number for number TF's."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from minitf_runtime.errors import invalid
from minitf_runtime.ops.philox import PhiloxState, Stream
from minitf_runtime.ops.registry import Attr, Count, ShapeContext, kernel, op
from minitf_runtime.types import Shape, show_shape

_RESERVED = 2048 // 4  # samples of 128 bits that TF sets aside for each class drawn
_MAX64 = 2**64 - 1

_SAMPLER: dict[str, Any] = dict(
    num_true=Count(), num_sampled=Count(), unique=Attr("bool"), seed=0, seed2=0
)
_SIGNATURE = (
    "true_classes: int64 -> "
    "sampled_candidates: int64, true_expected_count: float, sampled_expected_count: float"
)


def _sampler_shape(c: ShapeContext) -> list[Shape]:
    rows = c.rank(0, 2)
    assert rows is not None
    sampled = (c["num_sampled"],)
    return [sampled, (rows[0], c["num_true"]), sampled]


for _name in ("UniformCandidateSampler", "LogUniformCandidateSampler"):
    op(_name, _SIGNATURE, _sampler_shape, stateful=True, **_SAMPLER, range_max=Count())
op("AllCandidateSampler", _SIGNATURE, _sampler_shape, stateful=True, **_SAMPLER)


def _draws64(stream: Stream, count: int) -> Iterator[int]:
    """Numbers of 64 bits, without end; those past the reservation come again in later calls."""
    while True:
        words = stream.samples(count).reshape(-1, 2).astype(np.uint64)
        yield from (words[:, 0] | words[:, 1] << np.uint64(32)).tolist()
        stream = stream.skip(count)


def _log_uniform(draws: Iterator[int], limit: int) -> int:
    """Zipf's law: small classes are the frequent ones."""
    bits = next(draws)
    low, high = bits & 0xFFFFFFFF, bits >> 32
    mantissa = (low & 0xFFFFF) << 32 | high
    unit = np.uint64(1023 << 52 | mantissa).view(np.float64) - 1.0
    return (int(math.exp(unit * math.log1p(limit))) - 1) % limit


def _uniform(draws: Iterator[int], limit: int) -> int:
    remainder = (_MAX64 % limit + 1) % limit
    return next(d for d in draws if d >= remainder) % limit


def _sample(
    node: Any,
    true_classes: Any,
    draw: Callable[[Iterator[int], int], int],
    probability: Callable[[Any, int], Any],
) -> Any:
    attrs = node.attrs
    count, limit = attrs["num_sampled"], attrs["range_max"]
    _check_true(true_classes, attrs["num_true"])
    if attrs["unique"] and count > limit:
        raise invalid(f"Sampler's range is too small: {count} classes of {limit}.")
    state: PhiloxState = node.keep(lambda: PhiloxState(attrs["seed"], attrs["seed2"]))
    draws = _draws64(state.reserve(_RESERVED * count), count)
    picked: list[int] = []
    used: set[int] = set()
    tries = 0
    while len(picked) < count:
        tries += 1
        value = draw(draws, limit)
        if attrs["unique"] and value in used:
            continue
        used.add(value)
        picked.append(value)
    sampled = np.array(picked, np.int64)

    def expected(classes: Any) -> Any:
        p = probability(classes, limit).astype(np.float32)
        if tries == count:
            return p * np.float32(count)
        return -np.expm1(tries * np.log1p(-p.astype(np.float64))).astype(np.float32)

    return sampled, expected(true_classes), expected(sampled)


def _check_true(true_classes: Any, num_true: int) -> None:
    if true_classes.ndim != 2 or true_classes.shape[1] != num_true:
        raise invalid(
            f"true_classes must have num_true columns, expected: {num_true} was: "
            f"{show_shape(true_classes.shape)}"
        )


@kernel("LogUniformCandidateSampler", host_inputs="true_classes")
def log_uniform_candidate_sampler(xp: Any, true_classes: Any, *, node: Any) -> Any:
    def probability(classes: Any, limit: int) -> Any:
        return np.log((classes + 2.0) / (classes + 1.0)) / math.log1p(limit)

    return _to_device(xp, _sample(node, true_classes, _log_uniform, probability))


@kernel("UniformCandidateSampler", host_inputs="true_classes")
def uniform_candidate_sampler(xp: Any, true_classes: Any, *, node: Any) -> Any:
    def probability(classes: Any, limit: int) -> Any:
        return np.full(classes.shape, 1 / limit)

    return _to_device(xp, _sample(node, true_classes, _uniform, probability))


@kernel("AllCandidateSampler", host_inputs="true_classes")
def all_candidate_sampler(xp: Any, true_classes: Any, *, node: Any) -> Any:
    """Every class, each of them once."""
    count = node.attrs["num_sampled"]
    _check_true(true_classes, node.attrs["num_true"])
    ones = np.ones(true_classes.shape, np.float32), np.ones(count, np.float32)
    return _to_device(xp, (np.arange(count), *ones))


def _to_device(xp: Any, arrays: Any) -> Any:
    return arrays if xp is np else tuple(xp.asarray(a) for a in arrays)


@op(
    "ComputeAccidentalHits",
    "true_classes: int64, sampled_candidates: int64 -> indices: int32, ids: int64, weights: float",
    num_true=Attr("int"),
    seed=0,
    seed2=0,
)
def compute_accidental_hits_shape(c: ShapeContext) -> list[Shape]:
    """Where a sampled class is one of the true classes of a row."""
    c.rank(0, 2)
    c.rank(1, 1)
    return [(None,)] * 3


@kernel("ComputeAccidentalHits", host_inputs="true_classes sampled_candidates")
def compute_accidental_hits(xp: Any, true_classes: Any, sampled: Any, *, num_true: int) -> Any:
    _check_true(true_classes, num_true)
    places = {int(c): i for i, c in enumerate(sampled)}
    hits = [
        (row, places[int(c)])
        for row, classes in enumerate(true_classes)
        for c in classes
        if int(c) in places
    ]
    indices = np.array([row for row, _ in hits], np.int32)
    ids = np.array([place for _, place in hits], np.int64)
    weights = np.full(len(hits), -np.finfo(np.float32).max, np.float32)
    return _to_device(xp, (indices, ids, weights))
