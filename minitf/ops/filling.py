"""Tensors made from nothing but a shape: placeholders, zeros, ones, fill, one-hot, masks, grids."""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from minitf.convert import constant, to_tensor
from minitf.default import name_scope
from minitf.operation import Tensor
from minitf.ops.apply import apply_op
from minitf.ops.shapes import expand_dims, rank, reshape, shape_internal, size
from minitf.sparse_tensor import SparseTensor
from minitf.tensor_shape import TensorShape, as_shape
from minitf_runtime.types import DType, as_dtype, bool_, float32, int32, int64, is_full, string

__all__ = [
    "fill",
    "meshgrid",
    "one_hot",
    "ones",
    "ones_like",
    "placeholder",
    "placeholder_with_default",
    "sequence_mask",
    "sparse_placeholder",
    "zeros",
    "zeros_like",
]

MAX_CONST_ELEMENTS = 1000  # zeros and ones of fewer elements are constants


def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Tensor:
    """A tensor whose value every run must feed."""
    return apply_op("Placeholder", dtype=dtype, shape=shape, name=name)


def placeholder_with_default(
    input: Any,
    shape: Any,
    name: str | None = None,  # noqa: A002
) -> Tensor:
    """A tensor that is `input` unless it is fed; feeds may have any shape that fits `shape`."""
    return apply_op("PlaceholderWithDefault", input, shape=shape, name=name)


def sparse_placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> SparseTensor:
    """A sparse tensor whose three parts every run must feed."""

    def named(part: str) -> str | None:
        return None if name is None else f"{name}/{part}"

    ndim = None
    dense_shape = None
    if isinstance(shape, Tensor):
        ndim = shape.shape[0]
        dense_shape = to_tensor(shape, int64)
    elif shape is not None:
        ndim = len(shape)
        if None not in list(shape):
            dense_shape = to_tensor(shape, int64, name=named("shape"))
    if dense_shape is None:
        dense_shape = placeholder(int64, [ndim], named("shape"))
    values = placeholder(dtype, [None], named("values"))
    indices = placeholder(int64, [None, ndim], named("indices"))
    return SparseTensor(indices, values, dense_shape)


# ---- zeros and ones


def fill(dims: Any, value: Any, name: str | None = None) -> Tensor:
    """A tensor of shape `dims` that holds `value` everywhere."""
    return apply_op("Fill", dims, value, name=name)


def zeros(shape: Any, dtype: Any = float32, name: str | None = None) -> Tensor:
    """Zeros (False, empty strings)."""
    dtype = as_dtype(dtype).base
    zero: Any = False if dtype is bool_ else "" if dtype is string else 0
    return _filled(zero, shape, dtype, name, "zeros")


def ones(shape: Any, dtype: Any = float32, name: str | None = None) -> Tensor:
    """Ones (True)."""
    dtype = as_dtype(dtype).base
    return _filled(True if dtype is bool_ else 1, shape, dtype, name, "ones")


def _filled(value: Any, shape: Any, dtype: DType, name: str | None, default: str) -> Tensor:
    with name_scope(name, default, [shape]) as scope:
        sizes = shape
        if not isinstance(shape, Tensor):
            if _is_small(shape):
                return constant(value, dtype, as_shape(shape), name=scope)
            sizes = _as_shape_tensor(shape)
        if not sizes._shape:
            sizes = reshape(sizes, [-1])
        return fill(sizes, constant(value, dtype), name=scope)


def _is_small(shape: Any) -> bool:
    """Whether a constant of this shape is made. Of sizes that are tensors, this leaves TF's trace:
    ops that multiply and compare them, which nothing uses."""
    if np.isscalar(shape):
        return False
    count = functools.reduce(operator.mul, shape) if len(shape) else 1
    small = count < MAX_CONST_ELEMENTS
    return not isinstance(small, Tensor) and bool(small)


def _as_shape_tensor(shape: Any) -> Tensor:
    try:
        static = TensorShape(shape)
    except (TypeError, ValueError):
        return to_tensor(shape, int32)
    return to_tensor(static if is_full(static.as_tuple) else shape)


def zeros_like(
    tensor: Any, dtype: Any = None, name: str | None = None, optimize: bool = True
) -> Tensor:
    """Zeros of the shape (and type) of a tensor; a constant where these are known."""
    with name_scope(name, "zeros_like", [tensor]) as scope:
        x = to_tensor(tensor, name="tensor")
        wanted = x.dtype if dtype is None else as_dtype(dtype)
        if optimize and is_full(x._shape) and x.dtype.name != "variant":
            return zeros(x.shape, wanted, name=scope)
        if wanted.base is not x.dtype.base and wanted.name != "variant":
            return zeros(shape_internal(x, optimize=optimize), wanted, name=scope)
        return apply_op("ZerosLike", x, name=scope)


