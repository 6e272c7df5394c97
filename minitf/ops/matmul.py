"""Products of matrices and tensors. einsum is in einsum.py."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from minitf.convert import to_tensor
from minitf.default import name_scope
from minitf.operation import Tensor
from minitf.ops import array
from minitf.ops.apply import apply_op
from minitf.ops.elementwise import conj
from minitf.ops.raw import passthrough
from minitf.ops.reduction import range as range_op
from minitf.ops.reduction import reduce_prod, reduce_sum
from minitf_runtime.types import float32, int32, is_full

__all__ = ["cross", "matmul", "sparse_matmul", "tensordot", "trace"]

cross = passthrough("Cross", "cross")
sparse_matmul = passthrough("SparseMatMul", "sparse_matmul")


def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of two matrices, or of batches of them that broadcast.

    Raises ValueError if one of them is to be both transposed and adjoint.
    """
    with name_scope(name, "MatMul", [a, b]) as name:
        for side, transposed, adjoint in (
            ("a", transpose_a, adjoint_a),
            ("b", transpose_b, adjoint_b),
        ):
            if transposed and adjoint:
                raise ValueError(f"Only one of transpose_{side} and adjoint_{side} can be True.")
        a = to_tensor(a, name="a")
        b = to_tensor(b, name="b")
        sparse = a_is_sparse or b_is_sparse
        if not sparse and (_may_be_batch(a) or _may_be_batch(b)):
            a, adj_x = (conj(a), True) if transpose_a else (a, adjoint_a)
            b, adj_y = (conj(b), True) if transpose_b else (b, adjoint_b)
            return apply_op("BatchMatMulV2", a, b, adj_x=adj_x, adj_y=adj_y, name=name)
        a, transpose_a = (conj(a), True) if adjoint_a else (a, transpose_a)
        b, transpose_b = (conj(b), True) if adjoint_b else (b, transpose_b)
        flags = {"transpose_a": transpose_a, "transpose_b": transpose_b}
        if sparse and a.dtype.base is b.dtype.base is float32:
            flags |= {"a_is_sparse": a_is_sparse, "b_is_sparse": b_is_sparse}
            return apply_op("SparseMatMul", a, b, name=name, **flags)
        return apply_op("MatMul", a, b, name=name, **flags)


def _may_be_batch(x: Tensor) -> bool:
    return x._shape is None or len(x._shape) > 2


def matvec(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """A matrix (or a batch of them) times a vector."""
    with name_scope(name, "MatVec", [a, b]):
        column = array.expand_dims(b, axis=-1)
        out = matmul(
            a, column, transpose_a=transpose_a, adjoint_a=adjoint_a,
            a_is_sparse=a_is_sparse, b_is_sparse=b_is_sparse,
        )  # fmt: skip
        return array.squeeze(out, axis=-1)


def trace(x: Any, name: str | None = None) -> Tensor:
    """The sum of the main diagonal of the innermost matrices."""
    with name_scope(name, "Trace", [x]) as name:
        diagonal = apply_op("MatrixDiagPart", to_tensor(x, name="x"), name="diag_part")
        return reduce_sum(diagonal, [-1], name=name)


# ---- tensordot


def tensordot(a: Any, b: Any, axes: Any, name: str | None = None) -> Tensor:
    """The sum over products of a's and b's elements along the given axes of each.

    axes: how many (the last of a, the first of b), or a pair of lists, or a [2, k] tensor.
    """
    with name_scope(name, "Tensordot", [a, b, axes]) as name:
        a = to_tensor(a, name="a")
        b = to_tensor(b, name="b")
        a_axes, b_axes = _contracted(a, axes)
        left, a_free, a_static = _as_matrix(a, a_axes, False)
        right, b_free, b_static = _as_matrix(b, b_axes, True)
        product = matmul(left, right)
        if isinstance(a_free, list) and isinstance(b_free, list):
            return array.reshape(product, a_free + b_free, name=name)
        a_free = to_tensor(a_free, int32)
        b_free = to_tensor(b_free, int32)
        out = array.reshape(product, array.concat([a_free, b_free], 0), name=name)
        if a_static is not None and b_static is not None:
            out.set_shape(a_static + b_static)
        return out


def _contracted(a: Tensor, axes: Any) -> tuple[Any, Any]:
    """The axes of a and of b that are summed. Raises ValueError."""
    if isinstance(axes, int):
        return _last_and_first(a, axes)
    if not isinstance(axes, (list, tuple)):
        pair = to_tensor(axes, int32, name="axes")
        return pair[0], pair[1]
    if len(axes) != 2:
        raise ValueError("'axes' must be an integer or have length 2.")
    a_axes, b_axes = axes
    if isinstance(a_axes, int) and isinstance(b_axes, int):
        a_axes, b_axes = [a_axes], [b_axes]
    if len(a_axes) != len(b_axes):
        raise ValueError(
            f"Different number of contraction axes 'a' and 'b', {len(a_axes)} != {len(b_axes)}."
        )
    return a_axes, b_axes


def _last_and_first(a: Tensor, count: int) -> tuple[Any, Any]:
    if count < 0:
        raise ValueError("'axes' must be at least 0.")
    if a._shape is None:
        ndim = array.rank(a)
        return range_op(ndim - count, ndim, dtype=int32), range_op(count, dtype=int32)
    if count > len(a._shape):
        raise ValueError(f"'axes' must not be larger than the number of dimensions of tensor {a}.")
    return list(range(len(a._shape) - count, len(a._shape))), list(range(count))


def _as_matrix(x: Tensor, axes: Any, flipped: bool) -> tuple[Tensor, Any, Any]:
    """x as a matrix [free, summed] (`flipped`: [summed, free]), its free sizes, and these as far as
    they are known now."""
    shape = x._shape
    if shape is None or not isinstance(axes, (list, tuple)):
        return *_as_unknown_matrix(x, axes, flipped), None
    axes = [i if i >= 0 else i + len(shape) for i in axes]
    free = [i for i in range(len(shape)) if i not in axes]
    static = [shape[i] for i in free]
    if not is_full(shape):
        summed, kept = to_tensor(axes, int32, name="axes"), to_tensor(free, int32, name="free")
        return *_reshaped(x, array.shape(x), summed, kept, flipped), static
    sizes = [prod(static), prod(shape[i] for i in axes)]
    order: Sequence[int] = [*axes, *free] if flipped else [*free, *axes]
    matrix = array.reshape(array.transpose(x, order), sizes[::-1] if flipped else sizes)
    return matrix, static, static


def _as_unknown_matrix(x: Tensor, axes: Any, flipped: bool) -> tuple[Tensor, Tensor]:
    sizes = array.shape(x)
    ndim = array.rank(x)
    axes = to_tensor(axes, int32, name="axes")
    axes = array.where(axes >= 0, axes, axes + ndim)
    free, _ = array.setdiff1d(range_op(ndim), axes)
    return _reshaped(x, sizes, axes, free, flipped)


def _reshaped(
    x: Tensor, sizes: Tensor, axes: Tensor, free: Tensor, flipped: bool
) -> tuple[Tensor, Tensor]:
    free_sizes = array.gather(sizes, free)
    summed_sizes = array.gather(sizes, axes)
    rows, columns = reduce_prod(free_sizes), reduce_prod(summed_sizes)
    if flipped:
        order, shape = array.concat([axes, free], 0), array.stack([columns, rows])
    else:
        order, shape = array.concat([free, axes], 0), array.stack([rows, columns])
    return array.reshape(array.transpose(x, order), shape), free_sizes
