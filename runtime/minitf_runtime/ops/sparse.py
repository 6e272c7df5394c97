"""Sparse tensors: triples of indices [n, rank], values [n] and a dense shape [rank].

Ops that make, reorder, cut and join them; arithmetic on them is in sparse_math.py.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minitf_runtime.errors import invalid
from minitf_runtime.ops import dims
from minitf_runtime.ops.registry import Attr, Count, ShapeContext, Type, kernel, op
from minitf_runtime.types import INDEX, Shape, show_shape

_SPARSE = "indices: int64, {0}values: T, {0}shape: int64"


def triple(c: ShapeContext, at: int) -> tuple[dims.Size, dims.Size]:
    """Number of values and rank of the sparse tensor whose parts begin at input `at`."""
    count, rank = dims.with_rank(c.shape(at), 2)
    (values,) = dims.with_rank(c.shape(at + 1), 1)
    (sizes,) = dims.with_rank(c.shape(at + 2), 1)
    return dims.merge_sizes(count, values), dims.merge_sizes(rank, sizes)


# ---- to dense tensors


@op(
    "SparseToDense",
    "sparse_indices: Tindices, output_shape: Tindices, sparse_values: T, default_value: T"
    " -> dense: T",
    validate_indices=True,
    T=Type(),
    Tindices=Type(INDEX),
)
def sparse_to_dense_shape(c: ShapeContext) -> list[Shape]:
    """default_value everywhere but at the indices (a matrix of vectors, a vector, or a scalar)."""
    return [c.shape_value(1)]


@kernel("SparseToDense", host_inputs="sparse_indices output_shape")
def sparse_to_dense(
    xp: Any, indices: Any, shape: Any, values: Any, default: Any, *, validate_indices: Any
) -> Any:
    if indices.ndim > 2:
        raise invalid(
            "sparse_indices should be a scalar, vector, or matrix, got shape "
            f"{show_shape(indices.shape)}"
        )
    rows = indices if indices.ndim == 2 else indices.reshape(-1, 1)
    if shape.ndim != 1:
        raise invalid(f"output_shape should be a vector, got shape {show_shape(shape.shape)}")
    if len(shape) != rows.shape[1]:
        raise invalid(
            f"output_shape has incorrect number of elements: {len(shape)} should be: "
            f"{rows.shape[1]}"
        )
    if values.ndim > 1 or (values.ndim == 1 and len(values) != len(rows)):
        raise invalid(
            f"sparse_values has incorrect shape {show_shape(values.shape)}, should be [] or "
            f"[{len(rows)}]"
        )
    if default.ndim:
        raise invalid("default_value should be a scalar.")
    check_inside(rows, shape.tolist(), validate_indices)
    out = xp.empty(shape.tolist(), values.dtype)
    out[...] = default
    out[tuple(xp.asarray(rows.T))] = values
    return out


def check_inside(rows: Any, shape: list[int], ordered: bool) -> None:
    """Indices lie in the shape and, if `ordered`, go up without repeats."""
    before: tuple[int, ...] = ()
    for i, row in enumerate(rows.tolist()):
        at = f"indices[{i}] = [{','.join(map(str, row))}]"
        if any(not 0 <= n < m for n, m in zip(row, shape)):
            raise invalid(f"{at} is out of bounds: need 0 <= index < {show_shape(shape)}")
        if ordered and i and tuple(row) == before:
            raise invalid(f"{at} is repeated")
        if ordered and i and tuple(row) < before:
            raise invalid(
                f"{at} is out of order. Many sparse ops require sorted indices.\n    Use "
                "`tf.sparse.reorder` to create a correctly ordered copy.\n\n"
            )
        before = tuple(row)


# ---- the triple itself


@op(
    "SparseReorder",
    f"input_{_SPARSE.format('input_')} -> output_indices: int64, output_values: T",
    T=Type(),
)
def sparse_reorder_shape(c: ShapeContext) -> list[Shape]:
    """The same tensor with its indices in row-major order."""
    triple(c, 0)
    return [c.shape(0), c.shape(1)]


@kernel("SparseReorder", host_inputs="input_shape")
def sparse_reorder(xp: Any, indices: Any, values: Any, shape: Any) -> Any:
    if indices.ndim != 2:
        raise invalid(
            f"Input indices should be a matrix but received shape {show_shape(indices.shape)}"
        )
    order = row_major(xp, indices)
    return indices[order], values[order]


def row_major(xp: Any, indices: Any) -> Any:
    """The order that sorts index vectors."""
    if indices.shape[1] == 0:
        return xp.arange(len(indices))
    return xp.lexsort(xp.asarray(indices[:, ::-1].T))


@op(
    "SparseReshape",
    "input_indices: int64, input_shape: int64, new_shape: int64"
    " -> output_indices: int64, output_shape: int64",
)
def sparse_reshape_shape(c: ShapeContext) -> list[Shape]:
    """The same values in another dense shape."""
    count, _ = dims.with_rank(c.shape(0), 2)
    dims.with_rank(c.shape(1), 1)
    (rank,) = dims.with_rank(c.shape(2), 1)
    return [(count, rank), (rank,)]


@kernel("SparseReshape", host_inputs="input_shape new_shape", host_outputs="output_shape")
def sparse_reshape(xp: Any, indices: Any, shape: Any, new_shape: Any) -> Any:
    count = math.prod(shape.tolist())
    sizes = new_shape.tolist()
    if sizes.count(-1) > 1:
        first, second = [i for i, n in enumerate(sizes) if n == -1][:2]
        raise invalid(f"only one output dimension may be -1, not both {first} and {second}")
    known = math.prod(n for n in sizes if n != -1)
    if -1 in sizes:
        if not known:
            raise invalid(
                "reshape cannot infer the missing input size for an empty tensor unless all "
                "specified input sizes are non-zero"
            )
        if count % known:
            raise invalid(
                f"Input to reshape is a SparseTensor with {count} dense values, but the requested "
                f"shape requires a multiple of {known}. input_shape={show_shape(shape)} "
                f"output_shape={show_shape(new_shape)}"
            )
        sizes[sizes.index(-1)] = count // known
    elif known != count:
        raise invalid(
            f"Input to reshape is a tensor with {count} dense values, but the requested shape has "
            f"{known}. input_shape={show_shape(shape)} output_shape={show_shape(sizes)}"
        )
    flat = indices @ xp.asarray(strides_of(shape.tolist()))
    out = xp.empty((len(indices), len(sizes)), np.int64)
    for axis, stride in enumerate(strides_of(sizes)):
        out[:, axis] = flat // max(int(stride), 1)
        flat = flat % max(int(stride), 1)
    return out, np.array(sizes, np.int64)


def strides_of(shape: list[int]) -> Any:
    """How far apart neighbours along each axis lie in row-major order."""
    return np.array([math.prod(shape[i + 1 :]) for i in range(len(shape))], np.int64)


@op(
    "SparseFillEmptyRows",
    "indices: int64, values: T, dense_shape: int64, default_value: T -> output_indices: int64, "
    "output_values: T, empty_row_indicator: bool, reverse_index_map: int64",
    T=Type(),
)
def sparse_fill_empty_rows_shape(c: ShapeContext) -> list[Shape]:
    """default_value at column 0 of each row that had no value."""
    count, rank = triple(c, 0)
    dims.with_rank(c.shape(3), 0)
    sizes = c.shape_value(2)
    return [(None, rank), (None,), (sizes[0] if sizes else None,), (count,)]


@kernel("SparseFillEmptyRows", host_inputs="dense_shape")
def sparse_fill_empty_rows(xp: Any, indices: Any, values: Any, shape: Any, default: Any) -> Any:
    rows, count = int(shape[0]), len(indices)
    if rows == 0 and count:
        raise invalid(
            f"Received SparseTensor with dense_shape[0] = 0 but indices.shape[0] = {count}"
        )
    row = indices[:, 0]
    wrong = (row < 0) | (row >= rows)
    if bool(wrong.any()):
        i = int(wrong.argmax())
        raise invalid(f"indices({i}, 0) is invalid: {row[i]} >= {rows}")
    empty = xp.bincount(row, minlength=rows)[:rows] == 0
    added = xp.zeros((int(empty.sum()), indices.shape[1]), np.int64)
    added[:, 0] = xp.flatnonzero(empty)
    fill = xp.empty(len(added), values.dtype)
    fill[...] = default
    all_indices = xp.concatenate([indices, added])
    order = xp.argsort(all_indices[:, 0], kind="stable")
    place = xp.empty_like(order)
    place[order] = xp.arange(len(order))
    return all_indices[order], xp.concatenate([values, fill])[order], empty, place[:count]


@op(
    "SparseConcat",
    "indices: N * int64, values: N * T, shapes: N * int64"
    " -> output_indices: int64, output_values: T, output_shape: int64",
    concat_dim=Attr("int"),
    N=Count(2),
    T=Type(),
)
def sparse_concat_shape(c: ShapeContext) -> list[Shape]:
    n = c["N"]
    count: dims.Size = 0
    rank: dims.Size = None
    for i in range(n):
        part, width = dims.with_rank(c.shape(i), 2)
        (values,) = dims.with_rank(c.shape(n + i), 1)
        (sizes,) = dims.with_rank(c.shape(2 * n + i), 1)
        count = dims.add(count, dims.merge_sizes(part, values))
        rank = dims.merge_sizes(rank, dims.merge_sizes(width, sizes))
    return [(count, rank), (count,), (rank,)]


@kernel("SparseConcat", host_inputs="shapes", host_outputs="output_shape")
def sparse_concat(xp: Any, indices: Any, values: Any, shapes: Any, *, concat_dim: Any) -> Any:
    rank = len(shapes[0])
    if not -rank <= concat_dim < rank:
        raise invalid(f"Concat dimension must be in range [{-rank}, {rank}), got {concat_dim}")
    axis = concat_dim % rank
    start = 0
    moved = []
    for i, (at, shape) in enumerate(zip(indices, shapes)):
        for d in range(rank):
            if d != axis and shape[d] != shapes[0][d]:
                raise invalid(
                    f"Input shapes must match: expected {shapes[0][d]} for dimension {d} but got "
                    f"{shape[d]} at position {i}"
                )
        shifted = at.copy()
        shifted[:, axis] += start
        moved.append(shifted)
        start += int(shape[axis])
    joined = xp.concatenate(moved)
    order = row_major(xp, joined)
    out_shape = shapes[0].copy()
    out_shape[axis] = start
    return joined[order], xp.concatenate(values)[order], out_shape


@op(
    "SparseFillEmptyRowsGrad",
    "reverse_index_map: int64, grad_values: T -> d_values: T, d_default_value: T",
    T=Type(),
)
def sparse_fill_empty_rows_grad_shape(c: ShapeContext) -> list[Shape]:
    return [dims.with_rank(c.shape(0), 1), ()]


@kernel("SparseFillEmptyRowsGrad")
def sparse_fill_empty_rows_grad(xp: Any, places: Any, grad: Any) -> Any:
    own = grad[places]
    added = xp.ones(len(grad), bool)
    added[places] = False
    return own, grad[added].sum(dtype=grad.dtype)


# ---- slices


@op(
    "SparseSlice",
    f"{_SPARSE.format('')}, start: int64, size: int64"
    " -> output_indices: int64, output_values: T, output_shape: int64",
    T=Type(),
)
def sparse_slice_shape(c: ShapeContext) -> list[Shape]:
    """The values inside a box, the part of the box that lies in the tensor being the new shape."""
    _, rank = triple(c, 0)
    return [(None, rank), (None,), (rank,)]


@kernel("SparseSlice", host_inputs="shape start size", host_outputs="output_shape")
def sparse_slice(xp: Any, indices: Any, values: Any, shape: Any, start: Any, size: Any) -> Any:
    if start.shape != shape.shape or size.shape != shape.shape:
        raise invalid(
            f"Expected start and size to be vectors of length {len(shape)}, but got lengths "
            f"{start.size} and {size.size}"
        )
    inside = _inside(xp, indices, start, size)
    moved = indices[inside] - xp.asarray(start)
    return moved, values[inside], np.maximum(np.minimum(size, shape - start), 0)


def _inside(xp: Any, indices: Any, start: Any, size: Any) -> Any:
    low, high = xp.asarray(start), xp.asarray(start + size)
    return ((indices >= low) & (indices < high)).all(axis=1)
