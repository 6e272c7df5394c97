"""Short-time Fourier transforms."""

from __future__ import annotations

import math as pymath
from collections.abc import Callable
from typing import Any

from minitf.convert import constant, to_tensor
from minitf.default import name_scope
from minitf.operation import Tensor
from minitf.ops import array, math
from minitf.ops.constant_value import constant_value
from minitf.ops.spectral import irfft, rfft
from minitf.signal.frames import frame, overlap_and_add
from minitf.signal.windows import hann_window
from minitf_runtime.types import float32


def stft(
    signals: Any,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: Callable[..., Any] | None = hann_window,
    pad_end: bool = False,
    name: str | None = None,
) -> Tensor:
    """Spectra [..., frames, fft_length // 2 + 1] of signals [..., samples]."""
    with name_scope(name, "stft", [signals, frame_length, frame_step]):
        signals = to_tensor(signals, name="signals")
        signals.shape.with_rank_at_least(1)
        frame_length = _scalar(frame_length, "frame_length")
        frame_step = _scalar(frame_step, "frame_step")
        if fft_length is None:
            fft_length = _enclosing_power_of_two(frame_length)
        else:
            fft_length = to_tensor(fft_length, name="fft_length")
        frames = frame(signals, frame_length, frame_step, pad_end=pad_end)
        if window_fn is not None:
            frames *= window_fn(frame_length, dtype=frames.dtype)
        return rfft(frames, [fft_length])


def inverse_stft(
    stfts: Any,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: Callable[..., Any] | None = hann_window,
    name: str | None = None,
) -> Tensor:
    """The signals of spectra; the window that makes it exact is inverse_stft_window_fn's."""
    with name_scope(name, "inverse_stft", [stfts]):
        stfts = to_tensor(stfts, name="stfts")
        stfts.shape.with_rank_at_least(2)
        frame_length = _scalar(frame_length, "frame_length")
        frame_step = _scalar(frame_step, "frame_step")
        if fft_length is None:
            fft_length = _enclosing_power_of_two(frame_length)
        else:
            fft_length = _scalar(fft_length, "fft_length")
        frames = _of_length(irfft(stfts, [fft_length]), frame_length)
        if window_fn is not None:
            frames *= window_fn(frame_length, dtype=stfts.dtype.real_dtype)
        return overlap_and_add(frames, frame_step)


def _of_length(frames: Tensor, length: Tensor) -> Tensor:
    """The frames, cut or padded at their end."""
    known, rank = constant_value(length), frames.shape.ndims
    size = frames.shape.as_list()[-1] if rank is not None else None
    if known is None or size is None:
        frames = frames[..., :length]
        found = array.rank(frames)
        sizes = array.shape(frames)
        outer = array.zeros([found - 1, 2], dtype=length.dtype)
        missing = math.maximum(0, length - sizes[-1])
        frames = array.pad(frames, array.concat([outer, [[0, missing]]], 0))
    elif size > known:
        frames = frames[..., :known]
    elif size < known:
        frames = array.pad(frames, [[0, 0]] * (rank - 1) + [[0, known - size]])
    if known is not None and rank is not None:
        frames.set_shape([None] * (rank - 1) + [known])
    return frames


def inverse_stft_window_fn(
    frame_step: Any,
    forward_window_fn: Callable[..., Any] = hann_window,
    name: str | None = None,
) -> Callable[..., Any]:
    """The function that makes the window with which inverse_stft undoes stft."""
    with name_scope(name, "inverse_stft_window_fn", [forward_window_fn]):
        step = _scalar(frame_step, "frame_step")

    def inverse_window(frame_length: Any, dtype: Any) -> Tensor:
        with name_scope(name, "inverse_stft_window_fn", [forward_window_fn]):
            length = _scalar(frame_length, "frame_length")
            window = forward_window_fn(length, dtype=dtype)
            total = math.square(window)
            overlaps = -(-length // step)
            total = array.pad(total, [(0, overlaps * step - length)])
            total = array.reshape(total, [overlaps, step])
            total = math.reduce_sum(total, 0, keepdims=True)
            total = array.tile(total, [overlaps, 1])
            total = array.reshape(total, [overlaps * step])
            return window / total[:length]  # type: ignore[no-any-return]

    return inverse_window


def _scalar(value: Any, name: str) -> Tensor:
    tensor = to_tensor(value, name=name)
    tensor.shape.assert_has_rank(0)
    return tensor


def _enclosing_power_of_two(value: Tensor) -> Tensor:
    known = constant_value(value)
    if known is not None:
        power = pymath.ceil(pymath.log(known) / pymath.log(2.0))
        return constant(2**power, value.dtype)
    exponent = math.log(math.cast(value, float32)) / math.log(2.0)
    return math.cast(math.pow(2.0, math.ceil(exponent)), value.dtype)
