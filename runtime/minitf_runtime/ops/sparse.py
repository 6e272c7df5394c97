"""Ops on sparse tensors: triples of indices [n, rank], values [n] and a dense shape [rank]."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minitf_runtime.errors import invalid
from minitf_runtime.ops import dims
from minitf_runtime.ops.array import zeros_of
from minitf_runtime.ops.registry import Attr, Count, ShapeContext, Type, kernel, op
from minitf_runtime.types import INDEX, NUMBERS, Shape, int64, show_shape

_SPARSE = "indices: int64, {0}values: T, {0}shape: int64"


def _triple(c: ShapeContext, at: int) -> tuple[dims.Size, dims.Size]:
    """Number of values and rank of the sparse tensor whose parts begin at input `at`."""
    count, rank = dims.with_rank(c.shape(at), 2)
    (values,) = dims.with_rank(c.shape(at + 1), 1)
    (sizes,) = dims.with_rank(c.shape(at + 2), 1)
    return dims.merge_sizes(count, values), dims.merge_sizes(rank, sizes)


# ---- to and with dense tensors


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
    rows = indices.reshape(indices.shape[0] if indices.ndim else 1, -1)
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
    _check_inside(rows, shape.tolist(), validate_indices)
    out = xp.empty(shape.tolist(), values.dtype)
    out[...] = default
    out[tuple(xp.asarray(rows.T))] = values
    return out


def _check_inside(rows: Any, shape: list[int], ordered: bool) -> None:
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


@op(
    "SparseTensorDenseMatMul",
    "a_indices: Tindices, a_values: T, a_shape: int64, b: T -> product: T",
    T=Type(),
    Tindices=Type(INDEX, int64),
    adjoint_a=False,
    adjoint_b=False,
)
def sparse_tensor_dense_mat_mul_shape(c: ShapeContext) -> list[Shape]:
    """A sparse matrix times a dense one."""
    dims.with_rank(c.shape(0), 2)
    dims.with_rank(c.shape(1), 1)
    rows, inner = dims.with_rank(c.shape_value(2), 2)
    left, right = dims.with_rank(c.shape(3), 2)
    if c["adjoint_a"]:
        rows, inner = inner, rows
    if c["adjoint_b"]:
        left, right = right, left
    dims.merge_sizes(inner, left)
    return [(rows, right)]


@kernel("SparseTensorDenseMatMul", host_inputs="a_shape")
def sparse_tensor_dense_mat_mul(
    xp: Any, indices: Any, values: Any, shape: Any, b: Any, *, adjoint_a: Any, adjoint_b: Any
) -> Any:
    if b.ndim != 2:
        raise invalid(f"Tensor 'b' is not a matrix: {show_shape(b.shape)}")
    if shape.shape != (2,):
        raise invalid(f"Tensor 'a_shape' must have 2 elements: {show_shape(shape.shape)}")
    rows, inner = shape.tolist()
    row, col = indices[:, 0], indices[:, 1]
    if adjoint_a:
        rows, inner, row, col, values = inner, rows, col, row, xp.conj(values)
    right = xp.conj(b.T) if adjoint_b else b
    if len(right) != inner:
        raise invalid(
            f"Cannot multiply A and B because inner dimension does not match: {inner} vs. "
            f"{len(right)}.  Did you forget a transpose?  Dimensions of A: "
            f"[{shape[0]}, {shape[1]}).  Dimensions of B: {show_shape(b.shape)}"
        )
    for what, at, limit in (("k", col, inner), ("m", row, rows)):
        wrong = (at < 0) | (at >= limit)
        if bool(wrong.any()):
            i = int(wrong.argmax())
            raise invalid(f"{what} ({at[i]}) from index[{i},{0 if what == 'm' else 1}] out of "
                          f"bounds (>={limit})")  # fmt: skip
    out = xp.zeros((rows, right.shape[1]), values.dtype)
    xp.add.at(out, row, values[:, None] * right[col])
    return out


# ---- the triple itself


@op(
    "SparseReorder",
    f"input_{_SPARSE.format('input_')} -> output_indices: int64, output_values: T",
    T=Type(),
)
def sparse_reorder_shape(c: ShapeContext) -> list[Shape]:
    """The same tensor with its indices in row-major order."""
    _triple(c, 0)
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
    flat = indices @ xp.asarray(_strides(shape.tolist()))
    out = xp.empty((len(indices), len(sizes)), np.int64)
    for axis, stride in enumerate(_strides(sizes)):
        out[:, axis] = flat // max(int(stride), 1)
        flat = flat % max(int(stride), 1)
    return out, np.array(sizes, np.int64)


def _strides(shape: list[int]) -> Any:
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
    count, rank = _triple(c, 0)
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
    "SparseAdd",
    "a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, b_shape: int64,"
    " thresh: Treal -> sum_indices: int64, sum_values: T, sum_shape: int64",
    T=Type(NUMBERS),
    Treal=Type(),
)
def sparse_add_shape(c: ShapeContext) -> list[Shape]:
    """The sum; values whose size does not exceed thresh are left out (0 keeps all)."""
    (rank,) = dims.with_rank(c.shape(2), 1)
    return [(None, rank), (None,), (rank,)]


@kernel("SparseAdd", host_inputs="a_shape b_shape", host_outputs="sum_shape")
def sparse_add(
    xp: Any, a: Any, a_values: Any, a_shape: Any, b: Any, b_values: Any, b_shape: Any, thresh: Any
) -> Any:
    if a_shape.tolist() != b_shape.tolist():
        raise invalid(
            "Operands do not have the same shape: "
            f"{show_shape(a_shape)} vs. {show_shape(b_shape)}"
        )
    joined = xp.concatenate([a, b])
    flat = joined @ xp.asarray(_strides(a_shape.tolist()))
    _, first, inverse = xp.unique(flat, return_index=True, return_inverse=True)
    total = zeros_of(xp, len(first), a_values.dtype)
    xp.add.at(total, inverse.reshape(-1), xp.concatenate([a_values, b_values]))
    kept = xp.abs(total) >= thresh
    return joined[first][kept], total[kept], a_shape
