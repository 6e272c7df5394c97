"""The distributions of bits and of classes."""

from __future__ import annotations

from typing import Any

from minitf.convert import constant, to_tensor
from minitf.default import name_scope
from minitf.distributions.base import NOT_REPARAMETERIZED, Distribution, ScalarDistribution
from minitf.distributions.checks import checked_integers, logits_and_probs
from minitf.distributions.divergence import RegisterKL
from minitf.operation import Tensor
from minitf.ops import array, math, nn, random
from minitf.ops.cross_entropy import (
    sigmoid_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
)
from minitf.tensor_shape import TensorShape
from minitf_runtime.types import bool_, int32, int64


class Bernoulli(ScalarDistribution):
    """1 with probability `probs`, the sigmoid of `logits`, else 0."""

    def __init__(
        self,
        logits: Any = None,
        probs: Any = None,
        dtype: Any = int32,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Bernoulli",
    ) -> None:
        parameters = dict(
            logits=logits,
            probs=probs,
            dtype=dtype,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            name=name,
        )
        with name_scope(name) as scope:
            self._logits, self._probs = logits_and_probs(logits, probs, False, validate_args, scope)
        super().__init__(
            dtype=dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._logits, self._probs],
            name=scope,
        )

    @property
    def logits(self) -> Tensor:
        return self._logits

    @property
    def probs(self) -> Tensor:
        return self._probs

    def _batch_shape_tensor(self) -> Tensor:
        return array.shape(self._logits)

    def _batch_shape(self) -> Any:
        return self._logits.shape

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        shape = array.concat([[n], self.batch_shape_tensor()], 0)
        uniform = random.random_uniform(shape, seed=seed, dtype=self.probs.dtype)
        return math.cast(math.less(uniform, self.probs), self.dtype)

    def _log_prob(self, event: Tensor) -> Tensor:
        if self.validate_args:
            event = checked_integers(event, bool_)
        logits = self.logits
        event = math.cast(event, logits.dtype)
        known = event.shape.is_fully_defined() and logits.shape.is_fully_defined()
        if not known or event.shape != logits.shape:
            wide_logits = array.ones_like(event) * logits
            logits, event = wide_logits, array.ones_like(logits) * event
        return -sigmoid_cross_entropy_with_logits(labels=event, logits=logits)

    def _entropy(self) -> Tensor:
        return -self.logits * (math.sigmoid(self.logits) - 1) + nn.softplus(-self.logits)

    def _mean(self) -> Tensor:
        return array.identity(self.probs)

    def _variance(self) -> Tensor:
        return self._mean() * (1.0 - self.probs)

    def _mode(self) -> Tensor:
        return math.cast(self.probs > 0.5, self.dtype)


@RegisterKL(Bernoulli, Bernoulli)
def _kl_of_bits(a: Bernoulli, b: Bernoulli, name: str | None = None) -> Tensor:
    with name_scope(name, "kl_bernoulli_bernoulli", values=[a.logits, b.logits]):
        zeros = nn.softplus(-b.logits) - nn.softplus(-a.logits)
        ones = nn.softplus(b.logits) - nn.softplus(a.logits)
        return math.sigmoid(a.logits) * zeros + math.sigmoid(-a.logits) * ones


