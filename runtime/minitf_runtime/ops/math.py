"""Sums of many tensors, ranges, counting and binning, limits, and checks of numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minitf_runtime.devices.arrays import synchronised
from minitf_runtime.errors import invalid
from minitf_runtime.ops import dims
from minitf_runtime.ops.gpu_rows import change_rows
from minitf_runtime.ops.registry import Attr, Count, ShapeContext, Type, kernel, op, unchanged
from minitf_runtime.types import (
    FLOATS,
    INDEX,
    NUMBERS,
    DType,
    Shape,
    broadcast_shapes,
    float32,
    float64,
    int32,
    int64,
    show_shape,
)

_INT32_OR_64 = Type(INDEX, int32)
_BINNED = Type((int32, int64, float32, float64))


# ---- sums of many


def _sum_shape(c: ShapeContext) -> list[Shape]:
    return [dims.merge_all(c.shapes)]


op("AddN", "inputs: N * T -> sum: T", _sum_shape, N=Count(), T=Type(NUMBERS))
op(
    "AccumulateNV2",
    "inputs: N * T -> sum: T",
    _sum_shape,
    N=Count(),
    T=Type(NUMBERS),
    shape=Attr("shape"),
)


@kernel("AddN", "AccumulateNV2", elementwise=True)
def add_n(xp: Any, inputs: Any) -> Any:
    shape = inputs[0].shape
    for i, x in enumerate(inputs):
        if x.shape != shape:
            raise invalid(
                "Inputs to operation AddN of type AddN must have the same size and shape.  "
                f"Input 0: {show_shape(shape)} != input {i}: {show_shape(x.shape)}"
            )
    if len(inputs) == 1:
        return inputs[0]
    total = inputs[0] + inputs[1]
    for x in inputs[2:]:
        total += x
    return total


# ---- ranges


@op("Range", "start: Tidx, limit: Tidx, delta: Tidx -> output: Tidx", Tidx=Type(
    (float32, float64, int32, int64), int32
))  # fmt: skip
def range_shape(c: ShapeContext) -> list[Shape]:
    """start, start + delta, ... up to limit, which is left out."""
    for i in range(3):
        c.rank(i, 0)
    values = [c.value(i) for i in range(3)]
    if any(v is None for v in values):
        return [(None,)]
    return [(_range_size(*(v[()] for v in values)),)]


def _range_size(start: Any, limit: Any, delta: Any) -> int:
    """Raises ValueError for a range that leads away from its limit."""
    if delta == 0:
        raise ValueError("Requires delta != 0")
    if delta > 0 and start > limit:
        raise ValueError(f"Requires start <= limit when delta > 0: {start}/{limit}")
    if delta < 0 and start < limit:
        raise ValueError(f"Requires start >= limit when delta < 0: {start}/{limit}")
    if isinstance(start, np.integer):
        return -(abs(int(limit) - int(start)) // -abs(int(delta)))
    return math.ceil(abs((limit - start) / delta))


def _check_scalar(name: str, value: Any) -> None:
    if value.ndim:
        raise invalid(f"{name} must be a scalar, not shape {show_shape(value.shape)}")


@kernel("Range", host_inputs="start limit delta")
def range_(xp: Any, start: Any, limit: Any, delta: Any) -> Any:
    for name, value in (("start", start), ("limit", limit), ("delta", delta)):
        _check_scalar(name, value)
    if delta == 0:
        raise invalid("Requires delta != 0: 0")
    try:
        size = _range_size(start[()], limit[()], delta[()])
    except ValueError as e:
        raise invalid(str(e)) from None
    if start.dtype.kind == "i":
        return xp.arange(size, dtype=start.dtype) * delta + start
    steps = np.full(size, delta, start.dtype)
    steps[:1] = start
    return xp.asarray(np.cumsum(steps, dtype=start.dtype))  # TF adds delta again and again


@op("LinSpace", "start: T, stop: T, num: Tidx -> output: T", T=Type((float32, float64)), Tidx=(
    _INT32_OR_64
))  # fmt: skip
def lin_space_shape(c: ShapeContext) -> list[Shape]:
    """`num` values from start to stop, evenly spaced."""
    for i in range(3):
        c.rank(i, 0)
    num = c.value(2)
    if num is None:
        return [(None,)]
    if num <= 0:
        raise ValueError(f"Requires num > 0: {num}")
    return [(int(num),)]


@kernel("LinSpace", host_inputs="start stop num")
def lin_space(xp: Any, start: Any, stop: Any, num: Any) -> Any:
    for name, value in (("start", start), ("stop", stop), ("num", num)):
        _check_scalar(name, value)
    if num <= 0:
        raise invalid(f"Requires num > 0: {num}")
    step = (stop - start) / start.dtype.type(max(num - 1, 1))
    return xp.arange(int(num), dtype=start.dtype) * step + start


# ---- counting and binning


@op("Bincount", "arr: int32, size: int32, weights: T -> bins: T", T=_BINNED)
def bincount_shape(c: ShapeContext) -> list[Shape]:
    """How often (or with what weight) each of 0 ... size-1 occurs; larger values do not count."""
    c.rank(1, 0)
    size = c.value(1)
    if size is not None and size < 0:
        raise ValueError(f"size ({size}) must be non-negative")
    return [(None if size is None else int(size),)]


@kernel("Bincount", host_inputs="size")
def bincount(xp: Any, arr: Any, size: Any, weights: Any) -> Any:
    count = int(size)
    if count < 0:
        raise invalid(f"size ({count}) must be non-negative")
    values = arr.reshape(-1)
    if xp is np and values.size and values.min() < 0:
        raise invalid("Input arr must be non-negative!")
    if weights.size and weights.shape != arr.shape:
        raise invalid(
            "weights must be empty or shaped as arr, got shapes "
            f"{show_shape(weights.shape)} and {show_shape(arr.shape)}"
        )
    each = weights.reshape(-1) if weights.size else None
    if xp is not np:
        return _counted(xp, values, each, count, weights.dtype)
    kept = values < count
    each = None if each is None else each[kept]
    return xp.bincount(values[kept], each, count).astype(weights.dtype)


def _counted(xp: Any, places: Any, weights: Any, count: int, dtype: Any) -> Any:
    """As bincount, which waits for a GPU; what lies outside is not counted."""
    out = xp.zeros(count, dtype)
    weights = xp.ones(places.shape, dtype) if weights is None else weights
    change_rows(xp, "add", out, places, weights)
    return out


@op(
    "HistogramFixedWidth",
    "values: T, value_range: T, nbins: int32 -> out: dtype",
    T=_BINNED,
    dtype=_INT32_OR_64,
)
def histogram_shape(c: ShapeContext) -> list[Shape]:
    """How many values fall into each of `nbins` equal parts of the range, or beyond its ends."""
    dims.fixed_size(dims.with_rank(c.shape(1), 1)[0], 2)
    c.rank(2, 0)
    nbins = c.value(2)
    if nbins is not None and nbins <= 0:
        raise ValueError(f"Requires nbins > 0: {nbins}")
    return [(None if nbins is None else int(nbins),)]


@kernel("HistogramFixedWidth", host_inputs="value_range nbins")
def histogram(xp: Any, values: Any, value_range: Any, nbins: Any, *, dtype: DType) -> Any:
    if value_range.shape != (2,):
        raise invalid("value_range should be a vector of 2 elements.")
    if nbins.ndim:
        raise invalid("nbins should be a scalar.")
    low, high = value_range
    if low >= high:
        raise invalid(
            "value_range should satisfy value_range[0] < value_range[1], but got "
            f"'[{low:g}, {high:g}]'"
        )
    if nbins <= 0:
        raise invalid(f"nbins should be a positive number, but got '{nbins}'")
    step = (float(high) - float(low)) / float(nbins)
    bins = xp.clip((values.reshape(-1) - low) / step, 0, float(nbins) - 1).astype(xp.int32)
    if xp is not np:
        return _counted(xp, bins, None, int(nbins), dtype.as_numpy_dtype)
    return xp.bincount(bins, minlength=int(nbins)).astype(dtype.as_numpy_dtype)


op(
    "Bucketize",
    "input: T -> output: int32",
    unchanged,
    T=_BINNED,
    boundaries=Attr("list(float)"),
)


@kernel("Bucketize")
def bucketize(xp: Any, x: Any, *, boundaries: Any) -> Any:
    if list(boundaries) != sorted(boundaries):
        raise invalid("Expected sorted boundaries")
    edges = xp.asarray(boundaries, xp.float32)
    return xp.searchsorted(edges, x, side="right").astype(xp.int32)


# ---- shapes, limits and checks


@op("BroadcastGradientArgs", "s0: T, s1: T -> r0: T, r1: T", T=_INT32_OR_64)
def broadcast_gradient_args_shape(c: ShapeContext) -> list[Shape]:
    """The axes to sum for each of two shapes, to undo their broadcasting."""
    c.rank(0, 1)
    c.rank(1, 1)
    return [(None,), (None,)]


@kernel("BroadcastGradientArgs", host_inputs="s0 s1", host_outputs="r0 r1")
def broadcast_gradient_args(xp: Any, s0: Any, s1: Any) -> Any:
    x, y = tuple(s0.tolist()), tuple(s1.tolist())
    try:
        broadcast_shapes(x, y)
    except ValueError:
        raise invalid(f"Incompatible shapes: {show_shape(x)} vs. {show_shape(y)}") from None
    return tuple(np.array(axes, s0.dtype) for axes in broadcast_axes(x, y))


def broadcast_axes(
    x: tuple[int, ...], y: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The axes of the broadcast result to sum for x and for y (TF: BCast)."""
    if x == y:
        return (), ()
    rank = max(len(x), len(y))
    x, y = (1,) * (rank - len(x)) + x, (1,) * (rank - len(y)) + y
    return tuple(i for i in range(rank) if x[i] == 1), tuple(i for i in range(rank) if y[i] == 1)


op(
    "ClipByValue",
    "t: T, clip_value_min: T, clip_value_max: T -> output: T",
    unchanged,
    T=Type(NUMBERS),
)


@kernel("ClipByValue")
def clip_by_value(xp: Any, t: Any, low: Any, high: Any) -> Any:
    if low.shape not in ((), t.shape) or high.shape not in ((), t.shape):
        raise invalid(
            "clip_value_min and clip_value_max must be either of the same shape as input, or a "
            f"scalar. input shape: {show_shape(t.shape)}clip_value_min shape: "
            f"{show_shape(low.shape)}clip_value_max shape: {show_shape(high.shape)}"
        )
    return xp.maximum(xp.minimum(t, high), low)


op(
    "CheckNumerics",
    "tensor: T -> output: T",
    unchanged,
    stateful=True,
    T=Type(FLOATS),
    message=Attr("string"),
)


@kernel("CheckNumerics")
def check_numerics(xp: Any, x: Any, *, message: str) -> Any:
    with synchronised(xp):
        if xp.isfinite(x).all():
            return x
        found = [what for what, test in (("Inf", xp.isinf), ("NaN", xp.isnan)) if test(x).any()]
    raise invalid(f"{message} : Tensor had {' and '.join(found)} values")
