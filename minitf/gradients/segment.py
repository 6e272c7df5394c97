"""Gradients of segment reductions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitf.convert import constant
from minitf.gradients.registry import gradient
from minitf.ops.apply import apply_op
from minitf.ops.array import (
    concat,
    expand_dims,
    fill,
    gather,
    ones_like,
    rank,
    shape,
    zeros_like,
)
from minitf.ops.elementwise import cast
from minitf_runtime.types import bool_, int32


@gradient("SegmentSum")
def segment_sum(op: Any, grad: Any) -> Any:
    return gather(grad, op.inputs[1]), None


@gradient("SegmentMean")
def segment_mean(op: Any, grad: Any) -> Any:
    data, ids = op.inputs
    data_rank = rank(data)
    sizes = concat([shape(ids), fill(expand_dims(data_rank - 1, 0), 1)], 0)
    ones = fill(sizes, constant(1, grad.dtype))
    scaled = grad / apply_op("SegmentSum", ones, ids)
    return gather(scaled, ids), None


@gradient("SegmentMin", "SegmentMax")
def segment_extremum(op: Any, grad: Any) -> Any:
    """Shared evenly by the elements of a segment that are the extremum."""
    data, ids = op.inputs
    nothing = zeros_like(data)
    chosen = apply_op("Equal", data, gather(op.outputs[0], ids))
    count = apply_op("SegmentSum", cast(chosen, grad.dtype), ids)
    shared = gather(grad / count, ids)
    return apply_op("Select", chosen, shared, nothing), None


# ---- segments in any order; negative ids are left out


class _Picker:
    """Gathers rows by segment id, zeros where the id is negative. The masks are made once."""

    def __init__(self, ids: Any, clipped: Any = None) -> None:
        self.ids = ids
        self.clipped = clipped
        self.positive: Any = None

    def __call__(self, params: Any) -> Any:
        if self.clipped is None:
            self.clipped = clip(self.ids)
        rows = gather(params, self.clipped)
        if self.positive is None:
            self.positive = self._mask(rows)
        nothing = zeros_like(rows)
        return apply_op("Select", self.positive, rows, nothing)

    def _mask(self, rows: Any) -> Any:
        """Which elements of `rows` have an id that is not negative."""
        positive = apply_op("GreaterEqual", self.ids, 0)
        for _ in range(rows.shape.ndims - positive.shape.ndims):
            positive = expand_dims(positive, -1)
        return positive & ones_like(rows, dtype=bool_)


def clip(ids: Any) -> Any:
    return apply_op("Maximum", ids, zeros_like(ids))


@gradient("UnsortedSegmentSum")
def unsorted_segment_sum(op: Any, grad: Any) -> Any:
    return _Picker(op.inputs[1])(grad), None, None


@gradient("UnsortedSegmentMin", "UnsortedSegmentMax")
def unsorted_segment_extremum(op: Any, grad: Any) -> Any:
    data, ids, count = op.inputs
    pick = _Picker(ids)
    chosen = apply_op("Equal", data, pick(op.outputs[0]))
    chosen = apply_op("LogicalAnd", chosen, pick.positive)
    number = apply_op("UnsortedSegmentSum", cast(chosen, grad.dtype), ids, count)
    shared = pick(grad / number)
    nothing = zeros_like(shared)
    return apply_op("Select", chosen, shared, nothing), None, None


@gradient("UnsortedSegmentProd")
def unsorted_segment_prod(op: Any, grad: Any) -> Any:
    """The product of the other elements: by division, or made anew for the only zero of a segment.

    With two zeros it is 0.
    """
    data, ids, count = op.inputs
    is_zero = apply_op("Equal", data, 0)
    zero_count = apply_op("UnsortedSegmentSum", cast(is_zero, int32), ids, count)
    grad = apply_op("Select", apply_op("Greater", zero_count, 1), zeros_like(grad), grad)
    others = apply_op("Select", is_zero, ones_like(data), data)
    others_prod = apply_op("UnsortedSegmentProd", others, ids, count)
    clipped = clip(ids)
    whole = gather(op.outputs[0], clipped)
    without_zeros = gather(others_prod, clipped)
    slope = apply_op("Select", is_zero, without_zeros, whole / data)
    return _Picker(ids, clipped)(grad) * slope, None, None


# ---- segments of gathered rows


@gradient("SparseSegmentSum")
def sparse_segment_sum(op: Any, grad: Any) -> Any:
    data, indices, ids = op.inputs[:3]
    rows = shape(data)[0]
    total = apply_op("UnsortedSegmentSum", gather(grad, ids), indices, rows)
    return total, *[None] * (len(op.inputs) - 1)


def _by_gradient_op(op_type: str) -> Callable[[Any, Any], Any]:
    def segments(op: Any, grad: Any) -> Any:
        data, indices, ids = op.inputs[:3]
        made = apply_op(op_type, grad, indices, ids, shape(data)[0])
        return made, *[None] * (len(op.inputs) - 1)

    return segments


gradient("SparseSegmentSumWithNumSegments")(sparse_segment_sum)
for _name in ("SparseSegmentMean", "SparseSegmentSqrtN"):
    gradient(_name, _name + "WithNumSegments")(_by_gradient_op(_name + "Grad"))
