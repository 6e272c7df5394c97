"""Reductions of rows by segment: rows with the same segment id are summed, multiplied, compared.

Ids are sorted (Segment...), in any order (UnsortedSegment...), or name rows that are gathered first
(SparseSegment...).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minitf_runtime.devices.arrays import on_host
from minitf_runtime.errors import invalid
from minitf_runtime.ops import dims
from minitf_runtime.ops.elementwise import truncate_div
from minitf_runtime.ops.gpu_rows import change_rows
from minitf_runtime.ops.indices import all_within, update_rows
from minitf_runtime.ops.registry import ShapeContext, Type, kernel, op
from minitf_runtime.types import (
    INDEX,
    NUMBERS,
    REALS,
    Shape,
    float32,
    float64,
    int32,
    show_shape,
)

_IDS = Type(INDEX)
_INT32_IDS = Type(INDEX, int32)


def _start(kind: str, dtype: Any) -> Any:
    """What a segment without rows holds before anything is done: the identity of the reduction."""
    if kind in ("Min", "Max"):
        finite = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
        return finite.max if kind == "Min" else finite.min
    return 1 if kind == "Prod" else 0


_UFUNCS = {"Sum": "add", "Mean": "add", "Prod": "multiply", "Min": "minimum", "Max": "maximum"}


def _reduced(xp: Any, kind: str, data: Any, rows: Any, count: int, start: Any) -> Any:
    """The reduction of all rows of each of `count` segments."""
    if xp is np and count == len(rows) and (rows == xp.arange(count)).all():
        return data
    if xp is np and data.ndim > 1 and 2 * count > len(rows) > 0:
        out, rest = _first_rows(data, rows, count, start)
        rows, data = rows[rest], data[rest]
    else:
        out = xp.full((count, *data.shape[1:]), start, data.dtype)
    if xp is not np:
        change_rows(xp, _UFUNCS[kind], out, rows, data)
    elif len(rows):
        update_rows(xp, getattr(xp, _UFUNCS[kind]), out, rows, data)
    return out


def _first_rows(data: Any, rows: Any, count: int, start: Any) -> tuple[Any, Any]:
    """The first row of each segment, for most the result, and the positions of all other rows."""
    first = np.full(count, -1)
    first[rows[::-1]] = np.arange(len(rows) - 1, -1, -1)
    out = data.take(first, axis=0, mode="clip")
    out[first < 0] = start
    return out, np.flatnonzero(first[rows] != np.arange(len(rows)))


# ---- sorted ids


def _segment_shape(c: ShapeContext) -> list[Shape]:
    c.rank(1, 1)
    data = dims.at_least(c.shape(0), 1)
    return [None if data is None else (None, *data[1:])]


def _sorted_count(xp: Any, ids: Any, num_segments: Any = None) -> int:
    """The number of segments of sorted ids. Raises InvalidArgumentError if they are not sorted."""
    last = int(on_host(xp, ids[-1])) if ids.size else -1
    count = _count_given(last + 1, num_segments)
    if not ids.size:
        return count
    if xp is not np:  # as in TF, only the last is looked at there
        return max(0, count)
    if count <= 0:
        raise invalid("segment ids must be >= 0")
    falls = ids[1:] < ids[:-1]
    if ids[0] < 0 or falls.any():
        raise _unsorted(ids, falls, count)
    return count


def _unsorted(ids: Any, falls: Any, count: int) -> Exception:
    """What is wrong with ids first, a segment being looked at when the next begins."""
    outside = (ids < 0) | (ids >= count)
    fall = int(falls.argmax()) if falls.any() else ids.size
    if not outside[:fall].any():
        return invalid("segment ids are not increasing")
    return invalid(
        f"Segment id {int(ids[outside.argmax()])} out of range [0, {count}), possibly because "
        "'segment_ids' input is not sorted."
    )


def _segment_with(kind: str) -> Callable[..., Any]:
    def segment(xp: Any, data: Any, ids: Any) -> Any:
        if ids.ndim != 1:
            raise invalid("segment_ids should be a vector.")
        if not data.ndim or data.shape[0] != ids.size:
            raise invalid("segment_ids should be the same size as dimension 0 of input.")
        count = _sorted_count(xp, ids)
        if kind in ("Sum", "Prod"):
            return _reduced(xp, kind, data, ids, count, _start(kind, data.dtype))
        rows = _rows_of(xp, ids, count, data)
        if kind == "Mean":
            return _quotient(xp, _reduced(xp, kind, data, ids, count, 0), xp.maximum(rows, 1))
        out = _reduced(xp, kind, data, ids, count, _start(kind, data.dtype))
        return xp.where(rows == 0, 0, out)

    return segment


def _rows_of(xp: Any, ids: Any, count: int, data: Any) -> Any:
    """How many rows each segment has, shaped to broadcast over rows of `data`."""
    return xp.bincount(ids, minlength=count).reshape((-1,) + (1,) * (data.ndim - 1))


def _quotient(xp: Any, total: Any, rows: Any) -> Any:
    if total.dtype.kind in "fc":
        return total / rows.astype(total.real.dtype)
    return truncate_div(xp, total, rows.astype(total.dtype))


for _kind in _UFUNCS:
    _types = REALS if _kind in ("Min", "Max") else NUMBERS
    op(
        f"Segment{_kind}",
        "data: T, segment_ids: Tindices -> output: T",
        _segment_shape,
        T=Type(_types),
        Tindices=_IDS,
    )
    kernel(f"Segment{_kind}")(_segment_with(_kind))


# ---- ids in any order


def _unsorted_shape(c: ShapeContext) -> list[Shape]:
    data, ids, given = c.shape(0), c.shape(1), c.value(2)
    c.rank(2, 0)
    if data is None or ids is None:
        return [None]
    dims.at_least(data, len(ids))
    for m, n in zip(data, ids):
        dims.merge_sizes(m, n)
    count = None if given is None else dims.size_given(int(given), 2)
    return [(count, *data[len(ids) :])]


def _unsorted_with(kind: str) -> Callable[..., Any]:
    def unsorted_segment(xp: Any, data: Any, ids: Any, num_segments: Any) -> Any:
        count = _checked_count(num_segments)
        if data.shape[: ids.ndim] != ids.shape:
            raise invalid(
                f"data.shape = {show_shape(data.shape)} does not start with segment_ids.shape = "
                f"{show_shape(ids.shape)}"
            )
        block = data.shape[ids.ndim :]
        flat, rows = ids.reshape(-1), data.reshape((ids.size, *block))
        if xp is np and not all_within(flat, count):
            if flat.max() >= count:
                raise _out_of_range(xp, ids, count)
            kept = flat >= 0  # a negative id drops its row
            flat, rows = flat[kept], rows[kept]
        return _reduced(xp, kind, rows, flat, count, _start(kind, data.dtype))

    return unsorted_segment


def _checked_count(num_segments: Any) -> int:
    if num_segments.ndim:
        shape = show_shape(num_segments.shape)
        raise invalid(f"num_segments should be a scalar, not shape {shape}")
    if num_segments < 0:
        raise invalid(f"Input num_segments == {num_segments} must not be negative.")
    return int(num_segments)


def _out_of_range(xp: Any, ids: Any, count: int) -> Exception:
    first = tuple(int(i[0]) for i in xp.nonzero(ids >= count))
    return invalid(
        f"segment_ids{show_shape(first)} = {int(ids[first])} is out of range [0, {count})"
    )


for _kind in ("Sum", "Prod", "Min", "Max"):
    op(
        f"UnsortedSegment{_kind}",
        "data: T, segment_ids: Tindices, num_segments: Tnumsegments -> output: T",
        _unsorted_shape,
        T=Type(REALS if _kind in ("Min", "Max") else NUMBERS),
        Tindices=_IDS,
        Tnumsegments=_INT32_IDS,
    )
    kernel(f"UnsortedSegment{_kind}", host_inputs="num_segments")(_unsorted_with(_kind))


# ---- rows gathered first


def _sparse_shape(c: ShapeContext) -> list[Shape]:
    data = dims.at_least(c.shape(0), 1)
    dims.merge(c.rank(1, 1), c.rank(2, 1))
    count = None
    if len(c.shapes) > 3:
        c.rank(3, 0)
        given = c.value(3)
        if given is not None and given < 0:
            raise ValueError("Cannot specify a negative value for num_segments")
        count = None if given is None else int(given)
    return [None if data is None else (count, *data[1:])]


def _sparse_with(kind: str) -> Callable[..., Any]:
    def sparse_segment(xp: Any, data: Any, indices: Any, ids: Any, num_segments: Any = None) -> Any:
        if indices.ndim != 1 or indices.shape != ids.shape:
            raise invalid("segment_ids and indices should have same size.")
        count = _sorted_count(xp, ids, num_segments)
        bad = (indices < 0) | (indices >= data.shape[0])
        if bad.any():
            at = int(bad.argmax())
            raise invalid(
                f"Bad: indices[{at}] == {int(indices[at])} out of range [0, {data.shape[0]})"
            )
        total = _reduced(xp, "Sum", data[indices], ids, count, 0)
        return total if kind == "Sum" else total / _divisor(xp, kind, ids, count, data)

    return sparse_segment


def _count_given(count: int, num_segments: Any) -> int:
    """The wanted number of segments, checked to be enough for `count` of them."""
    if num_segments is None:
        return count
    if num_segments < 0:
        raise invalid("segment ids must be >= 0")
    if num_segments < count:
        raise invalid("segment ids must be < num_segments")
    return int(num_segments)


def _divisor(xp: Any, kind: str, ids: Any, count: int, data: Any) -> Any:
    """What the sum of each segment is divided by."""
    rows = xp.maximum(_rows_of(xp, ids, count, data), 1).astype(data.dtype)
    return xp.sqrt(rows) if kind == "SqrtN" else rows


_DIVIDED = (float32, float64)
for _kind, _types in (("Sum", REALS), ("Mean", _DIVIDED), ("SqrtN", _DIVIDED)):
    op(
        f"SparseSegment{_kind}",
        "data: T, indices: Tidx, segment_ids: int32 -> output: T",
        _sparse_shape,
        T=Type(_types),
        Tidx=_INT32_IDS,
    )
    op(
        f"SparseSegment{_kind}WithNumSegments",
        "data: T, indices: Tidx, segment_ids: int32, num_segments: Tnumsegments -> output: T",
        _sparse_shape,
        T=Type(_types),
        Tidx=_INT32_IDS,
        Tnumsegments=_INT32_IDS,
    )
    kernel(f"SparseSegment{_kind}")(_sparse_with(_kind))
    kernel(f"SparseSegment{_kind}WithNumSegments", host_inputs="num_segments")(_sparse_with(_kind))


# ---- gradients of the latter: rows of the gradient back to where they were gathered


def _sparse_grad_shape(c: ShapeContext) -> list[Shape]:
    grad = dims.at_least(c.shape(0), 1)
    dims.merge(c.rank(1, 1), c.rank(2, 1))
    c.rank(3, 0)
    given = c.value(3)
    count = None if given is None else dims.size_given(int(given), 3)
    return [None if grad is None else (count, *grad[1:])]


def _sparse_grad_with(kind: str) -> Callable[..., Any]:
    def sparse_segment_grad(xp: Any, grad: Any, indices: Any, ids: Any, output_dim0: Any) -> Any:
        count, rows = len(grad), int(output_dim0)
        if ids.size and ids[-1] >= count:
            raise invalid("Invalid number of segments")
        outside = (ids < 0) | (ids >= count)
        if outside.any():
            at = int(ids[int(outside.argmax())])
            raise invalid(f"Segment id {at} out of range [0, {count}).")
        bad = (indices < 0) | (indices >= rows)
        if bad.any():
            raise invalid(f"Index {int(indices[int(bad.argmax())])} out of range [0, {rows}).")
        shares = grad / _divisor(xp, kind, ids, count, grad)
        return _reduced(xp, "Sum", shares[ids], indices, rows, 0)

    return sparse_segment_grad


for _kind in ("Mean", "SqrtN"):
    op(
        f"SparseSegment{_kind}Grad",
        "grad: T, indices: Tidx, segment_ids: int32, output_dim0: int32 -> output: T",
        _sparse_grad_shape,
        T=Type(_DIVIDED),
        Tidx=_INT32_IDS,
    )
    kernel(f"SparseSegment{_kind}Grad", host_inputs="output_dim0")(_sparse_grad_with(_kind))
