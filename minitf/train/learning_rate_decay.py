"""Learning rates that change with the global step, as TF 1.15 builds them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from minitf.convert import constant, to_tensor, to_tensors
from minitf.default import name_scope
from minitf.operation import Tensor
from minitf.ops.apply import apply_op
from minitf.ops.case import case
from minitf.ops.control_flow import cond
from minitf.ops.elementwise import cast
from minitf.ops.random import random_normal
from minitf_runtime.types import int32, int64


def exponential_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: str | None = None,
) -> Tensor:
    """learning_rate * decay_rate ** (global_step / decay_steps), in whole steps if `staircase`."""
    with name_scope(name or "ExponentialDecay") as scope:
        rate = to_tensor(learning_rate, name="initial_learning_rate")
        steps, base, step = _cast(rate, decay_steps, decay_rate, global_step)
        passed = _passed(step, steps, staircase)
        return apply_op("Mul", rate, apply_op("Pow", base, passed), name=scope)  # type: ignore[no-any-return]


def natural_exp_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: str | None = None,
) -> Tensor:
    """learning_rate * exp(-decay_rate * global_step / decay_steps)."""
    base = apply_op("Exp", apply_op("Neg", decay_rate))
    return exponential_decay(learning_rate, global_step, decay_steps, base, staircase, name)


def inverse_time_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: str | None = None,
) -> Tensor:
    """learning_rate / (1 + decay_rate * global_step / decay_steps)."""
    with name_scope(name or "InverseTimeDecay") as scope:
        rate = to_tensor(learning_rate, name="initial_learning_rate")
        steps, slope, step = _cast(rate, decay_steps, decay_rate, global_step)
        passed = _passed(step, steps, staircase)
        one = cast(constant(1), rate.dtype.base)
        divisor = apply_op("Add", one, apply_op("Mul", slope, passed))
        return apply_op("RealDiv", rate, divisor, name=scope)  # type: ignore[no-any-return]


def _cast(like: Tensor, *values: Any) -> list[Tensor]:
    return [cast(v, like.dtype.base) for v in values]


def _passed(step: Tensor, steps: Tensor, staircase: bool) -> Tensor:
    """How many times `steps` the step has come to."""
    passed = step / steps  # type: ignore[operator]
    return apply_op("Floor", passed) if staircase else passed


def piecewise_constant(
    x: Any, boundaries: Sequence[Any], values: Sequence[Any], name: str | None = None
) -> Tensor:
    """values[0] up to boundaries[0], values[1] up to boundaries[1], ... and then the last value.

    Raises ValueError when the types differ or there is not one value more than boundaries.
    """
    limits, levels = to_tensors(list(boundaries)), to_tensors(list(values))
    at = to_tensor(x)
    for i, limit in enumerate(limits):
        if limit.dtype.base is not at.dtype.base:
            if (limit.dtype.base, at.dtype.base) != (int32, int64):
                raise ValueError(
                    f"Boundaries ({limit.dtype.base}) must have the same dtype as x "
                    f"({at.dtype.base})."
                )
            limits[i] = cast(limit, at.dtype.base)
    for level in levels[1:]:
        if level.dtype.base is not levels[0].dtype.base:
            raise ValueError(
                "Values must have elements all with the same dtype "
                f"({levels[0].dtype.base} vs {level.dtype.base})."
            )
    if len(limits) != len(levels) - 1:
        raise ValueError("The length of boundaries should be 1 less than the length of values")
    with name_scope(name or "PiecewiseConstant"):
        branches = [
            (at <= limits[0], lambda: levels[0]),  # type: ignore[operator]
            (at > limits[-1], lambda: levels[-1]),  # type: ignore[operator]
        ]
        for low, high, level in zip(limits[:-1], limits[1:], levels[1:-1]):
            between = (at > low) & (at <= high)  # type: ignore[operator]
            branches.append((between, lambda level=level: level))
        return case(branches, lambda: levels[0], exclusive=True)  # type: ignore[no-any-return]


def polynomial_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    end_learning_rate: Any = 0.0001,
    power: Any = 1.0,
    cycle: bool = False,
    name: str | None = None,
) -> Tensor:
    """From learning_rate to end_learning_rate in `decay_steps`, along a power of what is left."""
    with name_scope(name or "PolynomialDecay") as scope:
        rate: Any = to_tensor(learning_rate, name="initial_learning_rate")
        end, exponent, step, steps = _cast(rate, end_learning_rate, power, global_step, decay_steps)
        if cycle:
            turns = cond(
                apply_op("Equal", step, 0),
                lambda: 1.0,
                lambda: apply_op("Ceil", step / decay_steps),
            )
            steps = apply_op("Mul", steps, turns)
        else:
            step = apply_op("Minimum", step, decay_steps)
        passed = step / steps
        span = rate - end
        left = apply_op("Pow", 1 - passed, exponent)
        return apply_op("Add", apply_op("Mul", span, left), end, name=scope)  # type: ignore[no-any-return]


def cosine_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, alpha: float = 0.0, name: Any = None
) -> Tensor:
    """Half a cosine wave from learning_rate to alpha * learning_rate."""
    with name_scope(name or "CosineDecay"):
        rate = to_tensor(learning_rate, name="initial_learning_rate")
        steps, step = _cast(rate, decay_steps, global_step)
        step = apply_op("Minimum", step, steps)
        wave = 0.5 * _raised_cosine(step / steps)
        return apply_op("Mul", rate, (1 - alpha) * wave + alpha)  # type: ignore[no-any-return]


def _raised_cosine(turned: Any) -> Any:
    """1 + cos(pi * turned)."""
    return 1.0 + apply_op("Cos", constant(math.pi) * turned)  # type: ignore[operator]


def cosine_decay_restarts(
    learning_rate: Any,
    global_step: Any,
    first_decay_steps: Any,
    t_mul: Any = 2.0,
    m_mul: Any = 1.0,
    alpha: Any = 0.0,
    name: str | None = None,
) -> Tensor:
    """cosine_decay again and again, each time `t_mul` longer and `m_mul` as high."""
    with name_scope(name or "SGDRDecay") as scope:
        rate = to_tensor(learning_rate, name="initial_learning_rate")
        steps, low, longer, higher, step = _cast(
            rate, first_decay_steps, alpha, t_mul, m_mul, global_step
        )
        passed: Any = step / steps

        def even() -> tuple[Any, Any]:
            restarts = apply_op("Floor", passed)
            return restarts, passed - restarts

        def growing() -> tuple[Any, Any]:
            logs = apply_op("Log", 1.0 - passed * (1.0 - longer)) / apply_op("Log", longer)
            restarts = apply_op("Floor", logs)
            before = (1.0 - longer**restarts) / (1.0 - longer)
            return restarts, (passed - before) / longer**restarts

        restarts, turned = cond(apply_op("Equal", longer, 1.0), even, growing)
        height = higher**restarts
        wave = 0.5 * height * _raised_cosine(turned)
        return apply_op("Mul", rate, (1 - low) * wave + low, name=scope)  # type: ignore[no-any-return]


def linear_cosine_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    num_periods: Any = 0.5,
    alpha: Any = 0.0,
    beta: Any = 0.001,
    name: str | None = None,
) -> Tensor:
    """A falling line times a cosine wave: (alpha + line) * wave + beta of learning_rate."""
    with name_scope(name or "LinearCosineDecay") as scope:
        rate = to_tensor(learning_rate, name="initial_learning_rate")
        steps, periods, low, floor, step = _cast(
            rate, decay_steps, num_periods, alpha, beta, global_step
        )
        step = apply_op("Minimum", step, steps)
        line: Any = (steps - step) / steps
        wave = _wave(periods, step / steps)
        return apply_op("Mul", rate, (low + line) * wave + floor, name=scope)  # type: ignore[no-any-return]


def _wave(periods: Any, passed: Any) -> Any:
    """A cosine between 0 and 1 that has made `periods` turns when `passed` is 1."""
    return 0.5 * _raised_cosine(2.0 * periods * passed)


def noisy_linear_cosine_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    initial_variance: Any = 1.0,
    variance_decay: Any = 0.55,
    num_periods: Any = 0.5,
    alpha: Any = 0.0,
    beta: Any = 0.001,
    name: str | None = None,
) -> Tensor:
    """linear_cosine_decay with noise on the line, of a variance that falls with the step."""

    with name_scope(name or "NoisyLinearCosineDecay") as scope:
        rate = to_tensor(learning_rate, name="initial_learning_rate")
        steps, variance, fall, periods, low, floor, step = _cast(
            rate, decay_steps, initial_variance, variance_decay, num_periods, alpha, beta,
            global_step,
        )  # fmt: skip
        step = apply_op("Minimum", step, steps)
        line: Any = (steps - step) / steps
        spread = apply_op("Sqrt", variance / apply_op("Pow", 1.0 + step, fall))
        line = line + random_normal(line.shape, stddev=spread)
        wave = _wave(periods, step / steps)
        return apply_op("Mul", rate, (low + line) * wave + floor, name=scope)  # type: ignore[no-any-return]


piecewise_constant_decay = piecewise_constant
