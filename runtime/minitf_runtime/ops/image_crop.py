"""Ops that cut parts out of pictures: CropAndResize with its gradients, ExtractGlimpse."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from minitf_runtime.devices.arrays import on_host
from minitf_runtime.errors import invalid
from minitf_runtime.ops import dims
from minitf_runtime.ops.gpu_rows import add_rows
from minitf_runtime.ops.registry import Attr, ShapeContext, Type, kernel, op
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

_ANY = Type((uint8, uint16, int8, int16, int32, int64, *FLOATS))
_METHODS = Attr("string", "bilinear", ("bilinear", "nearest"))


def _check_boxes(c: ShapeContext, boxes: int, box_ind: int) -> Any:
    """The number of boxes."""
    count, columns = c.rank(boxes, 2)
    dims.fixed_size(columns, 4)
    (of,) = c.rank(box_ind, 1)
    return dims.merge_sizes(count, of)


@op(
    "CropAndResize",
    "image: T, boxes: float32, box_ind: int32, crop_size: int32 -> crops: float32",
    T=_ANY,
    method=_METHODS,
    extrapolation_value=0.0,
)
def crop_and_resize_shape(c: ShapeContext) -> list[Shape]:
    """The part of a picture in each box, all in one size."""
    *_, channels = c.rank(0, 4)
    count = _check_boxes(c, 1, 2)
    size = c.shape_value(3)
    if size is not None and len(size) != 2:
        raise ValueError(f"Dimension must be 2 but is {len(size)}")
    return [(count, *(size or (None, None)), channels)]


@op(
    "CropAndResizeGradImage",
    "grads: float32, boxes: float32, box_ind: int32, image_size: int32 -> output: T",
    T=Type((float32, float16, float64)),
    method=_METHODS,
)
def crop_and_resize_grad_image_shape(c: ShapeContext) -> list[Shape]:
    """The gradient of CropAndResize by the pictures."""
    c.rank(0, 4)
    _check_boxes(c, 1, 2)
    size = c.shape_value(3)
    return [(None,) * 4 if size is None else size]


@op(
    "CropAndResizeGradBoxes",
    "grads: float32, image: T, boxes: float32, box_ind: int32 -> output: float32",
    T=_ANY,
    method=Attr("string", "bilinear", ("bilinear",)),
)
def crop_and_resize_grad_boxes_shape(c: ShapeContext) -> list[Shape]:
    """The gradient of CropAndResize by the boxes."""
    c.rank(0, 4)
    return [(_check_boxes(c, 2, 3), 4)]


class _Axis(NamedTuple):
    """Where the pixels of each crop lie along one axis of the pictures: arrays [boxes, size]."""

    first: Any
    second: Any
    weight: Any  # of the second
    inside: Any

    @classmethod
    def of(cls, xp: Any, start: Any, end: Any, before: int, after: int, method: str) -> _Axis:
        most = before - 1
        start, end = start[:, None], end[:, None]
        if after > 1:
            step = (end - start) * np.float32(most / (after - 1))
            places = start * most + xp.arange(after, dtype=xp.float32) * step
        else:
            places = 0.5 * (start + end) * most
        inside = (places >= 0) & (places <= most)
        places = xp.where(inside, places, 0)
        if method == "nearest":
            near = xp.floor(places + 0.5).astype(xp.int64)
            return cls(near, near, xp.zeros_like(places), inside)
        lower = xp.floor(places)
        upper = xp.ceil(places)
        return cls(lower.astype(xp.int64), upper.astype(xp.int64), places - lower, inside)


def _axes(xp: Any, boxes: Any, shape: Any, size: Any, method: str) -> tuple[_Axis, _Axis]:
    rows = _Axis.of(xp, boxes[:, 0], boxes[:, 2], shape[1], size[0], method)
    return rows, _Axis.of(xp, boxes[:, 1], boxes[:, 3], shape[2], size[1], method)


def _check(xp: Any, rank: int, batch: int, boxes: Any, box_ind: Any) -> None:
    if rank != 4:
        raise invalid("input image must be 4-D")
    if boxes.ndim != 2 or boxes.shape[1] != 4:
        raise invalid("boxes must have 4 columns")
    if box_ind.shape != boxes.shape[:1]:
        raise invalid("box_ind has incompatible shape")
    if on_host(xp, ((box_ind < 0) | (box_ind >= batch)).any()):
        raise invalid("box_ind has values outside [0, batch_size)")


def _corners(image: Any, of: Any, rows: _Axis, columns: _Axis) -> list[list[Any]]:
    """The pixels around each pixel of the crops: [above, below][left, right]."""
    of = of[:, None, None]
    return [
        [image[of, y[:, :, None], x[:, None, :]] for x in (columns.first, columns.second)]
        for y in (rows.first, rows.second)
    ]


@kernel("CropAndResize", host_inputs="crop_size")
def crop_and_resize(
    xp: Any, image: Any, boxes: Any, box_ind: Any, crop_size: Any,
    *, method: str, extrapolation_value: float,
) -> Any:  # fmt: skip
    height, width = (int(n) for n in crop_size)
    if height <= 0 or width <= 0:
        raise invalid("crop dimensions must be positive")
    _check(xp, image.ndim, len(image), boxes, box_ind)
    rows, columns = _axes(xp, boxes, image.shape, (height, width), method)
    (a, b), (c, d) = _corners(image.astype(xp.float32), box_ind, rows, columns)
    down, across = rows.weight[:, :, None, None], columns.weight[:, None, :, None]
    above, below = a + (b - a) * across, c + (d - c) * across
    inside = rows.inside[:, :, None, None] & columns.inside[:, None, :, None]
    return xp.where(inside, above + (below - above) * down, xp.float32(extrapolation_value))


@kernel("CropAndResizeGradImage", host_inputs="image_size")
def crop_and_resize_grad_image(
    xp: Any, grads: Any, boxes: Any, box_ind: Any, image_size: Any, *, T: Any, method: str  # noqa: N803
) -> Any:  # fmt: skip
    if image_size.shape != (4,):
        raise invalid(f"image_size must have 4 elements, got {show_shape(image_size.shape)}")
    batch, height, width, channels = shape = tuple(int(n) for n in image_size)
    if height <= 0 or width <= 0:
        raise invalid("image dimensions must be positive")
    _check(xp, grads.ndim, batch, boxes, box_ind)
    rows, columns = _axes(xp, boxes, shape, grads.shape[1:3], method)
    down, across = rows.weight[:, :, None], columns.weight[:, None, :]
    inside = rows.inside[:, :, None] & columns.inside[:, None, :]
    out = xp.zeros((batch * height * width, channels), xp.float32)
    for y, y_share in ((rows.first, 1 - down), (rows.second, down)):
        for x, x_share in ((columns.first, 1 - across), (columns.second, across)):
            at = (box_ind[:, None, None] * height + y[:, :, None]) * width + x[:, None, :]
            share = xp.where(inside, y_share * x_share, 0).astype(xp.float32)
            parts = grads * share[..., None]
            add_rows(xp, out, at.reshape(-1), parts.reshape(-1, channels))
    return out.reshape(shape).astype(T.as_numpy_dtype)


@kernel("CropAndResizeGradBoxes")
def crop_and_resize_grad_boxes(
    xp: Any, grads: Any, image: Any, boxes: Any, box_ind: Any, *, method: str
) -> Any:
    _check(xp, image.ndim, len(image), boxes, box_ind)
    size = grads.shape[1:3]
    rows, columns = _axes(xp, boxes, image.shape, size, method)
    (a, b), (c, d) = _corners(image.astype(xp.float32), box_ind, rows, columns)
    down, across = rows.weight[:, :, None, None], columns.weight[:, None, :, None]
    slope_y = (1 - across) * (c - a) + across * (d - b)
    slope_x = (1 - down) * (b - a) + down * (d - c)
    inside = rows.inside[:, :, None] & columns.inside[:, None, :]
    by_y = xp.where(inside, (grads * slope_y).sum(axis=-1), 0)
    by_x = xp.where(inside, (grads * slope_x).sum(axis=-1), 0)
    y1, y2 = _ends(xp, by_y.sum(axis=2), image.shape[1], size[0])
    x1, x2 = _ends(xp, by_x.sum(axis=1), image.shape[2], size[1])
    return xp.stack([y1, x1, y2, x2], axis=1).astype(xp.float32)


def _ends(xp: Any, slopes: Any, before: int, after: int) -> tuple[Any, Any]:
    """What moving the start, or the end, of each box does to the places of its pixels."""
    most = before - 1
    if after == 1:
        both = slopes[:, 0] * 0.5 * most
        return both, both
    share = xp.arange(after, dtype=xp.float32) * np.float32(most / (after - 1))
    return (slopes * (most - share)).sum(axis=1), (slopes * share).sum(axis=1)


# ---- glimpses


@op(
    "ExtractGlimpse",
    "input: float32, size: int32, offsets: float32 -> glimpse: float32",
    centered=True,
    normalized=True,
    uniform_noise=True,
    noise="uniform",
)
def extract_glimpse_shape(c: ShapeContext) -> list[Shape]:
    """A window of each picture, filled with noise where it leaves the picture."""
    batch, _, _, channels = c.rank(0, 4)
    count, two = c.rank(2, 2)
    dims.fixed_size(two, 2)
    size = c.shape_value(1)
    if size is not None and len(size) != 2:
        raise ValueError(f"Dimension must be 2 but is {len(size)}")
    return [(dims.merge_sizes(batch, count), *(size or (None, None)), channels)]


@kernel("ExtractGlimpse", device="CPU")
def extract_glimpse(
    xp: Any, pictures: Any, size: Any, offsets: Any,
    *, centered: bool, normalized: bool, uniform_noise: bool, noise: str,
) -> Any:  # fmt: skip
    if pictures.ndim != 4:
        raise invalid(f"input must be 4-dimensional{show_shape(pictures.shape)}")
    if offsets.shape != (len(pictures), 2):
        raise invalid(f"offset must be a matrix of [batch_size, 2]: {show_shape(offsets.shape)}")
    height, width = (int(n) for n in size)
    kind = "uniform" if uniform_noise else noise
    windows = [
        _window(picture, (height, width), offset, centered, normalized, kind)
        for picture, offset in zip(pictures, offsets)
    ]
    shape = (len(pictures), height, width, pictures.shape[3])
    return np.array(windows, np.float32).reshape(shape)


def _window(
    picture: np.ndarray, size: tuple[int, int], offset: Any, centered: bool, normalized: bool,
    noise: str,
) -> np.ndarray:  # fmt: skip
    """The part of a picture around an offset; noise has the range or deviation of the picture."""
    out = _noise(picture, size, noise)
    here, there = [], []
    for length, window, start in zip(picture.shape, size, map(float, offset)):
        if normalized:
            start *= length
        if centered:
            start = start / 2 + length / 2
        first = int(start - window / 2)
        low, high = max(first, 0), min(first + window, length)
        here.append(slice(low, max(low, high)))
        there.append(slice(low - first, max(low, high) - first))
    out[tuple(there)] = picture[tuple(here)]
    return out


def _noise(picture: np.ndarray, size: tuple[int, int], kind: str) -> np.ndarray:
    random = np.random.default_rng()
    shape = (*size, picture.shape[2])
    if kind == "zero" or not picture.size:
        return np.zeros(shape, np.float32)
    if kind == "gaussian":
        return random.normal(picture.mean(), picture.std(), shape)
    return random.uniform(picture.min(), picture.max(), shape)