class Categorical(Distribution):
    """A class with probability `probs`, the softmax of `logits` along the last axis."""

    def __init__(
        self,
        logits: Any = None,
        probs: Any = None,
        dtype: Any = int32,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Categorical",
    ) -> None:
        parameters = dict(
            logits=logits,
            probs=probs,
            dtype=dtype,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            name=name,
        )
        with name_scope(name, values=[logits, probs]) as scope:
            self._logits, self._probs = logits_and_probs(logits, probs, True, validate_args, scope)
            self._set_sizes()
        super().__init__(
            dtype=dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._logits, self._probs],
            name=scope,
        )

    def _set_sizes(self) -> None:
        """The rank and shape of the batch, and the number of classes, as tensors."""
        known = self._logits.shape.with_rank_at_least(1)
        if known.ndims is not None:
            self._batch_rank = to_tensor(known.ndims - 1, int32, name="batch_rank")
        else:
            with name_scope("batch_rank"):
                self._batch_rank = array.rank(self._logits) - 1
        shape = array.shape(self._logits, name="logits_shape")
        if known[-1].value is not None:
            self._event_size = to_tensor(known[-1].value, int32, name="event_size")
        else:
            with name_scope("event_size"):
                self._event_size = shape[self._batch_rank]
        if known[:-1].is_fully_defined():
            sizes = known[:-1].as_list()
            self._batch_sizes = constant(sizes, dtype=int32, name="batch_shape")
        else:
            with name_scope("batch_shape"):
                self._batch_sizes = shape[:-1]

    @property
    def event_size(self) -> Tensor:
        """The number of classes."""
        return self._event_size

    @property
    def logits(self) -> Tensor:
        return self._logits

    @property
    def probs(self) -> Tensor:
        return self._probs

    def _batch_shape_tensor(self) -> Tensor:
        return array.identity(self._batch_sizes)

    def _batch_shape(self) -> Any:
        return self.logits.shape[:-1]

    def _event_shape_tensor(self) -> Tensor:
        return constant([], dtype=int32)

    def _event_shape(self) -> Any:
        return TensorShape([])

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        rows = self.logits
        if rows.shape.ndims != 2:
            rows = array.reshape(rows, [-1, self.event_size])
        drawn_dtype = int64 if self.dtype.size > 4 else int32
        draws = random.multinomial(rows, n, seed=seed, output_dtype=drawn_dtype)
        turned = array.transpose(draws)
        shape = array.concat([[n], self.batch_shape_tensor()], 0)
        return math.cast(array.reshape(turned, shape), self.dtype)

    def _cdf(self, k: Tensor) -> Tensor:
        k, probs = self._broadcast(k, self.probs)
        rows = array.reshape(probs, (-1, self._event_size))
        below = array.sequence_mask(array.reshape(k, [-1]), self._event_size)
        summed = array.where(below, rows, array.zeros_like(rows))
        return array.reshape(math.reduce_sum(summed, axis=-1), array.shape(k))

    def _log_prob(self, k: Tensor) -> Tensor:
        k, logits = self._broadcast(k, self.logits)
        return -sparse_softmax_cross_entropy_with_logits(labels=k, logits=logits)

    def _broadcast(self, event: Tensor, params: Tensor) -> tuple[Tensor, Tensor]:
        """Classes and parameters, of one batch shape. Raises TypeError for no numbers."""
        if self.validate_args:
            event = checked_integers(event, int32)
        if event.dtype.is_floating:
            event = math.cast(event, int32)
        elif not event.dtype.is_integer:
            raise TypeError(f"`value` should have integer `dtype` or `self.dtype` ({self.dtype})")
        batch = None if params.shape.ndims is None else params.shape[:-1]
        known = batch is not None and batch.is_fully_defined() and event.shape.is_fully_defined()
        if not known or batch != event.shape:
            params *= array.ones_like(event[..., None], dtype=params.dtype)
            event *= array.ones(array.shape(params)[:-1], dtype=event.dtype)
            if params.shape.ndims is not None:
                event.set_shape(params.shape[:-1])
        return event, params

    def _entropy(self) -> Tensor:
        return -math.reduce_sum(nn.log_softmax(self.logits) * self.probs, axis=-1)

    def _mode(self) -> Tensor:
        best = math.cast(math.argmax(self.logits, axis=self._batch_rank), self.dtype)
        best.set_shape(self.batch_shape)
        return best


@RegisterKL(Categorical, Categorical)
def _kl_of_classes(a: Categorical, b: Categorical, name: str | None = None) -> Tensor:
    with name_scope(name, "kl_categorical_categorical", values=[a.logits, b.logits]):
        apart = nn.log_softmax(a.logits) - nn.log_softmax(b.logits)
        return math.reduce_sum(nn.softmax(a.logits) * apart, axis=-1)
