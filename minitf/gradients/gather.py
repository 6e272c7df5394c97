"""Gradients of gathers, scatters, partitions and stitches."""

from __future__ import annotations

from typing import Any

from minitf.default import colocate_with
from minitf.gradients.array import quiet_reshape
from minitf.gradients.handles import variable_shape
from minitf.gradients.registry import gradient
from minitf.indexed_slices import IndexedSlices
from minitf.ops.apply import apply_op
from minitf.ops.array import (
    concat,
    expand_dims,
    gather,
    gather_nd,
    ones,
    shape,
    size,
    squeeze,
    stack,
    transpose,
    zeros,
    zeros_like,
)
from minitf.ops.constant_value import constant_value
from minitf.ops.elementwise import cast
from minitf.ops.reduction import range as range_op
from minitf.ops.reduction import reduce_prod
from minitf_runtime.types import int32, int64


def _params_shape(params: Any) -> Any:
    """Made beside the params, which may be large and far away."""
    with colocate_with(params):
        return cast(shape(params, out_type=int64), int32)


def _rows(indices: Any, grad: Any, sizes: Any, count: Any) -> IndexedSlices:
    """The gradient as rows of a tensor of the given sizes."""
    row_shape = concat([count, sizes[1:]], 0)
    values = quiet_reshape(grad, row_shape)
    return IndexedSlices(values, apply_op("Reshape", indices, count), sizes)


@gradient("Gather")
def gather_v1(op: Any, grad: Any) -> Any:
    params, indices = op.inputs
    sizes = _params_shape(params)
    return _rows(indices, grad, sizes, expand_dims(size(indices), 0)), None


@gradient("ResourceGather")
def resource_gather(op: Any, grad: Any) -> Any:
    handle, indices = op.inputs
    sizes = variable_shape(handle)
    return _rows(indices, grad, sizes, expand_dims(size(indices), 0)), None


@gradient("GatherV2")
def gather_v2(op: Any, grad: Any) -> Any:
    params, indices, axis = op.inputs
    sizes = _params_shape(params)
    count = expand_dims(size(indices), 0)
    batch_dims = op.get_attr("batch_dims")
    if batch_dims < 0:
        batch_dims += indices.shape.ndims
    if constant_value(axis) == 0:
        return _rows(indices, grad, sizes, count), None, None
    return _along_axis(sizes, indices, axis, batch_dims, grad), None, None


def _along_axis(sizes: Any, indices: Any, axis: Any, batch_dims: int, grad: Any) -> Any:
    """The gathered axis is moved behind the batch axes, summed, and moved back."""
    outer = sizes[:axis]
    inner = sizes[axis:][1:]
    value_shape = concat([outer, [-1], inner], 0)
    value_rank = size(value_shape)
    axis_at = size(outer)
    batches = range_op(batch_dims)
    between = range_op(batch_dims, axis_at)
    after = range_op(axis_at + 1, value_rank)
    values = quiet_reshape(grad, value_shape)
    values = transpose(values, concat([batches, [axis_at], between, after], 0))
    summed = _sum_rows(sizes, values, indices, batch_dims, sizes[axis])
    return transpose(summed, concat([batches, between + 1, [batch_dims], after], 0))


def _sum_rows(sizes: Any, values: Any, indices: Any, batch_dims: int, rows: Any) -> Any:
    count = expand_dims(size(indices), 0)
    if not batch_dims:
        return apply_op("UnsortedSegmentSum", values, apply_op("Reshape", indices, count), rows)
    value_shape = shape(values)
    outer = value_shape[:batch_dims]
    inner = value_shape[batch_dims:][1:]
    batches = apply_op("Prod", outer, [0], keep_dims=False)
    flat_shape = concat([[-1], inner], 0)
    rows = rows * batches
    indices = _batch_indices(sizes, indices, batch_dims)
    values = quiet_reshape(values, flat_shape)
    flat = apply_op("UnsortedSegmentSum", values, apply_op("Reshape", indices, count), rows)
    return apply_op("Reshape", flat, concat([outer, flat_shape], 0))


