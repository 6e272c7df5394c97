"""Distribution, the base class: it names scopes, shapes samples, and derives functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import numpy as np

from minitf.convert import constant, to_tensor
from minitf.default import name_scope
from minitf.distributions import divergence
from minitf.operation import Tensor
from minitf.ops import array, math
from minitf.ops.constant_value import constant_value
from minitf.tensor_shape import TensorShape
from minitf_runtime.types import int32


class ReparameterizationType:
    """Whether a gradient goes through samples to the parameters."""

    def __init__(self, rep_type: str) -> None:
        self._rep_type = rep_type

    def __repr__(self) -> str:
        return f"<Reparameteriation Type: {self._rep_type}>"  # TensorFlow's spelling


FULLY_REPARAMETERIZED = ReparameterizationType("FULLY_REPARAMETERIZED")
NOT_REPARAMETERIZED = ReparameterizationType("NOT_REPARAMETERIZED")


class Distribution:
    """A batch of distributions of events (TF: distributions.Distribution).

    A subclass defines what it can of `_sample_n`, `_log_prob` or `_prob`, `_cdf` or `_log_cdf`,
    `_entropy`, `_mean`, `_variance` or `_stddev`, `_mode`, `_quantile`, `_covariance`, and the
    shapes. What it does not define raises NotImplementedError.
    """

    def __init__(
        self,
        dtype: Any,
        reparameterization_type: ReparameterizationType,
        validate_args: bool,
        allow_nan_stats: bool,
        parameters: dict[str, Any] | None = None,
        graph_parents: list[Tensor] | None = None,
        name: str | None = None,
    ) -> None:
        if not name or not name.endswith("/"):
            with name_scope(name or type(self).__name__) as scope:
                name = scope
        self._dtype = dtype
        self._reparameterization_type = reparameterization_type
        self._validate_args = validate_args
        self._allow_nan_stats = allow_nan_stats
        self._parameters = parameters or {}
        self._graph_parents = graph_parents or []
        self._name = name

    # ---- what it is

    @property
    def name(self) -> Any:
        return self._name

    @property
    def dtype(self) -> Any:
        return self._dtype

    @property
    def parameters(self) -> dict[str, Any]:
        """The arguments that made it."""
        names = (k for k in self._parameters if k != "self" and not k.startswith("__"))
        return {k: self._parameters[k] for k in names}

    @property
    def reparameterization_type(self) -> ReparameterizationType:
        return self._reparameterization_type

    @property
    def allow_nan_stats(self) -> bool:
        return self._allow_nan_stats

    @property
    def validate_args(self) -> bool:
        return self._validate_args

    def copy(self, **override_parameters_kwargs: Any) -> Any:
        """One of the same arguments but for those that are given."""
        return type(self)(**{**self.parameters, **override_parameters_kwargs})

    # ---- shapes

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Tensor:
        with self._name_scope(name):
            if self.batch_shape.is_fully_defined():
                return to_tensor(self.batch_shape.as_list(), int32, name="batch_shape")
            return self._batch_shape_tensor()

    @property
    def batch_shape(self) -> TensorShape:
        return TensorShape(self._batch_shape())

    def event_shape_tensor(self, name: str = "event_shape_tensor") -> Tensor:
        with self._name_scope(name):
            if self.event_shape.is_fully_defined():
                return to_tensor(self.event_shape.as_list(), int32, name="event_shape")
            return self._event_shape_tensor()

    @property
    def event_shape(self) -> TensorShape:
        return TensorShape(self._event_shape())

    def is_scalar_event(self, name: str = "is_scalar_event") -> Tensor:
        with self._name_scope(name):
            found = _is_scalar(self.event_shape, self.event_shape_tensor)
            return to_tensor(found, name="is_scalar_event")

    def is_scalar_batch(self, name: str = "is_scalar_batch") -> Tensor:
        with self._name_scope(name):
            found = _is_scalar(self.batch_shape, self.batch_shape_tensor)
            return to_tensor(found, name="is_scalar_batch")

    # ---- what it does

    def sample(self, sample_shape: Any = (), seed: int | None = None, name: str = "sample") -> Any:
        """Samples [sample_shape, batch_shape, event_shape]."""
        with self._name_scope(name, [sample_shape]):
            shape = to_tensor(sample_shape, int32, name="sample_shape")
            shape, count = _as_vector(shape)
            samples = self._sample_n(count, seed)
            rest = array.shape(samples)[1:]
            samples = array.reshape(samples, array.concat([shape, rest], 0))
            known = TensorShape(constant_value(shape)), self.batch_shape, self.event_shape
            if all(part.ndims is not None for part in known):
                samples.set_shape(known[0].concatenate(known[1]).concatenate(known[2]))
            return samples

    def log_prob(self, value: Any, name: str = "log_prob") -> Tensor:
        """The logarithm of the probability, or its density, at a value."""
        with self._name_scope(name, [value]):
            value = self._value(value)
            return _first(lambda: self._log_prob(value), lambda: math.log(self._prob(value)))

    def prob(self, value: Any, name: str = "prob") -> Tensor:
        with self._name_scope(name, [value]):
            value = self._value(value)
            return _first(lambda: self._prob(value), lambda: math.exp(self._log_prob(value)))

    def log_cdf(self, value: Any, name: str = "log_cdf") -> Tensor:
        """The logarithm of the probability of no more than a value."""
        with self._name_scope(name, [value]):
            value = self._value(value)
            return _first(lambda: self._log_cdf(value), lambda: math.log(self._cdf(value)))

    def cdf(self, value: Any, name: str = "cdf") -> Tensor:
        with self._name_scope(name, [value]):
            value = self._value(value)
            return _first(lambda: self._cdf(value), lambda: math.exp(self._log_cdf(value)))

    def log_survival_function(self, value: Any, name: str = "log_survival_function") -> Tensor:
        """The logarithm of the probability of more than a value."""
        with self._name_scope(name, [value]):
            value = self._value(value)
            return _first(
                lambda: self._log_survival_function(value), lambda: math.log1p(-self.cdf(value))
            )

    def survival_function(self, value: Any, name: str = "survival_function") -> Tensor:
        with self._name_scope(name, [value]):
            value = self._value(value)
            return _first(lambda: self._survival_function(value), lambda: 1.0 - self.cdf(value))

    def quantile(self, value: Any, name: str = "quantile") -> Tensor:
        """The value that has this probability of no more than it."""
        with self._name_scope(name, [value]):
            return self._quantile(self._value(value))

    def entropy(self, name: str = "entropy") -> Tensor:
        with self._name_scope(name):
            return self._entropy()

    def mean(self, name: str = "mean") -> Tensor:
        with self._name_scope(name):
            return self._mean()

    def variance(self, name: str = "variance") -> Tensor:
        with self._name_scope(name):
            return _first(self._variance, lambda: math.square(self._stddev()))

    def stddev(self, name: str = "stddev") -> Tensor:
        with self._name_scope(name):
            return _first(self._stddev, lambda: math.sqrt(self._variance()))

    def covariance(self, name: str = "covariance") -> Tensor:
        with self._name_scope(name):
            return self._covariance()

    def mode(self, name: str = "mode") -> Tensor:
        with self._name_scope(name):
            return self._mode()

    def cross_entropy(self, other: Any, name: str = "cross_entropy") -> Tensor:
        """The entropy, and the divergence from another distribution."""
        with self._name_scope(name):
            return divergence.cross_entropy(self, other, self.allow_nan_stats)

    def kl_divergence(self, other: Any, name: str = "kl_divergence") -> Tensor:
        with self._name_scope(name):
            return divergence.kl_divergence(self, other, self.allow_nan_stats)

    def __str__(self) -> str:
        return (
            f'tfp.distributions.{type(self).__name__}("{self.name}", batch_shape='
            f"{self.batch_shape}, event_shape={self.event_shape}, dtype={self.dtype.name})"
        )

    def __repr__(self) -> str:
        return (
            f"<tfp.distributions.{type(self).__name__} '{self.name}' batch_shape="
            f"{self.batch_shape} event_shape={self.event_shape} dtype={self.dtype.name}>"
        )

    # ---- what a subclass defines

    def _missing(self, what: str) -> NoReturn:
        raise NotImplementedError(f"{what} is not implemented: {type(self).__name__}")

    def _batch_shape_tensor(self) -> Tensor:
        self._missing("batch_shape_tensor")

    def _batch_shape(self) -> Any:
        return TensorShape(None)

    def _event_shape_tensor(self) -> Tensor:
        self._missing("event_shape_tensor")

    def _event_shape(self) -> Any:
        return TensorShape(None)

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        self._missing("sample_n")

    def _log_prob(self, value: Tensor) -> Tensor:
        self._missing("log_prob")

    def _prob(self, value: Tensor) -> Tensor:
        self._missing("prob")

    def _log_cdf(self, value: Tensor) -> Tensor:
        self._missing("log_cdf")

    def _cdf(self, value: Tensor) -> Tensor:
        self._missing("cdf")

    def _log_survival_function(self, value: Tensor) -> Tensor:
        self._missing("log_survival_function")

    def _survival_function(self, value: Tensor) -> Tensor:
        self._missing("survival_function")

    def _quantile(self, value: Tensor) -> Tensor:
        self._missing("quantile")

    def _entropy(self) -> Tensor:
        self._missing("entropy")

    def _mean(self) -> Tensor:
        self._missing("mean")

    def _variance(self) -> Tensor:
        self._missing("variance")

    def _stddev(self) -> Tensor:
        self._missing("stddev")

    def _covariance(self) -> Tensor:
        self._missing("covariance")

    def _mode(self) -> Tensor:
        self._missing("mode")

    # ---- what all share

    @contextmanager
    def _name_scope(self, name: str, values: list[Any] | None = None) -> Iterator[Any]:
        with (
            name_scope(self.name),
            name_scope(name, values=[*(values or []), *self._graph_parents]) as scope,
        ):
            yield scope

    def _value(self, value: Any) -> Tensor:
        return to_tensor(value, name="value", preferred_dtype=self.dtype)


class ScalarDistribution(Distribution):
    """A distribution of numbers, whose batch is that of all its parameters."""

    def _batch_shape_tensor(self) -> Tensor:
        shapes = [array.shape(p) for p in self._graph_parents]
        return array.broadcast_dynamic_shape(*shapes) if len(shapes) == 2 else shapes[0]

    def _batch_shape(self) -> Any:
        shapes = [p.shape for p in self._graph_parents]
        return array.broadcast_static_shape(*shapes) if len(shapes) == 2 else shapes[0]

    def _event_shape_tensor(self) -> Tensor:
        return constant([], dtype=int32)

    def _event_shape(self) -> Any:
        return TensorShape([])


def _first(function: Callable[[], Tensor], otherwise: Callable[[], Tensor]) -> Tensor:
    """What the one gives, or the other. Raises what the one does if there is neither."""
    try:
        return function()
    except NotImplementedError as missing:
        try:
            return otherwise()
        except NotImplementedError:
            raise missing from None


def _as_vector(shape: Tensor) -> tuple[Tensor, Any]:
    """A shape of samples as a vector, and the number of samples."""
    known = constant_value(shape)
    count = math.reduce_prod(shape) if known is None else np.prod(known, dtype=np.int32)
    rank = shape.shape.ndims
    if rank == 0 and known is not None:
        return to_tensor(np.array([known], np.int32), name="sample_shape"), count
    if rank in (0, None):
        return array.reshape(shape, [1] if rank == 0 else [-1]), count
    if rank != 1:
        raise ValueError("Input is neither scalar nor vector.")
    return shape, count


def _is_scalar(shape: TensorShape, dynamic_shape: Callable[[], Tensor]) -> Any:
    if shape.ndims is not None:
        return shape.ndims == 0
    return math.equal(array.shape(dynamic_shape())[0], 0)
