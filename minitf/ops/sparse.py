"""Functions on sparse tensors (tf.sparse and the old top-level names)."""

from __future__ import annotations

import math
from typing import Any

from minitf.convert import constant, to_tensor
from minitf.default import name_scope
from minitf.operation import Tensor
from minitf.ops.apply import apply_op
from minitf.ops.arguments import renamed
from minitf.ops.constant_value import constant_value, constant_value_as_shape
from minitf.ops.elementwise import cast
from minitf.ops.filling import all_dimensions, ones, zeros
from minitf.ops.gather import gather, gather_nd
from minitf.ops.joining import stack
from minitf.ops.reduction import range as range_op
from minitf.ops.shapes import broadcast_static_shape, identity, rank, reshape, shape, transpose
from minitf.ops.sorting import where_v2
from minitf.sparse_tensor import SparseTensor, convert_to_tensor_or_sparse_tensor, is_sparse
from minitf_runtime.types import float32, int64

__all__ = [
    "convert_to_tensor_or_sparse_tensor",
    "sparse_add",
    "sparse_concat",
    "sparse_fill_empty_rows",
    "sparse_reduce_max",
    "sparse_reduce_sum",
    "sparse_reorder",
    "sparse_reshape",
    "sparse_retain",
    "sparse_slice",
    "sparse_softmax",
    "sparse_tensor_dense_matmul",
    "sparse_tensor_to_dense",
    "sparse_to_dense",
    "sparse_transpose",
]


def checked(sp_input: Any) -> SparseTensor:
    if not is_sparse(sp_input):
        raise TypeError("Input must be a SparseTensor.")
    return SparseTensor.from_value(sp_input)


# ---- making, and going to dense


def from_dense(tensor: Any, name: str | None = None) -> SparseTensor:
    """The values of a dense tensor that are not zero."""
    with name_scope(name, "dense_to_sparse"):
        tensor = to_tensor(tensor)
        differs = apply_op("NotEqual", tensor, constant(0, tensor.dtype))
        indices = where_v2(differs)
        values = gather_nd(tensor, indices)
        return SparseTensor(indices, values, shape(tensor, out_type=int64))


def eye(
    num_rows: Any, num_columns: Any = None, dtype: Any = float32, name: str | None = None
) -> SparseTensor:
    """Ones on the diagonal of a matrix."""
    with name_scope(name, "eye", [num_rows, num_columns]):
        rows = _as_int64(num_rows, "num_rows")
        columns = rows if num_columns is None else _as_int64(num_columns, "num_columns")
        count = apply_op("Minimum", rows, columns)
        along = range_op(count, dtype=int64)
        return SparseTensor(stack([along, along], axis=1), ones(count, dtype), [rows, columns])


def _as_int64(value: Any, name: str) -> Tensor:
    if isinstance(value, int):
        return to_tensor(value, int64, name=name)
    if not isinstance(value, Tensor):
        raise TypeError(f"{name} must be an integer value")
    return cast(value, int64)


def sparse_to_dense(
    sparse_indices: Any,
    output_shape: Any,
    sparse_values: Any,
    default_value: Any = 0,
    validate_indices: bool = True,
    name: str | None = None,
) -> Tensor:
    """A dense tensor of the values at the indices, default_value elsewhere."""
    return apply_op(
        "SparseToDense",
        sparse_indices,
        output_shape,
        sparse_values,
        default_value,
        validate_indices=validate_indices,
        name=name,
    )


def sparse_tensor_to_dense(
    sp_input: Any, default_value: Any = None, validate_indices: bool = True, name: str | None = None
) -> Tensor:
    """The sparse tensor as a dense one."""
    sp = checked(sp_input)
    default = zeros([], sp.dtype) if default_value is None else default_value
    return sparse_to_dense(sp.indices, sp.dense_shape, sp.values, default, validate_indices, name)


# ---- the same values elsewhere


def sparse_reorder(sp_input: Any, name: str | None = None) -> SparseTensor:
    """The indices in row-major order."""
    sp = checked(sp_input)
    indices, values = apply_op("SparseReorder", *sp._components(), name=name)
    known = sp.shape
    sizes = known.as_list() if known.is_fully_defined() else identity(sp.dense_shape)
    return SparseTensor(indices, values, sizes)


