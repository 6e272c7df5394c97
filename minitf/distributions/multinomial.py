"""The multinomial distribution: how often each class comes."""

from __future__ import annotations

from typing import Any

from minitf.convert import to_tensor
from minitf.default import name_scope
from minitf.distributions.base import NOT_REPARAMETERIZED, Distribution
from minitf.distributions.checks import checked_counts, logits_and_probs
from minitf.operation import Tensor
from minitf.ops import array, math, nn, random
from minitf.ops.check import assert_equal
from minitf.ops.functional import map_fn
from minitf.ops.group import with_dependencies
from minitf.ops.linalg import matrix_set_diag
from minitf_runtime.types import int32


class Multinomial(Distribution):
    """The counts of classes among `total_count` draws (TF: distributions.Multinomial)."""

    def __init__(
        self,
        total_count: Any,
        logits: Any = None,
        probs: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Multinomial",
    ) -> None:
        parameters = dict(
            total_count=total_count,
            logits=logits,
            probs=probs,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            name=name,
        )
        with name_scope(name, values=[total_count, logits, probs]) as scope:
            self._total_count = to_tensor(total_count, name="total_count")
            if validate_args:
                self._total_count = checked_counts(self._total_count)
            self._logits, self._probs = logits_and_probs(logits, probs, True, validate_args, scope)
            self._expected = self._total_count[..., None] * self._probs
        super().__init__(
            dtype=self._probs.dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._total_count, self._logits, self._probs],
            name=scope,
        )

    @property
    def total_count(self) -> Tensor:
        return self._total_count

    @property
    def logits(self) -> Tensor:
        return self._logits

    @property
    def probs(self) -> Tensor:
        return self._probs

    def _batch_shape_tensor(self) -> Tensor:
        return array.shape(self._expected)[:-1]

    def _batch_shape(self) -> Any:
        return self._expected.shape.with_rank_at_least(1)[:-1]

    def _event_shape_tensor(self) -> Tensor:
        return array.shape(self._expected)[-1:]

    def _event_shape(self) -> Any:
        return self._expected.shape.with_rank_at_least(1)[-1:]

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        count = math.cast(self.total_count, int32)
        classes = self.event_shape_tensor()[0]
        counts = array.ones_like(self.logits[..., 0], dtype=count.dtype) * count
        logits = array.ones_like(counts[..., None], dtype=self.logits.dtype) * self.logits
        rows = array.reshape(logits, [-1, classes])
        draws = n * array.reshape(counts, [-1])

        def drawn(row_and_draws: Any) -> Tensor:
            row, many = row_and_draws[0], row_and_draws[1]
            found = random.multinomial(row[None, ...], many, seed)
            found = array.reshape(found, shape=[n, -1])
            return math.reduce_sum(array.one_hot(found, depth=classes), axis=-2)

        samples = map_fn(drawn, [rows, draws], dtype=self.dtype)
        samples = array.transpose(samples, perm=[1, 0, 2])
        shape = array.concat([[n], self.batch_shape_tensor(), [classes]], 0)
        return array.reshape(samples, shape)

    def _log_prob(self, counts: Tensor) -> Tensor:
        checked = self._checked(counts)
        unnormalized = math.reduce_sum(checked * nn.log_softmax(self.logits), -1)
        checked = self._checked(counts)
        return unnormalized - -_log_combinations(self.total_count, checked)

    def _mean(self) -> Tensor:
        return array.identity(self._expected)

    def _variance(self) -> Tensor:
        return self._expected - self._expected * self._wide_probs()

    def _covariance(self) -> Tensor:
        probs = self._wide_probs()
        products = -math.matmul(self._expected[..., None], probs[..., None, :])
        return matrix_set_diag(products, self._variance())

    def _wide_probs(self) -> Tensor:
        return self.probs * array.ones_like(self.total_count)[..., None]

    def _checked(self, counts: Tensor) -> Tensor:
        if not self.validate_args:
            return counts
        counts = checked_counts(counts)
        fault = "counts must sum to `self.total_count`"
        total = math.reduce_sum(counts, -1)
        return with_dependencies([assert_equal(self.total_count, total, message=fault)], counts)


def _log_combinations(n: Tensor, counts: Tensor) -> Tensor:
    """The logarithm of the number of orders that give these counts."""
    with name_scope("log_combinations", values=[n, counts]):
        orders = math.lgamma(n + 1)
        return orders - math.reduce_sum(math.lgamma(counts + 1), axis=[-1])
