"""Pictures cut and padded to a size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitf.convert import to_tensor
from minitf.default import name_scope
from minitf.operation import Tensor
from minitf.ops import array, math
from minitf.ops.group import with_dependencies
from minitf.ops.image.checks import (
    as_batch,
    checked,
    from_batch,
    is_tensor,
    known,
    picture_checks,
    require,
    sizes,
)
from minitf_runtime.types import float64, int32


def central_crop(image: Any, central_fraction: float) -> Tensor:
    """The middle, of that fraction of height and width. Raises ValueError outside of (0, 1]."""
    with name_scope(None, "central_crop", [image]):
        image = to_tensor(image, name="image")
        if not 0.0 < central_fraction <= 1.0:
            raise ValueError("central_fraction must be within (0, 1]")
        if central_fraction == 1.0:
            return image
        checked(image)
        rank = image.shape.ndims
        if rank not in (3, 4):
            raise ValueError(
                f"`image` should either be a Tensor with rank = 3 or rank = 4. Had rank = {rank}."
            )
        lead = rank - 3
        height, width = (_size(image, axis) for axis in (lead, lead + 1))
        starts = [_start(size, central_fraction) for size in (height, width)]
        kept = [size - start * 2 for size, start in zip((height, width), starts)]
        batch_start, batch_size = [0] * lead, [-1] * lead
        begin = array.stack([*batch_start, *starts, 0])
        cropped = array.slice(image, begin, array.stack([*batch_size, *kept, -1]))
        cropped.set_shape([*image.shape[:lead], *known(kept), image.shape[lead + 2]])
        return cropped


def _size(image: Tensor, axis: int) -> Any:
    size = image.shape.as_list()[axis]
    return array.shape(image)[axis] if size is None else size


def _start(size: Any, fraction: float) -> Any:
    if is_tensor(size):
        size = math.cast(size, float64)
        return math.cast((size - size * fraction) / 2, int32)
    return int((float(size) - float(size) * fraction) / 2)


def pad_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Tensor:
    """The picture at an offset in a black one of the target size. Raises ValueError."""
    with name_scope(None, "pad_to_bounding_box", [image]):
        image, is_batch = as_batch(to_tensor(image, name="image"))
        checks = picture_checks(image)
        batch, height, width, depth = sizes(image, 4)
        right = target_width - offset_width - width
        below = target_height - offset_height - height
        checks += require(offset_height >= 0, "offset_height must be >= 0")
        checks += require(offset_width >= 0, "offset_width must be >= 0")
        checks += require(right >= 0, "width must be <= target - offset")
        checks += require(below >= 0, "height must be <= target - offset")
        image = with_dependencies(checks, image)
        edges = array.stack([0, 0, offset_height, below, offset_width, right, 0, 0])
        padded = array.pad(image, array.reshape(edges, [4, 2]))
        padded.set_shape(known([batch, target_height, target_width, depth]))
        return from_batch(padded, is_batch)


def crop_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Tensor:
    """The part of the target size at an offset. Raises ValueError."""
    with name_scope(None, "crop_to_bounding_box", [image]):
        image, is_batch = as_batch(to_tensor(image, name="image"))
        checks = picture_checks(image)
        batch, height, width, depth = sizes(image, 4)
        checks += require(offset_width >= 0, "offset_width must be >= 0.")
        checks += require(offset_height >= 0, "offset_height must be >= 0.")
        checks += require(target_width > 0, "target_width must be > 0.")
        checks += require(target_height > 0, "target_height must be > 0.")
        fits = "must be >= target + offset."
        checks += require(width >= target_width + offset_width, f"width {fits}")
        checks += require(height >= target_height + offset_height, f"height {fits}")
        image = with_dependencies(checks, image)
        begin = array.stack([0, offset_height, offset_width, 0])
        cropped = array.slice(image, begin, array.stack([-1, target_height, target_width, -1]))
        cropped.set_shape(known([batch, target_height, target_width, depth]))
        return from_batch(cropped, is_batch)


def resize_image_with_crop_or_pad(image: Any, target_height: Any, target_width: Any) -> Tensor:
    """The middle of the picture, or the picture in the middle, in each direction by itself."""
    with name_scope(None, "resize_image_with_crop_or_pad", [image]):
        image, is_batch = as_batch(to_tensor(image, name="image"))
        checks = target_checks(image, target_height, target_width)
        image = with_dependencies(checks, image)
        if is_tensor(target_height):
            target_height = with_dependencies(checks, target_height)
        if is_tensor(target_width):
            target_width = with_dependencies(checks, target_width)
        _, height, width, _ = sizes(image, 4)
        more_width = target_width - width
        crop_left, pad_left = larger(-more_width // 2, 0), larger(more_width // 2, 0)
        more_height = target_height - height
        crop_top, pad_top = larger(-more_height // 2, 0), larger(more_height // 2, 0)
        cropped = crop_to_bounding_box(
            image, crop_top, crop_left,
            _smaller(target_height, height), _smaller(target_width, width),
        )  # fmt: skip
        resized = pad_to_bounding_box(cropped, pad_top, pad_left, target_height, target_width)
        _, height, width, _ = sizes(resized, 4)
        checks = require(_same(height, target_height), "resized height is not correct.")
        checks += require(_same(width, target_width), "resized width is not correct.")
        return from_batch(with_dependencies(checks, resized), is_batch)


def target_checks(image: Tensor, target_height: Any, target_width: Any) -> list[Any]:
    """Checks of a picture and of the size that it is to have."""
    checks = picture_checks(image)
    checks += require(target_width > 0, "target_width must be > 0.")
    return checks + require(target_height > 0, "target_height must be > 0.")


def _either(op: Callable[..., Tensor], plain: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    """A function of numbers or of tensors."""
    return lambda x, y: op(x, y) if is_tensor(x) or is_tensor(y) else plain(x, y)


larger = _either(math.maximum, max)
_smaller = _either(math.minimum, min)
_same = _either(math.equal, int.__eq__)
