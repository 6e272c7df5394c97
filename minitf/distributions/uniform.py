"""The uniform distribution."""

from __future__ import annotations

import math as pymath
from typing import Any

from minitf.default import control_dependencies, name_scope
from minitf.distributions.base import FULLY_REPARAMETERIZED, ScalarDistribution
from minitf.operation import Tensor
from minitf.ops import array, math, random
from minitf.ops.check import assert_less, assert_same_float_dtype
from minitf.ops.sorting import where_v2


class Uniform(ScalarDistribution):
    """Any number from `low` on, below `high`."""

    def __init__(
        self,
        low: Any = 0.0,
        high: Any = 1.0,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Uniform",
    ) -> None:
        parameters = dict(
            low=low,
            high=high,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            name=name,
        )
        fault = "uniform not defined when low >= high."
        with name_scope(name, values=[low, high]) as scope:
            checks = [assert_less(low, high, message=fault)] if validate_args else []
            with control_dependencies(checks):
                self._low = array.identity(low, name="low")
                self._high = array.identity(high, name="high")
                assert_same_float_dtype([self._low, self._high])
        super().__init__(
            dtype=self._low.dtype,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._low, self._high],
            name=scope,
        )

    @property
    def low(self) -> Tensor:
        return self._low

    @property
    def high(self) -> Tensor:
        return self._high

    def range(self, name: str = "range") -> Tensor:
        """high - low"""
        with self._name_scope(name):
            return self.high - self.low

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        shape = array.concat([[n], self.batch_shape_tensor()], 0)
        samples = random.random_uniform(shape=shape, dtype=self.dtype, seed=seed)
        return self.low + self.range() * samples

    def _prob(self, x: Tensor) -> Tensor:
        x = x * array.ones(self.batch_shape_tensor(), dtype=x.dtype)
        unknown = math.is_nan(x)
        outside = math.logical_or(x < self.low, x >= self.high)
        zeros = array.zeros_like(x)
        density = array.ones_like(x) / self.range()
        return where_v2(unknown, x, where_v2(outside, zeros, density))

    def _cdf(self, x: Tensor) -> Tensor:
        shape = array.broadcast_dynamic_shape(array.shape(x), self.batch_shape_tensor())
        zeros = array.zeros(shape, dtype=self.dtype)
        ones = array.ones(shape, dtype=self.dtype)
        wide = x * ones
        below = where_v2(x < self.low, zeros, (wide - self.low) / self.range())
        return where_v2(x >= self.high, ones, below)

    def _entropy(self) -> Tensor:
        return math.log(self.range())

    def _mean(self) -> Tensor:
        return (self.low + self.high) / 2.0

    def _variance(self) -> Tensor:
        return math.square(self.range()) / 12.0

    def _stddev(self) -> Tensor:
        return self.range() / pymath.sqrt(12.0)