def _batch_indices(sizes: Any, indices: Any, batch_dims: int) -> Any:
    """The indices counted over all batches."""
    dtype = indices.dtype.base
    out = indices
    sizes = cast(sizes, dtype)
    stride = ones((), dtype)
    for dim in range(batch_dims, 0, -1):
        length = sizes[dim - 1]
        stride = stride * sizes[dim]
        start = zeros((), dtype)
        step = ones((), dtype)
        offsets = range_op(start, length, step) * stride
        form = stack([1] * (dim - 1) + [length] + [1] * (indices.shape.ndims - dim), axis=0)
        out = out + apply_op("Reshape", offsets, form)
    return out


@gradient("GatherNd")
def gather_nd_(op: Any, grad: Any) -> Any:
    params, indices = op.inputs
    return _scattered(indices, grad, shape(params, out_type=indices.dtype)), None


@gradient("ResourceGatherNd")
def resource_gather_nd(op: Any, grad: Any) -> Any:
    handle, indices = op.inputs
    sizes = apply_op("VariableShape", handle, out_type=indices.dtype)
    return _scattered(indices, grad, sizes), None


def _scattered(indices: Any, grad: Any, sizes: Any) -> Any:
    if indices.shape.ndims == 2 and indices.shape[-1].value == 1:
        return IndexedSlices(grad, squeeze(indices, axis=-1), sizes)
    return apply_op("ScatterNd", indices, grad, sizes)


# ---- scatters into a tensor


@gradient("ScatterNd")
def scatter_nd(op: Any, grad: Any) -> Any:
    return None, gather_nd(grad, op.inputs[0]), None


@gradient("TensorScatterUpdate")
def tensor_scatter_update(op: Any, grad: Any) -> Any:
    _, indices, updates = op.inputs
    update_grad = gather_nd(grad, indices)
    kept = apply_op("Identity", grad)
    nothing = zeros_like(updates, dtype=grad.dtype)
    return apply_op("TensorScatterUpdate", kept, indices, nothing), None, update_grad


@gradient("TensorScatterAdd")
def tensor_scatter_add(op: Any, grad: Any) -> Any:
    update_grad = gather_nd(grad, op.inputs[1])
    return apply_op("Identity", grad), None, update_grad


@gradient("TensorScatterSub")
def tensor_scatter_sub(op: Any, grad: Any) -> Any:
    update_grad = gather_nd(grad, op.inputs[1])
    return apply_op("Identity", grad), None, -update_grad


@gradient("ScatterNdNonAliasingAdd")
def scatter_nd_non_aliasing_add(op: Any, grad: Any) -> Any:
    return grad, None, gather_nd(grad, op.inputs[1])


# ---- partitions and stitches


@gradient("DynamicPartition")
def dynamic_partition(op: Any, *grads: Any) -> Any:
    data, partitions = op.inputs
    prefix = shape(partitions)
    places = apply_op("Reshape", range_op(reduce_prod(prefix)), prefix)
    count = op.get_attr("num_partitions")
    parts = apply_op("DynamicPartition", places, partitions, num_partitions=count)
    whole = apply_op("DynamicStitch", parts, list(grads))
    return apply_op("Reshape", whole, shape(data)), None


@gradient("DynamicStitch", "ParallelDynamicStitch")
def dynamic_stitch(op: Any, grad: Any) -> Any:
    count = len(op.inputs) // 2
    indices = [cast(t, int32) for t in op.inputs[:count]]
    if isinstance(grad, IndexedSlices):
        rows = shape(op.outputs[0])[0]
        grad = apply_op("UnsortedSegmentSum", grad.values, grad.indices, rows)
    return [None] * count + [gather(grad, i) for i in indices]
