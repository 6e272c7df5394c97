"""Gradients of the ops that resize and crop pictures and change their colours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitf.gradients.registry import gradient, undifferentiable
from minitf.operation import Tensor
from minitf.ops import math
from minitf.ops.apply import apply_op
from minitf.ops.array import shape, stack
from minitf_runtime.types import FLOATS, float32, float64

undifferentiable(
    "NonMaxSuppression", "NonMaxSuppressionV2", "NonMaxSuppressionWithOverlaps",
    "HSVToRGB", "DrawBoundingBoxes", "SampleDistortedBoundingBox",
    "SampleDistortedBoundingBoxV2", "ExtractGlimpse",
)  # fmt: skip


def _centers(op: Any) -> dict[str, Any]:
    return {name: op.get_attr(name) for name in ("align_corners", "half_pixel_centers")}


@gradient("ResizeNearestNeighbor")
def resize_nearest_neighbor(op: Any, grad: Any) -> Any:
    image = op.inputs[0]
    known = image.shape[1:3]
    size = known if known.is_fully_defined() else shape(image)[1:3]
    return apply_op("ResizeNearestNeighborGrad", grad, size, **_centers(op)), None


@gradient("ResizeBilinear")
def resize_bilinear(op: Any, grad: Any) -> Any:
    return apply_op("ResizeBilinearGrad", grad, op.inputs[0], **_centers(op)), None


@gradient("ResizeBicubic")
def resize_bicubic(op: Any, grad: Any) -> Any:
    if op.inputs[0].dtype not in (float32, float64):
        return None, None
    return apply_op("ResizeBicubicGrad", grad, op.inputs[0], **_centers(op)), None


@gradient("CropAndResize")
def crop_and_resize(op: Any, grad: Any) -> Any:
    image, boxes, of = op.inputs[:3]
    by_image = None
    size = image.shape.as_list() if image.shape.is_fully_defined() else shape(image)
    if image.dtype in FLOATS:
        kept = {name: op.get_attr(name) for name in ("T", "method")}
        by_image = apply_op("CropAndResizeGradImage", grad, boxes, of, size, **kept)
    return by_image, apply_op("CropAndResizeGradBoxes", grad, image, boxes, of), None, None


# ---- colours


@gradient("RGBToHSV")
def rgb_to_hsv(op: Any, grad: Any) -> Any:
    """By cases: which channel is the largest, and which the smallest. Node by node TF's."""
    r, g, b = rgb = [op.inputs[0][..., i] for i in range(3)]
    saturation, value = op.outputs[0][..., 1], op.outputs[0][..., 2]
    most = [_flag((r >= b) & (r >= g)), _flag((g > r) & (g >= b)), _flag((b > r) & (b > g))]
    least = [_flag((r < b) & (r < g)), _flag((g <= r) & (g < b)), _flag((b <= r) & (b <= g))]
    by_saturation = [_saturation_slope(i, rgb, most, least) for i in range(3)]
    by_hue = [_hue_slope(i, rgb, most, least, saturation, value) for i in range(3)]
    parts = [
        stack([grad[..., i] * slope for slope in slopes], axis=-1)
        for i, slopes in ((2, most), (1, by_saturation), (0, by_hue))
    ]
    return math.add(math.add(parts[0], parts[1]), parts[2])


def _flag(condition: Tensor) -> Tensor:
    return math.cast(condition, float32)


def _inverse(x: Tensor) -> Tensor:
    return math.div_no_nan(1.0, x)


def _product(*factors: Callable[[], Any]) -> Any:
    """The factors one after the other: each is made when it is needed, as in TF's graph."""
    total = factors[0]()
    for factor in factors[1:]:
        total = total * factor()
    return total


def _saturation_slope(i: int, rgb: list[Tensor], most: list[Tensor], least: list[Tensor]) -> Tensor:
    x = rgb[i]
    j, k = ((1, 2), (0, 2), (1, 0))[i]
    return _product(
        lambda: _flag(x > 0),
        lambda: math.add(
            _product(
                lambda: most[i],
                lambda: math.add(least[j] * rgb[j], least[k] * rgb[k]),
                lambda: _inverse(math.square(x)),
            ),
            _product(
                lambda: least[i],
                lambda: -1,
                lambda: _inverse(most[j] * rgb[j] + most[k] * rgb[k]),
            ),
        ),
    )


def _hue_slope(
    i: int, rgb: list[Tensor], most: list[Tensor], least: list[Tensor], saturation: Tensor,
    value: Tensor,
) -> Tensor:  # fmt: skip
    """By one channel; the other two are next to it on the circle of hues."""
    after, before = rgb[(i + 1) % 3], rgb[(i + 2) % 3]
    total = 60 * _product(
        lambda: _flag(rgb[i] > 0),
        lambda: most[i],
        lambda: -1,
        lambda: after - before,
        lambda: _inverse(math.square(saturation)),
        lambda: _inverse(math.square(value)),
    )
    terms = [total]
    others = [n for n in range(3) if n != i]
    for big, small in (others, others[::-1]):
        terms.append(
            60
            * _product(
                lambda big=big: _flag(rgb[big] > 0),
                lambda big=big: most[big],
                lambda: least[i],
                lambda: before - after,
                lambda big=big: _inverse(math.square(_difference(rgb, big, i))),
            )
        )
        sign = [lambda: -1] if big == (i + 1) % 3 else []
        terms.append(
            60
            * _product(
                lambda big=big: _flag(rgb[big] > 0),
                lambda big=big: most[big],
                lambda small=small: least[small],
                *sign,
                lambda big=big, small=small: _inverse(rgb[big] - rgb[small]),
            )
        )
    for term in terms[1:]:
        total = total + term
    return total / 360


def _difference(rgb: list[Tensor], a: int, b: int) -> Tensor:
    """Of two channels; red and green only this way round, as in TF."""
    return rgb[0] - rgb[1] if (a, b) == (1, 0) else rgb[a] - rgb[b]
