"""The Laplace distribution."""

from __future__ import annotations

import math as pymath
from typing import Any

import numpy as np

from minitf.distributions.normal import LocationScale
from minitf.operation import Tensor
from minitf.ops import array, math, random


class Laplace(LocationScale):
    """The Laplace distribution of mean `loc`, whose density is exp(-|x - loc| / scale)."""

    def __init__(
        self,
        loc: Any,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Laplace",
    ) -> None:
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        shape = array.concat([[n], self.batch_shape_tensor()], 0)
        kind = self.dtype.as_numpy_dtype
        lowest = np.nextafter(kind(-1.0), kind(0.0))
        u = random.random_uniform(shape, minval=lowest, maxval=1.0, dtype=self.dtype, seed=seed)
        return self.loc - self.scale * math.sign(u) * math.log1p(-math.abs(u))

    def _log_unnormalized_prob(self, x: Tensor) -> Tensor:
        return -math.abs(self._z(x))

    def _log_normalization(self) -> Tensor:
        return pymath.log(2.0) + math.log(self.scale)

    def _prob(self, x: Tensor) -> Tensor:
        return math.exp(self._log_prob(x))

    def _cdf(self, x: Tensor) -> Tensor:
        z = self._z(x)
        return 0.5 + 0.5 * math.sign(z) * (1.0 - math.exp(-math.abs(z)))

    def _entropy(self) -> Tensor:
        scale = self.scale + array.zeros_like(self.loc)
        return pymath.log(2.0) + 1.0 + math.log(scale)

    def _mean(self) -> Tensor:
        return self.loc + array.zeros_like(self.scale)

    def _stddev(self) -> Tensor:
        return pymath.sqrt(2.0) * self.scale + array.zeros_like(self.loc)

    def _z(self, x: Tensor) -> Tensor:
        return (x - self.loc) / self.scale
