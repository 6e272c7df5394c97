"""A random part of a picture that covers enough of one of its boxes.

With the same seeds it is the one that TensorFlow picks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minitf_runtime.errors import invalid
from minitf_runtime.ops import dims
from minitf_runtime.ops.philox import PhiloxState, Stream
from minitf_runtime.ops.registry import Attr, ShapeContext, Type, kernel, op
from minitf_runtime.types import Shape, int8, int16, int32, int64, show_shape, uint8

_RANDOM: dict[str, Any] = dict(
    T=Type((uint8, int8, int16, int32, int64)),
    seed=0,
    seed2=0,
    aspect_ratio_range=Attr("list(float)", [0.75, 1.33]),
    area_range=Attr("list(float)", [0.05, 1.0]),
    max_attempts=100,
    use_image_if_no_bounding_boxes=False,
)
_PICKED = " -> begin: T, size: T, bboxes: float32"


def _picked_shape(c: ShapeContext) -> list[Shape]:
    """Begin and size of a part for Slice, and the same as a box."""
    dims.merge_sizes(c.rank(0, 1)[0], 3)
    c.rank(1, 3)
    return [(3,), (3,), (1, 1, 4)]


op("SampleDistortedBoundingBox", f"image_size: T, bounding_boxes: float32{_PICKED}",
   _picked_shape, stateful=True, min_object_covered=0.1, **_RANDOM)  # fmt: skip
op("SampleDistortedBoundingBoxV2",
   f"image_size: T, bounding_boxes: float32, min_object_covered: float32{_PICKED}",
   _picked_shape, stateful=True, **_RANDOM)  # fmt: skip


@kernel("SampleDistortedBoundingBox", device="CPU")
def sample_distorted_bounding_box(xp: Any, size: Any, boxes: Any, *, node: Any) -> Any:
    return _sample(size, boxes, node.attrs["min_object_covered"], node)


@kernel("SampleDistortedBoundingBoxV2", device="CPU")
def sample_distorted_bounding_box_v2(
    xp: Any, size: Any, boxes: Any, covered: Any, *, node: Any
) -> Any:
    return _sample(size, boxes, float(covered), node)


def _sample(size: Any, boxes: Any, covered: float, node: Any) -> Any:
    attrs = node.attrs
    generator = node.keep(lambda: PhiloxState(attrs["seed"], attrs["seed2"]))
    height, width = int(size[0]), int(size[1])
    _check_sample(height, width, boxes, covered, attrs)
    pixels = _in_pixels(boxes, height, width)
    if not len(pixels):
        if not attrs["use_image_if_no_bounding_boxes"]:
            raise invalid(
                "No bounding boxes provided as input. One must enable "
                "use_image_if_no_bounding_boxes if you wish to not provide any bounding boxes."
            )
        pixels = np.array([[0, 0, height, width]])
    draws = _Draws(generator.reserve(4 * attrs["max_attempts"]))
    low, high = (np.float32(x) for x in attrs["aspect_ratio_range"])
    part = 0, 0, height, width
    for _ in range(attrs["max_attempts"]):
        ratio = draws.real() * (high - low) + low
        found = _random_part(height, width, attrs["area_range"], ratio, draws)
        if found and _covers(found, pixels, covered):
            part = found
            break
    return _picked(part, height, width, size.dtype)


def _check_sample(height: int, width: int, boxes: Any, covered: float, attrs: Any) -> None:
    if height <= 0 or width <= 0:
        raise invalid(f"image height and width must be positive: {height}, {width}")
    if boxes.ndim != 3 or boxes.shape[-1] != 4:
        raise invalid(f"input boxes must be 3-dimensional [batch, num_boxes, coords]"
                      f"{show_shape(boxes.shape)}")  # fmt: skip
    if not 0 <= covered <= 1:
        raise invalid(f"Min object covered must be in [0, 1]: {covered}")
    if ((boxes < 0) | (boxes > 1)).any():
        raise invalid("All bounding box coordinates must be in [0.0, 1.0]")
    low, high = attrs["aspect_ratio_range"]
    if not 0 < low < high:
        raise invalid("Aspect ratio range must be positive and rising")


def _in_pixels(boxes: Any, height: int, width: int) -> np.ndarray:
    """All boxes as [top, left, bottom, right]."""
    scale = np.array([height, width] * 2, np.float32)
    return (boxes.reshape(-1, 4) * scale).astype(np.int64)


class _Draws:
    """Random numbers one by one, as TF's SimplePhilox gives them."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._left: list[int] = []

    def bits(self) -> int:
        if not self._left:
            self._left = self._stream.samples(1)[0].tolist()[::-1]
            self._stream = self._stream.skip(1)
        return self._left.pop()

    def real(self) -> Any:
        """From [0, 1)."""
        return np.uint32(0x3F800000 | self.bits() & 0x7FFFFF).view(np.float32) - np.float32(1)

    def below(self, n: int) -> int:
        """A whole number from [0, n), each with equal chance."""
        if n & (n - 1) == 0:
            return self.bits() & (n - 1)
        least = 0xFFFFFFFF % n + 1
        while (drawn := self.bits()) < least:
            continue
        return drawn % n


def _random_part(
    height: int, width: int, areas: Any, ratio: Any, draws: _Draws
) -> tuple[int, int, int, int] | None:
    """[top, left, bottom, right] of a part with this ratio and an allowed area, if one fits."""
    low, high = (np.float32(x) * np.float32(width) * np.float32(height) for x in areas)
    if high <= 0 or ratio <= 0 or low > high:
        return None
    tall = round(float(np.sqrt(low / ratio)))
    tallest = round(float(np.sqrt(high / ratio)))
    if round(float(tallest * ratio)) > width:
        tallest = int((width + 0.5 - 1e-7) / ratio)
        if round(float(tallest * ratio)) > width:
            tallest -= 1
    tallest = min(tallest, height)
    tall = min(tall, tallest)
    if tall < tallest:
        tall += draws.below(tallest - tall + 1)
    wide = round(float(tall * ratio))
    if wide * tall < low:
        tall += 1
        wide = round(float(tall * ratio))
    if wide * tall > high:
        tall -= 1
        wide = round(float(tall * ratio))
    if not low <= wide * tall <= high or not 0 < wide <= width or not 0 < tall <= height:
        return None
    top = draws.below(height - tall) if tall < height else 0
    left = draws.below(width - wide) if wide < width else 0
    return top, left, top + tall, left + wide


def _covers(part: tuple[int, ...], boxes: np.ndarray, least: float) -> bool:
    """Whether the part has enough of one of the boxes in it."""
    part_sizes = np.array(part)
    sides = np.minimum(boxes[:, 2:], part_sizes[2:]) - np.maximum(boxes[:, :2], part_sizes[:2])
    common = np.maximum(sides, 0).prod(axis=1)
    areas = (boxes[:, 2:] - boxes[:, :2]).prod(axis=1)
    return bool(((areas > 0) & (common >= np.float32(least) * np.maximum(areas, 1))).any())


def _picked(part: tuple[int, ...], height: int, width: int, dtype: Any) -> Any:
    top, left, bottom, right = part
    scale = np.array([height, width] * 2, np.float32)
    return (
        np.array([top, left, 0], dtype),
        np.array([bottom - top, right - left, -1], dtype),
        (np.array(part, np.float32) / scale).reshape(1, 1, 4),
    )
