"""Gradients of ops that move blocks of space to other axes."""

from __future__ import annotations

from typing import Any

from minitf.gradients.array import opposites, quiet_reshape
from minitf.gradients.registry import gradient
from minitf.ops.apply import apply_op
from minitf.ops.array import concat, expand_dims, ones, shape, transpose
from minitf.ops.reduction import range as range_op
from minitf.ops.sparse import sparse_slice, sparse_tensor_dense_matmul
from minitf.sparse_tensor import SparseTensor
from minitf_runtime.types import int64

opposites("SpaceToBatchND", "BatchToSpaceND")
opposites("SpaceToDepth", "DepthToSpace", "block_size", "data_format")


@gradient("ExtractImagePatches")
def extract_image_patches(op: Any, grad: Any) -> Any:
    """By a sparse matrix that says which pixel each element of a patch comes from."""
    sizes = shape(op.inputs[0], out_type=int64)
    batch, rows, columns, channels = sizes[0], sizes[1], sizes[2], sizes[3]
    pixels, sources = _sources(op, rows, columns)
    out_sizes = shape(op.outputs[0], out_type=int64)
    out_rows, out_columns = out_sizes[1], out_sizes[2]
    _, high, wide, _ = op.get_attr("ksizes")
    count = out_rows * out_columns * high * wide
    places = apply_op(
        "Reshape", range_op(count, dtype=int64), (1, out_rows, out_columns, high * wide)
    )
    pairs = concat([expand_dims(sources, axis=-1), expand_dims(places, axis=-1)], axis=-1)
    pairs = apply_op("Reshape", pairs, (-1, 2))
    whole = SparseTensor(pairs, ones([count], dtype=grad.dtype), (pixels, count))
    # Row 0 stands for the padding.
    matrix = sparse_slice(whole, (1, 0), (pixels - 1, count))
    split = quiet_reshape(grad, (batch, out_rows, out_columns, high, wide, channels))
    moved = transpose(split, (1, 2, 3, 4, 0, 5))
    flat = apply_op("Reshape", moved, (-1, batch * channels))
    summed = sparse_tensor_dense_matmul(matrix, flat)
    back = apply_op("Reshape", summed, (rows, columns, batch, channels))
    return transpose(back, (2, 0, 1, 3))


def _sources(op: Any, rows: Any, columns: Any) -> Any:
    """How many pixels an image has, one more for the padding, and their numbers as patches."""
    pixels = 1 + rows * columns
    numbers = apply_op("Reshape", range_op(1, pixels, dtype=int64), (1, rows, columns, 1))
    same = {k: op.get_attr(k) for k in ("ksizes", "strides", "rates", "padding")}
    return pixels, apply_op("ExtractImagePatches", numbers, **same)
