"""What all metrics share: their variables, the alignment of their arguments, the collections."""

from __future__ import annotations

from typing import Any

from minitf.convert import to_tensor
from minitf.default import GraphKeys, add_to_collections
from minitf.operation import Tensor
from minitf.ops import array, math
from minitf.ops.control_flow import cond
from minitf.ops.weights import broadcast_weights, remove_squeezable_dimensions
from minitf.variables import Variable, VariableAggregation, VariableSynchronization
from minitf_runtime.types import float32

Metric = tuple[Any, Any]  # the value so far, and the op that adds a batch and gives the new value


def metric_variable(shape: Any, dtype: Any, name: str) -> Any:
    """Zeros that a metric counts in: a local variable, also in METRIC_VARIABLES."""
    return Variable(
        lambda: array.zeros(shape, dtype),
        trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES],
        synchronization=VariableSynchronization.ON_READ,
        aggregation=VariableAggregation.SUM,
        name=name,
    )


def collected(
    value: Any, update: Any, metrics_collections: Any, updates_collections: Any
) -> Metric:
    """Puts both into the collections that the user named."""
    if metrics_collections:
        add_to_collections(metrics_collections, value)
    if updates_collections:
        add_to_collections(updates_collections, update)
    return value, update


def aligned(predictions: Any, labels: Any, weights: Any) -> tuple[Tensor, Any, Any]:
    """The three with equal ranks where a last axis of size one is all that they differ by.

    Labels and weights may be None; weights may be a scalar.
    """
    predictions = to_tensor(predictions)
    if labels is not None:
        labels, predictions = remove_squeezable_dimensions(labels, predictions)
        predictions.shape.assert_is_compatible_with(labels.shape)
    if weights is not None:
        weights = _aligned_weights(to_tensor(weights), predictions)
    return predictions, labels, weights


def _aligned_weights(weights: Tensor, predictions: Tensor) -> Tensor:
    rank, wanted = weights.shape.ndims, predictions.shape.ndims
    if rank == 0:
        return weights
    if rank is not None and wanted is not None:
        if rank - wanted == 1:
            return array.squeeze(weights, [-1])
        return array.expand_dims(weights, [-1]) if wanted - rank == 1 else weights
    weights_rank = array.rank(weights)
    excess = weights_rank - array.rank(predictions)
    squeezable = rank is None or weights.shape[-1].is_compatible_with(1)

    def expanded() -> Any:
        return cond(
            math.equal(excess, -1), lambda: array.expand_dims(weights, [-1]), lambda: weights
        )

    def adjusted() -> Any:
        return cond(
            math.equal(excess, 1),
            lambda: array.squeeze(weights, [-1]) if squeezable else weights,
            expanded,
        )

    return cond(math.equal(weights_rank, 0), lambda: weights, adjusted)


def as_row(x: Any) -> Any:
    """A tensor of more than one axis as a vector."""
    return array.reshape(x, [-1]) if x.shape.ndims > 1 else x


def broadcast(weights: Any, values: Tensor) -> Tensor:
    return broadcast_weights(math.cast(weights, float32), values)
