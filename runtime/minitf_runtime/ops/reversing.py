"""Ops that turn the order of entries along axes: reversing and rolling."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitf_runtime.errors import invalid
from minitf_runtime.ops import dims
from minitf_runtime.ops.registry import ShapeContext, Type, kernel, op
from minitf_runtime.types import INDEX, Shape, int32, int64, show_shape


@op("ReverseV2", "tensor: T, axis: Tidx -> output: T", T=Type(), Tidx=Type(INDEX, int32))
def reverse_v2_shape(c: ShapeContext) -> list[Shape]:
    dims.with_rank(c.shape(1), 1)
    x, axes = c.shape(0), c.value(1)
    if x is not None and axes is not None:
        _reversed_axes(axes, len(x))
    return [x]


def _reversed_axes(axes: Any, ndim: int) -> list[int]:
    """Raises ValueError with the text that TF gives at construction and in the kernel."""
    seen: list[int] = []
    for i, axis in enumerate(axes.tolist()):
        if not -ndim <= axis < ndim:
            raise ValueError(f"'axis'[{i}] = {axis} is out of valid range [0, {ndim - 1}")
        if axis % ndim in seen:
            raise ValueError(f"axis {axis % ndim} specified more than once.")
        seen.append(axis % ndim)
    return seen


@kernel("ReverseV2", host_inputs="axis")
def reverse_v2(xp: Any, x: Any, axis: Any) -> Any:
    if axis.ndim != 1:
        raise invalid(f"axis must be 1-dimensional {show_shape(axis.shape)}")
    try:
        return xp.flip(x, _reversed_axes(axis, x.ndim)) if x.ndim else x
    except ValueError as e:
        raise invalid(str(e)) from None


@op("Reverse", "tensor: T, dims: bool -> output: T", T=Type())
def reverse_shape(c: ShapeContext) -> list[Shape]:
    x, (count,) = c.shape(0), dims.with_rank(c.shape(1), 1)
    return [x if count is None else dims.with_rank(x, count)]


@kernel("Reverse", host_inputs="dims")
def reverse(xp: Any, x: Any, dims: Any) -> Any:
    if dims.shape != (x.ndim,):
        raise invalid("'dims' must have the same number of values as 'input' has dimensions")
    return xp.flip(x, [i for i, turn in enumerate(dims) if turn])


@op(
    "ReverseSequence",
    "input: T, seq_lengths: Tlen -> output: T",
    seq_dim=0,
    batch_dim=0,
    T=Type(),
    Tlen=Type(INDEX, int64),
)
def reverse_sequence_shape(c: ShapeContext) -> list[Shape]:
    """Each batch entry with its first `seq_lengths` positions reversed."""
    x, (count,) = c.shape(0), dims.with_rank(c.shape(1), 1)
    if x is None:
        return [None]
    for name in ("batch_dim", "seq_dim"):
        if c[name] >= len(x):
            raise ValueError(f"{name} must be < input rank: {c[name]} vs. {len(x)}")
    return [dims.replaced(x, c["batch_dim"], dims.merge_sizes(x[c["batch_dim"]], count))]


@kernel("ReverseSequence")
def reverse_sequence(xp: Any, x: Any, lengths: Any, *, seq_dim: Any, batch_dim: Any) -> Any:
    if max(seq_dim, batch_dim) >= x.ndim:
        raise invalid(
            f"seq_dim and batch_dim must be < input.dims() ({seq_dim}, {batch_dim} vs. {x.ndim})"
        )
    if batch_dim == seq_dim:
        raise invalid(f"batch_dim == seq_dim == {seq_dim}")
    if lengths.shape != (x.shape[batch_dim],):
        raise invalid(
            f"len(seq_lens) != input.dims({batch_dim}), ({lengths.size} vs. {x.shape[batch_dim]})"
        )
    turned = xp.moveaxis(x, (batch_dim, seq_dim), (0, 1))
    steps = xp.arange(turned.shape[1])
    length = lengths[:, None]
    for wrong, what in ((lengths < 0, "< 0"), (lengths > len(steps), f"> input.dims({seq_dim})")):
        if xp is np and bool(wrong.any()):
            raise invalid(f"seq_lens({int(wrong.argmax())}) {what}")
    order = xp.where(steps < length, length - 1 - steps, steps)
    picked = turned[xp.arange(len(turned))[:, None], order]
    return xp.moveaxis(picked, (0, 1), (batch_dim, seq_dim))


@op(
    "Roll",
    "input: T, shift: Tshift, axis: Taxis -> output: T",
    T=Type(),
    Tshift=Type(INDEX),
    Taxis=Type(INDEX),
)
def roll_shape(c: ShapeContext) -> list[Shape]:
    """Entries moved along axes, those that leave at one end coming in at the other."""
    dims.at_most(c.shape(1), 1)
    dims.at_most(c.shape(2), 1)
    return [dims.at_least(c.shape(0), 1)]


@kernel("Roll", host_inputs="shift axis")
def roll(xp: Any, x: Any, shift: Any, axis: Any) -> Any:
    if x.ndim < 1:
        raise invalid("input must be 1-D or higher")
    if shift.shape != axis.shape:
        raise invalid("shift and axis must have the same size")
    for a in axis.reshape(-1):
        if not -x.ndim <= a < x.ndim:
            raise invalid(f"axis {a} is out of range")
    return xp.roll(x, shift.reshape(-1).tolist(), axis.reshape(-1).tolist())