def ones_like(
    tensor: Any, dtype: Any = None, name: str | None = None, optimize: bool = True
) -> Tensor:
    """Ones of the shape (and type) of a tensor."""
    with name_scope(name, "ones_like", [tensor]) as scope:
        x = to_tensor(tensor, name="tensor")
        sizes = shape_internal(x, optimize=optimize)
        out = ones(sizes, x.dtype if dtype is None else dtype, name=scope)
        out.set_shape(x.shape)
        return out


# ---- from indices and lengths


def one_hot(
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: int | None = None,
    dtype: Any = None,
    name: str | None = None,
) -> Tensor:
    """on_value (1) at the index along a new axis, off_value (0) elsewhere."""
    with name_scope(name, "one_hot", [indices, depth, on_value, off_value, axis, dtype]) as scope:
        given = {"on_value": on_value, "off_value": off_value}
        types = {k: to_tensor(v).dtype.base for k, v in given.items() if v is not None}
        wanted = None if dtype is None else as_dtype(dtype)
        for key, own in types.items():
            if wanted is not None and own is not wanted:
                raise TypeError(f"dtype {own} of {key} does not match dtype parameter {wanted}")
        wanted = wanted or next(iter(types.values()), float32)
        if on_value is None:
            on_value = to_tensor(1, wanted, name="on_value")
        if off_value is None:
            off_value = to_tensor(0, wanted, name="off_value")
        on_type, off_type = types.get("on_value", wanted), types.get("off_value", wanted)
        if on_type is not off_type:
            raise TypeError(
                f"dtype {on_type} of on_value does not match dtype {off_type} of off_value"
            )
        return apply_op("OneHot", indices, depth, on_value, off_value, axis=axis, name=scope)


def all_dimensions(x: Any) -> Tensor:
    """The axes of a tensor, to reduce over: a constant where their number is known."""
    if isinstance(x, Tensor) and x._shape is not None:
        return constant(np.arange(len(x._shape), dtype=np.int32))
    if isinstance(x, SparseTensor) and is_full(x.dense_shape._shape):
        return constant(np.arange(x.dense_shape._shape[0], dtype=np.int32))
    return apply_op("Range", 0, rank(x), 1)


def sequence_mask(
    lengths: Any, maxlen: Any = None, dtype: Any = bool_, name: str | None = None
) -> Tensor:
    """True (in `dtype`) at the first `lengths` positions of a new last axis of size `maxlen`."""
    with name_scope(name, "SequenceMask", [lengths, maxlen]):
        lengths = to_tensor(lengths)
        if maxlen is None:
            longest = apply_op("Max", lengths, all_dimensions(lengths))
            maxlen = apply_op("Maximum", constant(0, longest.dtype), longest)
        else:
            maxlen = to_tensor(maxlen)
        if maxlen._shape is not None and maxlen._shape != ():
            raise ValueError("maxlen must be scalar for sequence_mask")
        zero, one = constant(0, maxlen.dtype), constant(1, maxlen.dtype)
        steps = apply_op("Range", zero, maxlen, one)
        ends = apply_op("Cast", expand_dims(lengths, -1), DstT=maxlen.dtype)
        mask = steps < ends
        if dtype is None or as_dtype(dtype).base is mask.dtype.base:
            return mask
        return apply_op("Cast", mask, DstT=dtype)


def meshgrid(*args: Any, **kwargs: Any) -> list[Tensor]:
    """N-dimensional coordinate arrays of N vectors; keywords `indexing` ('xy', 'ij') and `name`."""
    indexing = kwargs.pop("indexing", "xy")
    name = kwargs.pop("name", "meshgrid")
    if kwargs:
        raise TypeError(f"'{next(iter(kwargs))}' is an invalid keyword argument for this function")
    if indexing not in ("xy", "ij"):
        raise ValueError("indexing parameter must be either 'xy' or 'ij'")
    with name_scope(name, "meshgrid", args):
        out = [
            reshape(to_tensor(x, name="stack"), _along(len(args), i)) for i, x in enumerate(args)
        ]
        sizes = [size(x) for x in args]
        dtype = to_tensor(args[0]).dtype.base
        if indexing == "xy" and len(args) > 1:
            for i, axis in ((0, 1), (1, 0)):
                out[i] = reshape(out[i], _along(len(args), axis))
            sizes[:2] = sizes[1::-1]
        whole = ones(sizes, dtype)
        return [x * whole for x in out]


def _along(ndim: int, axis: int) -> Sequence[int]:
    return [-1 if i == axis else 1 for i in range(ndim)]
