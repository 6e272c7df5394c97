"""Gradients of matrix products."""

from __future__ import annotations

from typing import Any

from minitf.gradients.broadcasting import sides_of_shapes
from minitf.gradients.registry import gradient
from minitf.ops.apply import apply_op
from minitf.ops.array import shape, transpose
from minitf.ops.elementwise import cast, conj
from minitf.ops.matmul import matmul
from minitf_runtime.types import is_full

# What the gradients are products of, by (a is transposed, b is transposed): both factors, and
# whether each is transposed; g is the incoming gradient.
_FACTORS = {
    (False, False): (("g", "b", False, True), ("a", "g", True, False)),
    (False, True): (("g", "b", False, False), ("g", "a", True, False)),
    (True, False): (("b", "g", False, True), ("a", "g", False, False)),
    (True, True): (("b", "g", True, True), ("g", "a", True, True)),
}


def _factors(op: Any, grad: Any, a: Any, b: Any, flags: tuple[str, str]) -> Any:
    """For both inputs: (left factor, right factor, left is flipped, right is flipped)."""
    named = {"a": a, "b": b, "g": grad}
    for left, right, *flips in _FACTORS[op.get_attr(flags[0]), op.get_attr(flags[1])]:
        yield named[left], named[right], *flips


@gradient("MatMul")
def mat_mul(op: Any, grad: Any) -> Any:
    a = conj(op.inputs[0])
    b = conj(op.inputs[1])
    return [
        apply_op("MatMul", left, right, transpose_a=flip_left, transpose_b=flip_right)
        for left, right, flip_left, flip_right in _factors(
            op, grad, a, b, ("transpose_a", "transpose_b")
        )
    ]


@gradient("BatchMatMul")
def batch_mat_mul(op: Any, grad: Any) -> Any:
    return [
        matmul(left, right, adjoint_a=flip_left, adjoint_b=flip_right)
        for left, right, flip_left, flip_right in _factors(op, grad, *op.inputs, ("adj_x", "adj_y"))
    ]


@gradient("BatchMatMulV2")
def batch_mat_mul_v2(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    grad_x, grad_y = batch_mat_mul(op, grad)
    if is_full(x._shape) and x._shape == y._shape:
        return grad_x, grad_y
    x_shape = shape(x)
    y_shape = shape(y)
    x_side, y_side = sides_of_shapes(x_shape[:-2], y_shape[:-2])
    return (
        x_side._replace(shape=x_shape).reduce(grad_x),
        y_side._replace(shape=y_shape).reduce(grad_y),
    )


@gradient("SparseMatMul")
def sparse_mat_mul(op: Any, grad: Any) -> Any:
    """Products again, each told which factor may be sparse."""
    a, b = op.inputs
    sparse = {
        a: op.get_attr("a_is_sparse"),
        b: op.get_attr("b_is_sparse"),
        grad: grad.op.type == "ReluGrad",
    }

    def product(left: Any, right: Any, flip_left: bool, flip_right: bool, dtype: Any) -> Any:
        right_sparse = sparse[right]
        made = matmul(
            left,
            transpose(right) if flip_right else right,
            transpose_a=flip_left,
            a_is_sparse=sparse[left],
            b_is_sparse=right_sparse,
        )
        return cast(made, dtype)

    flags = ("transpose_a", "transpose_b")
    return [
        product(*factors, t.dtype.base)
        for factors, t in zip(_factors(op, grad, a, b, flags), op.inputs)
    ]
