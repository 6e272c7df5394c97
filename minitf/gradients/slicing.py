"""Gradients of slices and of concatenation, dense and of IndexedSlices."""

from __future__ import annotations

from typing import Any

from minitf.convert import constant
from minitf.gradients.registry import gradient
from minitf.indexed_slices import IndexedSlices
from minitf.operation import Tensor
from minitf.ops.apply import apply_op
from minitf.ops.array import (
    concat,
    expand_dims,
    fill,
    gather,
    pad,
    rank,
    shape,
    shape_n,
    split,
    squeeze,
    stack,
    where,
)
from minitf.ops.array import slice as slice_op
from minitf.ops.cond_context import output_context
from minitf.ops.constant_value import constant_value
from minitf.ops.elementwise import cast

MANY = 16  # from more inputs on, one split is made instead of a slice for each


@gradient("Slice")
def slice_(op: Any, grad: Any) -> Any:
    x, begin, _ = op.inputs
    x_rank = rank(x)
    sizes = shape(op.outputs[0])
    column = stack([x_rank, 1])
    before = apply_op("Reshape", begin, column)
    after = apply_op("Reshape", shape(x) - sizes - begin, column)
    return pad(grad, concat([before, after], 1)), None, None


_MASKS = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")


@gradient("StridedSlice")
def strided_slice(op: Any, grad: Any) -> Any:
    x, *where_ = op.inputs
    x_shape = shape(x, out_type=where_[0].dtype)
    masks = {k: op.get_attr(k) for k in _MASKS}
    return apply_op("StridedSliceGrad", x_shape, *where_, grad, **masks), None, None, None


@gradient("StridedSliceGrad")
def strided_slice_grad(op: Any, grad: Any) -> Any:
    masks = {k: op.get_attr(k) for k in _MASKS}
    back = apply_op("StridedSlice", grad, *op.inputs[1:4], **masks)
    return None, None, None, None, back


# ---- concatenation


@gradient("ConcatV2")
def concat_v2(op: Any, grad: Any) -> Any:
    return [*_concat(list(op.inputs[:-1]), op.inputs[-1], grad), None]


@gradient("Concat")
def concat_v1(op: Any, grad: Any) -> Any:
    return [None, *_concat(list(op.inputs[1:]), op.inputs[0], grad)]


def _concat(values: list[Tensor], axis: Tensor, grad: Any) -> list[Any]:
    """The parts of `grad` for each of the concatenated values."""
    if len(values) == 1:
        return [grad]
    if isinstance(grad, Tensor):
        axis = _beside(grad, axis)
        return _dense_parts(values, axis % rank(values[0]), grad)
    if isinstance(grad, IndexedSlices):
        return _sparse_parts(values, axis, grad)
    raise TypeError(f"Expected Tensor or IndexedSlices, got {type(grad)}")


def _beside(grad: Tensor, axis: Tensor) -> Tensor:
    """The axis; if it is a constant outside the loop or branch of `grad`, a copy in there."""
    same = output_context(grad.op) is output_context(axis.op)
    if axis.op.type != "Const" or same:
        return axis
    return constant(constant_value(axis), axis.dtype)


def _dense_parts(values: list[Tensor], axis: Tensor, grad: Tensor) -> list[Any]:
    sizes = _sizes(values)
    if len(sizes) > MANY:
        along = squeeze(slice_op(stack(sizes, axis=1), [axis, 0], [1, -1]))
        return split(grad, along, axis)  # type: ignore[no-any-return]
    begins = apply_op("ConcatOffset", axis, sizes)
    return [slice_op(grad, begin, size) for begin, size in zip(begins, sizes)]


def _sizes(values: list[Tensor]) -> list[Tensor]:
    """The values' shapes: constants as long as they are known, else asked all at once."""
    sizes = []
    for v in values:
        sizes.append(shape(v))
        if sizes[-1].op.type != "Const":
            return shape_n(values)  # type: ignore[no-any-return]
    return sizes


def _sparse_parts(values: list[Tensor], axis: Tensor, grad: IndexedSlices) -> list[Any]:
    positive = axis % rank(values[0])
    known = constant_value(axis)
    if known is None:
        raise ValueError("Can only compute IndexedSlices gradient with statically-known concat_dim")
    if known < 0:
        if values[0].shape.ndims is None:
            raise ValueError(
                "Can only compute IndexedSlices gradient with negative concat_dim when first value "
                "rank is statically-known."
            )
        rank(values[0])
        known = known % values[0].shape.ndims
    sizes = [shape(v) for v in values]
    if known > 0:
        return _sparse_columns(sizes, positive, grad)
    return _sparse_rows(sizes, positive, grad)


def _sparse_columns(sizes: list[Tensor], axis: Tensor, grad: IndexedSlices) -> list[Any]:
    """Each value gets all rows of `grad`, cut along `axis`."""
    rank_ = shape(sizes[0])
    before = fill(expand_dims(axis, 0), 0)
    mask = concat([before, [1], fill(rank_ - axis - 1, 0)], 0)
    begin = fill(rank_, 0)
    parts = []
    for size in sizes:
        width = concat([[-1], slice_op(size, [1], [-1])], 0)
        parts.append(IndexedSlices(slice_op(grad.values, begin, width), grad.indices, size))
        begin = apply_op("Add", begin, size * mask)
    return parts


def _sparse_rows(sizes: list[Tensor], axis: Tensor, grad: IndexedSlices) -> list[Any]:
    """Each value gets the rows of `grad` whose indices are its own."""
    parts = []
    start: Any = constant(0, grad.indices.dtype)
    for size in sizes:
        count = cast(gather(size, axis), grad.indices.dtype)
        end = start + count
        inside = apply_op("LogicalAnd", grad.indices >= start, grad.indices < end)
        chosen = squeeze(where(inside), axis=[1])
        indices = gather(grad.indices, chosen) - start
        parts.append(IndexedSlices(gather(grad.values, chosen), indices, size))
        start = end
    return parts
