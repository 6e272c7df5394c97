"""Functions on a tensor's shape: asking for it, and the same elements in another one."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitf.convert import constant, to_tensor
from minitf.default import name_scope
from minitf.operation import Tensor
from minitf.ops.apply import apply_op
from minitf.ops.arguments import renamed
from minitf.ops.raw import passthrough
from minitf.sparse_tensor import SparseTensor, SparseTensorValue
from minitf.tensor_shape import TensorShape, as_shape
from minitf_runtime.types import DType, broadcast_shapes, int32, is_full, num_elements

__all__ = [
    "bitcast",
    "broadcast_dynamic_shape",
    "broadcast_static_shape",
    "broadcast_to",
    "expand_dims",
    "guarantee_const",
    "identity",
    "identity_n",
    "matrix_transpose",
    "rank",
    "reshape",
    "shape",
    "shape_n",
    "size",
    "squeeze",
    "stop_gradient",
    "transpose",
]

_SPARSE = (SparseTensor, SparseTensorValue)

identity_n = passthrough("IdentityN", "identity_n")
stop_gradient = passthrough("StopGradient", "stop_gradient")
guarantee_const = passthrough("GuaranteeConst", "guarantee_const")
broadcast_to = passthrough("BroadcastTo", "broadcast_to")
bitcast = passthrough("Bitcast", "bitcast")


def identity(input: Any, name: str | None = None) -> Tensor:  # noqa: A002
    """A tensor of the same value, made by an op of its own."""
    return apply_op("Identity", input, name=name)


def shape(input: Any, name: str | None = None, out_type: DType = int32) -> Tensor:  # noqa: A002
    """The shape of a tensor: a constant where it is fully known."""
    return shape_internal(input, name, optimize=True, out_type=out_type)


def shape_internal(
    input: Any,  # noqa: A002
    name: str | None = None,
    optimize: bool = True,
    out_type: DType = int32,
) -> Tensor:
    """`shape` that makes no constant unless `optimize`."""
    with name_scope(name, "Shape", [input]) as scope:
        if isinstance(input, _SPARSE):
            return apply_op("Cast", input.dense_shape, DstT=out_type)
        x = to_tensor(input)
        if optimize and is_full(x._shape):
            return constant(x._shape, out_type, name=scope)
        return apply_op("Shape", x, out_type=out_type, name=scope)


def shape_n(input: Any, out_type: DType = int32, name: str | None = None) -> Any:  # noqa: A002
    """The shapes of several tensors."""
    return apply_op("ShapeN", input, out_type=out_type, name=name)


def size(input: Any, name: str | None = None, out_type: DType = int32) -> Tensor:  # noqa: A002
    """The number of elements: a constant where it is known."""
    return size_internal(input, name, optimize=True, out_type=out_type)


def size_internal(
    input: Any,  # noqa: A002
    name: str | None = None,
    optimize: bool = True,
    out_type: DType = int32,
) -> Tensor:
    """`size` that makes no constant unless `optimize`."""
    with name_scope(name, "Size", [input]) as scope:
        if isinstance(input, _SPARSE):
            sizes = apply_op("Cast", input.dense_shape, DstT=out_type)
            return apply_op("Prod", sizes, 0, name=scope)
        x = to_tensor(input)
        known = 0 if x._shape and 0 in x._shape else num_elements(x._shape)
        if optimize and known is not None:
            return constant(known, out_type, name=scope)
        return apply_op("Size", x, out_type=out_type, name=scope)


def rank(input: Any, name: str | None = None) -> Tensor:  # noqa: A002
    """The number of dimensions: a constant where it is known."""
    return rank_internal(input, name, optimize=True)


def rank_internal(input: Any, name: str | None = None, optimize: bool = True) -> Tensor:  # noqa: A002
    """`rank` that makes no constant unless `optimize`."""
    with name_scope(name, "Rank", [input]) as scope:
        if isinstance(input, _SPARSE):
            return apply_op("Size", input.dense_shape, name=scope)
        x = to_tensor(input)
        if optimize and x._shape is not None:
            return constant(len(x._shape), int32, name=scope)
        return apply_op("Rank", x, name=scope)


def reshape(tensor: Any, shape: Any, name: str | None = None) -> Tensor:
    """The same elements in another shape; one size may be -1."""
    return apply_op("Reshape", tensor, shape, name=name)


def expand_dims(
    input: Any,
    axis: Any = None,
    name: str | None = None,
    dim: Any = None,  # noqa: A002
) -> Tensor:
    """The tensor with a new axis of size 1."""
    axis = renamed("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("Must specify an axis argument to tf.expand_dims()")
    return apply_op("ExpandDims", input, axis, name=name)


def squeeze(
    input: Any,
    axis: Any = None,
    name: str | None = None,
    squeeze_dims: Any = None,  # noqa: A002
) -> Tensor:
    """The tensor without its axes of size 1 (those in `axis`, or all)."""
    axis = renamed("axis", axis, "squeeze_dims", squeeze_dims)
    axes = [axis] if np.isscalar(axis) else axis
    return apply_op("Squeeze", input, squeeze_dims=axes, name=name)


def transpose(
    a: Any, perm: Any = None, name: str | None = "transpose", conjugate: bool = False
) -> Tensor:
    """The axes in the order `perm`, or reversed; complex numbers conjugated on demand."""
    with name_scope(name, "transpose", [a]) as scope:
        op = "ConjugateTranspose" if conjugate and a.dtype.is_complex else "Transpose"
        if perm is not None:
            return apply_op(op, a, perm, name=scope)
        x = to_tensor(a, name="a")
        if x._shape:
            order = np.arange(len(x._shape))[::-1]
            return apply_op(op, x, order.copy(), name=scope)
        ndim = apply_op("Rank", x)
        turned = apply_op(op, x, ndim - 1 - apply_op("Range", 0, ndim, 1), name=scope)
        turned.set_shape(x.shape)
        return turned


def matrix_transpose(
    a: Any, name: str | None = "matrix_transpose", conjugate: bool = False
) -> Tensor:
    """The last two axes exchanged."""
    with name_scope(name, None, [a]):
        a = to_tensor(a, name="a")
        if a._shape is None:
            ndim: Any = rank(a)
            first = apply_op("Range", 0, ndim - 2, 1)
            perm = apply_op("ConcatV2", [first, [ndim - 1, ndim - 2]], 0, name="concat")
        elif len(a._shape) < 2:
            raise ValueError(
                f"Argument 'a' should be a (batch) matrix, with rank >= 2.  Found: {a.shape}"
            )
        else:
            n = len(a._shape)
            perm = [*range(n - 2), n - 1, n - 2]
        return transpose(a, perm=perm, conjugate=conjugate)


def broadcast_dynamic_shape(shape_x: Any, shape_y: Any) -> Tensor:
    """The shape that two shapes, given as tensors, broadcast to."""
    return apply_op("BroadcastArgs", shape_x, shape_y)


def broadcast_static_shape(shape_x: Any, shape_y: Any) -> TensorShape:
    """The shape that two static shapes broadcast to. Raises ValueError."""
    a, b = as_shape(shape_x), as_shape(shape_y)
    try:
        return TensorShape.of(broadcast_shapes(a, b))
    except ValueError:
        raise ValueError(f"Incompatible shapes for broadcasting: {shape_x} and {shape_y}") from None
