"""Random ops: declarations and kernels. What they draw is in random_sampling.py.

All draw on the host, whatever the device, so that values do not depend on where an op runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from minitf_runtime.errors import invalid
from minitf_runtime.ops import dims
from minitf_runtime.ops import random_sampling as sampling
from minitf_runtime.ops.philox import PhiloxState, stateless_stream
from minitf_runtime.ops.registry import ShapeContext, Type, kernel, op, unchanged
from minitf_runtime.types import (
    FLOATS,
    INDEX,
    REALS,
    Shape,
    float32,
    float64,
    int32,
    int64,
    show_shape,
)

Draw = Callable[..., Any]
_SEEDS: dict[str, Any] = dict(seed=0, seed2=0)
_RATES = FLOATS + INDEX


def _of_shape_input(c: ShapeContext) -> list[Shape]:
    """Shaped as input 0 says."""
    dims.with_rank(c.shape(0), 1)
    return [c.shape_value(0)]


def _of_shape_input_then(c: ShapeContext) -> list[Shape]:
    """Shaped as input 0 says, then as input 1 is."""
    dims.with_rank(c.shape(0), 1)
    return [dims.concatenate(c.shape_value(0), c.shape(1))]


def _int_range(c: ShapeContext) -> list[Shape]:
    """Shaped as input 0 says; the two bounds, which come last, are scalars."""
    for bound in c.shapes[-2:]:
        dims.with_rank(bound, 0)
    return _of_shape_input(c)


def _check_seed(c: ShapeContext, i: int) -> None:
    (size,) = dims.with_rank(c.shape(i), 1) or (None,)
    dims.fixed_size(size, 2)


def _stateless(c: ShapeContext) -> list[Shape]:
    _check_seed(c, 1)
    return _of_shape_input(c)


def _stateless_int(c: ShapeContext) -> list[Shape]:
    _check_seed(c, 1)
    return _int_range(c)


def _categorical(c: ShapeContext) -> list[Shape]:
    batch, _ = dims.with_rank(c.shape(0), 2) or (None, None)
    dims.with_rank(c.shape(1), 0)
    count = c.value(1)
    return [(batch, None if count is None else dims.size_given(int(count), 1))]


def _stateless_categorical(c: ShapeContext) -> list[Shape]:
    _check_seed(c, 2)
    return _categorical(c)


for _name in ("RandomUniform", "RandomStandardNormal", "TruncatedNormal"):
    op(
        _name, "shape: T -> output: dtype", _of_shape_input,
        stateful=True, T=Type(INDEX), dtype=Type(FLOATS), **_SEEDS,
    )  # fmt: skip
op(
    "RandomUniformInt", "shape: T, minval: Tout, maxval: Tout -> output: Tout", _int_range,
    stateful=True, T=Type(INDEX), Tout=Type(INDEX), **_SEEDS,
)  # fmt: skip
op("RandomShuffle", "value: T -> output: T", unchanged, stateful=True, T=Type(), **_SEEDS)
op(
    "Multinomial", "logits: T, num_samples: int32 -> output: output_dtype", _categorical,
    stateful=True, T=Type(REALS), output_dtype=Type(INDEX, int64), **_SEEDS,
)  # fmt: skip
op(
    "RandomGamma", "shape: S, alpha: T -> output: T", _of_shape_input_then,
    stateful=True, S=Type(INDEX), T=Type(FLOATS), **_SEEDS,
)  # fmt: skip
op(
    "RandomPoissonV2", "shape: S, rate: R -> output: dtype", _of_shape_input_then, stateful=True,
    S=Type(INDEX), R=Type(_RATES, float64), dtype=Type(_RATES, int64), **_SEEDS,
)  # fmt: skip
for _name in ("StatelessRandomUniform", "StatelessRandomNormal", "StatelessTruncatedNormal"):
    op(
        _name, "shape: T, seed: Tseed -> output: dtype", _stateless,
        T=Type(INDEX, int32), Tseed=Type(INDEX, int64), dtype=Type(FLOATS, float32),
    )  # fmt: skip
op(
    "StatelessRandomUniformInt",
    "shape: T, seed: Tseed, minval: dtype, maxval: dtype -> output: dtype", _stateless_int,
    T=Type(INDEX), Tseed=Type(INDEX, int64), dtype=Type(INDEX),
)  # fmt: skip
op(
    "StatelessMultinomial", "logits: T, num_samples: int32, seed: Tseed -> output: output_dtype",
    _stateless_categorical,
    T=Type(REALS), Tseed=Type(INDEX, int64), output_dtype=Type(INDEX, int64),
)  # fmt: skip


def _generator(node: Any) -> PhiloxState:
    """The generator of this node, which lives as long as its session."""
    seeds = node.attrs["seed"], node.attrs["seed2"]
    return node.keep(lambda: PhiloxState(*seeds))


def _sizes(shape: Any) -> tuple[int, ...]:
    """A shape input as a tuple. Raises InvalidArgumentError."""
    if shape.ndim != 1:
        shown = show_shape(shape.shape)
        raise invalid(f"shape must be a vector of {{int32,int64}}, got shape {shown}")
    sizes = tuple(int(n) for n in shape)
    for size in sizes:
        if size < 0:
            raise invalid(f"Dimension {size} must be >= 0")
    return sizes


def _bounds(low: Any, high: Any) -> tuple[int, int]:
    """The limits of an integer range. Raises InvalidArgumentError if it is empty."""
    if low >= high:
        raise invalid(f"Need minval < maxval, got {int(low)} >= {int(high)}")
    return int(low), int(high)


def _check_scalars(**values: Any) -> None:
    for name, value in values.items():
        if value.ndim != 0:
            raise invalid(f"{name} must be 0-D, got shape {show_shape(value.shape)}")


def _stateless_start(seed: Any) -> Any:
    if seed.shape != (2,):
        raise invalid(f"seed must have shape [2], not {show_shape(seed.shape)}")
    return stateless_stream(seed)


def _register_floats(name: str, stateless_name: str, draw: Draw) -> None:
    """The two kernels, with and without a kept generator, of one distribution of floats."""

    @kernel(name, host_inputs="shape")
    def stateful(xp: Any, shape: Any, *, node: Any, dtype: Any) -> Any:
        sizes = _sizes(shape)
        stream = _generator(node).reserve_outputs(math.prod(sizes))
        return xp.asarray(draw(stream, sizes, dtype.as_numpy_dtype))

    @kernel(stateless_name, host_inputs="shape seed")
    def stateless(xp: Any, shape: Any, seed: Any, *, dtype: Any) -> Any:
        stream = _stateless_start(seed)
        return xp.asarray(draw(stream, _sizes(shape), dtype.as_numpy_dtype))


_register_floats("RandomUniform", "StatelessRandomUniform", sampling.uniform)
_register_floats("RandomStandardNormal", "StatelessRandomNormal", sampling.normal)
_register_floats("TruncatedNormal", "StatelessTruncatedNormal", sampling.truncated_normal)


@kernel("RandomUniformInt", host_inputs="shape minval maxval")
def random_uniform_int(xp: Any, shape: Any, minval: Any, maxval: Any, *, node: Any) -> Any:
    _check_scalars(minval=minval, maxval=maxval)
    sizes = _sizes(shape)
    if 0 in sizes:
        return xp.empty(sizes, minval.dtype)
    bounds = _bounds(minval, maxval)
    stream = _generator(node).reserve_outputs(math.prod(sizes))
    return xp.asarray(sampling.uniform_int(stream, sizes, *bounds, minval.dtype))


@kernel("StatelessRandomUniformInt", host_inputs="shape seed minval maxval")
def stateless_random_uniform_int(xp: Any, shape: Any, seed: Any, minval: Any, maxval: Any) -> Any:
    _check_scalars(minval=minval, maxval=maxval)
    stream = _stateless_start(seed)
    bounds = _bounds(minval, maxval)
    return xp.asarray(sampling.uniform_int(stream, _sizes(shape), *bounds, minval.dtype))


@kernel("RandomShuffle")
def random_shuffle(xp: Any, value: Any, *, node: Any) -> Any:
    if value.ndim == 0 or value.size <= 1 or len(value) <= 1:
        return value
    size = len(value)
    stream = _generator(node).reserve(-(-(size - 1) // 4))
    return value[xp.asarray(sampling.permutation(stream, size))]


@kernel("Multinomial", host_inputs="logits num_samples")
def multinomial(xp: Any, logits: Any, num_samples: Any, *, node: Any, output_dtype: Any) -> Any:
    count = _check_categorical(logits, num_samples)
    samples = len(logits) * 2 * (-(-count // 4) * 4)
    stream = _generator(node).reserve_outputs(samples)
    dtype = output_dtype.as_numpy_dtype
    return xp.asarray(sampling.multinomial(stream, logits, count, dtype))


@kernel("StatelessMultinomial", host_inputs="logits num_samples seed")
def stateless_multinomial(
    xp: Any, logits: Any, num_samples: Any, seed: Any, *, output_dtype: Any
) -> Any:
    stream = _stateless_start(seed)
    count = _check_categorical(logits, num_samples)
    dtype = output_dtype.as_numpy_dtype
    return xp.asarray(sampling.multinomial(stream, logits, count, dtype))


def _check_categorical(logits: Any, num_samples: Any) -> int:
    """The number of samples a row. Raises InvalidArgumentError."""
    if logits.ndim != 2:
        raise invalid(f"logits should be a matrix, got shape {show_shape(logits.shape)}")
    if num_samples.ndim != 0:
        raise invalid(f"num_samples should be a scalar, got shape {show_shape(num_samples.shape)}")
    if num_samples < 0:
        raise invalid(f"num_samples should be nonnegative, got {int(num_samples)}")
    if logits.shape[1] == 0:
        raise invalid("num_classes should be positive, got 0")
    return int(num_samples)


@kernel("RandomGamma", host_inputs="shape alpha")
def random_gamma(xp: Any, shape: Any, alpha: Any, *, node: Any) -> Any:
    sizes = _sizes(shape)
    stream = _generator(node).reserve_outputs(math.prod(sizes) * alpha.size)
    return xp.asarray(sampling.gamma(stream, sizes, alpha))


@kernel("RandomPoissonV2", host_inputs="shape rate")
def random_poisson(xp: Any, shape: Any, rate: Any, *, node: Any, dtype: Any) -> Any:
    sizes = _sizes(shape)
    stream = _generator(node).reserve_outputs(math.prod(sizes) * rate.size)
    return xp.asarray(sampling.poisson(stream, sizes, rate, dtype.as_numpy_dtype))
