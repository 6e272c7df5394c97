"""A signal as overlapping frames, and frames as a signal."""

from __future__ import annotations

import math as pymath
from typing import Any

from minitf.convert import to_tensor
from minitf.default import name_scope
from minitf.operation import Tensor
from minitf.ops import array, math
from minitf.ops.constant_value import constant_value
from minitf.ops.control_flow import while_loop
from minitf_runtime.types import int32


def frame(
    signal: Any,
    frame_length: Any,
    frame_step: Any,
    pad_end: bool = False,
    pad_value: Any = 0,
    axis: Any = -1,
    name: str | None = None,
) -> Tensor:
    """Frames [..., frames, frame_length, ...] of a signal along an axis."""
    with name_scope(name, "frame", [signal, frame_length, frame_step, pad_value]):
        signal = to_tensor(signal, name="signal")
        frame_length = to_tensor(frame_length, name="frame_length")
        frame_step = to_tensor(frame_step, name="frame_step")
        axis = to_tensor(axis, name="axis")
        signal.shape.with_rank_at_least(1)
        for scalar in (frame_length, frame_step, axis):
            scalar.shape.assert_has_rank(0)
        known = _known_shape(signal, frame_length, frame_step, pad_end, axis)
        rank = array.rank(signal)
        axis = math.range(rank)[axis]
        shape = array.shape(signal)
        outer, length, inner = array.split(shape, [axis, 1, rank - 1 - axis])
        length = array.reshape(length, [])
        before, after = array.size(outer), array.size(inner)
        if pad_end:
            pad_value = to_tensor(pad_value, signal.dtype)
            pad_value.shape.assert_has_rank(0)
            frames = -(-length // frame_step)
            missing = math.maximum(0, frame_length + frame_step * (frames - 1) - length)
            paddings = [
                array.zeros([before, 2], dtype=missing.dtype),
                [[0, missing]],
                array.zeros([after, 2], dtype=missing.dtype),
            ]
            signal = array.pad(signal, array.concat(paddings, 0), constant_values=pad_value)
            shape = array.shape(signal)
            length = shape[axis]
        else:
            frames = math.maximum(0, 1 + (length - frame_length) // frame_step)
        part = greatest_common_divisor(frame_length, frame_step)
        per_frame = frame_length // part
        per_hop = frame_step // part
        parts = length // part
        used = array.concat([outer, [parts * part], inner], 0)
        apart = array.concat([outer, [parts, part], inner], 0)
        whole = array.strided_slice(signal, array.zeros_like(shape), used)
        subframes = array.reshape(whole, apart)
        starts = array.reshape(math.range(frames) * per_hop, [frames, 1])
        offsets = array.reshape(math.range(per_frame), [1, per_frame])
        selector = starts + offsets
        chosen = array.gather(subframes, selector, axis=axis)
        out = array.reshape(chosen, array.concat([outer, [frames, frame_length], inner], 0))
        if known:
            out.set_shape(known)
        return out


def _known_shape(signal: Tensor, length: Any, step: Any, pad_end: bool, axis: Any) -> Any:
    length, step, axis = constant_value(length), constant_value(step), constant_value(axis)
    if signal.shape.ndims is None:
        return None
    if axis is None:
        return [None] * (signal.shape.ndims + 1)
    sizes = signal.shape.as_list()
    size, frames = sizes[axis], None
    if size is not None and step is not None:
        if pad_end:
            frames = max(0, -(-size // step))
        elif length is not None:
            frames = max(0, (size - length + step) // step)
    return [*sizes[:axis], frames, length, *sizes[axis:][1:]]


def greatest_common_divisor(a: Any, b: Any) -> Tensor:
    """Of two scalars: a constant if they are known, else found by a loop."""
    with name_scope(None, "gcd", [a, b]):
        known = constant_value(a), constant_value(b)
        if None not in known:
            return to_tensor(pymath.gcd(*(int(k) for k in known)))
        a, _ = while_loop(
            lambda _, b: math.greater(b, array.zeros_like(b)),
            lambda a, b: [b, math.mod(a, b)],
            [a, b],
            back_prop=False,
        )
        return a  # type: ignore[no-any-return]


def overlap_and_add(signal: Any, frame_step: Any, name: str | None = None) -> Tensor:
    """Frames [..., frames, frame_length] added up, each `frame_step` later than the one before."""
    with name_scope(name, "overlap_and_add", [signal, frame_step]):
        signal = to_tensor(signal, name="signal")
        signal.shape.with_rank_at_least(2)
        step = to_tensor(frame_step, name="frame_step")
        step.shape.assert_has_rank(0)
        if not step.dtype.is_integer:
            raise ValueError(f"frame_step must be an integer. Got {step.dtype}")
        shape = array.shape(signal)
        outer = shape[:-2]
        outer_rank = array.size(outer)
        length, frames = shape[-1], shape[-2]
        end = length + step * (frames - 1)

        def reshaped(x: Tensor, sizes: list[Any], name: str | None = None) -> Tensor:
            return array.reshape(x, array.concat([outer, sizes], 0), name=name)

        known = constant_value(step)
        if known is not None and signal.shape.ndims and known == signal.shape[-1].value:
            return reshaped(signal, [end], name="fast_path")
        # Frames are cut into segments of one step, and shifted by padding so that rows add up.
        segments = -(-length // step)
        inner = [[0, segments], [0, segments * step - length]]
        x = array.pad(signal, array.concat([array.zeros([outer_rank, 2], int32), inner], 0))
        x = reshaped(x, [frames + segments, segments, step])
        order = array.concat([math.range(outer_rank), outer_rank + [1, 0, 2]], 0)
        x = array.transpose(x, order)
        x = reshaped(x, [(frames + segments) * segments, step])
        x = x[..., : (frames + segments - 1) * segments, :]
        x = reshaped(x, [segments, frames + segments - 1, step])
        x = math.reduce_sum(x, -3)
        x = reshaped(x, [(frames + segments - 1) * step])
        return x[..., :end]
