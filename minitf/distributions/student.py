"""Student's t-distribution."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitf.default import control_dependencies, name_scope
from minitf.distributions.base import FULLY_REPARAMETERIZED, ScalarDistribution
from minitf.distributions.checks import not_defined
from minitf.distributions.gamma import seed_with
from minitf.operation import Tensor
from minitf.ops import array, math, random
from minitf.ops.check import assert_less, assert_positive, assert_same_float_dtype
from minitf.ops.group import with_dependencies
from minitf.ops.sorting import where_v2


class StudentT(ScalarDistribution):
    """Student's t of `df` degrees of freedom, times `scale`, plus `loc`."""

    def __init__(
        self,
        df: Any,
        loc: Any,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "StudentT",
    ) -> None:
        parameters = dict(
            df=df,
            loc=loc,
            scale=scale,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            name=name,
        )
        with name_scope(name, values=[df, loc, scale]) as scope:
            checks = [assert_positive(df)] if validate_args else []
            with control_dependencies(checks):
                self._df = array.identity(df, name="df")
                self._loc = array.identity(loc, name="loc")
                self._scale = array.identity(scale, name="scale")
                assert_same_float_dtype((self._df, self._loc, self._scale))
        super().__init__(
            dtype=self._scale.dtype,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._df, self._loc, self._scale],
            name=scope,
        )

    @property
    def df(self) -> Tensor:
        return self._df

    @property
    def loc(self) -> Tensor:
        return self._loc

    @property
    def scale(self) -> Tensor:
        return self._scale

    def _batch_shape_tensor(self) -> Tensor:
        df, loc, scale = (array.shape(p) for p in self._graph_parents)
        return array.broadcast_dynamic_shape(df, array.broadcast_dynamic_shape(loc, scale))

    def _batch_shape(self) -> Any:
        both = array.broadcast_static_shape(self.df.shape, self.loc.shape)
        return array.broadcast_static_shape(both, self.scale.shape)

    def _ones(self) -> Tensor:
        return array.ones(self.batch_shape_tensor(), dtype=self.dtype)

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        shape = array.concat([[n], self.batch_shape_tensor()], 0)
        normal = random.random_normal(shape, dtype=self.dtype, seed=seed)
        df = self.df * self._ones()
        spread = random.random_gamma(
            [n], 0.5 * df, beta=0.5, dtype=self.dtype, seed=seed_with(seed, "student_t")
        )
        return normal * math.rsqrt(spread / df) * self.scale + self.loc

    def _log_prob(self, x: Tensor) -> Tensor:
        y = (x - self.loc) / self.scale
        unnormalized = -0.5 * (self.df + 1.0) * math.log1p(y**2.0 / self.df)
        return unnormalized - (
            math.log(math.abs(self.scale))
            + 0.5 * math.log(self.df)
            + 0.5 * np.log(np.pi)
            + math.lgamma(0.5 * self.df)
            - math.lgamma(0.5 * (self.df + 1.0))
        )

    def _cdf(self, x: Tensor) -> Tensor:
        y = (x - self.loc) / math.abs(self.scale)
        x_t = self.df / (y**2.0 + self.df)
        tail = 0.5 * math.betainc(0.5 * self.df, 0.5, x_t)
        return where_v2(math.less(y, 0.0), tail, 1.0 - tail)

    def _entropy(self) -> Tensor:
        ones = self._ones()[..., None]
        halves = array.concat([ones * self.df[..., None], ones], -1) / 2.0
        return (
            math.log(math.abs(self.scale))
            + 0.5 * math.log(self.df)
            + math.lbeta(halves)
            + 0.5
            * (self.df + 1.0)
            * (math.digamma(0.5 * (self.df + 1.0)) - math.digamma(0.5 * self.df))
        )

    def _mean(self) -> Tensor:
        return self._defined(self.loc * self._ones(), "mean")

    def _variance(self) -> Tensor:
        has_variance = math.greater(self.df, 2.0)
        less = where_v2(has_variance, self.df - 2.0, array.ones_like(self.df))
        finite = self._ones() * math.square(self.scale) * self.df / less
        is_finite = self.df > array.fill(self.batch_shape_tensor(), 2.0)
        infinity = self.dtype.as_numpy_dtype("inf")
        infinite = array.fill(self.batch_shape_tensor(), infinity, name="inf")
        found = where_v2(is_finite, finite, infinite)
        return self._defined(found, "variance")

    def _defined(self, value: Tensor, what: str) -> Tensor:
        """The value for more than one degree of freedom; else NaN, or an error in the run."""
        if self.allow_nan_stats:
            enough = math.greater(self.df, self._ones())
            return where_v2(enough, value, not_defined(self.batch_shape_tensor(), self.dtype))
        one = array.ones([], dtype=self.dtype)
        fault = f"{what} not defined for components of df <= 1"
        return with_dependencies([assert_less(one, self.df, message=fault)], value)

    def _mode(self) -> Tensor:
        return array.identity(self.loc)
