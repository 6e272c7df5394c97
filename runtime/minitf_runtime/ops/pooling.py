"""Pooling over windows of any axes: largest and mean elements, and their gradients.

The layout does not matter here: window and stride are given for every axis of the tensor.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import Any

import numpy as np

from minitf_runtime.devices.cpu import blocks, parallel
from minitf_runtime.errors import UnimplementedError, invalid
from minitf_runtime.ops import dims, windows
from minitf_runtime.ops.gpu_rows import add_rows
from minitf_runtime.ops.registry import Attr, ShapeContext, Type, kernel, op
from minitf_runtime.ops.windows import Axis
from minitf_runtime.types import (
    FLOATS,
    INDEX,
    REALS,
    Shape,
    float16,
    float32,
    int8,
    int16,
    int32,
    int64,
    show_shape,
    uint8,
    uint16,
)

BLOCK = 1 << 19  # elements: with smaller ones two threads wait for the interpreter
WORTH_SHARING = 1 << 18  # elements of a share
_MAX_TYPES = (*FLOATS, int32, int64, uint8, int16, int8, uint16)
_NARROW = (float16, float32)
_PADDING = Attr("string", allowed=("SAME", "VALID"))
_FORMAT = {
    4: Attr("string", "NHWC", ("NHWC", "NCHW")),
    5: Attr("string", "NDHWC", ("NDHWC", "NCDHW")),
}


def _attrs(rank: int, types: Attr) -> dict[str, Any]:
    return dict(
        T=types,
        ksize=Attr("list(int)", minimum=rank),
        strides=Attr("list(int)", minimum=rank),
        padding=_PADDING,
        data_format=_FORMAT[rank],
    )


# ---- shapes


def _pooled(shape: Shape, ksize: Sequence[int], strides: Sequence[int], padding: str) -> Shape:
    sizes = dims.with_rank(shape, len(ksize))
    return tuple(windows.out_size(n, w, s, 1, padding) for n, w, s in zip(sizes, ksize, strides))


def _pool_shape(c: ShapeContext) -> list[Shape]:
    return [_pooled(c.shape(0), c["ksize"], c["strides"], c["padding"])]


def _given_shape(c: ShapeContext) -> list[Shape]:
    return [dims.with_rank(c.shape_value(0), len(c["ksize"]))]


def _like_input(c: ShapeContext) -> list[Shape]:
    return [dims.with_rank(c.shape(0), len(c["ksize"]))]


def _like_gradient(c: ShapeContext) -> list[Shape]:
    return [dims.with_rank(c.shape(1), len(c["ksize"]))]


_GRAD = "orig_input: T, orig_output: T, grad: T -> output: T"
_AVG_GRAD = "orig_input_shape: int32, grad: T -> output: T"
op("MaxPool", "input: T -> output: T", _pool_shape, **_attrs(4, Type(_MAX_TYPES, float32)))
op("MaxPool3D", "input: T -> output: T", _pool_shape, **_attrs(5, Type(_NARROW)))
op("AvgPool", "value: T -> output: T", _pool_shape, **_attrs(4, Type(FLOATS)))
op("AvgPool3D", "input: T -> output: T", _pool_shape, **_attrs(5, Type(FLOATS)))
op("MaxPoolGrad", _GRAD, _like_input, **_attrs(4, Type(REALS, float32)))
op("MaxPoolGradGrad", _GRAD, _like_gradient, **_attrs(4, Type(REALS)))
op(
    "MaxPool3DGrad",
    "orig_input: TInput, orig_output: TInput, grad: T -> output: T",
    _like_input,
    **_attrs(5, Type(_NARROW, float32)),
    TInput=Type(_NARROW, float32),
)
op("MaxPool3DGradGrad", _GRAD, _like_gradient, **_attrs(5, Type(REALS)))
op("AvgPoolGrad", _AVG_GRAD, _given_shape, **_attrs(4, Type(FLOATS)))
op("AvgPool3DGrad", _AVG_GRAD, _given_shape, **_attrs(5, Type(FLOATS)))


def _axes(shape: Sequence[int], attrs: Any) -> list[Axis]:
    ksize, strides = attrs["ksize"], attrs["strides"]
    if len(shape) != len(ksize):
        raise invalid(f"tensor_in must be {len(ksize)}-dimensional: {show_shape(shape)}")
    if ksize[0] != 1 or strides[0] != 1:
        raise UnimplementedError(None, None, "Pooling is not yet supported on the batch dimension.")
    return [windows.axis(n, w, s, 1, attrs["padding"]) for n, w, s in zip(shape, ksize, strides)]


# ---- pooling one axis after the other


def _slide(xp: Any, x: Any, axes: Sequence[Axis], fill: Any, combine: Callable[..., Any]) -> Any:
    """What `combine` makes of each window."""
    x = windows.padded(xp, x, axes, fill)
    for i, a in enumerate(axes):
        if a.window > 1 or a.stride > 1:
            before = (slice(None),) * i
            x = reduce(combine, [x[(*before, a.at(k))] for k in range(a.window)])
    return x


def _lowest(dtype: Any) -> Any:
    return -np.inf if dtype.kind == "f" else np.iinfo(dtype).min


def _counts(xp: Any, axes: Sequence[Axis], dtype: Any) -> Any:
    """How many elements of each window are not padding; broadcasts over the output."""
    out: Any = 1
    for i, a in enumerate(axes):
        if not (a.before or a.after):
            out = out * a.window
            continue
        start = np.arange(a.out) * a.stride - a.before
        real = np.minimum(start + a.window, a.size) - np.maximum(start, 0)
        shape = [1] * len(axes)
        shape[i] = a.out
        out = out * xp.asarray(real.reshape(shape), dtype)
    return out


def _by_images(
    xp: Any, pool: Callable[..., Any], axes: Sequence[Axis], shape: Sequence[int], *arrays: Any
) -> Any:
    """pool(xp, *arrays, axes, out) of `shape`, on blocks of the batch that stay in the cache."""
    image = max(1, math.prod(a.size for a in axes[1:]))
    out = xp.empty(shape, arrays[-1].dtype)
    if xp is not np or image * axes[0].size < 2 * WORTH_SHARING:
        pool(xp, *arrays, axes, out)
        return out
    step = max(1, BLOCK // image)

    def work(start: int, stop: int) -> None:
        with np.errstate(all="ignore"):
            for part in blocks(start, stop, step):
                block = [windows.whole(part.stop - part.start), *axes[1:]]
                pool(xp, *(a[part] for a in arrays), block, out[part])

    parallel(work, axes[0].size, max(1, WORTH_SHARING // image))
    return out


def _max_pool(xp: Any, x: Any, axes: Sequence[Axis], out: Any) -> None:
    out[...] = _slide(xp, x, axes, _lowest(x.dtype), xp.maximum)


@kernel("MaxPool", "MaxPool3D")
def max_pool(xp: Any, x: Any, *, node: Any) -> Any:
    axes = _axes(x.shape, node.attrs)
    return _by_images(xp, _max_pool, axes, [a.out for a in axes], x)


@kernel("AvgPool", "AvgPool3D")
def avg_pool(xp: Any, x: Any, *, node: Any) -> Any:
    axes = _axes(x.shape, node.attrs)
    return _slide(xp, x, axes, 0, xp.add) / _counts(xp, axes, x.dtype)


@kernel("AvgPoolGrad", "AvgPool3DGrad", host_inputs="orig_input_shape")
def avg_pool_grad(xp: Any, shape: Any, g: Any, *, node: Any) -> Any:
    axes = _axes([int(n) for n in shape], node.attrs)
    g = g / _counts(xp, axes, g.dtype)
    out = xp.zeros([a.before + a.size + a.after for a in axes], g.dtype)
    for _, meets in windows.offsets(axes):
        out[meets] += g
    return xp.ascontiguousarray(out[windows.inner(axes)])


# ---- where the largest element is: the first one of the window


def _winners(xp: Any, x: Any, y: Any, axes: Sequence[Axis]) -> Iterator[tuple[Any, Any, Any]]:
    """For each element of the window: its offset, what it meets, and where it is the largest."""
    x = windows.padded(xp, x, axes, _lowest(x.dtype))
    taken = xp.zeros(y.shape, bool)
    for offset, meets in windows.offsets(axes):
        won = x[meets] == y
        xp.greater(won, taken, out=won)
        taken |= won
        yield offset, meets, won


def _max_pool_grad(xp: Any, x: Any, y: Any, g: Any, axes: Sequence[Axis], out: Any) -> None:
    inside = not any(a.before or a.after for a in axes)
    sums = out if inside else xp.empty([a.before + a.size + a.after for a in axes], g.dtype)
    apart = all(a.stride >= a.window for a in axes)
    if not apart or any(n != a.out * a.window for n, a in zip(sums.shape, axes)):
        sums[...] = 0
    for _, meets, won in _winners(xp, x, y, axes):
        if apart:
            xp.multiply(g, won, out=sums[meets])
        else:
            sums[meets] += g * won
    if not inside:
        out[...] = sums[windows.inner(axes)]


def _max_pool_grad_grad(xp: Any, x: Any, y: Any, g: Any, axes: Sequence[Axis]) -> Any:
    g = windows.padded(xp, g, axes)
    out = xp.zeros(y.shape, g.dtype)
    for _, meets, won in _winners(xp, x, y, axes):
        out += g[meets] * won
    return out


@kernel("MaxPoolGrad", "MaxPool3DGrad")
def max_pool_grad(xp: Any, x: Any, y: Any, g: Any, *, node: Any) -> Any:
    axes = _axes(x.shape, node.attrs)
    if y.shape != g.shape:
        raise invalid(f"orig_output and grad differ: {show_shape(y.shape)} {show_shape(g.shape)}")
    return _by_images(xp, _max_pool_grad, axes, x.shape, x, y, g)


@kernel("MaxPoolGradGrad", "MaxPool3DGradGrad")
def max_pool_grad_grad(xp: Any, x: Any, y: Any, g: Any, *, node: Any) -> Any:
    return _max_pool_grad_grad(xp, x, y, g, _axes(x.shape, node.attrs))


# ---- the same with window and stride as tensors

_V2: dict[str, Any] = dict(T=Type(REALS, float32), padding=_PADDING, data_format=_FORMAT[4])
_WINDOW = "ksize: int32, strides: int32 -> output: T"


def _pool_v2_shape(c: ShapeContext) -> list[Shape]:
    """As far as window and stride are known."""
    first = c.slots("ksize").start
    ksize, strides = c.value(first), c.value(first + 1)
    shape = dims.with_rank(c.shape(0), 4)
    if ksize is None or strides is None:
        return [(None,) * 4]
    return [_pooled(shape, ksize.tolist(), strides.tolist(), c["padding"])]


op("MaxPoolV2", f"input: T, {_WINDOW}", _pool_v2_shape, **_V2)
_GRAD_V2 = f"orig_input: T, orig_output: T, grad: T, {_WINDOW}"
op("MaxPoolGradV2", _GRAD_V2, lambda c: [dims.with_rank(c.shape(0), 4)], **_V2)
op("MaxPoolGradGradV2", _GRAD_V2, lambda c: [dims.with_rank(c.shape(1), 4)], **_V2)


def _axes_v2(shape: Sequence[int], ksize: Any, strides: Any, padding: str) -> list[Axis]:
    if ksize.shape != (4,) or strides.shape != (4,):
        raise invalid("ksize and strides must be vectors of 4 elements")
    attrs = dict(ksize=ksize.tolist(), strides=strides.tolist(), padding=padding)
    return _axes(shape, attrs)


@kernel("MaxPoolV2", host_inputs="ksize strides")
def max_pool_v2(xp: Any, x: Any, ksize: Any, strides: Any, *, padding: str) -> Any:
    axes = _axes_v2(x.shape, ksize, strides, padding)
    return _by_images(xp, _max_pool, axes, [a.out for a in axes], x)


@kernel("MaxPoolGradV2", host_inputs="ksize strides")
def max_pool_grad_v2(
    xp: Any, x: Any, y: Any, g: Any, ksize: Any, strides: Any, *, padding: str
) -> Any:
    axes = _axes_v2(x.shape, ksize, strides, padding)
    return _by_images(xp, _max_pool_grad, axes, x.shape, x, y, g)


@kernel("MaxPoolGradGradV2", host_inputs="ksize strides")
def max_pool_grad_grad_v2(
    xp: Any, x: Any, y: Any, g: Any, ksize: Any, strides: Any, *, padding: str
) -> Any:
    return _max_pool_grad_grad(xp, x, y, g, _axes_v2(x.shape, ksize, strides, padding))


# ---- with the place of the largest element

_ARGMAX: dict[str, Any] = {k: v for k, v in _attrs(4, Type(REALS)).items() if k != "data_format"}
_ARGMAX["include_batch_in_index"] = False


@op(
    "MaxPoolWithArgmax",
    "input: T -> output: T, argmax: Targmax",
    **_ARGMAX,
    Targmax=Type(INDEX, int64),
)
def max_pool_with_argmax_shape(c: ShapeContext) -> list[Shape]:
    return _pool_shape(c) * 2


@kernel("MaxPoolWithArgmax")
def max_pool_with_argmax(xp: Any, x: Any, *, node: Any) -> Any:
    """Also the flat place of each largest element in its image (or in the whole batch)."""
    axes = _axes(x.shape, node.attrs)
    y = max_pool(xp, x, node=node)
    place = xp.arange(x.size, dtype=node.attrs["Targmax"].as_numpy_dtype).reshape(x.shape)
    if not node.attrs["include_batch_in_index"]:
        place %= max(1, math.prod(x.shape[1:]))
    place = windows.padded(xp, place, axes)
    argmax = xp.zeros(y.shape, place.dtype)
    for _, meets, won in _winners(xp, x, y, axes):
        argmax += place[meets] * won
    return y, argmax


op(
    "MaxPoolGradWithArgmax",
    "input: T, grad: T, argmax: Targmax -> output: T",
    _like_input,
    **_ARGMAX,
    Targmax=Type(INDEX),
)


@kernel("MaxPoolGradWithArgmax")
def max_pool_grad_with_argmax(xp: Any, x: Any, g: Any, argmax: Any, *, node: Any) -> Any:
    image = math.prod(x.shape[1:])
    at = argmax
    if not node.attrs["include_batch_in_index"]:
        at = argmax + image * xp.arange(x.shape[0], dtype=argmax.dtype).reshape(-1, 1, 1, 1)
    if xp is np and at.size and (int(at.min()) < 0 or int(at.max()) >= x.size):
        raise invalid(f"argmax lies outside of an input of shape {show_shape(x.shape)}")
    out = xp.zeros(x.size, g.dtype)
    add_rows(xp, out, at.reshape(-1), g.reshape(-1))
    return out.reshape(x.shape)
