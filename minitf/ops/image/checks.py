"""What functions on pictures check of their arguments: at once, or by an op where not known yet."""

from __future__ import annotations

from typing import Any

from minitf.convert import to_tensor
from minitf.operation import Operation, Tensor
from minitf.ops import array
from minitf.ops.check import assert_equal, assert_greater_equal, assert_positive
from minitf.ops.debug import Assert
from minitf.ops.group import with_dependencies
from minitf.variables import Variable

RANKS = "'image' must have either 3 or 4 dimensions."


def is_tensor(value: Any) -> bool:
    return isinstance(value, (Tensor, Variable))


def require(condition: Any, message: str) -> list[Operation]:
    """The check as an op if it is a tensor. Raises ValueError for one that is known to fail."""
    if is_tensor(condition):
        return [Assert(condition, [message])]
    if not condition:
        raise ValueError(message)
    return []


def picture_checks(image: Tensor) -> list[Operation]:
    """At least three dimensions, none of which is empty."""
    shape = image.shape
    try:
        shape = shape.with_rank(3) if shape.ndims is None else shape.with_rank_at_least(3)
    except ValueError:
        raise ValueError("'image' must be at least three-dimensional.") from None
    message = "all dims of 'image.shape' must be > 0"
    if any(size == 0 for size in shape.as_list()):
        raise ValueError(f"{message}: {shape}")
    if shape.is_fully_defined():
        return []
    return [
        assert_positive(array.shape(image), [f"{message}."]),
        assert_greater_equal(
            array.rank(image), 3, message="'image' must be at least three-dimensional."
        ),
    ]


def checked(image: Any) -> Tensor:
    """A picture, or several, behind its checks."""
    image = to_tensor(image, name="image")
    return with_dependencies(picture_checks(image), image)


def checked_gray(image: Any) -> Tensor:
    """A picture of one channel, behind its checks."""
    shape = image.shape
    message = "A grayscale image must be at least two-dimensional."
    try:
        shape = shape.with_rank(2) if shape.ndims is None else shape.with_rank_at_least(2)
    except ValueError:
        raise ValueError(message) from None
    one = "Last dimension of a grayscale image should be size 1."
    if shape.is_fully_defined():
        return with_dependencies(require(shape.as_list()[-1] == 1, one), image)
    checks = [
        assert_equal(array.shape(image)[-1], 1, message=one),
        assert_greater_equal(array.rank(image), 3, message=message),
    ]
    return with_dependencies(checks, image)


def sizes(image: Tensor, rank: int) -> list[Any]:
    """The size of each dimension: a number where it is known, else a tensor."""
    if image.shape.is_fully_defined():
        return image.shape.as_list()
    known = image.shape.with_rank(rank).as_list()
    found = array.unstack(array.shape(image), rank)
    return [there if n is None else n for n, there in zip(known, found)]


def known(values: list[Any]) -> list[int | None]:
    """Sizes as a static shape."""
    return [None if is_tensor(value) else value for value in values]


def as_batch(image: Tensor) -> tuple[Tensor, bool]:
    """Pictures [batch, height, width, channels], and whether they came as such."""
    rank = image.shape.ndims
    if rank == 4:
        return image, True
    if rank not in (3, None):
        raise ValueError(RANKS)
    image = array.expand_dims(image, 0)
    if rank is None:
        image.set_shape([None] * 4)
    return image, False


def from_batch(image: Tensor, is_batch: bool) -> Tensor:
    return image if is_batch else array.squeeze(image, axis=[0])
