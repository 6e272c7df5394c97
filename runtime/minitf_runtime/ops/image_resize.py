"""Ops that give pictures another size, with their gradients.

All of them are linear maps of the rows, then of the columns. Pictures are [batch, height, width,
channels].
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minitf_runtime.errors import invalid
from minitf_runtime.ops import dims
from minitf_runtime.ops.registry import ShapeContext, Type, kernel, op
from minitf_runtime.types import (
    FLOATS,
    Shape,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    show_shape,
    uint8,
    uint16,
)

_ANY = Type((int8, uint8, int16, uint16, int32, int64, *FLOATS))
_CENTERS: dict[str, Any] = dict(align_corners=False, half_pixel_centers=False)


def _resized_shape(c: ShapeContext) -> list[Shape]:
    batch, _, _, channels = dims.with_rank(c.shape(0), 4)
    size = c.shape_value(1)
    if size is not None and len(size) != 2:
        raise ValueError(f"Dimension must be 2 but is {len(size)}")
    return [(batch, *(size or (None, None)), channels)]


def _as_original(c: ShapeContext) -> list[Shape]:
    """The gradient of the second input's shape."""
    return [c.shape(1)]


_SIGNATURE = "images: T, size: int32 -> resized_images: "
op("ResizeBilinear", _SIGNATURE + "float32", _resized_shape, T=_ANY, **_CENTERS)
op("ResizeBicubic", _SIGNATURE + "float32", _resized_shape, T=_ANY, **_CENTERS)
op("ResizeArea", _SIGNATURE + "float32", _resized_shape, T=_ANY, align_corners=False)
op("ResizeNearestNeighbor", _SIGNATURE + "T", _resized_shape, T=_ANY, **_CENTERS)
_GRAD = "grads: float32, original_image: T -> output: T"
op("ResizeBilinearGrad", _GRAD, _as_original, T=Type(FLOATS), **_CENTERS)
op("ResizeBicubicGrad", _GRAD, _as_original, T=Type((float32, float64)), **_CENTERS)
op("ResizeNearestNeighborGrad", "grads: T, size: int32 -> output: T", _resized_shape,
   T=Type((uint8, int8, int32, float16, float32, float64)), **_CENTERS)  # fmt: skip


# ---- where the pixels of the result lie


def _checked(images: Any, size: Any, align_corners: bool, half_pixels: bool) -> tuple[int, int]:
    """Height and width of the result. Raises InvalidArgumentError."""
    if align_corners and half_pixels:
        raise invalid("If half_pixel_centers is True, align_corners must be False.")
    if images.ndim != 4:
        raise invalid(f"input must be 4-dimensional{show_shape(images.shape)}")
    if size.shape != (2,):
        raise invalid(f"shape_t must be 1-dimensional{show_shape(size.shape)}")
    height, width = (int(n) for n in size)
    if height <= 0 or width <= 0:
        raise invalid("output dimensions must be positive")
    if 0 in images.shape[1:3]:
        raise invalid("input image must be of non-zero size")
    return height, width


def _scale(before: int, after: int, align_corners: bool) -> Any:
    if align_corners and after > 1:
        return np.float32(before - 1) / np.float32(after - 1)
    return np.float32(before) / np.float32(after)


def _places(xp: Any, before: int, after: int, align_corners: bool, half_pixels: bool) -> Any:
    """For each pixel of the result its place among the old ones."""
    scale = _scale(before, after, align_corners)
    places = xp.arange(after, dtype=xp.float32)
    return (places + 0.5) * scale - 0.5 if half_pixels else places * scale


def _neighbours(xp: Any, before: int, *how: Any) -> tuple[Any, Any, Any]:
    """The two old pixels next to each new one, and the weight of the second."""
    places = _places(xp, before, *how)
    lower = xp.floor(places)
    first = xp.maximum(lower, 0).astype(xp.int64)
    second = xp.minimum(xp.ceil(places), before - 1).astype(xp.int64)
    return first, second, places - lower


def _nearest(xp: Any, before: int, after: int, align_corners: bool, half_pixels: bool) -> Any:
    scale = _scale(before, after, align_corners)
    places = xp.arange(after, dtype=xp.float32)
    places = (places + 0.5) * scale if half_pixels else places * scale
    near = xp.floor(places + 0.5) if align_corners else xp.floor(places)
    return xp.minimum(near, before - 1).astype(xp.int64)


# ---- maps as matrices [after, before]


def _one_hot(xp: Any, at: Any, before: int) -> Any:
    return (at[:, None] == xp.arange(before)).astype(xp.float32)


def _linear(xp: Any, before: int, *how: Any) -> Any:
    first, second, weight = _neighbours(xp, before, *how)
    weight = weight[:, None]
    return _one_hot(xp, first, before) * (1 - weight) + _one_hot(xp, second, before) * weight


def _cubic(xp: Any, before: int, after: int, align_corners: bool, half_pixels: bool) -> Any:
    """Keys' cubics. With centres of pixels what is outside has no weight, else it is the edge."""
    places = _places(xp, before, after, align_corners, half_pixels)
    lower = xp.floor(places)
    steps = xp.rint((places - lower) * 1024) / 1024  # TF has a table of so many
    a = -0.5 if half_pixels else -0.75
    total = xp.zeros((after, before), xp.float32)
    for offset in (-1, 0, 1, 2):
        distance = abs(steps - offset)
        weight = _near(a, distance) if offset in (0, 1) else _far(a, distance)
        at = lower + offset
        inside = xp.clip(at, 0, before - 1)
        if half_pixels:
            weight = xp.where(at == inside, weight, 0)
        total = total + _one_hot(xp, inside, before) * weight.astype(xp.float32)[:, None]
    return total / total.sum(axis=1, keepdims=True) if half_pixels else total


