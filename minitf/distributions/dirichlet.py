"""The Dirichlet distribution: of probabilities."""

from __future__ import annotations

from typing import Any

from minitf.convert import to_tensor
from minitf.default import name_scope
from minitf.distributions.base import FULLY_REPARAMETERIZED, Distribution
from minitf.distributions.divergence import RegisterKL
from minitf.operation import Tensor
from minitf.ops import array, math, random
from minitf.ops.check import assert_less, assert_near, assert_positive, assert_rank_at_least
from minitf.ops.elementwise import xlogy
from minitf.ops.group import with_dependencies
from minitf.ops.linalg import matrix_set_diag


class Dirichlet(Distribution):
    """The product of x ** (concentration - 1), normalized, of numbers with the sum 1."""

    def __init__(
        self,
        concentration: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Dirichlet",
    ) -> None:
        parameters = dict(
            concentration=concentration,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            name=name,
        )
        with name_scope(name, values=[concentration]) as scope:
            given = to_tensor(concentration, name="concentration")
            self._concentration = _checked_concentration(given) if validate_args else given
            self._total_concentration = math.reduce_sum(self._concentration, -1)
        super().__init__(
            dtype=self._concentration.dtype,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._concentration, self._total_concentration],
            name=scope,
        )

    @property
    def concentration(self) -> Tensor:
        return self._concentration

    @property
    def total_concentration(self) -> Tensor:
        return self._total_concentration

    def _batch_shape_tensor(self) -> Tensor:
        return array.shape(self.total_concentration)

    def _batch_shape(self) -> Any:
        return self.total_concentration.shape

    def _event_shape_tensor(self) -> Tensor:
        return array.shape(self.concentration)[-1:]

    def _event_shape(self) -> Any:
        return self.concentration.shape.with_rank_at_least(1)[-1:]

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        drawn = random.random_gamma([n], alpha=self.concentration, dtype=self.dtype, seed=seed)
        return drawn / math.reduce_sum(drawn, -1, keepdims=True)

    def _log_prob(self, x: Tensor) -> Tensor:
        x = self._checked(x)
        unnormalized = math.reduce_sum(xlogy(self.concentration - 1.0, x), -1)
        return unnormalized - math.lbeta(self.concentration)

    def _entropy(self) -> Tensor:
        a, total = self.concentration, self.total_concentration
        classes = math.cast(self.event_shape_tensor()[0], self.dtype)
        spread = math.lbeta(a) + (total - classes) * math.digamma(total)
        return spread - math.reduce_sum((a - 1.0) * math.digamma(a), axis=-1)

    def _mean(self) -> Tensor:
        return self.concentration / self.total_concentration[..., None]

    def _variance(self) -> Tensor:
        scale = self._spread()
        x = scale * self._mean()
        return x * (scale - x)

    def _covariance(self) -> Tensor:
        x = self._spread() * self._mean()
        products = -math.matmul(x[..., None], x[..., None, :])
        return matrix_set_diag(products, self._variance())

    def _spread(self) -> Tensor:
        return math.rsqrt(1.0 + self.total_concentration[..., None])

    def _checked(self, x: Tensor) -> Tensor:
        if not self.validate_args:
            return x
        checks = [assert_positive(x, message="samples must be positive")]
        one = array.ones([], dtype=self.dtype)
        fault = "sample last-dimension must sum to `1`"
        checks.append(assert_near(one, math.reduce_sum(x, -1), message=fault))
        return with_dependencies(checks, x)


def _checked_concentration(x: Tensor) -> Tensor:
    what = "Concentration parameter must"
    checks = [
        assert_positive(x, message=f"{what} be positive."),
        assert_rank_at_least(x, 1, message=f"{what} have >=1 dimensions."),
        assert_less(1, array.shape(x)[-1], message=f"{what} have event_size >= 2."),
    ]
    return with_dependencies(checks, x)


@RegisterKL(Dirichlet, Dirichlet)
def _kl_of_dirichlets(a: Dirichlet, b: Dirichlet, name: str | None = None) -> Tensor:
    with name_scope(name, "kl_dirichlet_dirichlet", values=[a.concentration, b.concentration]):
        total = math.digamma(math.reduce_sum(a.concentration, axis=-1, keepdims=True))
        apart = math.digamma(a.concentration) - total
        weighted = math.reduce_sum((a.concentration - b.concentration) * apart, axis=-1)
        return weighted - math.lbeta(a.concentration) + math.lbeta(b.concentration)
