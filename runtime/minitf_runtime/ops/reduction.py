"""Ops along axes: reductions, positions of extremes and cumulative ops."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitf_runtime.errors import invalid
from minitf_runtime.ops import dims
from minitf_runtime.ops.elementwise import truncate_div
from minitf_runtime.ops.registry import ShapeContext, Type, kernel, op, unchanged
from minitf_runtime.types import (
    FLOATS,
    INDEX,
    INTS,
    NUMBERS,
    DType,
    Shape,
    int32,
    int64,
    show_shape,
)

_AXES = Type(INDEX, int32)


# ---- reductions


def _reduced_shape(c: ShapeContext) -> list[Shape]:
    x, keep = c.shape(0), c["keep_dims"]
    dims.at_most(c.shape(1), 1)
    axes = c.value(1)
    if x is None or (axes is None and not keep):
        return [None]
    if axes is None:
        return [(None,) * len(x)]
    away = set()
    for axis in axes.reshape(-1).tolist():
        if not -len(x) <= axis < len(x):
            raise ValueError(
                f"Invalid reduction dimension {axis} for input with {len(x)} dimensions."
            )
        away.add(axis % len(x))
    if keep:
        return [tuple(1 if i in away else n for i, n in enumerate(x))]
    return [tuple(n for i, n in enumerate(x) if i not in away)]


for _name in ("Sum", "Mean", "Prod", "Max", "Min", "EuclideanNorm"):
    op(
        _name,
        "input: T, reduction_indices: Tidx -> output: T",
        _reduced_shape,
        T=Type(NUMBERS),
        Tidx=_AXES,
        keep_dims=False,
    )
for _name in ("Any", "All"):
    op(
        _name,
        "input: bool, reduction_indices: Tidx -> output: bool",
        _reduced_shape,
        Tidx=_AXES,
        keep_dims=False,
    )


def _axes(x: Any, indices: Any) -> tuple[int, ...] | None:
    """The axes that a reduction takes away; None stands for all of them."""
    given = indices.reshape(-1).tolist()
    ndim = x.ndim
    for axis in given:
        if not -ndim <= axis < ndim:
            raise invalid(f"Invalid reduction dimension ({axis} for input with {ndim} dimension(s)")
    if len(given) == 1:
        return None if ndim == 1 else (given[0] % ndim,)
    axes = {axis % ndim for axis in given}
    return None if len(axes) == ndim else tuple(axes)


@kernel("Sum", host_inputs="reduction_indices")
def sum_(xp: Any, x: Any, indices: Any, *, keep_dims: bool) -> Any:
    return x.sum(axis=_axes(x, indices), dtype=x.dtype, keepdims=keep_dims)


@kernel("Prod", host_inputs="reduction_indices")
def prod(xp: Any, x: Any, indices: Any, *, keep_dims: bool) -> Any:
    return x.prod(axis=_axes(x, indices), dtype=x.dtype, keepdims=keep_dims)


@kernel("Mean", host_inputs="reduction_indices")
def mean(xp: Any, x: Any, indices: Any, *, keep_dims: bool) -> Any:
    total = x.sum(axis=_axes(x, indices), dtype=x.dtype, keepdims=keep_dims)
    if not total.size:
        return total
    count = x.size // total.size
    if x.dtype.kind in "fc":
        return total / count
    return truncate_div(xp, total.astype(xp.int64), xp.int64(count)).astype(x.dtype)


def _limit(dtype: Any, sign: int) -> Any:
    """The largest (sign 1) or smallest (-1) value of a type: what nothing is reduced to."""
    if dtype.kind == "f":
        return sign * np.inf
    return np.iinfo(dtype).max if sign > 0 else np.iinfo(dtype).min


def _extreme(xp: Any, name: str, sign: int, x: Any, indices: Any, keep_dims: bool) -> Any:
    axes = _axes(x, indices)
    if x.size:
        return getattr(x, name)(axis=axes, keepdims=keep_dims)
    shape = x.sum(axis=axes, keepdims=keep_dims).shape
    return xp.full(shape, _limit(x.dtype, sign), x.dtype)


@kernel("Max", host_inputs="reduction_indices", types=(*FLOATS, *INTS))
def max_(xp: Any, x: Any, indices: Any, *, keep_dims: bool) -> Any:
    return _extreme(xp, "max", -1, x, indices, keep_dims)


@kernel("Min", host_inputs="reduction_indices", types=(*FLOATS, *INTS))
def min_(xp: Any, x: Any, indices: Any, *, keep_dims: bool) -> Any:
    return _extreme(xp, "min", 1, x, indices, keep_dims)


@kernel("EuclideanNorm", host_inputs="reduction_indices")
def euclidean_norm(xp: Any, x: Any, indices: Any, *, keep_dims: bool) -> Any:
    squares = (x * x.conj()).sum(axis=_axes(x, indices), dtype=x.dtype, keepdims=keep_dims)
    if squares.size == x.size:
        return x.reshape(squares.shape)  # TF leaves single elements as they are, sign and all
    return xp.sqrt(squares).astype(x.dtype)


@kernel("Any", host_inputs="reduction_indices")
def any_(xp: Any, x: Any, indices: Any, *, keep_dims: bool) -> Any:
    return x.any(axis=_axes(x, indices), keepdims=keep_dims)


@kernel("All", host_inputs="reduction_indices")
def all_(xp: Any, x: Any, indices: Any, *, keep_dims: bool) -> Any:
    return x.all(axis=_axes(x, indices), keepdims=keep_dims)


# ---- where the extremes are


def _arg_shape(c: ShapeContext) -> list[Shape]:
    dims.with_rank(c.shape(1), 0)
    x, at = c.shape(0), c.value(1)
    if x is None or len(x) <= 1:
        return [None if x is None else ()]
    if at is None:
        return [(None,) * (len(x) - 1)]
    axis = int(at)
    if not -len(x) <= axis < len(x):
        raise ValueError(
            f"Dimension ({axis}) must be in the range [{-len(x)}, {len(x)}), where {len(x)} is the "
            "number of dimensions in the input."
        )
    return [x[:axis] + x[axis % len(x) + 1 :]]


for _name in ("ArgMax", "ArgMin"):
    op(
        _name,
        "input: T, dimension: Tidx -> output: output_type",
        _arg_shape,
        T=Type(NUMBERS),
        Tidx=_AXES,
        output_type=Type(INDEX, int64),
    )


def _arg_axis(x: Any, dimension: Any) -> int:
    if dimension.ndim:
        raise invalid(
            f"dim must be a scalar, but received tensor of shape: {show_shape(dimension.shape)}"
        )
    axis = int(dimension)
    if not -x.ndim <= axis < x.ndim:
        raise invalid(f"Expected dimension in the range [{-x.ndim}, {x.ndim}), but got {axis}")
    if x.shape[axis] == 0:
        raise invalid(f"Reduction axis {axis} is empty in shape {show_shape(x.shape)}")
    return axis


@kernel("ArgMax", host_inputs="dimension")
def arg_max(xp: Any, x: Any, dimension: Any, *, output_type: DType) -> Any:
    return x.argmax(_arg_axis(x, dimension)).astype(output_type.as_numpy_dtype)


@kernel("ArgMin", host_inputs="dimension")
def arg_min(xp: Any, x: Any, dimension: Any, *, output_type: DType) -> Any:
    return x.argmin(_arg_axis(x, dimension)).astype(output_type.as_numpy_dtype)


# ---- cumulative ops

for _name in ("Cumsum", "Cumprod"):
    op(
        _name,
        "x: T, axis: Tidx -> out: T",
        unchanged,
        T=Type(NUMBERS),
        Tidx=_AXES,
        exclusive=False,
        reverse=False,
    )


def _scan(xp: Any, name: str, start: int, x: Any, axis: Any, exclusive: bool, reverse: bool) -> Any:
    """The cumulative function of that name; `start` is what stands before the first value."""
    if axis.ndim:
        raise invalid(f"ScanOp: axis must be a scalar, not {show_shape(axis.shape)}")
    at = int(axis)
    if not -x.ndim <= at < x.ndim:
        raise invalid(
            f"ScanOp: Expected scan axis in the range [{-x.ndim}, {x.ndim}), but got {at}"
        )
    if reverse:
        x = xp.flip(x, at)
    if exclusive and x.size:
        head = (slice(None),) * (at % x.ndim)
        first = xp.full_like(x[(*head, slice(0, 1))], start)
        x = xp.concatenate([first, x[(*head, slice(0, -1))]], at)
    out = getattr(xp, name)(x, at, dtype=x.dtype)
    return xp.flip(out, at) if reverse else out


@kernel("Cumsum", host_inputs="axis")
def cumsum(xp: Any, x: Any, axis: Any, *, exclusive: bool, reverse: bool) -> Any:
    return _scan(xp, "cumsum", 0, x, axis, exclusive, reverse)


@kernel("Cumprod", host_inputs="axis")
def cumprod(xp: Any, x: Any, axis: Any, *, exclusive: bool, reverse: bool) -> Any:
    return _scan(xp, "cumprod", 1, x, axis, exclusive, reverse)
