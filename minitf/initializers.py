"""tf.initializers: objects that make the initial value of a variable.

An initializer is called with the shape, the type, and for a part of a partitioned variable its
partition_info (`full_shape`, `var_offset`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minitf.convert import constant as make_constant
from minitf.operation import Tensor
from minitf.ops import array, linalg
from minitf.ops import random as draw
from minitf.ops.apply import apply_op
from minitf.tensor_shape import TensorShape
from minitf.variables.collections import global_variables_initializer as global_variables
from minitf.variables.collections import local_variables_initializer as local_variables
from minitf.variables.collections import variables_initializer as variables
from minitf_runtime.types import DType, as_dtype, float32

__all__ = [
    "constant", "global_variables", "glorot_normal", "glorot_uniform", "he_normal", "he_uniform",
    "identity", "lecun_normal", "lecun_uniform", "local_variables", "ones", "orthogonal",
    "random_normal", "random_uniform", "truncated_normal", "uniform_unit_scaling", "variables",
    "variance_scaling", "zeros",
]  # fmt: skip


class Initializer:
    """What all initializers share: a default type, and a configuration that makes them again."""

    dtype: DType
    _settings: tuple[str, ...] = ()  # constructor arguments, kept as attributes of the same name

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        """The initial value as a tensor."""
        raise NotImplementedError(f"{type(self).__name__} does not say how to make a value")

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments as plain data."""
        config = {name: getattr(self, name) for name in self._settings}
        return {**config, "dtype": self.dtype.name}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Initializer:
        return cls(**config)


def _float_type(dtype: Any) -> DType:
    dtype = as_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError(f"Expected floating point type, got {dtype}.")
    return dtype


class Zeros(Initializer):
    """All zero."""

    def __init__(self, dtype: Any = float32) -> None:
        self.dtype = as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return array.zeros(shape, dtype or self.dtype)


class Ones(Initializer):
    """All one."""

    def __init__(self, dtype: Any = float32) -> None:
        self.dtype = as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return array.ones(shape, dtype or self.dtype)


class Constant(Initializer):
    """The given value or values, the last one filling what is left of the shape."""

    _settings = ("value",)

    def __init__(self, value: Any = 0, dtype: Any = float32, verify_shape: bool = False) -> None:
        if not (np.isscalar(value) or isinstance(value, (list, tuple, np.ndarray))):
            raise TypeError(
                f"Invalid type for initial value: {type(value)} (expected Python scalar, list or "
                "tuple of values, or numpy.ndarray)."
            )
        self.value = value
        self.dtype = as_dtype(dtype)
        self._verify_shape = verify_shape

    def __call__(
        self,
        shape: Any,
        dtype: Any = None,
        partition_info: Any = None,
        verify_shape: bool | None = None,
    ) -> Tensor:
        verify = self._verify_shape if verify_shape is None else verify_shape
        return make_constant(self.value, dtype or self.dtype, shape, verify_shape=verify)


class RandomUniform(Initializer):
    """Uniform in [minval, maxval)."""

    _settings = ("minval", "maxval", "seed")

    def __init__(
        self, minval: Any = 0, maxval: Any = None, seed: int | None = None, dtype: Any = float32
    ) -> None:
        self.minval = minval
        self.maxval = maxval
        self.seed = seed
        self.dtype = as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return draw.random_uniform(shape, self.minval, self.maxval, dtype or self.dtype, self.seed)


