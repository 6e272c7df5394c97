"""Ops that make a tensor larger: tiles, constant and mirrored padding."""

from __future__ import annotations

from typing import Any

from minitf_runtime.errors import invalid
from minitf_runtime.ops import dims
from minitf_runtime.ops.array import zeros_of
from minitf_runtime.ops.registry import Attr, ShapeContext, Type, kernel, op
from minitf_runtime.types import INDEX, Shape, int32, show_shape


@op("Tile", "input: T, multiples: Tmultiples -> output: T", T=Type(), Tmultiples=Type(INDEX, int32))
def tile_shape(c: ShapeContext) -> list[Shape]:
    dims.with_rank(c.shape(1), 1)
    x, times = c.shape(0), c.shape_value(1)
    if x is None and times is None:
        return [None]
    times = times if x is None else dims.with_rank(times, len(x))
    x = dims.with_rank(x, len(times or ()))
    return [tuple(dims.multiply(n, t) for n, t in zip(x, times or ()))]


@kernel("Tile", host_inputs="multiples")
def tile(xp: Any, x: Any, multiples: Any) -> Any:
    if multiples.ndim != 1 or len(multiples) != x.ndim:
        raise invalid(
            f"Expected multiples argument to be a vector of length {x.ndim} but got length "
            f"{multiples.size}"
        )
    for i, n in enumerate(multiples):
        if n < 0:
            raise invalid(f"Expected multiples[{i}] >= 0, but got {n}")
    return xp.tile(x, multiples.tolist()) if x.ndim else x


_PAD_TYPE = Type(INDEX, int32)
_MODES = ("REFLECT", "SYMMETRIC")


def _pad_shape(c: ShapeContext) -> list[Shape]:
    count, _ = dims.merge(dims.with_rank(c.shape(1), 2), (None, 2)) or (None, 2)
    x, paddings = c.shape(0), c.value(1)
    if len(c.shapes) > 2:
        dims.with_rank(c.shape(2), 0)
    if paddings is None:
        ndim = count if x is None else len(x)
        return [None if ndim is None else (None,) * ndim]
    x = dims.with_rank(x, len(paddings))
    if (paddings < 0).any():
        raise ValueError("Paddings must be non-negative")
    return [tuple(dims.add(n, int(a) + int(b)) for n, (a, b) in zip(x, paddings))]


op("Pad", "input: T, paddings: Tpaddings -> output: T", _pad_shape, T=Type(), Tpaddings=_PAD_TYPE)
op(
    "PadV2",
    "input: T, paddings: Tpaddings, constant_values: T -> output: T",
    _pad_shape,
    T=Type(),
    Tpaddings=_PAD_TYPE,
)
op(
    "MirrorPad",
    "input: T, paddings: Tpaddings -> output: T",
    _pad_shape,
    T=Type(),
    Tpaddings=_PAD_TYPE,
    mode=Attr("string", allowed=_MODES),
)


def _checked_paddings(x: Any, paddings: Any) -> list[tuple[int, int]]:
    if paddings.ndim != 2 or paddings.shape[1] != 2:
        raise invalid(f"paddings must be a matrix with 2 columns: {show_shape(paddings.shape)}")
    if len(paddings) != x.ndim:
        raise invalid(
            "The first dimension of paddings must be the rank of inputs"
            f"{show_shape(paddings.shape)} {show_shape(x.shape)}"
        )
    for a, b in paddings:
        if a < 0 or b < 0:
            raise invalid(f"Paddings must be non-negative: {a} {b}")
    return [(int(a), int(b)) for a, b in paddings]


@kernel("Pad", host_inputs="paddings")
def pad(xp: Any, x: Any, paddings: Any) -> Any:
    around = _checked_paddings(x, paddings)
    out = zeros_of(xp, [a + n + b for n, (a, b) in zip(x.shape, around)], x.dtype)
    out[tuple(slice(a, a + n) for n, (a, _) in zip(x.shape, around))] = x
    return out


@kernel("PadV2", host_inputs="paddings constant_values")
def pad_v2(xp: Any, x: Any, paddings: Any, constant_values: Any) -> Any:
    around = _checked_paddings(x, paddings)
    if constant_values.ndim:
        raise invalid(
            f"constant_values must be a scalar. Found: {show_shape(constant_values.shape)}"
        )
    out = xp.empty([a + n + b for n, (a, b) in zip(x.shape, around)], x.dtype)
    out[...] = constant_values.item()
    out[tuple(slice(a, a + n) for n, (a, _) in zip(x.shape, around))] = x
    return out


@kernel("MirrorPad", host_inputs="paddings")
def mirror_pad(xp: Any, x: Any, paddings: Any, *, mode: Any) -> Any:
    around = _checked_paddings(x, paddings)
    for n, (a, b) in zip(x.shape, around):
        if mode == "SYMMETRIC" and (a > n or b > n):
            raise invalid(
                f"paddings must be no greater than the dimension size: {a}, {b} greater than {n}"
            )
        if mode == "REFLECT" and (a >= n or b >= n):
            raise invalid(
                f"paddings must be less than the dimension size: {a}, {b} not less than {n}"
            )
    for axis, (a, b) in enumerate(around):
        x = xp.concatenate(_with_mirrors(x, axis, a, b, mode == "REFLECT"), axis)
    return x


def _with_mirrors(x: Any, axis: int, a: int, b: int, skip_edge: bool) -> list[Any]:
    """x with its mirror images before and after it along an axis."""
    n = x.shape[axis]
    skip = int(skip_edge)
    before = _cut(x, axis, range(a - 1 + skip, skip - 1, -1))
    after = _cut(x, axis, range(n - 1 - skip, n - 1 - skip - b, -1))
    return [before, x, after]


def _cut(x: Any, axis: int, at: range) -> Any:
    stop = at.stop if at.stop >= 0 else None
    cut = slice(at.start, stop, at.step) if len(at) else slice(0, 0)
    return x[(slice(None),) * axis + (cut,)]


@op(
    "MirrorPadGrad",
    "input: T, paddings: Tpaddings -> output: T",
    T=Type(),
    Tpaddings=_PAD_TYPE,
    mode=Attr("string", allowed=_MODES),
)
def mirror_pad_grad_shape(c: ShapeContext) -> list[Shape]:
    """The gradient of MirrorPad: mirror images are folded back onto what they show."""
    x, paddings = c.shape(0), c.value(1)
    if paddings is None:
        return [None if x is None else (None,) * len(x)]
    x = dims.with_rank(x, len(paddings))
    return [tuple(dims.add(n, -int(a) - int(b)) for n, (a, b) in zip(x, paddings))]


@kernel("MirrorPadGrad", host_inputs="paddings")
def mirror_pad_grad(xp: Any, grad: Any, paddings: Any, *, mode: Any) -> Any:
    around = _checked_paddings(grad, paddings)
    skip = int(mode == "REFLECT")
    for axis, (a, b) in enumerate(around):
        n = grad.shape[axis] - a - b
        inner = _cut(grad, axis, range(a, a + n)).copy()
        if a:
            _cut(inner, axis, range(skip, skip + a))[...] += _cut(grad, axis, range(a - 1, -1, -1))
        if b:
            mirrored = _cut(grad, axis, range(a + n + b - 1, a + n - 1, -1))
            _cut(inner, axis, range(n - skip - b, n - skip))[...] += mirrored
        grad = inner
    return grad
