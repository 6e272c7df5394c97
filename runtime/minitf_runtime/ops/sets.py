"""Set operations along the last axis: of dense tensors and of sparse ones, in host memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitf_runtime.errors import invalid
from minitf_runtime.ops import dims
from minitf_runtime.ops.registry import Attr, ShapeContext, Type, kernel, op
from minitf_runtime.ops.sparse import check_inside, triple
from minitf_runtime.types import Shape, int8, int16, int32, int64, show_shape, string, uint8, uint16

_ATTRS = dict(validate_indices=True, T=Type((int8, int16, int32, int64, uint8, uint16, string)))
_HOW = Attr("string", allowed=("a-b", "b-a", "intersection", "union"))
_RESULT = "result_indices: int64, result_values: T, result_shape: int64"
_FIRST = "set1_indices: int64, set1_values: T, set1_shape: int64"
_SECOND = "set2_indices: int64, set2_values: T, set2_shape: int64"

Groups = dict[tuple[int, ...], set[Any]]


def _result(rank: dims.Size) -> list[Shape]:
    return [(None, rank), (None,), (rank,)]


@op("DenseToDenseSetOperation", f"set1: T, set2: T -> {_RESULT}", set_operation=_HOW, **_ATTRS)
def dense_to_dense_shape(c: ShapeContext) -> list[Shape]:
    """For each row of two tensors the set operation of its values, as a sparse tensor."""
    a, b = dims.at_least(c.shape(0), 2), dims.at_least(c.shape(1), 2)
    if a is not None and b is not None:
        dims.merge(a[:-1], b[:-1])
    known = a if a is not None else b
    return _result(None if known is None else len(known))


@op("DenseToSparseSetOperation", f"set1: T, {_SECOND} -> {_RESULT}", set_operation=_HOW, **_ATTRS)
def dense_to_sparse_shape(c: ShapeContext) -> list[Shape]:
    a = dims.at_least(c.shape(0), 2)
    _, rank = triple(c, 1)
    return _result(rank if a is None else dims.merge_sizes(len(a), rank))


@op(
    "SparseToSparseSetOperation",
    f"{_FIRST}, {_SECOND} -> {_RESULT}",
    set_operation=_HOW,
    **_ATTRS,
)
def sparse_to_sparse_shape(c: ShapeContext) -> list[Shape]:
    return _result(dims.merge_sizes(triple(c, 0)[1], triple(c, 3)[1]))


@op("SetSize", "set_indices: int64, set_values: T, set_shape: int64 -> size: int32", **_ATTRS)
def set_size_shape(c: ShapeContext) -> list[Shape]:
    """The number of different values of each row of a sparse tensor."""
    triple(c, 0)
    return [None]


def _rows(x: Any) -> Groups:
    if x.ndim < 2:
        raise invalid(f"Invalid rank: need at least 2 dimensions, got {show_shape(x.shape)}")
    return {at: set(x[at].tolist()) for at in np.ndindex(*x.shape[:-1])}


def _sparse_rows(indices: Any, values: Any, shape: Any, check: bool) -> Groups:
    if len(shape) < 2:
        raise invalid(f"Invalid rank: need at least 2 dimensions, got {show_shape(shape)}")
    check_inside(indices, shape.tolist(), check)
    out: Groups = {}
    for at, value in zip(indices.tolist(), values.tolist()):
        out.setdefault(tuple(at[:-1]), set()).add(value)
    return out


_COMBINE = {
    "a-b": lambda a, b: a - b,
    "b-a": lambda a, b: b - a,
    "intersection": lambda a, b: a & b,
    "union": lambda a, b: a | b,
}


def _combined(a: Groups, b: Groups, shapes: Any, how: str, dtype: Any) -> tuple[Any, Any, Any]:
    first, second = (tuple(int(n) for n in s) for s in shapes)
    if first[:-1] != second[:-1]:
        raise invalid(f"Mismatched shapes {show_shape(first[:-1])} vs {show_shape(second[:-1])}")
    places: list[tuple[int, ...]] = []
    found: list[Any] = []
    widest = 0
    for group in sorted(a.keys() | b.keys()):
        values = sorted(_COMBINE[how](a.get(group, set()), b.get(group, set())))
        places += [(*group, i) for i in range(len(values))]
        found += values
        widest = max(widest, len(values))
    out = np.empty(len(found), dtype)
    out[:] = found
    indices = np.array(places, np.int64).reshape(-1, len(first))
    return indices, out, np.array([*first[:-1], widest], np.int64)


@kernel("DenseToDenseSetOperation", device="CPU")
def dense_to_dense(xp: Any, a: Any, b: Any, *, set_operation: Any) -> Any:
    return _combined(_rows(a), _rows(b), (a.shape, b.shape), set_operation, a.dtype)


@kernel("DenseToSparseSetOperation", device="CPU")
def dense_to_sparse(
    xp: Any, a: Any, indices: Any, values: Any, shape: Any,
    *, set_operation: Any, validate_indices: Any,
) -> Any:  # fmt: skip
    b = _sparse_rows(indices, values, shape, validate_indices)
    return _combined(_rows(a), b, (a.shape, shape), set_operation, a.dtype)


@kernel("SparseToSparseSetOperation", device="CPU")
def sparse_to_sparse(
    xp: Any, a: Any, a_values: Any, a_shape: Any, b: Any, b_values: Any, b_shape: Any,
    *, set_operation: Any, validate_indices: Any,
) -> Any:  # fmt: skip
    first = _sparse_rows(a, a_values, a_shape, validate_indices)
    second = _sparse_rows(b, b_values, b_shape, validate_indices)
    return _combined(first, second, (a_shape, b_shape), set_operation, a_values.dtype)


@kernel("SetSize", device="CPU")
def set_size(xp: Any, indices: Any, values: Any, shape: Any, *, validate_indices: Any) -> Any:
    out = np.zeros(shape[:-1].tolist(), np.int32)
    for group, members in _sparse_rows(indices, values, shape, validate_indices).items():
        out[group] = len(members)
    return out
