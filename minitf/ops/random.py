"""Random ops under their top-level names, and how TF derives seeds. tf.random: minitf/random.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitf.convert import convert_to_tensor
from minitf.default import get_default_graph, name_scope
from minitf.operation import Tensor
from minitf.ops import array, math
from minitf.ops.apply import apply_op
from minitf.ops.debug import Assert
from minitf.ops.group import with_dependencies
from minitf_runtime.types import as_dtype, float16, float32, float64, int32, int64

__all__ = [
    "get_seed", "multinomial", "random_crop", "random_gamma", "random_normal", "random_poisson",
    "random_shuffle", "random_uniform", "set_random_seed", "truncated_normal",
]  # fmt: skip

DEFAULT_GRAPH_SEED = 87654321
_SEED_LIMIT = 2**31 - 1
_UNIFORM_TYPES = (float16, float32, float64, int32, int64)


def set_random_seed(seed: int | None) -> None:
    """Sets the seed of the default graph, from which ops without a seed of their own get theirs."""
    get_default_graph().seed = seed


def get_seed(op_seed: int | None) -> tuple[int | None, int | None]:
    """The two seeds of an op made now; (None, None) asks for numbers that differ each run."""
    graph = get_default_graph()
    if graph.seed is None and op_seed is None:
        return None, None
    graph_seed = DEFAULT_GRAPH_SEED if graph.seed is None else graph.seed
    if op_seed is None:
        op_seed = graph._last_id
    seeds = graph_seed % _SEED_LIMIT, op_seed % _SEED_LIMIT
    return (0, _SEED_LIMIT) if seeds == (0, 0) else seeds


def _seeds(op_seed: int | None) -> dict[str, int | None]:
    seed, seed2 = get_seed(op_seed)
    return {"seed": seed, "seed2": seed2}


def _shape_tensor(shape: Any) -> Tensor:
    scalar = isinstance(shape, (tuple, list)) and not shape
    return convert_to_tensor(shape, int32 if scalar else None, "shape")


def _scaled(drawn: Tensor, scale: Tensor, offset: Tensor, scope: str) -> Tensor:
    """drawn * scale + offset, the sum bearing the name of the scope."""
    product = apply_op("Mul", drawn, scale, name="mul")
    return apply_op("Add", product, offset, name=scope)


def random_uniform(
    shape: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Uniform values in [minval, maxval); maxval is 1 for floats and must be given for integers."""
    dtype, maxval = _uniform_type(dtype, maxval)
    with name_scope(name, "random_uniform", [shape, minval, maxval]) as scope:
        shape = _shape_tensor(shape)
        low = convert_to_tensor(minval, dtype, "min")
        high = convert_to_tensor(maxval, dtype, "max")
        seeds = _seeds(seed)
        if dtype.is_integer:
            return apply_op("RandomUniformInt", shape, low, high, name=scope, **seeds)
        drawn = apply_op("RandomUniform", shape, dtype=dtype, **seeds)
        return _scaled(drawn, apply_op("Sub", high, low, name="sub"), low, scope)


def _uniform_type(dtype: Any, maxval: Any) -> tuple[Any, Any]:
    """The type, and the upper bound when it is given or has a default. Raises ValueError."""
    dtype = as_dtype(dtype)
    if dtype not in _UNIFORM_TYPES:
        raise ValueError(f"Invalid dtype {dtype!r}")
    if maxval is None and dtype.is_integer:
        raise ValueError(f"Must specify maxval for integer dtype {dtype!r}")
    return dtype, 1 if maxval is None else maxval


def random_normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Normal values of that mean and standard deviation."""
    with name_scope(name, "random_normal", [shape, mean, stddev]) as scope:
        return _normal("RandomStandardNormal", shape, mean, stddev, dtype, seed, scope)


def truncated_normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Normal values, those further than two standard deviations from the mean drawn again."""
    with name_scope(name, "truncated_normal", [shape, mean, stddev]) as scope:
        return _normal("TruncatedNormal", shape, mean, stddev, dtype, seed, scope)


def _normal(
    op: str, shape: Any, mean: Any, stddev: Any, dtype: Any, seed: int | None, scope: str
) -> Tensor:
    shape = _shape_tensor(shape)
    mean = convert_to_tensor(mean, dtype, "mean")
    stddev = convert_to_tensor(stddev, dtype, "stddev")
    return _scaled(apply_op(op, shape, dtype=dtype, **_seeds(seed)), stddev, mean, scope)


def random_shuffle(value: Any, seed: int | None = None, name: str | None = None) -> Tensor:
    """The slices of `value` along its first dimension in random order."""
    return apply_op("RandomShuffle", value, name=name, **_seeds(seed))


def random_crop(value: Any, size: Any, seed: int | None = None, name: str | None = None) -> Tensor:
    """A part of `value` of that size at a random place."""
    with name_scope(name, "random_crop", [value, size]) as scope:
        value = convert_to_tensor(value, name="value")
        size = convert_to_tensor(size, int32, "size")
        shape = array.shape(value)
        fits = math.reduce_all(shape >= size)
        check = Assert(fits, ["Need value.shape >= size, got ", shape, size], summarize=1000)
        shape = with_dependencies([check], shape)
        limit = shape - size + 1
        place = random_uniform(array.shape(shape), maxval=size.dtype.max, dtype=int32, seed=seed)
        return array.slice(value, place % limit, size, name=scope)


