"""Ops on a whole tensor and its shape: shape queries, reshaping, filling, copies without change."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitf_runtime.errors import invalid
from minitf_runtime.ops import dims
from minitf_runtime.ops.registry import (
    Attr,
    Count,
    ShapeContext,
    Type,
    kernel,
    op,
    scalar,
    unchanged,
)
from minitf_runtime.types import (
    COMPLEX,
    FLOATS,
    INDEX,
    INTS,
    Shape,
    bool_,
    broadcast_shapes,
    int32,
    is_full,
    num_elements,
    show_shape,
)

_SHAPE_TYPE = Type(INDEX, int32)


# ---- asking


def _rank_as_vector(shape: Shape) -> Shape:
    return (None if shape is None else len(shape),)


@op("Shape", "input: T -> output: out_type", T=Type(), out_type=_SHAPE_TYPE)
def shape_shape(c: ShapeContext) -> list[Shape]:
    return [_rank_as_vector(c.shape(0))]


@kernel("Shape", host_outputs="output")
def shape(xp: Any, x: Any, *, out_type: Any) -> Any:
    return np.array(x.shape, out_type.as_numpy_dtype)


@op("ShapeN", "input: N * T -> output: N * out_type", N=Count(), T=Type(), out_type=_SHAPE_TYPE)
def shape_n_shape(c: ShapeContext) -> list[Shape]:
    return [_rank_as_vector(s) for s in c.shapes]


@kernel("ShapeN", host_outputs="output")
def shape_n(xp: Any, xs: Any, *, out_type: Any) -> Any:
    return tuple(np.array(x.shape, out_type.as_numpy_dtype) for x in xs)


op("Size", "input: T -> output: out_type", scalar, T=Type(), out_type=_SHAPE_TYPE)
op("Rank", "input: T -> output: int32", scalar, T=Type())


@kernel("Size", host_outputs="output")
def size(xp: Any, x: Any, *, out_type: Any) -> Any:
    return out_type.as_numpy_dtype(x.size)


@kernel("Rank", host_outputs="output")
def rank(xp: Any, x: Any) -> Any:
    return np.int32(x.ndim)


# ---- the same elements in another shape


@op("Reshape", "tensor: T, shape: Tshape -> output: T", T=Type(), Tshape=_SHAPE_TYPE)
def reshape_shape(c: ShapeContext) -> list[Shape]:
    """Rows of elements in a new shape; one size may be -1."""
    wanted = shape_input(c, 1)
    if wanted is None:
        return [None]
    count = num_elements(c.shape(0))
    if count is None:
        return [wanted]
    if is_full(wanted):
        if num_elements(wanted) != count:
            raise ValueError(
                f"Cannot reshape a tensor with {count} elements to shape {show_shape(wanted)} "
                f"({num_elements(wanted)} elements)"
            )
        return [wanted]
    known = num_elements([n for n in wanted if n is not None])
    if wanted.count(None) > 1 or known == 0:
        return [wanted]
    return [dims.replaced(wanted, wanted.index(None), dims.divide(count, known))]


def shape_input(c: ShapeContext, slot: int) -> Shape:
    """The value of a shape argument, as far as it is known. Raises ValueError below -1."""
    given = c.shape(slot)
    if given == () and c.value(slot) is not None and c.value(slot) == -1:
        return None
    dims.with_rank(given, 1)
    value = c.value(slot)
    if value is not None:
        for n in value:
            if n < -1:
                raise ValueError(f"Invalid value in tensor used for shape: {n}")
    return c.shape_value(slot)


@kernel("Reshape", host_inputs="shape")
def reshape(xp: Any, x: Any, shape: Any) -> Any:
    if shape.ndim != 1:
        raise invalid(f"sizes input must be 1-D, not {show_shape(shape.shape)}")
    sizes = shape.tolist()
    unknown = [i for i, n in enumerate(sizes) if n == -1]
    if len(unknown) > 1:
        raise invalid(f"Only one input size may be -1, not both {unknown[0]} and {unknown[1]}")
    for i, n in enumerate(sizes):
        if n < -1:
            raise invalid(f"Size {i} must be non-negative, not {n}")
    if unknown:
        sizes[unknown[0]] = _missing_size(x.size, sizes)
    wanted = num_elements(sizes)
    if wanted != x.size:
        raise invalid(
            f"Input to reshape is a tensor with {x.size} values, but the requested shape has "
            f"{wanted}"
        )
    return x.reshape(sizes)


def _missing_size(count: int, sizes: list[int]) -> int:
    known = num_elements([n for n in sizes if n != -1])
    if not known:
        return 0
    if count % known:
        raise invalid(
            f"Input to reshape is a tensor with {count} values, but the requested shape requires "
            f"a multiple of {known}"
        )
    return count // known


@op("ExpandDims", "input: T, dim: Tdim -> output: T", T=Type(), Tdim=_SHAPE_TYPE)
def expand_dims_shape(c: ShapeContext) -> list[Shape]:
    x, at = c.shape(0), c.value(1)
    if x is None or at is None:
        return [None]
    axis = int(at.reshape(-1)[0])
    if not -len(x) - 1 <= axis <= len(x):
        raise ValueError(f"dim {axis} not in the interval [{-len(x) - 1}, {len(x)}].")
    axis = axis if axis >= 0 else axis + len(x) + 1
    return [(*x[:axis], 1, *x[axis:])]


@kernel("ExpandDims", host_inputs="dim")
def expand_dims(xp: Any, x: Any, dim: Any) -> Any:
    axis = int(dim.reshape(-1)[0])
    if not -x.ndim - 1 <= axis <= x.ndim:
        raise invalid(f"Tried to expand dim index {axis} for tensor with {x.ndim} dimensions.")
    return xp.expand_dims(x, axis)


@op("Squeeze", "input: T -> output: T", T=Type(), squeeze_dims=Attr("list(int)", ()))
def squeeze_shape(c: ShapeContext) -> list[Shape]:
    x, axes = c.shape(0), c["squeeze_dims"]
    if x is None or (not axes and None in x):
        return [None]
    for i, axis in enumerate(axes):
        if not -len(x) <= axis < len(x):
            raise ValueError(f"squeeze_dims[{i}] not in [{-len(x)},{len(x)}).")
    away = {a % len(x) for a in axes} if axes else {i for i, n in enumerate(x) if n == 1}
    for i in away:
        if x[i] not in (None, 1):
            raise ValueError(f"Can not squeeze dim[{i}], expected a dimension of 1, got {x[i]}")
    return [tuple(n for i, n in enumerate(x) if i not in away)]


@kernel("Squeeze")
def squeeze(xp: Any, x: Any, *, squeeze_dims: Any) -> Any:
    away = {i for i, n in enumerate(x.shape) if n == 1}
    if squeeze_dims:
        away = set()
        for axis in squeeze_dims:
            if not -x.ndim <= axis < x.ndim:
                raise invalid(
                    f"Tried to squeeze dim index {axis} for tensor with {x.ndim} dimensions."
                )
            away.add(axis % x.ndim)
    for i in away:
        if x.shape[i] != 1:
            raise invalid(f"Can not squeeze dim[{i}], expected a dimension of 1, got {x.shape[i]}")
    return x.reshape([n for i, n in enumerate(x.shape) if i not in away])


def _transpose_shape(c: ShapeContext) -> list[Shape]:
    (count,) = dims.with_rank(c.shape(1), 1)
    x, perm = c.shape(0), c.value(1)
    if x is not None and count is not None:
        dims.fixed_size(count, len(x))
    ndim = count if x is None else len(x)
    if ndim is None:
        return [None]
    if x is None and ndim < 2:
        return [None]  # as in TF: such a perm is also for a scalar
    if perm is None or x is None:
        return [(None,) * ndim]
    for p in perm:
        if not -ndim <= p < ndim:
            raise ValueError(f"perm dim {p} is out of range of input rank {ndim}")
    return [tuple(x[p] for p in perm)]


for _name in ("Transpose", "ConjugateTranspose"):
    op(_name, "x: T, perm: Tperm -> y: T", _transpose_shape, T=Type(), Tperm=_SHAPE_TYPE)


@kernel("Transpose", host_inputs="perm")
def transpose(xp: Any, x: Any, perm: Any) -> Any:
    if perm.ndim != 1:
        raise invalid(f"perm must be a vector, not {show_shape(perm.shape)}")
    if len(perm) != x.ndim:
        raise invalid(
            f"transpose expects a vector of size {x.ndim}. But input(1) is a vector of size "
            f"{len(perm)}"
        )
    axes = perm.tolist()
    for p in axes:
        if not -x.ndim <= p < x.ndim:
            raise invalid(f"{p} is out of range [0 .. {x.ndim})")
    order = [p % x.ndim for p in axes]
    for axis in range(x.ndim):
        if axis not in order:
            raise invalid(f"{axis} is missing from {{{','.join(map(str, axes))}}}.")
    return x.transpose(order)


@kernel("ConjugateTranspose", host_inputs="perm")
def conjugate_transpose(xp: Any, x: Any, perm: Any) -> Any:
    turned = transpose(xp, x, perm)
    return xp.conj(turned) if turned.dtype.kind == "c" else turned


_BITS = (*FLOATS, *INTS, *COMPLEX)


@op("Bitcast", "input: T -> output: type", T=Type(_BITS), type=Type(_BITS))
def bitcast_shape(c: ShapeContext) -> list[Shape]:
    x, old, new = c.shape(0), c["T"].size, c["type"].size
    if x is None or old == new:
        return [x]
    if old > new:
        return [(*x, old // new)]
    dims.at_least(x, 1)
    if x[-1] not in (None, new // old):
        raise ValueError(f"Cannot bitcast due to shape. {x[-1]} does not match {new // old}")
    return [x[:-1]]


@kernel("Bitcast")
def bitcast(xp: Any, x: Any, *, type: Any) -> Any:
    x = xp.ascontiguousarray(x).reshape(x.shape)
    new = np.dtype(type.as_numpy_dtype)
    if x.itemsize == new.itemsize:
        return x.view(new)
    if x.itemsize > new.itemsize:
        return x.reshape(*x.shape, 1).view(new)
    ratio = new.itemsize // x.itemsize
    if x.ndim == 0 or x.shape[-1] != ratio:
        got = x.shape[-1] if x.ndim else 0
        raise invalid(f"Cannot bitcast from {ratio} to {got}")
    return x.view(new).reshape(x.shape[:-1])


# ---- filling


@op("Fill", "dims: index_type, value: T -> output: T", T=Type(), index_type=_SHAPE_TYPE)
def fill_shape(c: ShapeContext) -> list[Shape]:
    dims.with_rank(c.shape(0), 1)
    dims.with_rank(c.shape(1), 0)
    sizes = c.value(0)
    if sizes is not None and any(n < 0 for n in sizes):
        raise ValueError("Fill dimensions must be >= 0")
    return [c.shape_value(0)]


@kernel("Fill", host_inputs="dims")
def fill(xp: Any, dims: Any, value: Any) -> Any:
    if dims.ndim != 1:
        raise invalid(f"dims must be a vector, got shape {show_shape(dims.shape)}")
    if value.ndim != 0:
        raise invalid(f"value must be a scalar, got shape {show_shape(value.shape)}")
    for n in dims:
        if n < 0:
            raise invalid(f"Dimension {n} must be >= 0")
    out = xp.empty(dims.tolist(), value.dtype)
    out[...] = value
    return out


@op("Empty", "shape: int32 -> output: dtype", dtype=Type(), init=False, stateful=True)
def empty_shape(c: ShapeContext) -> list[Shape]:
    return [shape_input(c, 0)]


@kernel("Empty", host_inputs="shape")
def empty(xp: Any, shape: Any, *, dtype: Any) -> Any:
    return zeros_of(xp, shape.tolist(), dtype.as_numpy_dtype)


def zeros_of(xp: Any, shape: Any, dtype: Any) -> Any:
    """Zeros of a NumPy dtype; empty strings for strings."""
    if np.dtype(dtype).kind == "O":
        out = np.empty(shape, object)
        out[...] = b""
        return out
    return xp.zeros(shape, dtype)


op("ZerosLike", "x: T -> y: T", unchanged, T=Type())
op("OnesLike", "x: T -> y: T", unchanged, T=Type((*_BITS, bool_)))


@kernel("ZerosLike")
def zeros_like(xp: Any, x: Any) -> Any:
    return zeros_of(xp, x.shape, x.dtype)


@kernel("OnesLike")
def ones_like(xp: Any, x: Any) -> Any:
    return xp.ones(x.shape, x.dtype)


# ---- broadcasting


@op("BroadcastTo", "input: T, shape: Tidx -> output: T", T=Type(), Tidx=_SHAPE_TYPE)
def broadcast_to_shape(c: ShapeContext) -> list[Shape]:
    wanted, x = shape_input(c, 1), c.shape(0)
    if wanted is None:
        return [None]
    dims.at_most(x, len(wanted))
    for m, n in zip(reversed(x or ()), reversed(wanted)):
        if m not in (None, 1):
            dims.merge_sizes(m, n)
    return [wanted]


@kernel("BroadcastTo", host_inputs="shape")
def broadcast_to(xp: Any, x: Any, shape: Any) -> Any:
    wanted = tuple(shape.tolist())
    if x.ndim > len(wanted):
        raise invalid(
            f"Rank of input ({x.ndim}) must be no greater than rank of output shape "
            f"({len(wanted)})."
        )
    fits = all(m in (1, n) for m, n in zip(x.shape[::-1], wanted[::-1]))
    if not fits:
        raise invalid(f"Incompatible shapes: {show_shape(x.shape)} vs. {show_shape(wanted)}")
    return xp.broadcast_to(x, wanted)


@op("BroadcastArgs", "s0: T, s1: T -> r0: T", T=_SHAPE_TYPE)
def broadcast_args_shape(c: ShapeContext) -> list[Shape]:
    (m,), (n,) = (dims.with_rank(s, 1) for s in c.shapes)
    return [(None,)] if m is None or n is None else [(max(m, n),)]


@kernel("BroadcastArgs", host_inputs="s0 s1", host_outputs="r0")
def broadcast_args(xp: Any, s0: Any, s1: Any) -> Any:
    a, b = tuple(s0.tolist()), tuple(s1.tolist())
    try:
        return np.array(broadcast_shapes(a, b), s0.dtype)
    except ValueError:
        raise invalid(f"Incompatible shapes: {show_shape(a)} vs. {show_shape(b)}") from None


# ---- the same tensor


op("StopGradient", "input: T -> output: T", unchanged, T=Type())
op("PreventGradient", "input: T -> output: T", unchanged, T=Type(), message="")
op("Snapshot", "input: T -> output: T", unchanged, T=Type())
op("GuaranteeConst", "input: T -> output: T", unchanged, T=Type(), stateful=True)
op("DeepCopy", "x: T -> y: T", unchanged, T=Type(), stateful=True)


@kernel("StopGradient", "PreventGradient", "Snapshot", "GuaranteeConst")
def same(xp: Any, x: Any) -> Any:
    return x


@kernel("DeepCopy")
def deep_copy(xp: Any, x: Any) -> Any:
    return x.copy()
