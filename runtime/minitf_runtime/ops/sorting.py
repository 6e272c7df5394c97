"""Ops that search, sort or compare values: where, unique, set difference, top k, bounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitf_runtime.devices.arrays import synchronised
from minitf_runtime.errors import invalid
from minitf_runtime.ops import dims
from minitf_runtime.ops.indices import first_places
from minitf_runtime.ops.registry import ShapeContext, Type, kernel, op
from minitf_runtime.types import INDEX, NUMBERS, REALS, Shape, bool_, int32, int64, show_shape

_OUT_INDEX = Type(INDEX, int32)


@op("Where", "input: T -> index: int64", T=Type((*NUMBERS, bool_), bool_))
def where_shape(c: ShapeContext) -> list[Shape]:
    """The index vectors of the non-zero elements, in row-major order."""
    x = c.shape(0)
    return [(None, None if x is None else len(x))]


@kernel("Where")
def where(xp: Any, x: Any) -> Any:
    if x.ndim == 0:
        raise invalid("WhereOp : Unhandled input dimensions: 0")
    with synchronised(xp):
        return xp.argwhere(x).astype(np.int64)


# ---- sets


def _unique_shapes(x: Shape, axes: Any, counts: bool) -> list[Shape]:
    count: Shape = (None,)
    if axes is None or len(axes) == 0:
        given = dims.with_rank(x, 1)
        return [count, x if x is None else given, count][: 2 + counts]
    if x is None:
        return [None, count, count][: 2 + counts]
    axis = int(axes[0])
    dims.axis_of(x, axis)
    return [dims.replaced(x, axis, None), (x[axis],), count][: 2 + counts]


def _declare_unique(name: str, has_axis: bool, counts: bool) -> None:
    inputs = "x: T, axis: Taxis" if has_axis else "x: T"
    outputs = "y: T, idx: out_idx" + (", count: out_idx" if counts else "")
    axis_type = dict(Taxis=Type(INDEX, int64)) if has_axis else {}

    def shape(c: ShapeContext) -> list[Shape]:
        axes = c.value(1) if has_axis else None
        if has_axis and axes is None:
            return ([None, (None,), (None,)])[: 2 + counts]
        return _unique_shapes(c.shape(0), axes, counts)

    op(name, f"{inputs} -> {outputs}", shape, T=Type(), out_idx=_OUT_INDEX, **axis_type)


_declare_unique("Unique", False, False)
_declare_unique("UniqueV2", True, False)
_declare_unique("UniqueWithCounts", False, True)
_declare_unique("UniqueWithCountsV2", True, True)


def _unique(xp: Any, x: Any, axis: int | None, out_idx: Any) -> tuple[Any, Any]:
    """Values in order of first appearance, and where each element is among them."""
    dtype = out_idx.as_numpy_dtype
    if axis is not None:
        return _unique_along(xp, x, axis, dtype)
    if x.ndim != 1:
        raise invalid("unique expects a 1D vector.")
    places = first_places(xp, x)
    first = xp.flatnonzero(places == xp.arange(x.size))
    rank = xp.empty(x.shape, dtype)
    rank[first] = xp.arange(first.size, dtype=dtype)
    return x[first], rank[places]


def _unique_along(xp: Any, x: Any, axis: int, dtype: Any) -> tuple[Any, Any]:
    _, first, inverse = xp.unique(
        x, return_index=True, return_inverse=True, axis=axis, equal_nan=False
    )
    order = xp.argsort(first)
    place = xp.empty_like(order)
    place[order] = xp.arange(len(order))
    return xp.take(x, first[order], axis=axis), place[inverse.reshape(-1)].astype(dtype)


def _counted(xp: Any, x: Any, axis: int | None, out_idx: Any) -> tuple[Any, Any, Any]:
    """The same, and how often each value is there."""
    y, idx = _unique(xp, x, axis, out_idx)
    count = y.shape[axis or 0]
    return y, idx, xp.bincount(idx, minlength=count).astype(idx.dtype)


def _unique_axis(axis: Any, x: Any) -> int | None:
    if axis.size == 0:
        return None
    if axis.size > 1:
        raise invalid("axis does not support input tensors larger than 1 elements")
    at = int(axis.reshape(()))
    if not -x.ndim <= at < x.ndim:
        raise invalid(f"axis has to be between [0, {x.ndim})")
    return at % x.ndim if x.ndim > 1 else None


@kernel("UniqueWithCounts")
def unique_with_counts(xp: Any, x: Any, *, out_idx: Any) -> Any:
    return _counted(xp, x, None, out_idx)


@kernel("Unique")
def unique(xp: Any, x: Any, *, out_idx: Any) -> Any:
    return _unique(xp, x, None, out_idx)


@kernel("UniqueWithCountsV2", host_inputs="axis")
def unique_with_counts_v2(xp: Any, x: Any, axis: Any, *, out_idx: Any) -> Any:
    return _counted(xp, x, _unique_axis(axis, x), out_idx)


@kernel("UniqueV2", host_inputs="axis")
def unique_v2(xp: Any, x: Any, axis: Any, *, out_idx: Any) -> Any:
    return _unique(xp, x, _unique_axis(axis, x), out_idx)


@op("ListDiff", "x: T, y: T -> out: T, idx: out_idx", T=Type(), out_idx=_OUT_INDEX)
def list_diff_shape(c: ShapeContext) -> list[Shape]:
    """The values of x that are not in y, and where they are in x."""
    for i in (0, 1):
        dims.with_rank(c.shape(i), 1)
    return [(None,), (None,)]


@kernel("ListDiff")
def list_diff(xp: Any, x: Any, y: Any, *, out_idx: Any) -> Any:
    for name, value in (("x", x), ("y", y)):
        if value.ndim != 1:
            raise invalid(f"{name} should be a 1D vector.")
    kept = xp.flatnonzero(~xp.isin(x, y))
    return x[kept], kept.astype(out_idx.as_numpy_dtype)


@op("InvertPermutation", "x: T -> y: T", T=Type(INDEX, int32))
def invert_permutation_shape(c: ShapeContext) -> list[Shape]:
    return [dims.with_rank(c.shape(0), 1)]


@kernel("InvertPermutation")
def invert_permutation(xp: Any, x: Any) -> Any:
    if x.ndim != 1:
        raise invalid("invert_permutation expects a 1D vector.")
    n = len(x)
    wrong = (x < 0) | (x >= n)
    if bool(wrong.any()):
        raise invalid(f"{x[wrong][0]} is not between 0 and {n}")
    out = xp.full(n, -1, x.dtype)
    out[x] = xp.arange(n, dtype=x.dtype)
    twice = out[x] != xp.arange(n)
    if bool(twice.any()):
        raise invalid(f"{x[twice][0]} is duplicated in the input.")
    return out


@op("UnravelIndex", "indices: Tidx, dims: Tidx -> output: Tidx", Tidx=Type(INDEX, int32))
def unravel_index_shape(c: ShapeContext) -> list[Shape]:
    """Positions in row-major order as index vectors, one axis of the shape per row."""
    indices, (rank,) = c.shape(0), dims.with_rank(c.shape(1), 1)
    return [None if indices is None else (rank, *indices)]


@kernel("UnravelIndex", host_inputs="dims")
def unravel_index(xp: Any, indices: Any, dims: Any) -> Any:
    count = int(np.prod(dims, dtype=np.int64))
    if indices.size and not (int(indices.min()) >= 0 and int(indices.max()) < count):
        raise invalid("index is out of bound as with dims")
    return xp.stack(xp.unravel_index(xp.asarray(indices), tuple(dims.tolist()))).astype(dims.dtype)


# ---- the largest


def _top_k_shapes(x: Shape, k: int | None) -> list[Shape]:
    if x is None:
        return [None, None]
    dims.at_least(x, 1)
    if k is not None and x[-1] is not None and x[-1] < k:
        raise ValueError(f"input must have last dimension >= k = {k} but is {x[-1]}")
    return [(*x[:-1], k)] * 2


@op("TopK", "input: T -> values: T, indices: int32", k=0, sorted=True, T=Type(REALS))
def top_k_shape(c: ShapeContext) -> list[Shape]:
    return _top_k_shapes(c.shape(0), c["k"])


@op("TopKV2", "input: T, k: int32 -> values: T, indices: int32", sorted=True, T=Type(REALS))
def top_k_v2_shape(c: ShapeContext) -> list[Shape]:
    """The k largest of the last axis, largest first; of equal ones the first."""
    k = c.value(1)
    dims.with_rank(c.shape(1), 0)
    return _top_k_shapes(c.shape(0), None if k is None else dims.size_given(int(k), 1))


@kernel("TopKV2", host_inputs="k")
def top_k_v2(xp: Any, x: Any, k: Any) -> Any:
    if k.ndim:
        raise invalid(f"k must be scalar, got shape {show_shape(k.shape)}")
    return top_k(xp, x, k=int(k))


@kernel("TopK")
def top_k(xp: Any, x: Any, *, k: Any) -> Any:
    if k < 0:
        raise invalid(f"Need k >= 0, got {k}")
    if x.ndim < 1:
        raise invalid(f"input must be >= 1-D, got shape {show_shape(x.shape)}")
    n = x.shape[-1]
    if n < k:
        raise invalid(f"input must have at least k columns. Had {n}, needed {k}")
    if 4 * k < n and k and not bool((x != x).any()):  # NaNs need the sort
        candidates = _largest(xp, x, k)
        order = _descending(xp, xp.take_along_axis(x, candidates, axis=-1))
        indices = xp.take_along_axis(candidates, order, axis=-1)
    else:
        indices = _descending(xp, x)[..., :k]
    return xp.take_along_axis(x, indices, axis=-1), indices.astype(np.int32)


def _descending(xp: Any, x: Any) -> Any:
    """The indices that sort the last axis, of equal values the first one first."""
    ascending = xp.argsort(x[..., ::-1], axis=-1, kind="stable")
    return (x.shape[-1] - 1 - ascending)[..., ::-1]


def _largest(xp: Any, x: Any, k: int) -> Any:
    """The indices of the k largest of the last axis, in order of place."""
    n = x.shape[-1]
    least = xp.partition(x, n - k, axis=-1)[..., n - k, None]
    taken = x >= least
    if int(taken.sum()) > least.size * k:  # of those that equal the least, some are left out
        above, equal = x > least, x == least
        wanted = k - above.sum(axis=-1, keepdims=True)
        taken = above | (equal & (equal.cumsum(axis=-1) <= wanted))
    return xp.nonzero(taken)[-1].reshape(*x.shape[:-1], k)


def _in_top_k_shape(c: ShapeContext) -> list[Shape]:
    predictions, targets = dims.with_rank(c.shape(0), 2), dims.with_rank(c.shape(1), 1)
    if len(c.shapes) > 2:
        dims.with_rank(c.shape(2), 0)
    return [(dims.merge_sizes(predictions[0], targets[0]),)]


_IN_TOP_K = "predictions: float32, targets: T"
op("InTopK", f"{_IN_TOP_K} -> precision: bool", _in_top_k_shape, k=0, T=_OUT_INDEX)
op("InTopKV2", f"{_IN_TOP_K}, k: T -> precision: bool", _in_top_k_shape, T=_OUT_INDEX)


@kernel("InTopK")
def in_top_k(xp: Any, predictions: Any, targets: Any, *, k: Any) -> Any:
    """Fewer than k classes beat the target; never so for bad targets or not finite rows."""
    if predictions.ndim != 2:
        raise invalid("predictions must be 2-dimensional")
    if targets.ndim != 1:
        raise invalid("targets must be 1-dimensional")
    rows, classes = predictions.shape
    if rows != len(targets):
        raise invalid(
            f"First dimension of predictions {rows} must match length of targets {len(targets)}"
        )
    valid = (targets >= 0) & (targets < classes)
    own = predictions[xp.arange(rows), xp.where(valid, targets, 0)]
    better = (predictions > own[:, None]).sum(axis=1)
    return valid & xp.isfinite(predictions).all(axis=1) & (better < k)


@kernel("InTopKV2", host_inputs="k")
def in_top_k_v2(xp: Any, predictions: Any, targets: Any, k: Any) -> Any:
    return in_top_k(xp, predictions, targets, k=int(k))


@op("NthElement", "input: T, n: int32 -> values: T", reverse=False, T=Type(REALS))
def nth_element_shape(c: ShapeContext) -> list[Shape]:
    """The n-th smallest (largest, if reverse) of the last axis."""
    x, n = dims.at_least(c.shape(0), 1), c.value(1)
    if n is not None and n.ndim:
        raise ValueError(f"Input must be scalar but has rank {n.ndim}")
    dims.with_rank(c.shape(1), 0)
    if n is not None:
        dims.size_given(int(n), 1)
    if x is None:
        return [None]
    if n is not None and x[-1] is not None and x[-1] <= n:
        raise ValueError(f"Input must have last dimension > n = {n} but is {x[-1]}")
    return [x[:-1]]


@kernel("NthElement", host_inputs="n")
def nth_element(xp: Any, x: Any, n: Any, *, reverse: Any) -> Any:
    count = x.shape[-1] if x.ndim else 0
    if n < 0:
        raise invalid(f"n must be non-negative, got {n}")
    if n >= count:
        raise invalid("input must have at least n+1 columns")
    at = count - 1 - int(n) if reverse else int(n)
    return xp.partition(x, at, axis=-1)[..., at]


# ---- places in sorted rows


def _bound_shape(c: ShapeContext) -> list[Shape]:
    for i in (0, 1):
        dims.with_rank(c.shape(i), 2)
    return [c.shape(1)]


_BOUND = "sorted_inputs: T, values: T -> output: out_type"
op("LowerBound", _BOUND, _bound_shape, T=Type(), out_type=_OUT_INDEX)
op("UpperBound", _BOUND, _bound_shape, T=Type(), out_type=_OUT_INDEX)


def _bound(xp: Any, rows: Any, values: Any, out_type: Any, side: str) -> Any:
    if len(rows) != len(values):
        raise invalid("Leading dim_size of both tensors must match.")
    found = [xp.searchsorted(row, v, side=side) for row, v in zip(rows, values)]
    empty = xp.zeros(values.shape, out_type.as_numpy_dtype)
    return xp.stack(found).astype(out_type.as_numpy_dtype) if found else empty


@kernel("LowerBound")
def lower_bound(xp: Any, rows: Any, values: Any, *, out_type: Any) -> Any:
    return _bound(xp, rows, values, out_type, "left")


@kernel("UpperBound")
def upper_bound(xp: Any, rows: Any, values: Any, *, out_type: Any) -> Any:
    return _bound(xp, rows, values, out_type, "right")
