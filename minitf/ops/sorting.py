"""Functions that search, sort or compare: where, unique, set difference, top k, sort."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitf.convert import constant, to_tensor
from minitf.default import name_scope
from minitf.operation import Tensor
from minitf.ops.apply import apply_op
from minitf.ops.constant_value import constant_value
from minitf.ops.joining import concat
from minitf.ops.raw import passthrough
from minitf.ops.shapes import rank, reshape, shape, shape_internal, transpose
from minitf_runtime.types import bool_, int32

__all__ = [
    "argsort",
    "invert_permutation",
    "searchsorted",
    "setdiff1d",
    "sort",
    "unique",
    "unique_with_counts",
    "unravel_index",
    "where",
    "where_v2",
]

unravel_index = passthrough("UnravelIndex", "unravel_index")
invert_permutation = passthrough("InvertPermutation", "invert_permutation")


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Tensor:
    """x where the condition holds and y elsewhere, of one shape; or the indices where it holds."""
    if x is not None and y is not None:
        return apply_op("Select", condition, x, y, name=name)
    return _places(condition, x, y, name)


def where_v2(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Tensor:
    """`where` whose three arguments broadcast together."""
    if x is not None and y is not None:
        return apply_op("SelectV2", condition, x, y, name=name)
    return _places(condition, x, y, name)


def _places(condition: Any, x: Any, y: Any, name: str | None) -> Tensor:
    if x is not None or y is not None:
        raise ValueError("x and y must both be non-None or both be None.")
    with name_scope(name, "Where", [condition]) as scope:
        condition = to_tensor(condition, preferred_dtype=bool_, name="condition")
        return apply_op("Where", condition, name=scope)


def unique(x: Any, out_idx: Any = int32, name: str | None = None) -> Any:
    """The different values in order of appearance, and where each element is among them."""
    return apply_op("Unique", x, out_idx=out_idx, name=name)


def unique_with_counts(x: Any, out_idx: Any = int32, name: str | None = None) -> Any:
    """`unique`, and how often each value occurs."""
    return apply_op("UniqueWithCounts", x, out_idx=out_idx, name=name)


def setdiff1d(x: Any, y: Any, index_dtype: Any = int32, name: str | None = None) -> Any:
    """The values of x that are not in y, and where they are in x."""
    return apply_op("ListDiff", x, y, out_idx=index_dtype, name=name)


# ---- the largest (tf.nn)


def top_k(input: Any, k: Any = 1, sorted: bool = True, name: str | None = None) -> Any:  # noqa: A002
    """The k largest values of the last axis with their indices, largest first."""
    return apply_op("TopKV2", input, k, sorted=sorted, name=name)


def in_top_k(predictions: Any, targets: Any, k: Any, name: str | None = None) -> Tensor:
    """Whether each target is among its row's k largest predictions."""
    with name_scope(name, "in_top_k"):
        return apply_op("InTopKV2", predictions, targets, k, name=name)


def nth_element(input: Any, n: Any, reverse: bool = False, name: str | None = None) -> Tensor:  # noqa: A002
    """The n-th smallest (largest, if reverse) value of the last axis."""
    return apply_op("NthElement", input, n, reverse=reverse, name=name)


# ---- sorting


def sort(
    values: Any, axis: int = -1, direction: str = "ASCENDING", name: str | None = None
) -> Tensor:
    """The values sorted along an axis."""
    with name_scope(name, "sort"):
        return _sorted(values, axis, direction, indices=False)


def argsort(
    values: Any,
    axis: int = -1,
    direction: str = "ASCENDING",
    stable: bool = False,
    name: str | None = None,
) -> Tensor:
    """The indices that sort the values along an axis (always stably)."""
    with name_scope(name, "argsort"):
        return _sorted(values, axis, direction, indices=True)


def _sorted(values: Any, axis: Any, direction: str, indices: bool) -> Tensor:
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(f"{direction} should be one of ASCENDING, DESCENDING")
    axis = to_tensor(axis, name="axis")
    at = constant_value(axis)
    if axis._shape != () or at is None:
        raise ValueError("axis must be a constant scalar")
    values = to_tensor(values, name="values")
    if direction == "DESCENDING":
        return _descending(values, int(at), indices)
    found = _descending(-values, int(at), indices)
    return found if indices else -found


def _descending(values: Tensor, axis: int, indices: bool) -> Tensor:
    count = shape(values)[axis]
    ndim = rank(values)
    order = None
    if axis != -1 and axis + 1 != values.shape.ndims:
        order = _last_with(axis, ndim, values.shape.ndims)
        values = transpose(values, order)
    largest = top_k(values, count)
    found = largest.indices if indices else largest.values
    return found if order is None else transpose(found, order)


def _last_with(axis: Any, ndim: Any, static: int | None) -> Tensor:
    """The order of axes in which `axis` and the last are exchanged."""
    if axis < 0:
        axis += static or ndim
    if static is not None:
        parts = [np.arange(axis), [static - 1], np.arange(axis + 1, static - 1), [axis]]
        return constant(np.concatenate(parts).astype(np.int64), name="transposition")
    before = apply_op("Range", 0, axis, 1, name="range")
    last = ndim - 1
    between = apply_op("Range", axis + 1, ndim - 1, 1, name="range")
    return concat([before, [last], between, [axis]], axis=0)


_BOUNDS = {"left": "LowerBound", "right": "UpperBound"}


def searchsorted(
    sorted_sequence: Any,
    values: Any,
    side: str = "left",
    out_type: Any = int32,
    name: str | None = None,
) -> Tensor:
    """Where the values would go into sorted rows, before (left) or after (right) equal ones."""
    row_size = shape_internal(sorted_sequence)[-1]
    values_size = shape_internal(values)[-1]
    rows = reshape(sorted_sequence, [-1, row_size])
    flat = reshape(values, [-1, values_size])
    if side not in _BOUNDS:
        raise ValueError(f"side must be either 'right' or 'left'.  Saw: {side}.")
    found = apply_op(_BOUNDS[side], rows, flat, out_type=out_type, name=name)
    return reshape(found, shape_internal(values))
