"""Sparse tensors cut along an axis, and the edit distance of their rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitf_runtime.errors import invalid
from minitf_runtime.ops import dims
from minitf_runtime.ops.registry import Count, ShapeContext, Type, kernel, op
from minitf_runtime.ops.sparse import triple
from minitf_runtime.types import Shape, show_shape


@op(
    "SparseSplit",
    "split_dim: int64, indices: int64, values: T, shape: int64 -> output_indices: num_split * "
    "int64, output_values: num_split * T, output_shape: num_split * int64",
    num_split=Count(),
    T=Type(),
)
def sparse_split_shape(c: ShapeContext) -> list[Shape]:
    """Parts of equal size along an axis, the first ones by one larger if that does not go."""
    n = c["num_split"]
    _, rank = triple(c, 1)
    return [(None, rank)] * n + [(None,)] * n + [(rank,)] * n


@kernel("SparseSplit", host_inputs="split_dim shape", host_outputs="output_shape")
def sparse_split(
    xp: Any, split_dim: Any, indices: Any, values: Any, shape: Any, *, num_split: int
) -> Any:
    rank, axis = len(shape), int(split_dim)
    if not -rank <= axis < rank:
        raise invalid(f"Input split_dim should be between 0 and rank ({rank}), got {axis}")
    axis %= rank
    whole = int(shape[axis])
    if not 1 <= num_split <= whole:
        raise invalid(
            f"Input num_split should be between 1 and the splitting dimension size ({whole}), got "
            f"{num_split}"
        )
    size, larger = divmod(whole, num_split)
    ends = np.cumsum([size + (i < larger) for i in range(num_split)])
    parts = []
    for start, end in zip((0, *ends), ends):
        inside = (indices[:, axis] >= start) & (indices[:, axis] < end)
        moved = indices[inside].copy()
        moved[:, axis] -= start
        parts.append((moved, values[inside], dims.replaced(shape, axis, end - start)))
    places, found, sizes = zip(*parts)
    return [*places, *found, *(np.array(s, np.int64) for s in sizes)]


@op(
    "EditDistance",
    "hypothesis_indices: int64, hypothesis_values: T, hypothesis_shape: int64, truth_indices: "
    "int64, truth_values: T, truth_shape: int64 -> output: float32",
    normalize=True,
    T=Type(),
)
def edit_distance_shape(c: ShapeContext) -> list[Shape]:
    """How many insertions, deletions and changes make each row of the one that of the other."""
    triple(c, 0)
    triple(c, 3)
    sizes, others = c.value(2), c.value(5)
    if sizes is None or others is None:
        return [None]
    return [tuple(int(max(a, b)) for a, b in zip(sizes[:-1], others[:-1]))]


@kernel("EditDistance", host_inputs="hypothesis_shape truth_shape")
def edit_distance(
    xp: Any,
    indices: Any,
    values: Any,
    shape: Any,
    truth_indices: Any,
    truth_values: Any,
    truth_shape: Any,
    *,
    normalize: bool,
) -> Any:
    if len(shape) != len(truth_shape) or len(shape) < 2:
        raise invalid(
            "hypothesis_shape and truth_shape should be vectors of one length, at least 2, got "
            f"{show_shape(shape)} and {show_shape(truth_shape)}"
        )
    said, meant = _rows(indices, values), _rows(truth_indices, truth_values)
    out = np.zeros(np.maximum(shape, truth_shape)[:-1].tolist(), np.float32)
    for at in {*said, *meant}:
        truth = meant.get(at, [])
        distance = float(_distance(said.get(at, []), truth))
        if normalize:
            distance = distance / len(truth) if truth else np.inf
        out[at] = distance
    return out


def _rows(indices: Any, values: Any) -> dict[tuple[int, ...], list[Any]]:
    """The values of each row, in order."""
    rows: dict[tuple[int, ...], list[Any]] = {}
    for place, value in zip(indices.tolist(), values.tolist()):
        rows.setdefault(tuple(place[:-1]), []).append(value)
    return rows


def _distance(a: list[Any], b: list[Any]) -> int:
    """Levenshtein's distance."""
    above = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        row = [i]
        for j, y in enumerate(b, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (x != y)))
        above = row
    return above[-1]