def _near(a: float, x: Any) -> Any:
    return ((a + 2) * x - (a + 3)) * x * x + 1


def _far(a: float, x: Any) -> Any:
    return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a


def _area(xp: Any, before: int, after: int, align_corners: bool) -> Any:
    """How much of each old pixel a new one covers; what is beyond the last one counts as it."""
    scale = _scale(before, after, align_corners)
    starts = xp.arange(after, dtype=xp.float32)[:, None] * scale
    ends = (xp.arange(after, dtype=xp.float32)[:, None] + 1) * scale
    pixels = xp.arange(before, dtype=xp.float32)
    limits = xp.append(pixels[1:], xp.float32(np.inf))
    covered = xp.minimum(ends, limits) - xp.maximum(starts, pixels)
    return xp.maximum(covered, 0) / scale


def _mapped(xp: Any, rows: Any, columns: Any, images: Any) -> Any:
    """The pictures after both maps."""
    batch, height, width, channels = images.shape
    tall = xp.matmul(rows, images.reshape(batch, height, width * channels))
    return xp.matmul(columns, tall.reshape(batch, len(rows), width, channels))


# ---- kernels


@kernel("ResizeBilinear", host_inputs="size")
def resize_bilinear(
    xp: Any, images: Any, size: Any, *, align_corners: bool, half_pixel_centers: bool
) -> Any:
    height, width = _checked(images, size, align_corners, half_pixel_centers)
    how = align_corners, half_pixel_centers
    top, bottom, down = _neighbours(xp, images.shape[1], height, *how)
    left, right, across = _neighbours(xp, images.shape[2], width, *how)
    images = images.astype(xp.float32)
    above = images[:, top]
    rows = above + (images[:, bottom] - above) * down[:, None, None]
    beside = rows[:, :, left]
    return beside + (rows[:, :, right] - beside) * across[:, None]


@kernel("ResizeBilinearGrad")
def resize_bilinear_grad(
    xp: Any, grads: Any, image: Any, *, align_corners: bool, half_pixel_centers: bool
) -> Any:
    return _back(xp, _linear, grads, image.shape, align_corners, half_pixel_centers).astype(
        image.dtype
    )


@kernel("ResizeBicubic", host_inputs="size", device="CPU")
def resize_bicubic(
    xp: Any, images: Any, size: Any, *, align_corners: bool, half_pixel_centers: bool
) -> Any:
    height, width = _checked(images, size, align_corners, half_pixel_centers)
    how = align_corners, half_pixel_centers
    rows = _cubic(xp, images.shape[1], height, *how)
    columns = _cubic(xp, images.shape[2], width, *how)
    return _mapped(xp, rows, columns, images.astype(xp.float32))


@kernel("ResizeBicubicGrad", device="CPU")
def resize_bicubic_grad(
    xp: Any, grads: Any, image: Any, *, align_corners: bool, half_pixel_centers: bool
) -> Any:
    return _back(xp, _cubic, grads, image.shape, align_corners, half_pixel_centers).astype(
        image.dtype
    )


def _back(xp: Any, matrix: Any, grads: Any, shape: Any, *how: Any) -> Any:
    """The gradient of a map, in the shape of what it was applied to."""
    rows = matrix(xp, shape[1], grads.shape[1], *how)
    columns = matrix(xp, shape[2], grads.shape[2], *how)
    return _mapped(xp, rows.T, columns.T, grads)


@kernel("ResizeArea", host_inputs="size", device="CPU")
def resize_area(xp: Any, images: Any, size: Any, *, align_corners: bool) -> Any:
    height, width = _checked(images, size, align_corners, False)
    rows = _area(xp, images.shape[1], height, align_corners)
    columns = _area(xp, images.shape[2], width, align_corners)
    return _mapped(xp, rows, columns, images.astype(xp.float32))


@kernel("ResizeNearestNeighbor", host_inputs="size")
def resize_nearest_neighbor(
    xp: Any, images: Any, size: Any, *, align_corners: bool, half_pixel_centers: bool
) -> Any:
    height, width = _checked(images, size, align_corners, half_pixel_centers)
    how = align_corners, half_pixel_centers
    rows = _nearest(xp, images.shape[1], height, *how)
    return images[:, rows][:, :, _nearest(xp, images.shape[2], width, *how)]


@kernel("ResizeNearestNeighborGrad", host_inputs="size")
def resize_nearest_neighbor_grad(
    xp: Any, grads: Any, size: Any, *, align_corners: bool, half_pixel_centers: bool
) -> Any:
    height, width = _checked(grads, size, align_corners, half_pixel_centers)

    def matrix(xp: Any, before: int, *how: Any) -> Any:
        return _one_hot(xp, _nearest(xp, before, *how), before)

    shape = grads.shape[0], height, width, grads.shape[3]
    wide = grads.astype(np.promote_types(grads.dtype, np.float32))
    back = _back(xp, matrix, wide, shape, align_corners, half_pixel_centers)
    return back.astype(grads.dtype)
