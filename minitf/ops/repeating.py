"""tf.repeat: each entry along an axis repeated its own number of times."""

from __future__ import annotations

from typing import Any

from minitf.convert import to_tensor
from minitf.default import name_scope
from minitf.operation import Tensor
from minitf.ops.apply import apply_op
from minitf.ops.filling import all_dimensions, ones, sequence_mask
from minitf.ops.joining import concat, stack, tile
from minitf.ops.shapes import expand_dims, rank, reshape, shape
from minitf.ops.slicing import boolean_mask
from minitf_runtime.types import int32

__all__ = ["repeat"]


def repeat(input: Any, repeats: Any, axis: int | None = None, name: str | None = None) -> Tensor:  # noqa: A002
    """Each entry along an axis (of the flattened tensor, by default) `repeats` times."""
    if axis is None:
        input = reshape(input, [-1])  # noqa: A001
        axis = 0
    return repeat_with_axis(input, repeats, axis, name)


def repeat_with_axis(data: Any, repeats: Any, axis: int, name: str | None = None) -> Tensor:
    """`repeat` along an axis; `repeats` is one count, or one for each entry."""
    if not isinstance(axis, int):
        raise TypeError(f"axis must be an int; got {type(axis).__name__}")
    with name_scope(name, "Repeat", [data, repeats]):
        data = to_tensor(data, name="data")
        repeats = _as_int32(repeats, "repeats")
        repeats.shape.with_rank_at_most(1)
        data = _with_an_axis(data)
        sizes = shape(data)
        axis = _positive_axis(axis, data.shape.ndims)
        if repeats._shape == ():
            expanded = expand_dims(data, axis + 1)
            tiled = _tile_axis(expanded, axis + 1, repeats)
            return reshape(tiled, concat([sizes[:axis], [-1], sizes[axis + 1 :]], axis=0))
        return _repeat_each(data, repeats, axis, sizes)


def _repeat_each(data: Tensor, repeats: Tensor, axis: int, sizes: Any) -> Tensor:
    """Tile as often as the largest count says, then keep what each entry's own count says."""
    if repeats.shape.ndims == 1:
        data.shape[axis].assert_is_compatible_with(repeats.shape[0])
    if repeats.shape.ndims != axis + 1:
        own = shape(repeats)
        ndim = rank(repeats)
        whole = concat([sizes[: axis + 1 - ndim], own], axis=0)
        repeats = apply_op("BroadcastTo", repeats, whole)
        repeats.set_shape([None] * (axis + 1))
    longest = apply_op("Maximum", 0, apply_op("Max", repeats, all_dimensions(repeats)))
    mask = sequence_mask(repeats, longest)
    tiled = _tile_axis(expand_dims(data, axis + 1), axis + 1, longest)
    out = boolean_mask(tiled, mask)
    if axis > 0:
        out = reshape(out, concat([sizes[:axis], [-1], sizes[axis + 1 :]], axis=0))
    known = data._shape
    if known is not None:
        size = 0 if repeats._shape is not None and repeats._shape[0] == 0 else None
        out.set_shape([*known[:axis], size, *known[axis + 1 :]])
    return out


def _as_int32(value: Any, name: str) -> Tensor:
    t = to_tensor(value, name=name, preferred_dtype=int32)
    if not t.dtype.is_integer:
        raise TypeError(f"{name} must be an integer tensor; dtype={t.dtype}")
    return apply_op("Cast", t, DstT=int32)


def _with_an_axis(data: Tensor) -> Tensor:
    """Scalars as vectors of one."""
    if data._shape is not None:
        return stack([data]) if data._shape == () else data
    ndim = rank(data)
    sizes = concat([[1], shape(data)], axis=0)
    return reshape(data, sizes[-ndim:])


def _positive_axis(axis: int, ndims: int | None) -> int:
    if ndims is None and axis < 0:
        raise ValueError("axis may only be negative if ndims is statically known.")
    if ndims is None:
        return axis
    if not -ndims <= axis < ndims:
        raise ValueError(f"axis={axis} out of bounds: expected {-ndims}<=axis<{ndims}")
    return axis % ndims


def _tile_axis(data: Tensor, axis: int, times: Tensor) -> Tensor:
    if data._shape is not None:
        multiples: Any = [1] * len(data._shape)
        multiples[axis] = times
    else:
        once = ones(rank(data), int32)
        multiples = concat([once[:axis], [times], once[axis + 1 :]], axis=0)
    return tile(data, multiples)
