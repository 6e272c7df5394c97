"""Arithmetic on static shapes, with the error texts of TF's InferenceContext. A size may be None.

Shape functions are built from these; all raise ValueError when shapes do not fit.
"""

from __future__ import annotations

from collections.abc import Sequence

from minitf_runtime.types import Shape, show_shape

Size = int | None


def merge_sizes(a: Size, b: Size) -> Size:
    if a is None or b is None or a == b:
        return b if a is None else a
    raise ValueError(f"Dimensions must be equal, but are {a} and {b}")


def fixed_size(size: Size, wanted: int) -> int:
    """`wanted`, checked against a size that must be it."""
    if size is not None and size != wanted:
        raise ValueError(f"Dimension must be {wanted} but is {size}")
    return wanted


def merge(a: Shape, b: Shape) -> Shape:
    """The most specific shape compatible with both."""
    if a is None or b is None:
        return b if a is None else a
    if len(a) != len(b):
        raise ValueError(f"Shapes must be equal rank, but are {len(a)} and {len(b)}")
    for i, (m, n) in enumerate(zip(a, b)):
        if m != n and m is not None and n is not None:
            raise ValueError(
                f"Dimension {i} in both shapes must be equal, but are {m} and {n}. "
                f"Shapes are {show_shape(a)} and {show_shape(b)}."
            )
    return tuple(n if m is None else m for m, n in zip(a, b))


def merge_all(shapes: Sequence[Shape]) -> Shape:
    """The one shape of all inputs of an op."""
    out: Shape = None
    for i, shape in reversed(list(enumerate(shapes))):
        try:
            out = merge(shape, out)
        except ValueError as e:
            raise ValueError(f"{e}\n\tFrom merging shape {i} with other shapes.") from None
    return out


def with_rank(shape: Shape, rank: int) -> tuple[Size, ...]:
    """The shape, checked to have this rank."""
    if shape is None:
        return (None,) * rank
    if len(shape) != rank:
        raise ValueError(f"Shape must be rank {rank} but is rank {len(shape)}")
    return shape


def at_least(shape: Shape, rank: int) -> Shape:
    if shape is not None and len(shape) < rank:
        raise ValueError(f"Shape must be at least rank {rank} but is rank {len(shape)}")
    return shape


def at_most(shape: Shape, rank: int) -> Shape:
    if shape is not None and len(shape) > rank:
        raise ValueError(f"Shape must be at most rank {rank} but is rank {len(shape)}")
    return shape


def axis_of(shape: Shape, axis: int) -> Shape:
    """The shape, checked to have that (perhaps negative) axis."""
    return at_least(shape, axis + 1 if axis >= 0 else -axis)


def concatenate(a: Shape, b: Shape) -> Shape:
    return None if a is None or b is None else a + b


def add(a: Size, b: Size) -> Size:
    return None if a is None or b is None else a + b


def multiply(a: Size, b: Size) -> Size:
    if a == 0 or b == 0:
        return 0
    return None if a is None or b is None else a * b


def divide(size: Size, by: int) -> Size:
    """size / by, which must come out even."""
    if size is not None and (by == 0 or size % by):
        raise ValueError(f"Dimension size must be evenly divisible by {by} but is {size}")
    return None if size is None else size // by


def size_given(value: int, slot: int) -> int:
    """A size that input `slot` gave as a scalar."""
    if value < 0:
        raise ValueError(
            f"Dimension size, given by scalar input {slot}, must be non-negative but is {value}"
        )
    return value


def replaced(shape: Sequence[Size], axis: int, size: Size) -> tuple[Size, ...]:
    """The shape with one size changed."""
    out = list(shape)
    out[axis] = size
    return tuple(out)
