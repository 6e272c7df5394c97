"""Ops on the colours of pictures: hue, saturation, contrast. Channels are the last axis."""

from __future__ import annotations

from typing import Any

from minitf_runtime.errors import invalid
from minitf_runtime.ops import dims
from minitf_runtime.ops.registry import ShapeContext, Type, kernel, op
from minitf_runtime.types import FLOATS, Shape, float16, float32, show_shape

# ---- hue, saturation and value


def _rgb_shape(c: ShapeContext) -> list[Shape]:
    shape = dims.at_least(c.shape(0), 1)
    if shape is None:
        return [None]
    if shape[-1] not in (None, 3):
        raise ValueError(f"Dimension must be 3 but is {shape[-1]}")
    return [(*shape[:-1], 3)]


op("RGBToHSV", "images: T -> output: T", _rgb_shape, T=Type(FLOATS, float32))
op("HSVToRGB", "images: T -> output: T", _rgb_shape, T=Type(FLOATS, float32))


@kernel("RGBToHSV")
def rgb_to_hsv(xp: Any, images: Any) -> Any:
    """Hue, saturation and value, each from 0 to 1."""
    _check_three(images, 1)
    hue, chroma, value = _hue_chroma_value(xp, images)
    return xp.stack([hue, _divided(xp, chroma, value), value], axis=-1)


@kernel("HSVToRGB")
def hsv_to_rgb(xp: Any, images: Any) -> Any:
    _check_three(images, 1)
    hue, saturation, value = (images[..., i] for i in range(3))
    return _rgb(xp, hue, saturation * value, value)


def _check_three(images: Any, rank: int) -> None:
    if images.ndim < rank:
        raise invalid(f"input must be at least {rank}-D, got shape{show_shape(images.shape)}")
    if images.shape[-1] != 3:
        raise invalid(f"input must have 3 channels but instead has {images.shape[-1]} channels.")


def _divided(xp: Any, x: Any, y: Any) -> Any:
    """x / y, and 0 where y is not positive."""
    return xp.where(y > 0, x / xp.where(y > 0, y, 1), 0).astype(x.dtype)


def _hue_chroma_value(xp: Any, images: Any) -> tuple[Any, Any, Any]:
    """Hue, the range of the channels, and the largest of them."""
    red, green, blue = (images[..., i] for i in range(3))
    value, least = images.max(axis=-1), images.min(axis=-1)
    chroma = value - least
    turn = xp.where(
        red == value,
        _divided(xp, green - blue, chroma),
        xp.where(
            green == value,
            _divided(xp, blue - red, chroma) + 2,
            _divided(xp, red - green, chroma) + 4,
        ),
    )
    hue = xp.where(chroma > 0, turn / 6, 0)
    return xp.where(hue < 0, hue + 1, hue).astype(images.dtype), chroma, value


def _rgb(xp: Any, hue: Any, chroma: Any, value: Any) -> Any:
    sixth = hue * 6
    shares = (
        abs(sixth - 3) - 1,
        2 - abs(sixth - 2),
        2 - abs(sixth - 4),
    )
    least = value - chroma
    return xp.stack([least + chroma * xp.clip(s, 0, 1) for s in shares], axis=-1).astype(hue.dtype)


# ---- adjustments


def _same_picture(c: ShapeContext) -> list[Shape]:
    c.rank(1, 0)
    return [dims.at_least(c.shape(0), 3)]


_T = Type((float16, float32), float32)
op("AdjustHue", "images: T, delta: float32 -> output: T", _same_picture, T=_T)
op("AdjustSaturation", "images: T, scale: float32 -> output: T", _same_picture, T=_T)
op("AdjustContrastv2", "images: T, contrast_factor: float32 -> output: T", _same_picture, T=_T)


@kernel("AdjustHue")
def adjust_hue(xp: Any, images: Any, delta: Any) -> Any:
    """The hue turned by delta circles."""
    _check_three(images, 3)
    hue, chroma, value = _hue_chroma_value(xp, images.astype(xp.float32))
    return _rgb(xp, (hue + delta) % 1, chroma, value).astype(images.dtype)


@kernel("AdjustSaturation")
def adjust_saturation(xp: Any, images: Any, scale: Any) -> Any:
    """The saturation times a factor, at most 1."""
    _check_three(images, 3)
    hue, chroma, value = _hue_chroma_value(xp, images.astype(xp.float32))
    saturation = xp.clip(_divided(xp, chroma, value) * scale, 0, 1)
    return _rgb(xp, hue, saturation * value, value).astype(images.dtype)


@kernel("AdjustContrastv2")
def adjust_contrast(xp: Any, images: Any, factor: Any) -> Any:
    """The distance of each channel of a picture from its mean times a factor."""
    if images.ndim < 3:
        raise invalid(f"input must be at least 3-D, got shape{show_shape(images.shape)}")
    mean = images.mean(axis=(-3, -2), keepdims=True, dtype=xp.float32)
    return (mean + (images - mean) * factor).astype(images.dtype)
