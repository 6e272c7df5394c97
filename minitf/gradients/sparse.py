"""Gradients of ops on sparse tensors (indices, values, dense shape)."""

from __future__ import annotations

from typing import Any

from minitf.gradients.registry import gradient
from minitf.ops.apply import apply_op
from minitf.ops.array import (
    concat,
    expand_dims,
    gather,
    gather_nd,
    ones,
    shape,
    size,
    transpose,
    zeros_like,
)
from minitf.ops.array import slice as slice_op
from minitf.ops.elementwise import cast
from minitf.ops.reduction import range as range_op
from minitf.ops.reduction import reduce_sum, reduced_shape
from minitf_runtime.types import COMPLEX, int64


@gradient("SparseReorder")
def sparse_reorder(op: Any, _: Any, grad: Any) -> Any:
    indices, _, sizes = op.inputs
    places = range_op(shape(indices)[0])
    ordered = apply_op("SparseReorder", indices, places, sizes)
    back = apply_op("InvertPermutation", ordered[1])
    return None, gather(grad, back), None


@gradient("SparseAdd")
def sparse_add(op: Any, *grads: Any) -> Any:
    a, a_values, _, b, b_values = op.inputs[:5]
    grad_a, grad_b = apply_op("SparseAddGrad", grads[1], a, b, op.outputs[0])
    grad_a.set_shape(a_values.shape)
    grad_b.set_shape(b_values.shape)
    return None, grad_a, None, None, grad_b, None, None


@gradient("SparseTensorDenseAdd")
def sparse_tensor_dense_add(op: Any, grad: Any) -> Any:
    return None, gather_nd(grad, op.inputs[0]), None, grad


@gradient("SparseReduceSum")
def sparse_reduce_sum(op: Any, grad: Any) -> Any:
    indices, _, sizes, axes = op.inputs
    kept = reduced_shape(sizes, axes)
    grad = apply_op("Reshape", grad, kept)
    scale = sizes // cast(kept, int64)
    return None, gather_nd(grad, indices // scale), None, None


@gradient("SparseSlice")
def sparse_slice(op: Any, *grads: Any) -> Any:
    indices, values, _, start, _ = op.inputs
    back = apply_op("SparseSliceGrad", grads[1], indices, start, op.outputs[0])
    back.set_shape(values.shape)
    return None, back, None, None, None


@gradient("SparseTensorDenseMatMul")
def sparse_tensor_dense_mat_mul(op: Any, grad: Any) -> Any:
    """Raises NotImplementedError for complex numbers, as TF does."""
    indices, values, sizes, b = op.inputs
    if values.dtype.base in COMPLEX:
        raise NotImplementedError("SparseTensorDenseMatMul op does not support complex gradients.")
    flip_a, flip_b = op.get_attr("adjoint_a"), op.get_attr("adjoint_b")
    grad_b = apply_op("SparseTensorDenseMatMul", indices, values, sizes, grad, adjoint_a=not flip_a)
    if flip_b:
        grad_b = transpose(grad_b)
    rows = indices[:, 0]
    columns = indices[:, 1]
    if flip_a:
        rows, columns = columns, rows
    of_grad = gather(grad, rows)
    of_b = gather(transpose(b) if flip_b else b, columns)
    return None, reduce_sum(of_grad * of_b, axis=1), None, grad_b


@gradient("SparseDenseCwiseMul")
def sparse_dense_cwise_mul(op: Any, grad: Any) -> Any:
    scaled, dense, dense_shape = _under(op)
    return None, grad * dense, None, _scattered(op, scaled, grad * op.inputs[1], dense_shape)


@gradient("SparseDenseCwiseDiv")
def sparse_dense_cwise_div(op: Any, grad: Any) -> Any:
    scaled, dense, dense_shape = _under(op)
    back = grad / dense
    slope = -op.inputs[1] / apply_op("Square", dense)
    return None, back, None, _scattered(op, scaled, grad * slope, dense_shape)


def _under(op: Any) -> Any:
    """For each sparse value the place in the broadcast dense tensor, and the value there."""
    indices, _, sizes, dense = op.inputs
    dense_shape = cast(shape(dense), int64)
    added = expand_dims(size(sizes) - size(dense_shape), 0)
    scaling = sizes // concat([ones(added, int64), dense_shape], 0)
    scaled = slice_op(indices // scaling, concat([[0], added], 0), [-1, -1])
    return scaled, gather_nd(dense, scaled), dense_shape


def _scattered(op: Any, indices: Any, values: Any, sizes: Any) -> Any:
    nothing = zeros_like(op.inputs[3])
    return apply_op("SparseTensorDenseAdd", indices, values, sizes, nothing)


@gradient("SparseDenseCwiseAdd")
def sparse_dense_cwise_add(op: Any, grad: Any) -> Any:
    raise NotImplementedError("Gradient for SparseDenseCwiseAdd is currently not implemented yet.")


@gradient("SparseSoftmax")
def sparse_softmax(op: Any, grad: Any) -> Any:
    indices, _, sizes = op.inputs
    y = op.outputs[0]
    total = -apply_op("SparseReduceSum", indices, y * grad, sizes, [-1], keep_dims=True)
    moved = apply_op("SparseDenseCwiseAdd", indices, grad, sizes, total)
    return None, moved * y, None


@gradient("SparseFillEmptyRows")
def sparse_fill_empty_rows(op: Any, _: Any, grad: Any, *__: Any) -> Any:
    back, default = apply_op("SparseFillEmptyRowsGrad", op.outputs[3], grad)
    return None, back, None, default


@gradient("SparseToDense")
def sparse_to_dense(op: Any, grad: Any) -> Any:
    indices, sizes, _, _ = op.inputs
    back = gather_nd(grad, indices)
    rest = reduce_sum(grad) - reduce_sum(back)
    return zeros_like(indices), zeros_like(sizes), back, rest
