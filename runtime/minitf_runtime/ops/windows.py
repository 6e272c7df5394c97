"""Windows that slide over a tensor: where they lie under TF's padding rules, patches and back.

Convolution and pooling, in any number of dimensions, are written in these terms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from minitf_runtime.errors import invalid
from minitf_runtime.ops.dims import Size


@dataclass(frozen=True)
class Axis:
    """A window on one axis of a tensor: `out` places of it, on an input of `size` elements."""

    size: int
    window: int = 1
    stride: int = 1
    dilation: int = 1
    before: int = 0  # padding
    after: int = 0
    out: int = 0

    @property
    def pad(self) -> tuple[int, int]:
        return self.before, self.after

    def flipped(self) -> Axis | None:
        """The window on the output that meets what an input element adds to; None for strides."""
        reach = (self.window - 1) * self.dilation
        before, after = reach - self.before, reach - self.after
        if self.stride != 1 or before < 0 or after < 0:
            return None
        return Axis(self.out, self.window, 1, self.dilation, before, after, self.size)

    def at(self, offset: int) -> slice:
        """What element `offset` of the window meets at all places, counted on the padded input."""
        start = offset * self.dilation
        return slice(start, start + self.out * self.stride, self.stride)


def whole(size: int) -> Axis:
    """An axis that no window slides over."""
    return Axis(size, out=size)


def axis(
    size: int, window: int, stride: int, dilation: int, padding: str, pad: Sequence[int] = (0, 0)
) -> Axis:
    """A window on an axis of known size. Raises InvalidArgumentError if it does not fit."""
    reach = (window - 1) * dilation + 1
    before, after = pad if padding == "EXPLICIT" else (0, 0)
    if padding == "SAME":
        out = -(-size // stride)
        needed = max(0, (out - 1) * stride + reach - size)
        before, after = needed // 2, needed - needed // 2
    else:
        out = (size + before + after - reach) // stride + 1
    if out < 0:
        raise invalid(
            f"Computed output size would be negative: {out} [input_size: {size}, "
            f"effective_filter_size: {reach}, stride: {stride}]"
        )
    return Axis(size, window, stride, dilation, before, after, out)


def out_size(
    size: Size, window: Size, stride: int, dilation: int, padding: str, pad: Sequence[int] = (0, 0)
) -> Size:
    """The static size after a window, as far as it is known. Raises ValueError."""
    if size is None or (window is None and padding != "SAME"):
        return None
    if padding == "SAME":
        return -(-size // stride)
    assert window is not None
    reach = (window - 1) * dilation + 1
    if padding == "EXPLICIT":
        size += sum(pad)
    if size < reach:
        raise ValueError(f"Negative dimension size caused by subtracting {reach} from {size}")
    return (size - reach) // stride + 1


def padded(xp: Any, x: Any, axes: Sequence[Axis], fill: Any = 0) -> Any:
    """x with the padding of all axes; x itself if there is none."""
    if not any(a.before or a.after for a in axes):
        return x
    out = xp.full([a.before + a.size + a.after for a in axes], fill, x.dtype)
    out[inner(axes)] = x
    return out


def inner(axes: Sequence[Axis]) -> tuple[slice, ...]:
    """The part of a padded tensor that is not padding."""
    return tuple(slice(a.before, a.before + a.size) for a in axes)


def offsets(axes: Sequence[Axis]) -> Iterator[tuple[tuple[int, ...], tuple[slice, ...]]]:
    """Every element of the window, in row order, with what it meets at all places."""
    for offset in product(*(range(a.window) for a in axes)):
        yield offset, tuple(a.at(k) for a, k in zip(axes, offset))


def patches(xp: Any, x: Any, axes: Sequence[Axis]) -> Any:
    """A view of [batch, *space, channels] as [batch, *out, *window, channels] (im2col)."""
    space = axes[1:-1]
    x = padded(xp, x, axes)
    strides = x.strides
    view: Any = xp.lib.stride_tricks.as_strided(
        x,
        (x.shape[0], *(a.out for a in space), *(a.window for a in space), x.shape[-1]),
        (
            strides[0],
            *(s * a.stride for s, a in zip(strides[1:-1], space)),
            *(s * a.dilation for s, a in zip(strides[1:-1], space)),
            strides[-1],
        ),
    )
    return view


def add_patches(xp: Any, columns: Any, axes: Sequence[Axis]) -> Any:
    """The adjoint of `patches`: sums [batch, *out, *window, channels] where patches overlap."""
    out = xp.zeros([a.before + a.size + a.after for a in axes], columns.dtype)
    places = (slice(None),) * (len(axes) - 1)
    for offset, meets in offsets(axes):
        out[meets] += columns[(*places, *offset[1:-1])]
    return out[inner(axes)]
