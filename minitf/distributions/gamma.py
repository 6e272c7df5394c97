"""The Gamma distribution and its kin: exponential, Beta."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from minitf.convert import to_tensor
from minitf.default import control_dependencies, name_scope
from minitf.distributions.base import FULLY_REPARAMETERIZED, ScalarDistribution
from minitf.distributions.checks import not_defined
from minitf.distributions.divergence import RegisterKL
from minitf.operation import Tensor
from minitf.ops import array, math, random
from minitf.ops.check import assert_less, assert_positive, assert_same_float_dtype
from minitf.ops.elementwise import xlogy
from minitf.ops.group import with_dependencies
from minitf.ops.sorting import where_v2


class Gamma(ScalarDistribution):
    """x ** (concentration - 1) * exp(-rate * x), normalized."""

    def __init__(
        self,
        concentration: Any,
        rate: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Gamma",
    ) -> None:
        parameters = dict(
            concentration=concentration,
            rate=rate,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            name=name,
        )
        with name_scope(name, values=[concentration, rate]) as scope:
            given = [concentration, rate] if validate_args else []
            with control_dependencies([assert_positive(x) for x in given]):
                self._concentration = array.identity(concentration, name="concentration")
                self._rate = array.identity(rate, name="rate")
                assert_same_float_dtype([self._concentration, self._rate])
        super().__init__(
            dtype=self._concentration.dtype,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._concentration, self._rate],
            name=scope,
        )

    @property
    def concentration(self) -> Tensor:
        return self._concentration

    @property
    def rate(self) -> Tensor:
        return self._rate

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        return random.random_gamma(
            [n], alpha=self.concentration, beta=self.rate, dtype=self.dtype, seed=seed
        )

    def _log_prob(self, x: Tensor) -> Tensor:
        x = self._checked(x)
        unnormalized = xlogy(self.concentration - 1.0, x) - self.rate * x
        log_gamma = math.lgamma(self.concentration)
        return unnormalized - (log_gamma - self.concentration * math.log(self.rate))

    def _cdf(self, x: Tensor) -> Tensor:
        return math.igamma(self.concentration, self.rate * self._checked(x))

    def _entropy(self) -> Tensor:
        a = self.concentration
        return a - math.log(self.rate) + math.lgamma(a) + (1.0 - a) * math.digamma(a)

    def _mean(self) -> Tensor:
        return self.concentration / self.rate

    def _variance(self) -> Tensor:
        return self.concentration / math.square(self.rate)

    def _stddev(self) -> Tensor:
        return math.sqrt(self.concentration) / self.rate

    def _mode(self) -> Tensor:
        mode = (self.concentration - 1.0) / self.rate
        if self.allow_nan_stats:
            nan = not_defined(self.batch_shape_tensor(), self.dtype)
            return where_v2(self.concentration > 1.0, mode, nan)
        one = array.ones([], self.dtype)
        fault = "mode not defined when any concentration <= 1"
        return with_dependencies([assert_less(one, self.concentration, message=fault)], mode)

    def _checked(self, x: Tensor) -> Tensor:
        assert_same_float_dtype(tensors=[x], dtype=self.dtype)
        return with_dependencies([assert_positive(x)], x) if self.validate_args else x


@RegisterKL(Gamma, Gamma)
def _kl_of_gammas(a: Gamma, b: Gamma, name: str | None = None) -> Tensor:
    values = [a.concentration, a.rate, b.concentration, b.rate]
    with name_scope(name, "kl_gamma_gamma", values=values):
        return (
            (a.concentration - b.concentration) * math.digamma(a.concentration)
            + math.lgamma(b.concentration)
            - math.lgamma(a.concentration)
            + b.concentration * math.log(a.rate)
            - b.concentration * math.log(b.rate)
            + a.concentration * (b.rate / a.rate - 1.0)
        )


class Exponential(Gamma):
    """The time until something happens that happens `rate` times in a unit of it."""

    def __init__(
        self,
        rate: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Exponential",
    ) -> None:
        with name_scope(name, values=[rate]) as scope:
            rate = to_tensor(rate, name="rate")
        one = array.ones([], dtype=rate.dtype)
        super().__init__(one, rate, validate_args, allow_nan_stats, name=scope)
        self._parameters = dict(
            rate=rate, validate_args=validate_args, allow_nan_stats=allow_nan_stats, name=name
        )

    def _log_survival_function(self, value: Tensor) -> Tensor:
        return self._log_prob(value) - math.log(self._rate)

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        shape = array.concat([[n], array.shape(self._rate)], 0)
        lowest = np.finfo(self.dtype.as_numpy_dtype).tiny
        drawn = random.random_uniform(shape, lowest, 1.0, seed=seed, dtype=self.dtype)
        return -math.log(drawn) / self._rate


class Beta(ScalarDistribution):
    """x ** (concentration1 - 1) * (1 - x) ** (concentration0 - 1), normalized, from 0 to 1."""

    def __init__(
        self,
        concentration1: Any = None,
        concentration0: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Beta",
    ) -> None:
        parameters = dict(
            concentration1=concentration1,
            concentration0=concentration0,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            name=name,
        )
        with name_scope(name, values=[concentration1, concentration0]) as scope:
            first = to_tensor(concentration1, name="concentration1")
            self._concentration1 = _positive(first, validate_args)
            second = to_tensor(concentration0, name="concentration0")
            self._concentration0 = _positive(second, validate_args)
            assert_same_float_dtype([self._concentration1, self._concentration0])
            self._total_concentration = self._concentration1 + self._concentration0
        super().__init__(
            dtype=self._total_concentration.dtype,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[
                self._concentration1,
                self._concentration0,
                self._total_concentration,
            ],
            name=scope,
        )

    @property
    def concentration1(self) -> Tensor:
        return self._concentration1

    @property
    def concentration0(self) -> Tensor:
        return self._concentration0

    @property
    def total_concentration(self) -> Tensor:
        return self._total_concentration

    def _batch_shape_tensor(self) -> Tensor:
        return array.shape(self.total_concentration)

    def _batch_shape(self) -> Any:
        return self.total_concentration.shape

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        both = self.concentration1, self.concentration0
        alphas = [array.ones_like(self.total_concentration, dtype=self.dtype) * c for c in both]
        seeds = [seed, seed_with(seed, "beta")]
        one, other = (
            random.random_gamma([n], alpha=alpha, dtype=self.dtype, seed=own)
            for alpha, own in zip(alphas, seeds)
        )
        return one / (one + other)

    def _log_prob(self, x: Tensor) -> Tensor:
        x = self._checked(x)
        first = xlogy(self.concentration1 - 1.0, x)
        unnormalized = first + (self.concentration0 - 1.0) * math.log1p(-x)
        return unnormalized - self._log_normalization()

    def _cdf(self, x: Tensor) -> Tensor:
        return math.betainc(self.concentration1, self.concentration0, x)

    def _log_normalization(self) -> Tensor:
        both = math.lgamma(self.concentration1) + math.lgamma(self.concentration0)
        return both - math.lgamma(self.total_concentration)

    def _entropy(self) -> Tensor:
        return (
            self._log_normalization()
            - (self.concentration1 - 1.0) * math.digamma(self.concentration1)
            - (self.concentration0 - 1.0) * math.digamma(self.concentration0)
            + (self.total_concentration - 2.0) * math.digamma(self.total_concentration)
        )

    def _mean(self) -> Tensor:
        return self._concentration1 / self._total_concentration

    def _variance(self) -> Tensor:
        return self._mean() * (1.0 - self._mean()) / (1.0 + self.total_concentration)

    def _mode(self) -> Tensor:
        mode = (self.concentration1 - 1.0) / (self.total_concentration - 2.0)
        if self.allow_nan_stats:
            nan = not_defined(self.batch_shape_tensor(), self.dtype)
            peaked = math.logical_and(self.concentration1 > 1.0, self.concentration0 > 1.0)
            return where_v2(peaked, mode, nan)
        checks = [
            assert_less(array.ones([], self.dtype), x, message=f"Mode undefined for {name} <= 1.")
            for name, x in (
                ("concentration1", self.concentration1),
                ("concentration0", self.concentration0),
            )
        ]
        return with_dependencies(checks, mode)

    def _checked(self, x: Tensor) -> Tensor:
        if not self.validate_args:
            return x
        checks = [assert_positive(x, message="sample must be positive")]
        one = array.ones([], self.dtype)
        checks.append(assert_less(x, one, message="sample must be less than `1`."))
        return with_dependencies(checks, x)


@RegisterKL(Beta, Beta)
def _kl_of_betas(a: Beta, b: Beta, name: str | None = None) -> Tensor:
    values = [*a._graph_parents, *b._graph_parents]
    with name_scope(name, "kl_beta_beta", values=values):
        return (
            b._log_normalization()
            - a._log_normalization()
            - math.digamma(a.concentration1) * (b.concentration1 - a.concentration1)
            - math.digamma(a.concentration0) * (b.concentration0 - a.concentration0)
            + math.digamma(a.total_concentration) * (b.total_concentration - a.total_concentration)
        )


def _positive(concentration: Tensor, validate_args: bool) -> Tensor:
    """The concentration, which must be positive."""
    if not validate_args:
        return concentration
    fault = "Concentration parameter must be positive."
    return with_dependencies([assert_positive(concentration, message=fault)], concentration)


def seed_with(seed: int | None, salt: str) -> int | None:
    """Another seed, made of one."""
    if seed is None:
        return None
    return int(hashlib.md5(f"{seed}{salt}".encode()).hexdigest()[:8], 16) & 0x7FFFFFFF
