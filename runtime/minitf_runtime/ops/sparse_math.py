"""Arithmetic on sparse tensors (see sparse.py), with each other and with dense ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitf_runtime.errors import invalid
from minitf_runtime.ops import dims
from minitf_runtime.ops.gpu_rows import add_rows, within
from minitf_runtime.ops.registry import ShapeContext, Type, kernel, op
from minitf_runtime.ops.sparse import strides_of, triple
from minitf_runtime.types import FLOATS, INDEX, NUMBERS, Shape, int64, show_shape


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
    for what, column, at, limit in (("k", 1, col, inner), ("m", 0, row, rows)):
        wrong = (at < 0) | (at >= limit)
        if xp is np and bool(wrong.any()):
            i = int(wrong.argmax())
            where = f"index[{i},{column}]"
            raise invalid(f"{what} ({at[i]}) from {where} out of bounds (>={limit})")
    out = xp.zeros((rows, right.shape[1]), values.dtype)
    products = values[:, None] * right[col]
    if xp is not np:  # as in TF
        products = xp.where(within(col, inner)[:, None], products, np.nan)
    add_rows(xp, out, row, products)
    return out


# ---- sums


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
            f"Operands do not have the same shape: {show_shape(a_shape)} vs. {show_shape(b_shape)}"
        )
    joined = xp.concatenate([a, b])
    flat = joined @ xp.asarray(strides_of(a_shape.tolist()))
    _, first, inverse = xp.unique(flat, return_index=True, return_inverse=True)
    total = xp.zeros(len(first), a_values.dtype)
    xp.add.at(total, inverse.reshape(-1), xp.concatenate([a_values, b_values]))
    kept = xp.abs(total) >= thresh
    return joined[first][kept], total[kept], a_shape


@op(
    "SparseAddGrad",
    "backprop_val_grad: T, a_indices: int64, b_indices: int64, sum_indices: int64"
    " -> a_val_grad: T, b_val_grad: T",
    T=Type(NUMBERS),
)
def sparse_add_grad_shape(c: ShapeContext) -> list[Shape]:
    """The gradient of the sum at the indices of either operand; 0 where it was left out."""
    a, b = dims.with_rank(c.shape(1), 2), dims.with_rank(c.shape(2), 2)
    return [(a[0],), (b[0],)]


@kernel("SparseAddGrad")
def sparse_add_grad(xp: Any, grad: Any, a: Any, b: Any, total: Any) -> Any:
    return _looked_up(xp, a, total, grad), _looked_up(xp, b, total, grad)


def _looked_up(xp: Any, wanted: Any, indices: Any, values: Any) -> Any:
    """The value at each wanted index vector; 0 where there is none."""
    both = xp.concatenate([indices, wanted])
    sizes = [int(n) for n in both.max(axis=0, initial=0) + 1]
    flat = both @ xp.asarray(strides_of(sizes))
    known, asked = flat[: len(indices)], flat[len(indices) :]
    out = xp.zeros(len(wanted), values.dtype)
    if len(known):
        order = xp.argsort(known)
        at = xp.minimum(xp.searchsorted(known[order], asked), len(known) - 1)
        found = known[order][at] == asked
        out[found] = values[order][at][found]
    return out


@op(
    "SparseSliceGrad",
    "backprop_val_grad: T, input_indices: int64, input_start: int64, output_indices: int64"
    " -> val_grad: T",
    T=Type(NUMBERS),
)
def sparse_slice_grad_shape(c: ShapeContext) -> list[Shape]:
    """The gradient of the slice's values, 0 for the values outside it."""
    count, _ = dims.with_rank(c.shape(1), 2)
    return [(count,)]


@kernel("SparseSliceGrad")
def sparse_slice_grad(xp: Any, grad: Any, indices: Any, start: Any, picked: Any) -> Any:
    return _looked_up(xp, indices, picked + start, grad)


@op(
    "SparseTensorDenseAdd",
    "a_indices: Tindices, a_values: T, a_shape: Tindices, b: T -> output: T",
    T=Type(NUMBERS),
    Tindices=Type(INDEX),
)
def sparse_tensor_dense_add_shape(c: ShapeContext) -> list[Shape]:
    return [c.shape(3)]


@kernel("SparseTensorDenseAdd", host_inputs="a_shape")
def sparse_tensor_dense_add(xp: Any, indices: Any, values: Any, shape: Any, b: Any) -> Any:
    if b.shape != tuple(shape.tolist()):
        raise invalid(
            f"Dimensions of a_shape {show_shape(shape)} must be those of b {show_shape(b.shape)}"
        )
    out = b.copy()
    xp.add.at(out, tuple(indices.T), values)
    return out


def _reduction(name: str) -> None:
    inputs = "input_indices: int64, input_values: T, input_shape: int64, reduction_axes: int32"
    op(name, f"{inputs} -> output: T", _reduced_shape, keep_dims=False, T=Type(NUMBERS))


