"""Functions that pick or place parts of tensors by index tensors; partition and stitch."""

from __future__ import annotations

from typing import Any

from minitf.convert import to_tensor
from minitf.default import name_scope
from minitf.operation import Tensor
from minitf.ops.apply import apply_op
from minitf.ops.constant_value import constant_value
from minitf.ops.filling import meshgrid, ones, zeros
from minitf.ops.joining import concat, stack, tile, unstack
from minitf.ops.raw import passthrough
from minitf.ops.shapes import rank, reshape, shape, transpose
from minitf_runtime.types import int32

__all__ = [
    "batch_gather",
    "dynamic_partition",
    "dynamic_stitch",
    "gather",
    "gather_nd",
    "scatter_nd",
    "tensor_scatter_add",
    "tensor_scatter_sub",
    "tensor_scatter_update",
]

dynamic_partition = passthrough("DynamicPartition", "dynamic_partition")
dynamic_stitch = passthrough("DynamicStitch", "dynamic_stitch")
parallel_dynamic_stitch = passthrough("ParallelDynamicStitch", "parallel_dynamic_stitch")
scatter_nd = passthrough("ScatterNd", "scatter_nd")
tensor_scatter_add = passthrough("TensorScatterAdd", "tensor_scatter_add")
tensor_scatter_sub = passthrough("TensorScatterSub", "tensor_scatter_sub")
tensor_scatter_update = passthrough("TensorScatterUpdate", "tensor_scatter_update")


def gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    name: str | None = None,
    axis: Any = None,
    batch_dims: int = 0,
) -> Tensor:
    """Slices of params along an axis; the first `batch_dims` axes are walked together."""
    if axis is None:
        axis = batch_dims
    if constant_value(axis) != 0:
        return apply_op("GatherV2", params, indices, axis, batch_dims=batch_dims, name=name)
    sparse_read = getattr(params, "sparse_read", None)
    if sparse_read is not None:
        return sparse_read(indices, name=name)
    return apply_op("GatherV2", params, indices, axis, name=name)


def gather_nd(params: Any, indices: Any, name: str | None = None, batch_dims: Any = 0) -> Tensor:
    """The slice of params at each index vector (the last axis of indices)."""
    known = constant_value(batch_dims)
    if known is None or int(known) != 0:
        return batch_gather_nd(params, indices, batch_dims if known is None else int(known), name)
    own = getattr(params, "gather_nd", None)
    if own is not None:
        return own(indices, name=name)
    return apply_op("GatherNd", params, indices, name=name)


# ---- in batches


def batch_gather(params: Any, indices: Any, name: str | None = None) -> Tensor:
    """gather along the last axis of indices, the axes before it walked together."""
    with name_scope(name, "BatchGather", [params, indices]):
        indices = to_tensor(indices, name="indices")
        params = to_tensor(params, name="params")
        if indices._shape is None:
            raise ValueError("batch_gather does not allow indices with unknown shape.")
        return _batch_gather(params, indices, len(indices._shape) - 1)


def _batch_gather(params: Tensor, indices: Tensor, batch: int) -> Tensor:
    """Gathers from the batches laid end to end, with indices moved to their own batch."""
    ndim = len(indices._shape or ())
    for name, x in (("indices", indices), ("params", params)):
        known = x._shape
        if known is not None and not 0 <= batch < len(known):
            raise ValueError(f"batch_dims = {batch} must be less than rank({name}) = {len(known)}")
    indices_shape, params_shape = shape(indices), shape(params)
    placed = indices
    dtype = indices.dtype.base
    step = ones((), dtype)
    sizes: Any = apply_op("Cast", params_shape, DstT=dtype)
    for dim in range(batch, 0, -1):
        size = sizes[dim - 1]
        step = step * sizes[dim]
        start, one = zeros((), dtype), ones((), dtype)
        starts = apply_op("Range", start, size, one) * step
        turned = stack([1] * (dim - 1) + [size] + [1] * (ndim - dim), axis=0)
        placed = placed + reshape(starts, turned)
    flat = reshape(placed, [-1])
    outer: Any = params_shape[batch + 1 :]
    rows = apply_op("Prod", params_shape[: batch + 1], [0])
    taken = gather(reshape(params, concat([[rows], outer], axis=0)), flat)
    out = reshape(taken, concat([indices_shape, outer], axis=0))
    shared = indices.shape[:batch].merge_with(params.shape[:batch])
    out.set_shape(shared.concatenate(indices.shape[batch:]).concatenate(params.shape[batch + 1 :]))
    return out


def batch_gather_nd(params: Any, indices: Any, batch_dims: Any, name: Any = None) -> Tensor:
    """gather_nd with the first `batch_dims` axes walked together."""
    with name_scope(name, "BatchGatherND", [params, indices]):
        indices = to_tensor(indices, name="indices")
        params = to_tensor(params, name="params")
        if not isinstance(batch_dims, int):
            raise TypeError(f"batch_dims must be an int; got {batch_dims!r}")
        if batch_dims < 0:
            raise ValueError("tf.gather_nd does not allow negative batch_dims.")
        for what, x in (("indices", indices), ("params", params)):
            if x._shape is not None and batch_dims >= len(x._shape):
                raise ValueError(
                    f"batch_dims = {batch_dims} must be less than rank({what}) = {len(x._shape)}"
                )
        params_shape: Any = shape(params)
        indices_shape: Any = shape(indices)
        batch_shape = params_shape[:batch_dims]
        batch_size = apply_op("Prod", batch_shape, [0])
        inner_ndim = rank(indices) - batch_dims - 1
        inner_shape = indices_shape[batch_dims:-1]
        ranges = [
            apply_op("Cast", apply_op("Range", 0, n, 1), DstT=indices.dtype)
            for n in unstack(batch_shape, axis=0)
        ]
        flat = [reshape(x, [-1]) for x in meshgrid(*ranges, indexing="ij")]
        grid = transpose(stack(flat, axis=0))
        grid_shape: Any = shape(grid)
        spread = [grid_shape[:1], ones(inner_ndim, int32), grid_shape[1:]]
        grid = reshape(grid, concat(spread, axis=0))
        grid = tile(grid, concat([(1,), inner_shape, (1,)], axis=0))
        rows = reshape(indices, concat([[batch_size], indices_shape[batch_dims:]], axis=0))
        out = apply_op("GatherNd", params, concat([grid, rows], axis=-1))
        out_shape: Any = shape(out)
        return reshape(out, concat([batch_shape, out_shape[1:]], axis=0))