class RandomNormal(Initializer):
    """Normal of that mean and standard deviation."""

    _settings = ("mean", "stddev", "seed")

    def __init__(
        self, mean: Any = 0.0, stddev: Any = 1.0, seed: int | None = None, dtype: Any = float32
    ) -> None:
        self.mean = mean
        self.stddev = stddev
        self.seed = seed
        self.dtype = _float_type(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return draw.random_normal(shape, self.mean, self.stddev, dtype or self.dtype, self.seed)


class TruncatedNormal(RandomNormal):
    """Normal, values beyond two standard deviations drawn again."""

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return draw.truncated_normal(shape, self.mean, self.stddev, dtype or self.dtype, self.seed)


class UniformUnitScaling(Initializer):
    """Uniform, keeping the scale of an input of size prod(shape[:-1])."""

    _settings = ("factor", "seed")

    def __init__(self, factor: float = 1.0, seed: int | None = None, dtype: Any = float32) -> None:
        self.factor = factor
        self.seed = seed
        self.dtype = _float_type(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        sizes = _full_shape(shape, partition_info)
        limit = math.sqrt(3 / max(1.0, math.prod(sizes[:-1]))) * self.factor
        return draw.random_uniform(shape, -limit, limit, dtype or self.dtype, self.seed)


# A normal truncated at two deviations has this standard deviation.
_TRUNCATED_STDDEV = 0.87962566103423978
_MODES = ("fan_in", "fan_out", "fan_avg")
_DISTRIBUTIONS = ("normal", "uniform", "truncated_normal", "untruncated_normal")


class VarianceScaling(Initializer):
    """Random of variance scale / n, n being the number of inputs, outputs or their mean."""

    _settings = ("scale", "mode", "distribution", "seed")

    def __init__(
        self,
        scale: float = 1.0,
        mode: str = "fan_in",
        distribution: str = "truncated_normal",
        seed: int | None = None,
        dtype: Any = float32,
    ) -> None:
        if scale <= 0.0:
            raise ValueError("`scale` must be positive float.")
        if mode not in _MODES:
            raise ValueError(f"Invalid `mode` argument: {mode}")
        if distribution.lower() not in _DISTRIBUTIONS:
            raise ValueError(f"Invalid `distribution` argument: {distribution.lower()}")
        self.scale = scale
        self.mode = mode
        self.distribution = distribution.lower()
        self.seed = seed
        self.dtype = _float_type(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        dtype = dtype or self.dtype
        fan_in, fan_out = _fans(_full_shape(shape, partition_info))
        fan = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2.0}
        variance = self.scale / max(1.0, fan[self.mode])
        if self.distribution == "uniform":
            limit = math.sqrt(3.0 * variance)
            return draw.random_uniform(shape, -limit, limit, dtype, self.seed)
        if self.distribution == "untruncated_normal":
            return draw.random_normal(shape, 0.0, math.sqrt(variance), dtype, self.seed)
        stddev = math.sqrt(variance) / _TRUNCATED_STDDEV
        return draw.truncated_normal(shape, 0.0, stddev, dtype, self.seed)


def _full_shape(shape: Any, partition_info: Any) -> list[int]:
    """The shape of the whole variable."""
    return _sizes(shape if partition_info is None else partition_info.full_shape)


def _sizes(shape: Any) -> list[int]:
    return [int(n) for n in TensorShape(shape).as_list()]


def _fans(sizes: list[int]) -> tuple[int, int]:
    """The numbers of inputs and outputs of weights of this shape."""
    if len(sizes) < 2:
        fan = sizes[0] if sizes else 1
        return fan, fan
    field = math.prod(sizes[:-2])
    return sizes[-2] * field, sizes[-1] * field


class Orthogonal(Initializer):
    """An orthogonal matrix, the leading dimensions taken together as rows."""

    _settings = ("gain", "seed")

    def __init__(self, gain: float = 1.0, seed: int | None = None, dtype: Any = float32) -> None:
        self.gain = gain
        self.seed = seed
        self.dtype = _float_type(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        sizes = _sizes(shape)
        if len(sizes) < 2:
            raise ValueError("The tensor to initialize must be at least two-dimensional")
        rows, columns = math.prod(sizes[:-1]), sizes[-1]
        flat = (max(rows, columns), min(rows, columns))
        drawn = draw.random_normal(flat, dtype=dtype or self.dtype, seed=self.seed)
        q, r = apply_op("Qr", drawn, full_matrices=False)
        # The signs make the distribution uniform.
        q = q * apply_op("Sign", apply_op("DiagPart", r))
        if rows < columns:
            q = linalg.matrix_transpose(q)
        return self.gain * array.reshape(q, shape)


class Identity(Initializer):
    """The identity matrix times `gain`."""

    _settings = ("gain",)

    def __init__(self, gain: float = 1.0, dtype: Any = float32) -> None:
        self.gain = gain
        self.dtype = _float_type(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        sizes = _full_shape(shape, partition_info)
        if len(sizes) != 2:
            raise ValueError("Identity matrix initializer can only be used for 2D matrices.")
        value = linalg.eye(*sizes, dtype=dtype or self.dtype)
        if partition_info is not None:
            value = array.slice(value, partition_info.var_offset, shape)
        return self.gain * value


class _Glorot(VarianceScaling):
    """VarianceScaling of scale 1 over the mean of inputs and outputs."""

    _settings = ("seed",)
    _distribution = ""

    def __init__(self, seed: int | None = None, dtype: Any = float32) -> None:
        super().__init__(1.0, "fan_avg", self._distribution, seed, dtype)


class GlorotUniform(_Glorot):
    """Uniform of variance 2 / (inputs + outputs), also called Xavier."""

    _distribution = "uniform"


class GlorotNormal(_Glorot):
    """Truncated normal of variance 2 / (inputs + outputs)."""

    _distribution = "truncated_normal"


def lecun_normal(seed: int | None = None) -> VarianceScaling:
    """Truncated normal of variance 1 / inputs."""
    return VarianceScaling(1.0, "fan_in", "truncated_normal", seed)


def lecun_uniform(seed: int | None = None) -> VarianceScaling:
    """Uniform of variance 1 / inputs."""
    return VarianceScaling(1.0, "fan_in", "uniform", seed)


def he_normal(seed: int | None = None) -> VarianceScaling:
    """Truncated normal of variance 2 / inputs."""
    return VarianceScaling(2.0, "fan_in", "truncated_normal", seed)


def he_uniform(seed: int | None = None) -> VarianceScaling:
    """Uniform of variance 2 / inputs."""
    return VarianceScaling(2.0, "fan_in", "uniform", seed)


zeros = zeros_initializer = Zeros
ones = ones_initializer = Ones
constant = constant_initializer = Constant
random_uniform = random_uniform_initializer = RandomUniform
random_normal = random_normal_initializer = RandomNormal
truncated_normal = truncated_normal_initializer = TruncatedNormal
uniform_unit_scaling = uniform_unit_scaling_initializer = UniformUnitScaling
variance_scaling = variance_scaling_initializer = VarianceScaling
orthogonal = orthogonal_initializer = Orthogonal
identity = Identity
glorot_uniform = glorot_uniform_initializer = GlorotUniform
glorot_normal = glorot_normal_initializer = GlorotNormal
