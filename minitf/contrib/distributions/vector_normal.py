"""The normal distribution of vectors with independent entries."""

from __future__ import annotations

import math as pymath
from typing import Any

from minitf.convert import to_tensor
from minitf.default import control_dependencies, name_scope
from minitf.distributions.base import FULLY_REPARAMETERIZED, Distribution
from minitf.distributions.divergence import RegisterKL
from minitf.operation import Tensor
from minitf.ops import array, math, random
from minitf.ops.check import assert_positive
from minitf.ops.linalg import matrix_diag


class MultivariateNormalDiag(Distribution):
    """Vectors of mean `loc`, whose entries have the standard deviations `scale_diag`.

    `scale_identity_multiplier` is added to those, or is that of all entries if they are not given.
    """

    def __init__(
        self,
        loc: Any = None,
        scale_diag: Any = None,
        scale_identity_multiplier: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalDiag",
    ) -> None:
        parameters = dict(
            loc=loc,
            scale_diag=scale_diag,
            scale_identity_multiplier=scale_identity_multiplier,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            name=name,
        )
        if loc is None and scale_diag is None:
            raise ValueError("loc or scale_diag must tell the size of the vectors.")
        with name_scope(name, values=[loc, scale_diag, scale_identity_multiplier]) as scope:
            scale = _scale(loc, scale_diag, scale_identity_multiplier)
            with control_dependencies([assert_positive(scale)] if validate_args else []):
                self._scale = array.identity(scale, name="scale")
            given = 0.0 if loc is None else to_tensor(loc, name="loc")
            self._loc = given + array.zeros_like(self._scale)
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
    def scale_diag(self) -> Tensor:
        """The standard deviations."""
        return self._scale

    def _batch_shape_tensor(self) -> Tensor:
        return array.shape(self._loc)[:-1]

    def _batch_shape(self) -> Any:
        return self._loc.shape.with_rank_at_least(1)[:-1]

    def _event_shape_tensor(self) -> Tensor:
        return array.shape(self._loc)[-1:]

    def _event_shape(self) -> Any:
        return self._loc.shape.with_rank_at_least(1)[-1:]

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        shape = array.concat([[n], array.shape(self._loc)], 0)
        drawn = random.random_normal(shape, dtype=self.dtype, seed=seed)
        return drawn * self._scale + self._loc

    def _log_prob(self, x: Tensor) -> Tensor:
        z = (x - self._loc) / self._scale
        logs = -0.5 * math.square(z) - math.log(self._scale)
        return math.reduce_sum(logs - 0.5 * pymath.log(2.0 * pymath.pi), -1)

    def _entropy(self) -> Tensor:
        one = 0.5 * pymath.log(2.0 * pymath.pi * pymath.e)
        return math.reduce_sum(one + math.log(self._scale) + array.zeros_like(self._loc), -1)

    def _mean(self) -> Tensor:
        return array.identity(self._loc)

    def _mode(self) -> Tensor:
        return self._mean()

    def _variance(self) -> Tensor:
        return math.square(self._scale)

    def _stddev(self) -> Tensor:
        return array.identity(self._scale)

    def _covariance(self) -> Tensor:
        return matrix_diag(math.square(self._scale))


def _scale(loc: Any, diag: Any, multiplier: Any) -> Tensor:
    """The standard deviations that are given; else ones of the size of `loc`."""
    if diag is not None:
        diag = to_tensor(diag, name="scale_diag")
    else:
        loc = to_tensor(loc, name="loc")
        diag = array.ones(array.shape(loc)[-1:], loc.dtype)
        if multiplier is not None:
            return diag * array.expand_dims(to_tensor(multiplier, diag.dtype), -1)
    if multiplier is None:
        return diag
    return diag + array.expand_dims(to_tensor(multiplier, diag.dtype), -1)


@RegisterKL(MultivariateNormalDiag, MultivariateNormalDiag)
def _kl_of_vectors(
    a: MultivariateNormalDiag, b: MultivariateNormalDiag, name: str | None = None
) -> Tensor:
    with name_scope(name, "kl_mvn_diag", values=[a.loc, b.loc]):
        ratio = math.square(a.scale_diag / b.scale_diag)
        apart = math.square((a.loc - b.loc) / b.scale_diag)
        return 0.5 * math.reduce_sum(apart + ratio - 1.0 - math.log(ratio), -1)
