"""Reductions of rows by segment."""

from __future__ import annotations

from typing import Any

from minitf.convert import to_tensor
from minitf.default import name_scope
from minitf.operation import Tensor
from minitf.ops import array
from minitf.ops.apply import apply_op
from minitf.ops.elementwise import maximum, sqrt
from minitf.ops.raw import passthrough

__all__ = [
    "segment_max", "segment_mean", "segment_min", "segment_prod", "segment_sum",
    "sparse_segment_mean", "sparse_segment_sqrt_n", "sparse_segment_sum",
    "unsorted_segment_max", "unsorted_segment_mean", "unsorted_segment_min",
    "unsorted_segment_prod", "unsorted_segment_sqrt_n", "unsorted_segment_sum",
]  # fmt: skip

segment_max = passthrough("SegmentMax", "segment_max")
segment_mean = passthrough("SegmentMean", "segment_mean")
segment_min = passthrough("SegmentMin", "segment_min")
segment_prod = passthrough("SegmentProd", "segment_prod")
segment_sum = passthrough("SegmentSum", "segment_sum")
unsorted_segment_max = passthrough("UnsortedSegmentMax", "unsorted_segment_max")
unsorted_segment_min = passthrough("UnsortedSegmentMin", "unsorted_segment_min")
unsorted_segment_prod = passthrough("UnsortedSegmentProd", "unsorted_segment_prod")
unsorted_segment_sum = passthrough("UnsortedSegmentSum", "unsorted_segment_sum")


def unsorted_segment_mean(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Tensor:
    """The mean of the rows of each segment; 0 where there is none."""
    with name_scope(name, "UnsortedSegmentMean"):
        data = to_tensor(data)
        segment_ids = to_tensor(segment_ids)
        rows = _row_counts(data, segment_ids, num_segments)
        return unsorted_segment_sum(data, segment_ids, num_segments) / rows


def unsorted_segment_sqrt_n(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Tensor:
    """The sum of the rows of each segment, divided by the root of their number."""
    with name_scope(name, "UnsortedSegmentSqrtN"):
        data = to_tensor(data)
        segment_ids = to_tensor(segment_ids)
        rows = _row_counts(data, segment_ids, num_segments)
        return unsorted_segment_sum(data, segment_ids, num_segments) / sqrt(rows)


def _row_counts(data: Tensor, segment_ids: Tensor, num_segments: Any) -> Tensor:
    """How many rows (at least 1) each segment has, shaped to broadcast over its rows."""
    ones = array.ones(array.shape(segment_ids), dtype=data.dtype.base)
    rows = unsorted_segment_sum(ones, segment_ids, num_segments)
    inner = len(data._shape) - len(segment_ids._shape)
    return maximum(array.reshape(rows, [num_segments] + [1] * inner), 1)


def sparse_segment_sum(
    data: Any, indices: Any, segment_ids: Any, name: str | None = None, num_segments: Any = None
) -> Tensor:
    """segment_sum of the rows at `indices`."""
    return _sparse_segment("SparseSegmentSum", data, indices, segment_ids, name, num_segments)


def sparse_segment_mean(
    data: Any, indices: Any, segment_ids: Any, name: str | None = None, num_segments: Any = None
) -> Tensor:
    """segment_mean of the rows at `indices`."""
    return _sparse_segment("SparseSegmentMean", data, indices, segment_ids, name, num_segments)


def sparse_segment_sqrt_n(
    data: Any, indices: Any, segment_ids: Any, name: str | None = None, num_segments: Any = None
) -> Tensor:
    """The sum of the rows at `indices` by segment, divided by the root of their number."""
    return _sparse_segment("SparseSegmentSqrtN", data, indices, segment_ids, name, num_segments)


def _sparse_segment(
    op_type: str, data: Any, indices: Any, segment_ids: Any, name: Any, num_segments: Any
) -> Tensor:
    if num_segments is None:
        return apply_op(op_type, data, indices, segment_ids, name=name)
    op_type += "WithNumSegments"
    return apply_op(op_type, data, indices, segment_ids, num_segments, name=name)
