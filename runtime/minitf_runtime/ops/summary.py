"""Ops that make serialised Summary messages: what event files hold and TensorBoard shows."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitf_runtime.errors import invalid
from minitf_runtime.ops.registry import Count, Type, kernel, op, scalar
from minitf_runtime.storage.protobuf import (
    DecodeError,
    bytes_field,
    double_field,
    fields,
    float_field,
    packed_doubles_field,
)
from minitf_runtime.types import REALS, bool_, float32, show_shape

op("ScalarSummary", "tags: string, values: T -> summary: string", scalar, T=Type(REALS))
op(
    "HistogramSummary",
    "tag: string, values: T -> summary: string",
    scalar,
    T=Type((*REALS, bool_), default=float32),
)
op("MergeSummary", "inputs: N * string -> summary: string", scalar, N=Count())


@kernel("ScalarSummary")
def scalar_summary(xp: Any, tags: Any, values: Any) -> Any:
    """One simple value for each tag."""
    tags = np.asarray(tags, object)
    if tags.shape != np.shape(values):
        raise invalid(
            f"tags and values not the same shape: {show_shape(tags.shape)} != "
            f"{show_shape(np.shape(values))}" + _tag_hint(tags)
        )
    numbers = np.ravel(values)
    return _summary(_value(tag, float_field(2, float(v))) for tag, v in zip(tags.ravel(), numbers))


def _tag_hint(tags: np.ndarray) -> str:
    return f" (tag '{tags.item().decode()}')" if tags.ndim == 0 else ""


@kernel("HistogramSummary")
def histogram_summary(xp: Any, tag: Any, values: Any, *, node: Any) -> Any:
    numbers = np.ravel(values).astype(np.float64)
    name = np.asarray(tag, object).item()
    if not np.isfinite(numbers).all():
        bad = "Nan" if np.isnan(numbers).any() else "Infinity"
        raise invalid(f"{bad} in summary histogram for: {node.name}")
    return _summary([_value(name, bytes_field(5, _histogram(numbers)))])


def _bucket_limits() -> np.ndarray:
    """TF's buckets: limits that grow by 10 % from 1e-12 to 1e20, and their negatives."""
    positive = []
    limit = 1.0e-12
    while limit < 1.0e20:
        positive.append(limit)
        limit *= 1.1
    largest = np.finfo(np.float64).max
    positive.append(largest)
    return np.array([-v for v in reversed(positive)] + [0.0] + positive)


_LIMITS = _bucket_limits()


def _histogram(values: np.ndarray) -> bytes:
    """A HistogramProto. Of several empty buckets in a row only the last is told."""
    buckets = np.searchsorted(_LIMITS[:-1], values, side="right")
    counts = np.bincount(buckets, minlength=len(_LIMITS))
    told = np.flatnonzero((counts > 0) | np.append(counts[1:] > 0, True))
    largest = _LIMITS[-1]
    stats = (
        values.min(initial=largest), values.max(initial=-largest), values.size,
        _sum(values), _sum(values * values),
    )  # fmt: skip
    out = b"".join(double_field(n, float(v)) for n, v in enumerate(stats, 1) if v)
    out += packed_doubles_field(6, _LIMITS[told].tolist())
    return out + packed_doubles_field(7, counts[told].astype(float).tolist())


def _sum(values: np.ndarray) -> float:
    """One after the other, as TF adds: NumPy's sum rounds otherwise."""
    return float(values.cumsum()[-1]) if values.size else 0.0


@kernel("MergeSummary")
def merge_summary(xp: Any, inputs: list[Any]) -> Any:
    """All values of the given summaries. A tag may occur only once."""
    seen: set[bytes] = set()
    merged = []
    for data in (item for x in inputs for item in np.asarray(x, object).ravel()):
        for value in _values_of(data):
            tag = next((v for n, _, v in fields(value) if n == 1), b"")
            if tag in seen:
                raise invalid(f"Duplicate tag {tag.decode()} found in summary inputs")
            seen.add(tag)
            merged.append(bytes_field(1, value))
    return _summary(merged)


def _values_of(data: bytes) -> list[bytes]:
    try:
        return [value for number, _, value in fields(data) if number == 1]
    except DecodeError:
        raise invalid("Could not parse one of the summary inputs") from None


def _value(tag: bytes, content: bytes) -> bytes:
    """A field of Summary: the Summary.Value of a tag."""
    return bytes_field(1, bytes_field(1, tag) + content)


def _summary(values: Any) -> np.ndarray:
    out = np.empty((), object)
    out[()] = b"".join(values)
    return out
