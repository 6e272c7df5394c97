"""Discrete Fourier transforms; those of real signals pad or cut the signal to the wanted length."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitf.convert import to_tensor
from minitf.default import name_scope
from minitf.operation import Tensor
from minitf.ops import array
from minitf.ops.apply import apply_op
from minitf.ops.constant_value import constant_value_as_shape
from minitf.ops.elementwise import maximum
from minitf.ops.raw import passthrough
from minitf_runtime.types import complex64, float32, int32, is_full

__all__ = ["fft", "fft2d", "fft3d", "ifft", "ifft2d", "ifft3d"]

fft = passthrough("FFT", "fft")
fft2d = passthrough("FFT2D", "fft2d")
fft3d = passthrough("FFT3D", "fft3d")
ifft = passthrough("IFFT", "ifft")
ifft2d = passthrough("IFFT2D", "ifft2d")
ifft3d = passthrough("IFFT3D", "ifft3d")


def _real_transform(name: str, op_type: str, rank: int, inverse: bool) -> Callable[..., Tensor]:
    def transform(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
        with name_scope(name, default_name, [input_tensor, fft_length]) as name:
            x = to_tensor(input_tensor, complex64 if inverse else float32)
            x.shape.with_rank_at_least(rank)
            if fft_length is None:
                length = _own_length(x, rank, inverse)
            else:
                length = to_tensor(fft_length, int32)
            return apply_op(op_type, _padded(x, rank, length, inverse), length, name=name)

    default_name = name
    transform.__name__ = transform.__qualname__ = name
    transform.__doc__ = (
        f"The {'inverse ' if inverse else ''}Fourier transform of real signals over the last "
        f"{rank} axes; `fft_length` is their length."
    )
    return transform


def _own_length(x: Tensor, rank: int, inverse: bool) -> Tensor:
    """The length that an input has by itself."""
    known = x.shape[-rank:]
    if known.is_fully_defined():
        sizes: Any = known.as_list()
        if inverse and sizes:
            sizes[-1] = max(0, 2 * (sizes[-1] - 1))
        return to_tensor(sizes, int32)
    asked = array.shape(x)[-rank:]
    if not inverse:
        return asked
    sizes = array.unstack(asked)
    sizes[-1] = maximum(0, 2 * (sizes[-1] - 1))
    return array.stack(sizes)


def _padded(x: Tensor, rank: int, length: Tensor, inverse: bool) -> Tensor:
    """x with zeros at the end where it is shorter than the transform."""
    if x._shape is not None and 0 in x._shape:
        return x
    wanted = constant_value_as_shape(length).as_tuple
    if is_full(wanted) and x._shape is not None and is_full(x._shape[-rank:]):
        return _padded_now(x, rank, list(wanted), inverse)
    ndim = array.rank(x)
    sizes = array.shape(x)[-rank:]
    outer = array.zeros([maximum(0, ndim - rank)], length.dtype)
    if inverse:
        length = array.concat([length[:-1], length[-1:] // 2 + 1], 0)
    after = array.concat([outer, maximum(0, length - sizes)], 0)
    return array.pad(x, array.stack([array.zeros_like(after), after], axis=1))


def _padded_now(x: Tensor, rank: int, wanted: list[int], inverse: bool) -> Tensor:
    if inverse:
        wanted[-1] = wanted[-1] // 2 + 1
    sizes = x.shape.as_list()
    after = [max(n - m, 0) for n, m in zip(wanted, sizes[-rank:])]
    if not any(after):
        return x
    outer = [[0, 0]] * (len(sizes) - rank)
    return array.pad(x, outer + [[0, n] for n in after])


rfft = _real_transform("rfft", "RFFT", 1, False)
rfft2d = _real_transform("rfft2d", "RFFT2D", 2, False)
rfft3d = _real_transform("rfft3d", "RFFT3D", 3, False)
irfft = _real_transform("irfft", "IRFFT", 1, True)
irfft2d = _real_transform("irfft2d", "IRFFT2D", 2, True)
irfft3d = _real_transform("irfft3d", "IRFFT3D", 3, True)