def sparse_reshape(sp_input: Any, shape: Any, name: str | None = None) -> SparseTensor:
    """The same values in another dense shape; one size may be -1."""
    sp = checked(sp_input)
    wanted = cast(shape, int64)
    with name_scope(name, "SparseReshape", [sp]) as scope:
        indices, sizes = apply_op("SparseReshape", sp.indices, sp.dense_shape, wanted, name=scope)
        static = _reshaped(sp, wanted)
        if static is not None:
            sizes = constant(static, int64)
        return SparseTensor(indices, identity(sp.values), sizes)


def _reshaped(sp: SparseTensor, wanted: Tensor) -> list[int] | None:
    """The new dense shape where both are known. Raises ValueError if they do not fit."""
    sizes = constant_value_as_shape(wanted).as_tuple
    if sizes is None or not sp.shape.is_fully_defined():
        return None
    given = constant_value(wanted)
    if given is not None and (given == -1).sum() > 1:
        raise ValueError(f"At most one dimension can be inferred (-1). Found: {given}")
    if sizes.count(None) > 1:
        return None
    count = math.prod(sp.shape.as_list())
    known = math.prod(n for n in sizes if n is not None)
    out = [count // known if n is None else n for n in sizes]
    if math.prod(out) != count:
        raise ValueError(
            f"Cannot reshape a tensor with {count} elements to shape {list(sizes)} "
            f"({math.prod(out)} elements)."
        )
    return out


def sparse_transpose(sp_input: Any, perm: Any = None, name: str | None = None) -> SparseTensor:
    """The axes in the order `perm`, or reversed."""
    sp = checked(sp_input)
    with name_scope(name, "SparseTranspose", [sp]):
        if perm is None:
            ndim: Any = rank(sp)
            perm = ndim - 1 - range_op(0, ndim, 1)
        indices = transpose(gather(transpose(sp.indices), perm))
        order = constant_value(to_tensor(perm))
        known = sp.shape
        sizes: Any
        if order is not None and known.is_fully_defined():
            sizes = [known.as_list()[p] for p in order]
        else:
            sizes = gather(sp.dense_shape, perm)
        return sparse_reorder(SparseTensor(indices, sp.values, sizes))


def sparse_concat(
    axis: Any = None,
    sp_inputs: Any = None,
    name: str | None = None,
    expand_nonconcat_dim: bool = False,
    concat_dim: Any = None,
    expand_nonconcat_dims: bool | None = None,
) -> SparseTensor:
    """Sparse tensors one after the other along an axis, all other sizes being equal."""
    if expand_nonconcat_dim or expand_nonconcat_dims:
        raise NotImplementedError("sparse_concat with expand_nonconcat_dims is not supported")
    axis = renamed("axis", axis, "concat_dim", concat_dim)
    parts = [checked(sp) for sp in sp_inputs]
    if len(parts) == 1:
        return parts[0]
    lists = [list(one) for one in zip(*(sp._components() for sp in parts))]
    indices, values, sizes = apply_op("SparseConcat", *lists, concat_dim=axis, name=name)
    known = [constant_value(sp.dense_shape) for sp in parts]
    if all(k is not None for k in known):
        whole = known[0].copy()
        whole[axis] = sum(k[axis] for k in known)
        sizes = to_tensor(whole)
    return SparseTensor(indices, values, sizes)


# ---- parts


def sparse_retain(sp_input: Any, to_retain: Any) -> SparseTensor:
    """The values where `to_retain` is True."""
    sp = checked(sp_input)
    keep = to_tensor(to_retain)
    keep.shape.assert_has_rank(1)
    sp.values.shape.merge_with(keep.shape)
    places = reshape(where_v2(keep), [-1])
    indices = gather(sp.indices, places)
    values = gather(sp.values, places)
    return SparseTensor(indices, values, identity(sp.dense_shape))


def sparse_slice(sp_input: Any, start: Any, size: Any, name: str | None = None) -> SparseTensor:
    """The box of `size` at `start`."""
    sp = checked(sp_input)
    start, size = to_tensor(start, int64), to_tensor(size, int64)
    with name_scope(name, "SparseSlice", [sp]) as scope:
        parts = apply_op("SparseSlice", *sp._components(), start, size, name=scope)
        return SparseTensor(*parts)


def sparse_fill_empty_rows(
    sp_input: Any, default_value: Any, name: str | None = None
) -> tuple[SparseTensor, Tensor]:
    """default_value at column 0 of each row without values, and which rows these are."""
    sp = checked(sp_input)
    with name_scope(name, "SparseFillEmptyRows", [sp]):
        default = to_tensor(default_value, sp.values.dtype)
        filled = apply_op("SparseFillEmptyRows", *sp._components(), default)
        indices, values, empty, _ = filled
        return SparseTensor(indices, values, sp.dense_shape), empty


# ---- arithmetic


def sparse_add(a: Any, b: Any, threshold: Any = None, thresh: Any = None) -> Any:
    """The sum of two tensors of which at least one is sparse."""
    least = renamed("threshold", threshold, "thresh", thresh)
    if not (is_sparse(a) or is_sparse(b)):
        raise TypeError("At least one input should be SparseTensor; do you mean to use tf.add()?")
    if not (is_sparse(a) and is_sparse(b)):
        sp, dense = (a, b) if is_sparse(a) else (b, a)
        return apply_op("SparseTensorDenseAdd", *checked(sp)._components(), dense)
    a, b = checked(a), checked(b)
    least = to_tensor(0 if least is None else least, a.dtype.real_dtype.base, name="threshold")
    indices, values, sizes = apply_op("SparseAdd", *a._components(), *b._components(), least)
    a.shape.assert_is_compatible_with(b.shape)
    known = broadcast_static_shape(a.shape, b.shape)
    if known.is_fully_defined():
        sizes = known.as_list()
    return SparseTensor(indices, values, sizes)


def sparse_tensor_dense_matmul(
    sp_a: Any, b: Any, adjoint_a: bool = False, adjoint_b: bool = False, name: str | None = None
) -> Tensor:
    """A sparse matrix times a dense one."""
    sp = checked(sp_a)
    with name_scope(name, "SparseTensorDenseMatMul", [sp.indices, sp.values, b]):
        b = to_tensor(b, name="b")
        parts = sp._components()
        return apply_op(
            "SparseTensorDenseMatMul", *parts, b, adjoint_a=adjoint_a, adjoint_b=adjoint_b
        )


def sparse_reduce_sum(
    sp_input: Any,
    axis: Any = None,
    keepdims: bool | None = None,
    reduction_axes: Any = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """The sum over axes (all, by default), as a dense tensor."""
    return _reduced("SparseReduceSum", sp_input, axis, keepdims, reduction_axes, keep_dims)


def sparse_reduce_max(
    sp_input: Any,
    axis: Any = None,
    keepdims: bool | None = None,
    reduction_axes: Any = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """The largest value over axes (all, by default), as a dense tensor."""
    return _reduced("SparseReduceMax", sp_input, axis, keepdims, reduction_axes, keep_dims)


def _reduced(
    op: str, sp_input: Any, axis: Any, keepdims: Any, reduction_axes: Any, keep_dims: Any
) -> Tensor:
    keep = renamed("keepdims", keepdims, "keep_dims", keep_dims)
    axes = renamed("axis", axis, "reduction_axes", reduction_axes)
    sp = checked(sp_input)
    if axes is None:
        axes = all_dimensions(sp)
    return apply_op(op, *sp._components(), axes, keep_dims=keep)


def sparse_softmax(sp_input: Any, name: str | None = None) -> SparseTensor:
    """Softmax over the values of each last axis."""
    sp = checked(sp_input)
    with name_scope(name, "SparseSoftmax", [sp.indices, sp.values]):
        values = apply_op("SparseSoftmax", *sp._components())
        return SparseTensor(sp.indices, values, sp.dense_shape)


def _with_dense(op: str, name: str) -> Any:
    """The operator of a sparse tensor and a dense one that broadcasts to it."""

    def operator(sp: SparseTensor, dense: Any) -> SparseTensor:
        with name_scope(None, name, [sp, dense]) as scope:
            dense = to_tensor(dense, sp.dtype.base, name="y")
            values = apply_op(op, *sp._components(), dense, name=scope)
            return SparseTensor(sp.indices, values, sp.dense_shape)

    return operator


SparseTensor.__mul__ = _with_dense("SparseDenseCwiseMul", "mul")
SparseTensor.__truediv__ = _with_dense("SparseDenseCwiseDiv", "truediv")