def multinomial(
    logits: Any,
    num_samples: Any,
    seed: int | None = None,
    name: str | None = None,
    output_dtype: Any = None,
) -> Tensor:
    """Class indices [batch, num_samples] by unnormalised log-probabilities [batch, classes]."""
    with name_scope(name, "multinomial", [logits]):
        return _categorical(logits, num_samples, output_dtype, seed)


def categorical(
    logits: Any,
    num_samples: Any,
    dtype: Any = None,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """multinomial under its newer name."""
    with name_scope(name, "categorical", [logits]):
        return _categorical(logits, num_samples, dtype, seed)


def _categorical(logits: Any, num_samples: Any, dtype: Any, seed: int | None) -> Tensor:
    logits = convert_to_tensor(logits, name="logits")
    return apply_op("Multinomial", logits, num_samples, output_dtype=dtype, **_seeds(seed))


def random_gamma(
    shape: Any,
    alpha: Any,
    beta: Any = None,
    dtype: Any = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Gamma values, `shape` of them for each pair of shape alpha and rate beta (default 1)."""
    with name_scope(name, "random_gamma", [shape, alpha, beta]):
        shape = convert_to_tensor(shape, int32, "shape")
        alpha = convert_to_tensor(alpha, dtype, "alpha")
        beta = convert_to_tensor(1 if beta is None else beta, dtype, "beta")
        alpha = alpha + array.zeros_like(beta)
        drawn = apply_op("RandomGamma", shape, alpha, **_seeds(seed)) / beta
        tiny = np.finfo(alpha.dtype.as_numpy_dtype).tiny
        return apply_op("Maximum", tiny, drawn)


def random_poisson(
    lam: Any,
    shape: Any,
    dtype: Any = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Poisson values, `shape` of them for each rate."""
    with name_scope(name, "random_poisson", [lam, shape]):
        shape = convert_to_tensor(shape, int32, "shape")
        seeds = _seeds(seed)
        return apply_op("RandomPoissonV2", shape, lam, dtype=dtype, **seeds)


def stateless_random_uniform(
    shape: Any,
    seed: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = float32,
    name: str | None = None,
) -> Tensor:
    """random_uniform, the same for the same two seeds."""
    dtype, maxval = _uniform_type(dtype, maxval)
    with name_scope(name, "stateless_random_uniform", [shape, seed, minval, maxval]) as scope:
        shape = _shape_tensor(shape)
        low = convert_to_tensor(minval, dtype, "min")
        high = convert_to_tensor(maxval, dtype, "max")
        if dtype.is_integer:
            return apply_op("StatelessRandomUniformInt", shape, seed, low, high, name=scope)
        drawn = apply_op("StatelessRandomUniform", shape, seed, dtype=dtype)
        return _scaled(drawn, apply_op("Sub", high, low, name="sub"), low, scope)


def stateless_random_normal(
    shape: Any,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = float32,
    name: str | None = None,
) -> Tensor:
    """random_normal, the same for the same two seeds."""
    with name_scope(name, "stateless_random_normal", [shape, seed, mean, stddev]) as scope:
        return _stateless("StatelessRandomNormal", shape, seed, mean, stddev, dtype, scope)


def stateless_truncated_normal(
    shape: Any,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = float32,
    name: str | None = None,
) -> Tensor:
    """truncated_normal, the same for the same two seeds."""
    with name_scope(name, "stateless_truncated_normal", [shape, seed, mean, stddev]) as scope:
        return _stateless("StatelessTruncatedNormal", shape, seed, mean, stddev, dtype, scope)


def _stateless(
    op: str, shape: Any, seed: Any, mean: Any, stddev: Any, dtype: Any, scope: str
) -> Tensor:
    shape = _shape_tensor(shape)
    mean = convert_to_tensor(mean, dtype, "mean")
    stddev = convert_to_tensor(stddev, dtype, "stddev")
    return _scaled(apply_op(op, shape, seed, dtype=dtype), stddev, mean, scope)


def stateless_multinomial(
    logits: Any, num_samples: Any, seed: Any, output_dtype: Any = int64, name: str | None = None
) -> Tensor:
    """multinomial, the same for the same two seeds."""
    with name_scope(name, "stateless_multinomial", [logits, seed]):
        return _stateless_categorical(logits, num_samples, seed, output_dtype)


def stateless_categorical(
    logits: Any, num_samples: Any, seed: Any, dtype: Any = int64, name: str | None = None
) -> Tensor:
    """categorical, the same for the same two seeds."""
    with name_scope(name, "stateless_categorical", [logits, seed]):
        return _stateless_categorical(logits, num_samples, seed, dtype)


def _stateless_categorical(logits: Any, num_samples: Any, seed: Any, dtype: Any) -> Tensor:
    logits = convert_to_tensor(logits, name="logits")
    return apply_op("StatelessMultinomial", logits, num_samples, seed, output_dtype=dtype)
