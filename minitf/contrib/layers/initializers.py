"""The initializers of contrib's layers: random values whose variance fits the weights' size."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from minitf.operation import Tensor
from minitf.ops.random import random_uniform, truncated_normal
from minitf_runtime.types import as_dtype, float32

Initializer = Callable[..., Tensor]


def variance_scaling_initializer(
    factor: float = 2.0,
    mode: str = "FAN_IN",
    uniform: bool = False,
    seed: int | None = None,
    dtype: Any = float32,
) -> Initializer:
    """Values of variance factor / n, where `mode` tells which connections n counts.

    FAN_IN counts inputs, FAN_OUT outputs, FAN_AVG takes the mean. Raises TypeError.
    """
    _check_floating(dtype)
    if mode not in ("FAN_IN", "FAN_OUT", "FAN_AVG"):
        raise TypeError("Unknown mode %s [FAN_IN, FAN_OUT, FAN_AVG]", mode)

    def initializer(shape: Any, dtype: Any = dtype, partition_info: Any = None) -> Tensor:
        _check_floating(dtype)
        fan_in, fan_out = _fans(shape)
        n = {"FAN_IN": fan_in, "FAN_OUT": fan_out, "FAN_AVG": (fan_in + fan_out) / 2.0}[mode]
        if uniform:
            limit = math.sqrt(3.0 * factor / n)
            return random_uniform(shape, -limit, limit, dtype, seed=seed)
        stddev = math.sqrt(1.3 * factor / n)  # 1.3: what the truncation takes away
        return truncated_normal(shape, 0.0, stddev, dtype, seed=seed)

    return initializer


def xavier_initializer(
    uniform: bool = True, seed: int | None = None, dtype: Any = float32
) -> Initializer:
    """Values after Glorot and Bengio (2010): of variance 2 / (inputs + outputs)."""
    return variance_scaling_initializer(1.0, "FAN_AVG", uniform, seed, dtype)


xavier_initializer_conv2d = xavier_initializer


def _check_floating(dtype: Any) -> None:
    if not as_dtype(dtype).is_floating:
        raise TypeError("Cannot create initializer for non-floating point type.")


def _fans(shape: Any) -> tuple[float, float]:
    """How many inputs an output of weights has, and how many outputs an input."""
    if not shape:
        return 1.0, 1.0
    window = float(math.prod(shape[:-2]))
    return window * (shape[-2] if len(shape) > 1 else shape[-1]), window * shape[-1]
