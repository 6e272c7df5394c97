"""Paths of a beam search, from the parents of each step."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitf_runtime.errors import invalid
from minitf_runtime.ops import dims
from minitf_runtime.ops.registry import ShapeContext, Type, kernel, op
from minitf_runtime.types import Shape, int32, show_shape


@op(
    "GatherTree",
    "step_ids: T, parent_ids: T, max_sequence_lengths: int32, end_token: T -> beams: T",
    T=Type((int32,)),
)
def gather_tree_shape(c: ShapeContext) -> list[Shape]:
    steps = dims.merge(dims.with_rank(c.shape(0), 3), dims.with_rank(c.shape(1), 3))
    (batch,) = dims.with_rank(c.shape(2), 1)
    dims.with_rank(c.shape(3), 0)
    return [dims.merge(steps, (None, batch, None))]


@kernel("GatherTree", host_inputs="end_token")
def gather_tree(
    xp: Any, step_ids: Any, parent_ids: Any, max_sequence_lengths: Any, end_token: Any
) -> Any:
    _check(step_ids, parent_ids, max_sequence_lengths, end_token)
    beams = xp.full_like(step_ids, int(end_token))
    time, batch, width = step_ids.shape
    rows = xp.arange(batch)[:, None]
    last = xp.minimum(max_sequence_lengths, time)[:, None] - 1
    start = xp.broadcast_to(xp.arange(width, dtype=step_ids.dtype), (batch, width))
    at = start
    whole = xp.ones((batch, width), bool)
    for level in reversed(range(time)):
        at = xp.where(level < last, at, start)
        if xp is np:
            _check_parents(at, level, width)
        known = (at >= 0) & (at < width)  # on a GPU nobody waits to see it: -1, as in TensorFlow
        whole = whole & known
        place = xp.where(known, at, 0)
        ids = xp.where(known, step_ids[level][rows, place], -1)
        beams[level] = xp.where(level <= last, ids, beams[level])
        at = xp.where(known, parent_ids[level][rows, place], -1)
    ended = xp.zeros((batch, width), bool)
    for level in range(time):
        beams[level] = xp.where(ended, int(end_token), beams[level])
        ended = ended | (whole & (beams[level] == int(end_token)))
    return beams


def _check(step_ids: Any, parent_ids: Any, max_sequence_lengths: Any, end_token: Any) -> None:
    """Raises InvalidArgumentError for shapes that do not go together."""
    if step_ids.ndim != 3:
        raise invalid(f"step_ids must be a 3-tensor, saw shape: {show_shape(step_ids.shape)}")
    if parent_ids.shape != step_ids.shape:
        raise invalid(
            f"step_ids.shape must match parent_ids.shape.  but shapes are: "
            f"{show_shape(step_ids.shape)} and {show_shape(parent_ids.shape)}"
        )
    if max_sequence_lengths.ndim != 1:
        raise invalid(
            "max_sequence_lengths must be a vector, saw shape: "
            f"{show_shape(max_sequence_lengths.shape)}"
        )
    if max_sequence_lengths.shape != step_ids.shape[1:2]:
        raise invalid(
            "batch size dimensions step_ids.shape[1] and max_sequence_lengths.shape[0] must match."
            f"  but shapes are: {show_shape(step_ids.shape)} and "
            f"{show_shape(max_sequence_lengths.shape)}"
        )
    if end_token.ndim:
        raise invalid(f"end_token must be a scalar, saw shape: {show_shape(end_token.shape)}")


def _check_parents(at: Any, level: int, width: int) -> None:
    wrong = (at < 0) | (at >= width)
    if wrong.any():
        batch, beam = (int(i[0]) for i in wrong.nonzero())
        raise invalid(
            f"Saw invalid parent id {int(at[batch, beam])} at "
            f"(batch, time, beam) == ({batch}, {level}, {beam})"
        )
