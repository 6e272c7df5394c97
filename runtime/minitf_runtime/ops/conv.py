"""Convolution in two and three dimensions, and depthwise: patches and one matrix product, or
where it is faster, minimal filtering (winograd.py).

The product runs over blocks of the batch, so that patches never take more than PATCH_BYTES
(on a GPU: PATCH_BYTES_ON_GPU).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from minitf_runtime.devices.cpu import blocks, one_blas_thread, parallel
from minitf_runtime.errors import UnimplementedError, invalid
from minitf_runtime.ops import dims, windows, winograd
from minitf_runtime.ops.registry import Attr, ShapeContext, Type, kernel, op
from minitf_runtime.ops.windows import Axis
from minitf_runtime.types import FLOATS, INDEX, Shape, int32, show_shape

PATCH_BYTES = 2**21  # stays in the cache of one core
PATCH_BYTES_ON_GPU = 2**28  # few large products

_PADDING = Attr("string", allowed=("SAME", "VALID"))
_CONV2D: dict[str, Any] = dict(
    T=Type(FLOATS),
    strides=Attr("list(int)"),
    use_cudnn_on_gpu=True,
    padding=Attr("string", allowed=("SAME", "VALID", "EXPLICIT")),
    explicit_paddings=Attr("list(int)", []),
    data_format=Attr("string", "NHWC", ("NHWC", "NCHW")),
    dilations=Attr("list(int)", [1, 1, 1, 1]),
)
_DEPTHWISE: dict[str, Any] = {
    **{k: _CONV2D[k] for k in ("T", "strides", "data_format", "dilations")},
    "padding": _PADDING,
}
_CONV3D: dict[str, Any] = dict(
    T=Type(FLOATS),
    strides=Attr("list(int)", minimum=5),
    padding=_PADDING,
    data_format=Attr("string", "NDHWC", ("NDHWC", "NCDHW")),
    dilations=Attr("list(int)", [1, 1, 1, 1, 1]),
)


# ---- layouts: kernels work on channels-last data


def channels_first(data_format: str) -> bool:
    return data_format.startswith("NC")


def last(data_format: str, per_dimension: Sequence[Any]) -> list[Any]:
    """Numbers given per dimension, put in channels-last order."""
    out = list(per_dimension)
    if channels_first(data_format):
        out.append(out.pop(1))
    return out


def _to_last(xp: Any, x: Any, data_format: str) -> Any:
    return xp.moveaxis(x, 1, -1) if channels_first(data_format) else x


def _from_last(xp: Any, x: Any, data_format: str) -> Any:
    return xp.ascontiguousarray(xp.moveaxis(x, -1, 1)) if channels_first(data_format) else x


# ---- shapes


def _conv_shape(c: ShapeContext) -> list[Shape]:
    """Input and filter, or those of a depthwise convolution."""
    filter_shape = c.shape(1)
    depthwise = "Depthwise" in c.opdef.name
    rank = 5 if c.opdef.name == "Conv3D" else 4
    _check_numbers(c, rank)
    shape = last(c["data_format"], dims.with_rank(c.shape(0), rank))
    kernel_shape = dims.with_rank(filter_shape, rank)
    made = kernel_shape[-1]
    if depthwise:
        made = dims.multiply(dims.merge_sizes(shape[-1], kernel_shape[-2]), made)
    else:
        _check_depths(shape[-1], kernel_shape[-2])
    space = [
        windows.out_size(n, w, s, d, c["padding"], pad)
        for n, w, s, d, pad in list(zip(
            shape, [1, *kernel_shape[:-2], 1], *_numbers(c.attrs)
        ))[1:-1]
    ]  # fmt: skip
    if channels_first(c["data_format"]):
        return [(shape[0], made, *space)]
    return [(shape[0], *space, made)]


def _check_depths(depth: int | None, filter_depth: int | None) -> None:
    if depth is not None and filter_depth and depth % filter_depth:
        raise ValueError(
            f"Depth of input ({depth}) is not a multiple of input depth of filter ({filter_depth})"
        )


def _check_numbers(c: ShapeContext, rank: int) -> None:
    for name, told in (("strides", "stride"), ("dilations", "dilation")):
        if len(c[name]) != rank:
            raise ValueError(
                f"{c.opdef.name} requires the {told} attribute to contain {rank} values, "
                f"but got: {len(c[name])}"
            )


def _numbers(attrs: Any) -> tuple[list[int], list[int], list[Any]]:
    """Strides, dilations and explicit padding, per dimension in channels-last order."""
    layout = attrs["data_format"]
    flat = attrs.get("explicit_paddings") or [0] * (2 * len(attrs["strides"]))
    pads = list(zip(flat[::2], flat[1::2]))
    return last(layout, attrs["strides"]), last(layout, attrs["dilations"]), last(layout, pads)


def _sizes_given(slot: int, rank: int) -> Any:
    def shape(c: ShapeContext) -> list[Shape]:
        """The output has the sizes that an input gives."""
        return [dims.with_rank(c.shape_value(slot), rank)]

    return shape


_TO_INPUT = "input_sizes: int32, filter: T, out_backprop: T -> output: T"
_TO_FILTER = "input: T, filter_sizes: int32, out_backprop: T -> output: T"
_INPUT_SHAPE = _sizes_given(0, 4)
_FILTER_SHAPE = _sizes_given(1, 4)
op("Conv2D", "input: T, filter: T -> output: T", _conv_shape, **_CONV2D)
op("Conv2DBackpropInput", _TO_INPUT, _INPUT_SHAPE, **_CONV2D)
op("Conv2DBackpropFilter", _TO_FILTER, _FILTER_SHAPE, **_CONV2D)
op("DepthwiseConv2dNative", "input: T, filter: T -> output: T", _conv_shape, **_DEPTHWISE)
op("DepthwiseConv2dNativeBackpropInput", _TO_INPUT, _INPUT_SHAPE, **_DEPTHWISE)
op("DepthwiseConv2dNativeBackpropFilter", _TO_FILTER, _FILTER_SHAPE, **_DEPTHWISE)
op("Conv3D", "input: T, filter: T -> output: T", _conv_shape, **_CONV3D)
op(
    "Conv3DBackpropInputV2",
    "input_sizes: Tshape, filter: T, out_backprop: T -> output: T",
    _sizes_given(0, 5),
    **_CONV3D,
    Tshape=Type(INDEX, int32),
)
op("Conv3DBackpropFilterV2", _TO_FILTER, _sizes_given(1, 5), **_CONV3D)


# ---- where the windows lie


def _axes(shape: Sequence[int], filter_shape: Sequence[int], attrs: Any) -> list[Axis]:
    """The windows on a channels-last shape. Raises InvalidArgumentError if they do not fit."""
    strides, dilations, pads = _numbers(attrs)
    if len(shape) != len(strides):
        raise invalid(f"input must be {len(strides)}-dimensional{show_shape(shape)}")
    if len(filter_shape) != len(strides):
        raise invalid(f"filter must be {len(strides)}-dimensional: {show_shape(filter_shape)}")
    for what, n in (("strides", strides), ("dilations", dilations)):
        if n[0] != 1 or n[-1] != 1:
            raise invalid(
                f"Current implementation does not yet support {what} in the batch and depth "
                "dimensions."
            )
    _check_channels(shape[-1], filter_shape[-2])
    per_axis = list(zip(shape, [1, *filter_shape[:-2], 1], strides, dilations, pads))[1:-1]
    space = [windows.axis(n, w, s, d, attrs["padding"], pad) for n, w, s, d, pad in per_axis]
    return [windows.whole(shape[0]), *space, windows.whole(shape[-1])]


def _check_channels(depth: int, filter_depth: int) -> None:
    if depth == filter_depth:
        return
    if not filter_depth or depth % filter_depth:
        raise invalid(
            f"input depth must be evenly divisible by filter depth: {depth} vs {filter_depth}"
        )
    raise UnimplementedError(
        None,
        None,
        "Grouped convolutions are not implemented: the input depth of "
        f"{depth} does not match the filter input depth of {filter_depth}",
    )


def _check_backprop(dy: Any, axes: Sequence[Axis], channels: int) -> None:
    expected = (axes[0].size, *(a.out for a in axes[1:-1]), channels)
    if dy.shape != expected:
        raise invalid(
            f"Size of out_backprop doesn't match computed: actual = {show_shape(dy.shape)}, "
            f"computed = {show_shape(expected)}"
        )


def _over_blocks(
    xp: Any, axes: Sequence[Axis], itemsize: int, work: Callable[[Iterable[slice]], Any]
) -> list[Any]:
    """Calls work(parts) for the shares of the device's threads, with what it gives in order.

    A part is a slice of the batch whose patches are small enough.
    """
    each = itemsize * axes[-1].size * math.prod(a.out * a.window for a in axes[1:-1])
    step = max(1, (PATCH_BYTES if xp is np else PATCH_BYTES_ON_GPU) // max(1, each))
    results = {}

    def share(start: int, stop: int) -> None:
        results[start] = work(blocks(start, stop, step))

    if xp is np:
        with one_blas_thread():
            parallel(share, axes[0].size, step)
    else:
        share(0, axes[0].size)
    return [results[start] for start in sorted(results)]


# ---- full convolution


@kernel("Conv2D", "Conv3D")
def conv(xp: Any, x: Any, f: Any, *, node: Any) -> Any:
    attrs = node.attrs
    x = _to_last(xp, x, attrs["data_format"])
    out = _convolve(xp, x, f, _axes(x.shape, f.shape, attrs))
    return _from_last(xp, out, attrs["data_format"])


def _convolve(xp: Any, x: Any, f: Any, axes: Sequence[Axis]) -> Any:
    if xp is np and winograd.pays(axes, f.shape[-1], x.dtype):
        done = winograd.convolve(x, f, axes)
        if done is not None:
            return done
    out = xp.empty((x.shape[0], *(a.out for a in axes[1:-1]), f.shape[-1]), x.dtype)
    matrix = f.reshape(-1, f.shape[-1])
    patches = windows.patches(xp, x, axes)

    def work(parts: Iterable[slice]) -> None:
        for part in parts:
            columns = patches[part].reshape(-1, len(matrix))
            xp.dot(columns, matrix, out=out[part].reshape(-1, f.shape[-1]))

    _over_blocks(xp, axes, x.itemsize, work)
    return out


@kernel("Conv2DBackpropInput", "Conv3DBackpropInputV2", host_inputs="input_sizes")
def conv_to_input(xp: Any, sizes: Any, f: Any, dy: Any, *, node: Any) -> Any:
    attrs = node.attrs
    dy = _to_last(xp, dy, attrs["data_format"])
    shape = tuple(int(n) for n in last(attrs["data_format"], sizes))
    axes = _axes(shape, f.shape, attrs)
    _check_backprop(dy, axes, f.shape[-1])
    flipped = [a.flipped() for a in axes]
    if all(a is not None for a in flipped):
        flip = (slice(None, None, -1),) * (f.ndim - 2)
        turned = xp.ascontiguousarray(f[flip].swapaxes(-1, -2))
        places = [*flipped[:-1], windows.whole(dy.shape[-1])]
        out = _convolve(xp, dy, turned, places)  # type: ignore[arg-type]
    else:
        out = _add_back(xp, dy, f, axes)
    return _from_last(xp, out, attrs["data_format"])


def _add_back(xp: Any, dy: Any, f: Any, axes: Sequence[Axis]) -> Any:
    """The gradient of the input where windows are more than one element apart."""
    out = xp.empty([a.size for a in axes], dy.dtype)
    matrix = f.reshape(-1, f.shape[-1]).T

    def work(parts: Iterable[slice]) -> None:
        for part in parts:
            columns = dy[part].reshape(-1, dy.shape[-1]) @ matrix
            columns = columns.reshape(*dy[part].shape[:-1], *f.shape[:-1])
            block = [windows.whole(len(columns)), *axes[1:]]
            out[part] = windows.add_patches(xp, columns, block)

    _over_blocks(xp, axes, dy.itemsize, work)
    return out


@kernel("Conv2DBackpropFilter", "Conv3DBackpropFilterV2", host_inputs="filter_sizes")
def conv_to_filter(xp: Any, x: Any, sizes: Any, dy: Any, *, node: Any) -> Any:
    attrs = node.attrs
    x = _to_last(xp, x, attrs["data_format"])
    dy = _to_last(xp, dy, attrs["data_format"])
    shape = tuple(int(n) for n in sizes)
    axes = _axes(x.shape, shape, attrs)
    _check_backprop(dy, axes, shape[-1])
    if xp is np and winograd.pays(axes, shape[-1], x.dtype):
        done = winograd.filter_gradient(x, dy, axes)
        if done is not None:
            return done
    rows = math.prod(shape[:-1])
    patches = windows.patches(xp, x, axes)

    def work(parts: Iterable[slice]) -> Any:
        total = xp.zeros((rows, shape[-1]), x.dtype)
        for part in parts:
            columns = patches[part].reshape(-1, rows)
            total += columns.T @ dy[part].reshape(-1, shape[-1])
        return total

    return sum(_over_blocks(xp, axes, x.itemsize, work)).reshape(shape)


# ---- depthwise: each channel is convolved by itself


@kernel("DepthwiseConv2dNative")
def depthwise(xp: Any, x: Any, f: Any, *, node: Any) -> Any:
    x = _to_last(xp, x, node.attrs["data_format"])
    axes = _axes(x.shape, f.shape, node.attrs)
    out = xp.zeros((*(a.out for a in axes), f.shape[-1]), x.dtype)
    x = windows.padded(xp, x, axes)
    for offset, meets in windows.offsets(axes):
        out += x[meets][..., None] * f[offset[1:-1]]
    return _from_last(xp, out.reshape(*out.shape[:-2], -1), node.attrs["data_format"])


def _by_channel(xp: Any, dy: Any, axes: Sequence[Axis], f: Sequence[int], attrs: Any) -> Any:
    """An output gradient as [batch, *space, channel, multiplier]."""
    dy = _to_last(xp, dy, attrs["data_format"])
    _check_backprop(dy, axes, f[-2] * f[-1])
    return dy.reshape(*dy.shape[:-1], *f[-2:])


@kernel("DepthwiseConv2dNativeBackpropInput", host_inputs="input_sizes")
def depthwise_to_input(xp: Any, sizes: Any, f: Any, dy: Any, *, node: Any) -> Any:
    layout = node.attrs["data_format"]
    axes = _axes([int(n) for n in last(layout, sizes)], f.shape, node.attrs)
    dy = _by_channel(xp, dy, axes, f.shape, node.attrs)
    out = xp.zeros([a.before + a.size + a.after for a in axes], dy.dtype)
    for offset, meets in windows.offsets(axes):
        out[meets] += (dy * f[offset[1:-1]]).sum(axis=-1)
    return _from_last(xp, out[windows.inner(axes)], layout)


@kernel("DepthwiseConv2dNativeBackpropFilter", host_inputs="filter_sizes")
def depthwise_to_filter(xp: Any, x: Any, sizes: Any, dy: Any, *, node: Any) -> Any:
    x = _to_last(xp, x, node.attrs["data_format"])
    shape = tuple(int(n) for n in sizes)
    axes = _axes(x.shape, shape, node.attrs)
    dy = _by_channel(xp, dy, axes, shape, node.attrs)
    out = xp.empty(shape, x.dtype)
    x = windows.padded(xp, x, axes)
    for offset, meets in windows.offsets(axes):
        out[offset[1:-1]] = (x[meets][..., None] * dy).sum(axis=(0, 1, 2))
    return out
