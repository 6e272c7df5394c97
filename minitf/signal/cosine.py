"""Cosine transforms, and shifts of spectra."""

from __future__ import annotations

import math as pymath
from typing import Any

from minitf.convert import to_tensor
from minitf.default import name_scope
from minitf.operation import Tensor
from minitf.ops import array, math
from minitf.ops.spectral import irfft, rfft
from minitf_runtime.types import float32, int32

_INVERSE = {1: 1, 2: 3, 3: 2}


def dct(
    input: Any,  # noqa: A002
    type: int = 2,  # noqa: A002
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The discrete cosine transform of type 1, 2 or 3 of real signals, along the last axis."""
    _check(input, type, n, axis, norm)
    with name_scope(name, "dct", [input]):
        x = to_tensor(input, float32)
        given = _size(x)
        if n is not None:
            x = _of_length(x, given, n)
        size = _size(x)
        length = math.cast(size, float32)
        if type == 1:
            return math.real(rfft(array.concat([x, x[..., -2:0:-1]], axis=-1)))
        if type == 2:
            turn = _turns(length, -1)
            spectrum = rfft(x, fft_length=[2 * size])[..., :size]
            out = math.real(spectrum * turn)
            if norm == "ortho":
                first = 0.5 * math.rsqrt(length)
                out *= _weights(first, first * math.sqrt(2.0), size)
            return out
        if norm == "ortho":
            first = math.sqrt(length)
            x *= _weights(first, first * math.sqrt(0.5), size)
        else:
            x *= length
        spectrum = _turns(length, 1) * math.complex(x, 0.0)
        return math.real(irfft(spectrum, fft_length=[2 * size]))[..., :size]


def idct(
    input: Any,  # noqa: A002
    type: int = 2,  # noqa: A002
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The inverse of dct up to a factor; with norm="ortho" without one."""
    _check(input, type, n, axis, norm)
    return dct(input, type=_INVERSE[type], n=n, axis=axis, norm=norm, name=name)


def _check(x: Any, kind: int, n: int | None, axis: int, norm: str | None) -> None:
    if axis != -1:
        raise NotImplementedError(f"axis must be -1. Got: {axis}")
    if n is not None and n < 1:
        raise ValueError("n should be a positive integer or None")
    if kind not in _INVERSE:
        raise ValueError("Only Types I, II and III (I)DCT are supported.")
    if kind == 1 and norm == "ortho":
        raise ValueError("Normalization is not supported for the Type-I DCT.")
    if kind == 1 and x.shape[-1] is not None and x.shape[-1] < 2:
        raise ValueError("Type-I DCT requires the dimension to be greater than one.")
    if norm not in (None, "ortho"):
        raise ValueError(f"Unknown normalization. Expected None or 'ortho', got: {norm}")


def _size(x: Tensor) -> Any:
    return x.shape[-1].value or array.shape(x)[-1]


def _of_length(x: Tensor, size: Any, n: int) -> Tensor:
    """The signal, cut or padded at its end."""
    if n <= size:
        return x[..., 0:n]
    paddings = [[0, 0]] * (len(x.shape) - 1) + [[0, n - size]]
    return array.pad(x, paddings=to_tensor(paddings, int32))


def _turns(length: Tensor, sign: int) -> Tensor:
    """2 * exp(i * angle) for the angles of half steps."""
    count = -math.range(length) if sign < 0 else math.range(length)
    angles = count * pymath.pi * 0.5 / length
    return 2.0 * math.exp(math.complex(0.0, angles))


def _weights(first: Tensor, others: Tensor, size: Any) -> Tensor:
    start = array.expand_dims(first, 0)
    return array.pad(start, [[0, size - 1]], constant_values=others)


def fftshift(x: Any, axes: Any = None, name: str | None = None) -> Tensor:
    """The spectrum with frequency 0 in the middle."""
    return _shifted(x, axes, 1, name, "fftshift")


def ifftshift(x: Any, axes: Any = None, name: str | None = None) -> Tensor:
    """The inverse of fftshift."""
    return _shifted(x, axes, -1, name, "ifftshift")


def _shifted(x: Any, axes: Any, sign: int, name: str | None, default: str) -> Tensor:
    with name_scope(name, default) as scope:
        x = to_tensor(x)
        if axes is None:
            axes = tuple(range(x.shape.ndims))
        sizes = x.shape.as_list()
        if isinstance(axes, int):
            return array.roll(x, sign * (sizes[axes] // 2), axes, scope)
        return array.roll(x, [sign * (sizes[axis] // 2) for axis in axes], axes, scope)