def _reduced_shape(c: ShapeContext) -> list[Shape]:
    sizes, axes = c.shape_value(2), c.value(3)
    if sizes is None or axes is None:
        return [None]
    away = {int(a) % len(sizes) for a in axes.reshape(-1)}
    if c["keep_dims"]:
        return [tuple(1 if i in away else n for i, n in enumerate(sizes))]
    return [tuple(n for i, n in enumerate(sizes) if i not in away)]


_reduction("SparseReduceSum")
_reduction("SparseReduceMax")


def _reduce(
    xp: Any, fold: Any, indices: Any, values: Any, shape: Any, axes: Any, keep: bool
) -> Any:
    sizes = shape.tolist()
    for axis in axes.reshape(-1):
        if not -len(sizes) <= axis < len(sizes):
            raise invalid(
                f"Invalid reduction dimension {axis}, for input with {len(sizes)} dimensions."
            )
    away = {int(a) % len(sizes) for a in axes.reshape(-1)}
    kept = [i for i in range(len(sizes)) if i not in away]
    groups = indices[:, kept] @ xp.asarray(strides_of([sizes[i] for i in kept]))
    out = xp.zeros(int(np.prod([sizes[i] for i in kept], dtype=np.int64)), values.dtype)
    firsts, at = xp.unique(groups, return_inverse=True)
    out[firsts] = fold(xp, values, at.reshape(-1), len(firsts))
    return out.reshape([1 if i in away else n for i, n in enumerate(sizes) if keep or i in kept])


def _sums(xp: Any, values: Any, at: Any, count: int) -> Any:
    out = xp.zeros(count, values.dtype)
    xp.add.at(out, at, values)
    return out


def _maxima(xp: Any, values: Any, at: Any, count: int) -> Any:
    out = xp.empty(count, values.dtype)
    out[at] = values
    xp.maximum.at(out, at, values)
    return out


@kernel("SparseReduceSum", host_inputs="input_shape reduction_axes")
def sparse_reduce_sum(
    xp: Any, indices: Any, values: Any, shape: Any, axes: Any, *, keep_dims: Any
) -> Any:
    return _reduce(xp, _sums, indices, values, shape, axes, keep_dims)


@kernel("SparseReduceMax", host_inputs="input_shape reduction_axes")
def sparse_reduce_max(
    xp: Any, indices: Any, values: Any, shape: Any, axes: Any, *, keep_dims: Any
) -> Any:
    return _reduce(xp, _maxima, indices, values, shape, axes, keep_dims)


# ---- value by value with a dense tensor that broadcasts to the sparse one


def _with_dense(name: str, how: str) -> None:
    @op(
        name,
        "sp_indices: int64, sp_values: T, sp_shape: int64, dense: T -> output: T",
        T=Type(NUMBERS),
    )
    def shape(c: ShapeContext) -> list[Shape]:
        count, _ = triple(c, 0)
        return [(count,)]

    @kernel(name, host_inputs="sp_shape")
    def compute(xp: Any, indices: Any, values: Any, sizes: Any, dense: Any) -> Any:
        under = tuple(sizes.tolist())
        fits = dense.ndim <= len(under) and all(
            n in (1, m) for n, m in zip(dense.shape[::-1], under[::-1])
        )
        if not fits:
            raise invalid(
                "SparseDenseBinaryOpShared broadcasts dense to sparse only; got incompatible "
                f"shapes: [{','.join(map(str, under))}] vs. {show_shape(dense.shape)}"
            )
        picked = xp.broadcast_to(dense, under)[tuple(indices.T)]
        if how == "divide" and values.dtype.kind in "iu":
            return values // picked
        return getattr(xp, how)(values, picked)


_with_dense("SparseDenseCwiseAdd", "add")
_with_dense("SparseDenseCwiseMul", "multiply")
_with_dense("SparseDenseCwiseDiv", "divide")


@op("SparseSoftmax", "sp_indices: int64, sp_values: T, sp_shape: int64 -> output: T",
    T=Type(FLOATS))  # fmt: skip
def sparse_softmax_shape(c: ShapeContext) -> list[Shape]:
    """Softmax over the values that share all but the last index."""
    count, _ = triple(c, 0)
    return [(count,)]


@kernel("SparseSoftmax", host_inputs="sp_shape")
def sparse_softmax(xp: Any, indices: Any, values: Any, shape: Any) -> Any:
    rows = indices[:, :-1] @ xp.asarray(strides_of(shape.tolist()[:-1]))
    firsts, at = xp.unique(rows, return_inverse=True)
    at = at.reshape(-1)
    scaled = xp.exp(values - _maxima(xp, values, at, len(firsts))[at])
    return scaled / _sums(xp, scaled, at, len(firsts))[at]
