"""Pictures flipped, turned and transposed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from minitf.convert import to_tensor
from minitf.default import name_scope
from minitf.operation import Tensor
from minitf.ops import array, math
from minitf.ops.case import case
from minitf.ops.control_flow import cond
from minitf.ops.image.checks import RANKS, checked
from minitf.ops.random import random_uniform
from minitf_runtime.types import int32

HEIGHT, WIDTH = 0, 1  # axes of a single picture


def flip_left_right(image: Any) -> Tensor:
    """The picture, or each of a batch, mirrored."""
    return _flip(image, WIDTH, "flip_left_right")


def flip_up_down(image: Any) -> Tensor:
    """The picture, or each of a batch, upside down."""
    return _flip(image, HEIGHT, "flip_up_down")


def _flip(image: Any, axis: int, scope: str) -> Tensor:
    with name_scope(None, scope, [image]):
        image = checked(image)
        if _is_batch(image):
            return array.reverse(image, [axis + 1])
        return _shaped_as(image, array.reverse(image, [axis]))


def _is_batch(image: Tensor) -> bool:
    """Raises ValueError for what is neither a picture nor a batch of some."""
    if image.shape.ndims not in (3, 4, None):
        raise ValueError(RANKS)
    return image.shape.ndims == 4


def _shaped_as(image: Tensor, result: Tensor) -> Tensor:
    result.set_shape([None] * 3 if image.shape.ndims is None else image.shape)
    return result


def random_flip_left_right(image: Any, seed: int | None = None) -> Tensor:
    """Mirrored, or not, with equal chance; each picture of a batch by itself."""
    return _random_flip(image, WIDTH, seed, "random_flip_left_right")


def random_flip_up_down(image: Any, seed: int | None = None) -> Tensor:
    """Upside down, or not, with equal chance; each picture of a batch by itself."""
    return _random_flip(image, HEIGHT, seed, "random_flip_up_down")


def _random_flip(image: Any, axis: int, seed: int | None, scope: str) -> Tensor:
    with name_scope(None, scope, [image]) as scope:
        image = checked(image)
        if _is_batch(image):
            return _some_flipped(image, axis, seed)
        drawn = random_uniform([], 0, 1.0, seed=seed)
        result = cond(
            math.less(drawn, 0.5), lambda: array.reverse(image, [axis]), lambda: image, name=scope
        )
        return _shaped_as(image, result)


def _some_flipped(images: Tensor, axis: int, seed: int | None) -> Tensor:
    batch = array.shape(images)[0]
    drawn = random_uniform([batch], 0, 1.0, seed=seed)
    flips = math.cast(math.round(array.reshape(drawn, [batch, 1, 1, 1])), images.dtype)
    flipped = array.reverse(images, [axis + 1])
    return flips * flipped + (1 - flips) * images


def rot90(image: Any, k: Any = 1, name: str | None = None) -> Tensor:
    """Turned to the left by k quarters."""
    with name_scope(name, "rot90", [image, k]) as scope:
        image = checked(image)
        k = to_tensor(k, int32, name="k")
        k.shape.assert_has_rank(0)
        k = math.mod(k, 4)
        lead = 1 if _is_batch(image) else 0
        result = case(_turns(image, k, lead), default=lambda: image, exclusive=True, name=scope)
        shape = result.shape if lead else image.shape
        result.set_shape([*shape[:lead], None, None, shape[lead + 2]])
        return result


def _turns(image: Tensor, k: Tensor, lead: int) -> list[tuple[Tensor, Callable[[], Tensor]]]:
    """What to do for 1, 2 and 3 quarters."""
    height, width = lead, lead + 1
    order = [*range(lead), width, height, lead + 2]

    def turn() -> Tensor:
        return array.transpose(array.reverse(image, [width]), order)

    def turn_twice() -> Tensor:
        return array.reverse(image, [height, width])

    def turn_back() -> Tensor:
        return array.reverse(array.transpose(image, order), [width])

    actions: Sequence[Callable[[], Tensor]] = (turn, turn_twice, turn_back)
    return [(math.equal(k, i), action) for i, action in enumerate(actions, 1)]


def transpose(image: Any, name: str | None = None) -> Tensor:
    """Height and width exchanged."""
    with name_scope(name, "transpose", [image]):
        image = checked(image)
        order = [0, 2, 1, 3] if _is_batch(image) else [1, 0, 2]
        return array.transpose(image, order, name=name)
