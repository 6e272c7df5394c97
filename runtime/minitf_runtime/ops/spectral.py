"""Discrete Fourier transforms over the last one, two or three axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitf_runtime.errors import invalid
from minitf_runtime.ops import dims
from minitf_runtime.ops.registry import ShapeContext, Type, kernel, op
from minitf_runtime.types import COMPLEX, Shape, complex64, show_shape

_SUFFIX = {1: "", 2: "2D", 3: "3D"}


def _check_rank(x: Any, rank: int) -> None:
    if x.ndim < rank:
        raise invalid(f"Input must have rank of at least {rank} but got: {show_shape(x.shape)}")


# ---- complex


def _complex_with(name: str, rank: int) -> Callable[..., Any]:
    axes = tuple(range(-rank, 0))

    def transform(xp: Any, x: Any) -> Any:
        _check_rank(x, rank)
        return getattr(xp.fft, name)(x, axes=axes).astype(x.dtype)

    return transform


def _same_shape(rank: int) -> Callable[[ShapeContext], list[Shape]]:
    return lambda c: [dims.at_least(c.shape(0), rank)]


# ---- real


def _real_shape(rank: int, halves: bool) -> Callable[[ShapeContext], list[Shape]]:
    """The last axes take the given lengths; a half spectrum (`halves`) is n // 2 + 1 long."""

    def shape(c: ShapeContext) -> list[Shape]:
        x = dims.at_least(c.shape(0), rank)
        dims.merge(c.rank(1, 1), (rank,))
        lengths = c.value(1)
        if x is None:
            return [None]
        sizes = (None,) * rank if lengths is None else tuple(int(n) for n in lengths)
        if halves and sizes[-1] is not None:
            sizes = (*sizes[:-1], sizes[-1] // 2 + 1 if sizes[-1] else 0)
        return [(*x[:-rank], *sizes)]

    return shape


def _lengths(x: Any, fft_length: Any, rank: int, half_input: bool) -> list[int]:
    """The lengths of the transform, checked against the input's."""
    _check_rank(x, rank)
    if fft_length.shape != (rank,):
        raise invalid(f"fft_length must have shape [{rank}]")
    lengths = [int(n) for n in fft_length]
    for i, n in enumerate(lengths):
        needed = n // 2 + 1 if half_input and n and i == rank - 1 else n
        got = x.shape[x.ndim - rank + i]
        if n < 0 or (got < needed and x.size):
            raise invalid(
                f"Input dimension {x.ndim - rank + i} must have length of at least {needed} but "
                f"got: {got}"
            )
    return lengths


def _real_with(name: str, rank: int, dtype: str, half_input: bool) -> Callable[..., Any]:
    axes = tuple(range(-rank, 0))

    def transform(xp: Any, x: Any, fft_length: Any) -> Any:
        lengths = _lengths(x, fft_length, rank, half_input)
        if 0 in lengths or not x.size:
            last = lengths[-1] // 2 + 1 if not half_input and lengths[-1] else lengths[-1]
            return xp.zeros((*x.shape[:-rank], *lengths[:-1], last), dtype)
        return getattr(xp.fft, name)(x, lengths, axes).astype(dtype)

    return transform


for _rank, _end in _SUFFIX.items():
    for _name, _fn in ((f"FFT{_end}", "fftn"), (f"IFFT{_end}", "ifftn")):
        op(
            _name,
            "input: Tcomplex -> output: Tcomplex",
            _same_shape(_rank),
            Tcomplex=Type(COMPLEX, complex64),
        )
        kernel(_name)(_complex_with(_fn, _rank))
    op(
        f"RFFT{_end}", "input: float32, fft_length: int32 -> output: complex64",
        _real_shape(_rank, True),
    )  # fmt: skip
    op(
        f"IRFFT{_end}", "input: complex64, fft_length: int32 -> output: float32",
        _real_shape(_rank, False),
    )  # fmt: skip
    kernel(f"RFFT{_end}", host_inputs="fft_length")(_real_with("rfftn", _rank, "complex64", False))
    kernel(f"IRFFT{_end}", host_inputs="fft_length")(_real_with("irfftn", _rank, "float32", True))
