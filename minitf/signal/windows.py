"""Window functions."""

from __future__ import annotations

import math as pymath
from typing import Any

from minitf.convert import constant, to_tensor
from minitf.default import name_scope
from minitf.operation import Tensor
from minitf.ops import array, math
from minitf.ops.constant_value import constant_value
from minitf.ops.control_flow import cond
from minitf_runtime.types import bool_, float32, int32


def hann_window(
    window_length: Any, periodic: Any = True, dtype: Any = float32, name: str | None = None
) -> Tensor:
    """0.5 - 0.5 * cos(2 pi k / n)"""
    return _raised_cosine(name, "hann_window", window_length, periodic, dtype, 0.5, 0.5)


def hamming_window(
    window_length: Any, periodic: Any = True, dtype: Any = float32, name: str | None = None
) -> Tensor:
    """0.54 - 0.46 * cos(2 pi k / n)"""
    return _raised_cosine(name, "hamming_window", window_length, periodic, dtype, 0.54, 0.46)


def _raised_cosine(
    name: str | None, default: str, length: Any, periodic: Any, dtype: Any, a: float, b: float
) -> Tensor:
    if not dtype.is_floating:
        raise ValueError(f"dtype must be a floating point type. Found {dtype}")
    with name_scope(name, default, [length, periodic]):
        length = to_tensor(length, int32, name="window_length")
        length.shape.assert_has_rank(0)
        known = constant_value(length)
        if known == 1:
            return array.ones([1], dtype=dtype)
        periodic = math.cast(to_tensor(periodic, bool_, name="periodic"), int32)
        periodic.shape.assert_has_rank(0)
        even = 1 - math.mod(length, 2)
        n = math.cast(length + periodic * even - 1, dtype)
        count = math.cast(math.range(length), dtype)
        angle = constant(2 * pymath.pi, dtype) * count / n
        if known is not None:
            return math.cast(a - b * math.cos(angle), dtype)
        return cond(
            math.equal(length, 1),
            lambda: array.ones([1], dtype=dtype),
            lambda: math.cast(a - b * math.cos(angle), dtype),
        )
