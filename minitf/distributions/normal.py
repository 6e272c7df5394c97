"""The normal distribution, and functions of its distribution function."""

from __future__ import annotations

import math as pymath
from typing import Any

import numpy as np

from minitf.convert import constant, to_tensor
from minitf.default import control_dependencies, name_scope
from minitf.distributions.base import FULLY_REPARAMETERIZED, ScalarDistribution
from minitf.distributions.divergence import RegisterKL
from minitf.operation import Tensor
from minitf.ops import array, math, random
from minitf.ops.check import assert_positive, assert_same_float_dtype
from minitf.ops.sorting import where_v2

_SEGMENTS = {np.float32: (-10.0, 5.0), np.float64: (-20.0, 8.0)}  # where log(ndtr(x)) is exact


class LocationScale(ScalarDistribution):
    """A distribution with a location and a scale."""

    def __init__(
        self, loc: Any, scale: Any, validate_args: bool, allow_nan_stats: bool, name: str
    ) -> None:
        parameters = dict(
            loc=loc,
            scale=scale,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            name=name,
        )
        with name_scope(name, values=[loc, scale]) as scope:
            checks = [assert_positive(scale)] if validate_args else []
            with control_dependencies(checks):
                self._loc = array.identity(loc, name="loc")
                self._scale = array.identity(scale, name="scale")
                assert_same_float_dtype([self._loc, self._scale])
        super().__init__(
            dtype=self._scale.dtype,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._loc, self._scale],
            name=scope,
        )

    @property
    def loc(self) -> Tensor:
        return self._loc

    @property
    def scale(self) -> Tensor:
        return self._scale

    def _log_prob(self, x: Tensor) -> Tensor:
        return self._log_unnormalized_prob(x) - self._log_normalization()

    def _log_unnormalized_prob(self, x: Tensor) -> Tensor:
        raise NotImplementedError

    def _log_normalization(self) -> Tensor:
        raise NotImplementedError

    def _mode(self) -> Tensor:
        return self._mean()


class Normal(LocationScale):
    """The normal distribution of mean `loc` and standard deviation `scale`."""

    def __init__(
        self,
        loc: Any,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Normal",
    ) -> None:
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        shape = array.concat([[n], self.batch_shape_tensor()], 0)
        drawn = random.random_normal(shape, mean=0.0, stddev=1.0, dtype=self.dtype, seed=seed)
        return drawn * self.scale + self.loc

    def _log_unnormalized_prob(self, x: Tensor) -> Tensor:
        return -0.5 * math.square(self._z(x))

    def _log_normalization(self) -> Tensor:
        return 0.5 * pymath.log(2.0 * pymath.pi) + math.log(self.scale)

    def _log_cdf(self, x: Tensor) -> Tensor:
        return log_ndtr(self._z(x))

    def _cdf(self, x: Tensor) -> Tensor:
        return ndtr(self._z(x))

    def _log_survival_function(self, x: Tensor) -> Tensor:
        return log_ndtr(-self._z(x))

    def _survival_function(self, x: Tensor) -> Tensor:
        return ndtr(-self._z(x))

    def _entropy(self) -> Tensor:
        scale = self.scale * array.ones_like(self.loc)
        return 0.5 * pymath.log(2.0 * pymath.pi * pymath.e) + math.log(scale)

    def _mean(self) -> Tensor:
        return self.loc * array.ones_like(self.scale)

    def _stddev(self) -> Tensor:
        return self.scale * array.ones_like(self.loc)

    def _z(self, x: Tensor) -> Tensor:
        with name_scope("standardize", values=[x]):
            return (x - self.loc) / self.scale


@RegisterKL(Normal, Normal)
def _kl_of_normals(a: Normal, b: Normal, name: str | None = None) -> Tensor:
    with name_scope(name, "kl_normal_normal", [a.loc, b.loc]):
        one, two, half = (constant(x, a.dtype) for x in (1, 2, 0.5))
        a_squared, b_squared = math.square(a.scale), math.square(b.scale)
        ratio = a_squared / b_squared
        apart = math.squared_difference(a.loc, b.loc) / (two * b_squared)
        return apart + half * (ratio - one - math.log(ratio))


def ndtr(x: Any, name: str = "ndtr") -> Tensor:
    """How likely a standard normal number is less than x."""
    with name_scope(name, values=[x]):
        return _ndtr(to_tensor(x, name="x"))


def _ndtr(x: Tensor) -> Tensor:
    half_root = constant(0.5 * np.sqrt(2.0), x.dtype, name="half_sqrt_2")
    w = x * half_root
    z = math.abs(w)
    near = math.less(z, half_root)
    middle = 1.0 + math.erf(w)
    right = math.greater(w, 0.0)
    tail = where_v2(right, 2.0 - math.erfc(z), math.erfc(z))
    return 0.5 * where_v2(near, middle, tail)


def log_ndtr(x: Any, name: str = "log_ndtr") -> Tensor:
    """log(ndtr(x)), also where ndtr(x) is too small: there by a series of three terms."""
    with name_scope(name, values=[x]):
        x = to_tensor(x, name="x")
        lower, upper = _SEGMENTS[x.dtype.as_numpy_dtype]
        large = math.greater(x, upper)
        at_large = -_ndtr(-x)
        middle = math.greater(x, lower)
        at_middle = math.log(_ndtr(math.maximum(x, lower)))
        at_small = _log_ndtr_of_small(math.minimum(x, lower))
        return where_v2(large, at_large, where_v2(middle, at_middle, at_small))


def _log_ndtr_of_small(x: Tensor) -> Tensor:
    square = math.square(x)
    log_scale = -0.5 * square - math.log(-x) - 0.5 * np.log(2.0 * np.pi)
    square = power = math.square(x)
    even, odd = array.zeros_like(x), array.zeros_like(x)
    for n, factorial in enumerate((1, 3, 15), start=1):
        term = x.dtype.as_numpy_dtype(factorial) / power
        if n % 2:
            odd += term
        else:
            even += term
        power *= square
    return log_scale + math.log(1.0 + even - odd)
