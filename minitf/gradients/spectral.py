"""Gradients of Fourier transforms."""

from __future__ import annotations

import math
from typing import Any

from minitf.gradients.registry import gradient
from minitf.ops.apply import apply_op
from minitf.ops.array import concat, expand_dims, ones, rank, shape, transpose
from minitf.ops.elementwise import cast, conj, real
from minitf.ops.matmul import matmul
from minitf.ops.reduction import range as range_op
from minitf.ops.reduction import reduce_prod
from minitf.ops.spectral import irfft, irfft2d, rfft, rfft2d
from minitf_runtime.types import complex64, float32, int32


def _size(x: Any, axes: int) -> Any:
    """How many elements one transform has."""
    return reduce_prod(shape(x)[-axes:])


def _complex(forward: str, inverse: str, axes: int) -> None:
    @gradient(forward)
    def fft(op: Any, grad: Any) -> Any:
        size = cast(_size(grad, axes), grad.dtype)
        return apply_op(inverse, grad) * size

    @gradient(inverse)
    def ifft(op: Any, grad: Any) -> Any:
        size = cast(_size(grad, axes), grad.dtype.real_dtype)
        scale = cast(1.0 / size, grad.dtype)
        return apply_op(forward, grad) * scale


for _axes, _suffix in enumerate(("", "2D", "3D"), start=1):
    _complex("FFT" + _suffix, "IFFT" + _suffix, _axes)


# A real transform leaves out half of the spectrum, the mirror image of the other half; the first
# and, for even lengths, the last column are their own images and count once.


@gradient("RFFT")
def rfft_(op: Any, grad: Any) -> Any:
    length = op.inputs[1]
    x_shape = shape(op.inputs[0])
    is_even = _is_even(length)
    first = grad[..., 0:1]
    last = grad[..., -1:]
    return _real_back(op, grad, first + is_even * last * _signs(x_shape[-1]), 1, irfft), None


@gradient("RFFT2D")
def rfft2d_(op: Any, grad: Any) -> Any:
    length = op.inputs[1]
    x_shape = shape(op.inputs[0])
    is_even = _is_even(length)
    first = grad[..., 0:1]
    factors = _for_each(_unit_roots(x_shape[-2]), first)
    extra = matmul(factors, conj(first))
    last = matmul(factors, conj(grad[..., -1:]))
    width = x_shape[-1]
    multiples = concat([ones([rank(grad) - 1], int32), [width]], 0)
    last = apply_op("Tile", last, multiples) * _signs(width)
    return _real_back(op, grad, extra + is_even * last, 2, irfft2d), None


def _real_back(op: Any, grad: Any, extra: Any, axes: int, inverse: Any) -> Any:
    size = cast(_size(op.inputs[0], axes), float32)
    back = inverse(grad, op.inputs[1])
    return 0.5 * (back * size + real(extra))


def _is_even(length: Any) -> Any:
    return cast(1 - (length[-1] % 2), complex64)


def _signs(length: Any) -> Any:
    """1, -1, 1, -1, ..."""
    return cast(1 - 2 * (range_op(length) % 2), complex64)


def _unit_roots(length: Any) -> Any:
    """exp(-2 pi i m n / length) for all m and n below it."""
    row = apply_op("Tile", expand_dims(range_op(length), 0), (length, 1))
    column = transpose(row, [1, 0])
    angles = -2j * math.pi * cast(row * column, complex64) / cast(length, complex64)
    return apply_op("Exp", angles)


def _for_each(matrix: Any, batch: Any) -> Any:
    """The matrix, once for each matrix of a batch."""
    form = concat([ones([rank(batch) - 2], int32), shape(matrix)], 0)
    matrix = apply_op("Reshape", matrix, form)
    return apply_op("Tile", matrix, concat([shape(batch)[:-2], [1, 1]], 0))


def _inverse(op_type: str, axes: int, forward: Any) -> None:
    @gradient(op_type)
    def inverse(op: Any, grad: Any) -> Any:
        length = op.inputs[1]
        is_odd = apply_op("FloorMod", length[-1], 2)
        columns = shape(op.inputs[0])[-1]
        inner = 2.0 * ones([columns - 2 + is_odd])
        mask = concat([[1.0], inner, ones([1 - is_odd])], 0)
        scale = apply_op("Reciprocal", cast(_size(grad, axes), float32))
        return forward(grad, length) * cast(scale * mask, complex64), None


_inverse("IRFFT", 1, rfft)
_inverse("IRFFT2D", 2, rfft2d)
