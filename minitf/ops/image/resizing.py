"""Pictures in another size."""

from __future__ import annotations

from typing import Any

import minitf_runtime.ops.image_resize  # noqa: F401  (declares the ops)
from minitf.convert import to_tensor
from minitf.default import name_scope
from minitf.operation import Tensor
from minitf.ops import math
from minitf.ops.apply import apply_op
from minitf.ops.constant_value import constant_value_as_shape
from minitf.ops.group import with_dependencies
from minitf.ops.image.checks import as_batch, from_batch, sizes
from minitf.ops.image.crops import larger, pad_to_bounding_box, target_checks
from minitf.ops.raw import passthrough
from minitf_runtime.types import float32, float64, int32


class ResizeMethod:
    """How resize_images finds values between pixels."""

    BILINEAR = 0
    NEAREST_NEIGHBOR = 1
    BICUBIC = 2
    AREA = 3


_OPS = {
    ResizeMethod.BILINEAR: "ResizeBilinear",
    "bilinear": "ResizeBilinear",
    ResizeMethod.NEAREST_NEIGHBOR: "ResizeNearestNeighbor",
    "nearest": "ResizeNearestNeighbor",
    ResizeMethod.BICUBIC: "ResizeBicubic",
    "bicubic": "ResizeBicubic",
    ResizeMethod.AREA: "ResizeArea",
    "area": "ResizeArea",
}
resize_area = passthrough("ResizeArea", "resize_area")


def resize_bilinear(
    images: Any, size: Any, align_corners: bool = False, name: str | None = None,
    half_pixel_centers: bool = False,
) -> Tensor:  # fmt: skip
    """A batch, by weights of the four nearest pixels."""
    return _resize("ResizeBilinear", images, size, align_corners, half_pixel_centers, name)


def resize_bicubic(
    images: Any, size: Any, align_corners: bool = False, name: str | None = None,
    half_pixel_centers: bool = False,
) -> Tensor:  # fmt: skip
    """A batch, by weights of the sixteen nearest pixels."""
    return _resize("ResizeBicubic", images, size, align_corners, half_pixel_centers, name)


def resize_nearest_neighbor(
    images: Any, size: Any, align_corners: bool = False, name: str | None = None,
    half_pixel_centers: bool = False,
) -> Tensor:  # fmt: skip
    """A batch, each pixel being the nearest one."""
    return _resize("ResizeNearestNeighbor", images, size, align_corners, half_pixel_centers, name)


def _resize(
    op: str, images: Any, size: Any, align_corners: bool, half_pixels: bool, name: str | None
) -> Tensor:
    return apply_op(
        op, images, size, align_corners=align_corners, half_pixel_centers=half_pixels, name=name
    )


def resize_images(
    images: Any, size: Any, method: Any = ResizeMethod.BILINEAR, align_corners: bool = False,
    preserve_aspect_ratio: bool = False, name: str | None = None,
) -> Tensor:  # fmt: skip
    """One picture or a batch, in the size [height, width]. Raises ValueError."""
    with name_scope(name, "resize", [images, size]):
        images = to_tensor(images, name="images")
        if images.shape.ndims is None:
            raise ValueError("'images' contains no shape.")
        if images.shape.ndims not in (3, 4):
            raise ValueError("'images' must have either 3 or 4 dimensions.")
        images, is_batch = as_batch(images)
        try:
            size = to_tensor(size, int32, name="size")
        except (TypeError, ValueError):
            raise ValueError("'size' must be a 1-D int32 Tensor") from None
        if not size.shape.is_compatible_with([2]):
            raise ValueError("'size' must be a 1-D Tensor of 2 elements: new_height, new_width")
        wanted = constant_value_as_shape(size).as_list()
        if preserve_aspect_ratio:
            size = _scaled(images, wanted)
            wanted = constant_value_as_shape(size).as_list()
        if None in wanted or images.shape.as_list()[1:3] != wanted:
            if method not in _OPS:
                raise ValueError("Resize method is not implemented.")
            images = apply_op(_OPS[method], images, size, align_corners=align_corners)
            images.set_shape([None, *wanted, None])
        return from_batch(images, is_batch)


def _scaled(images: Tensor, wanted: list[Any]) -> Tensor:
    """The largest size within the wanted one in which nothing is distorted."""
    _, height, width, _ = sizes(images, 4)
    scales = [
        math.cast(new, float32) / math.cast(old, float32)
        for new, old in zip(wanted, (height, width))
    ]
    scale = math.minimum(*scales)
    scaled = [
        math.cast(math.round(scale * math.cast(old, float32)), int32) for old in (height, width)
    ]
    return to_tensor(scaled, int32, name="size")


def resize_image_with_pad(
    image: Any, target_height: Any, target_width: Any,
    method: Any = ResizeMethod.BILINEAR, align_corners: bool = False,
) -> Tensor:  # fmt: skip
    """As large as it fits into the target without being distorted, the rest black."""
    with name_scope(None, "resize_image_with_pad", [image]):
        image, is_batch = as_batch(to_tensor(image, name="image"))
        image = with_dependencies(target_checks(image, target_height, target_width), image)
        _, height, width, _ = sizes(image, 4)
        height, width = math.cast(height, float64), math.cast(width, float64)
        most_height = math.cast(target_height, float64)
        most_width = math.cast(target_width, float64)
        ratio = larger(width / most_width, height / most_height)
        new_height, new_width = height / ratio, width / ratio
        size = [math.cast(math.floor(x), int32) for x in (new_height, new_width)]
        edges = [(most_height - new_height) / 2, (most_width - new_width) / 2]
        edges = [math.floor(edge) for edge in edges]
        offsets = [larger(0, math.cast(edge, int32)) for edge in edges]
        resized = resize_images(image, size, method, align_corners=align_corners)
        padded = pad_to_bounding_box(resized, *offsets, target_height, target_width)
        sizes(padded, 4)  # TF's graph has these, too
        return from_batch(padded, is_batch)
