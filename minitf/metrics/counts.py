"""Metrics of two classes: true and false positives and negatives, precision, recall."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitf.default import control_dependencies
from minitf.metrics.base import Metric, aligned, collected, metric_variable
from minitf.operation import Tensor
from minitf.ops import array, check, math, state
from minitf.variable_scope import variable_scope
from minitf_runtime.types import bool_, float32


def _counter(name: str, label: bool, prediction: bool) -> Callable[..., Metric]:
    """The function that counts the pairs of this label and this prediction."""
    default_name = name

    def count(
        labels: Any,
        predictions: Any,
        weights: Any = None,
        metrics_collections: Any = None,
        updates_collections: Any = None,
        name: str | None = None,
    ) -> Metric:
        with variable_scope(name, default_name, [predictions, labels, weights]):
            predictions, labels, weights = _aligned_as_bool(predictions, labels, weights)
            found = math.logical_and(math.equal(labels, label), math.equal(predictions, prediction))
            value, update = _counted(found, weights)
            return collected(value, update, metrics_collections, updates_collections)

    count.__name__ = count.__qualname__ = name
    count.__doc__ = f"How often (by weight) a {prediction} prediction meets a {label} label."
    return count


def _aligned_as_bool(predictions: Any, labels: Any, weights: Any) -> tuple[Tensor, Tensor, Any]:
    predictions = math.cast(predictions, bool_)
    return aligned(predictions, math.cast(labels, bool_), weights)


def _counted(found: Tensor, weights: Any) -> Metric:
    check.assert_type(found, bool_)
    count = metric_variable([], float32, "count")
    values = math.cast(found, float32)
    if weights is not None:
        with control_dependencies([check.assert_rank_in(weights, (0, array.rank(values)))]):
            weights = math.cast(weights, float32)
            values = math.multiply(values, weights)
    return array.identity(count), state.assign_add(count, math.reduce_sum(values))


true_positives = _counter("true_positives", True, True)
true_negatives = _counter("true_negatives", False, False)
false_positives = _counter("false_positives", False, True)
false_negatives = _counter("false_negatives", True, False)


def precision(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Which share of the positive predictions was right."""
    return _share_of_hits(
        "precision", false_positives, labels, predictions, weights,
        metrics_collections, updates_collections, name,
    )  # fmt: skip


def recall(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Which share of the positive labels was predicted."""
    return _share_of_hits(
        "recall", false_negatives, labels, predictions, weights,
        metrics_collections, updates_collections, name,
    )  # fmt: skip


def _share_of_hits(
    default_name: str,
    misses: Callable[..., Metric],
    labels: Any,
    predictions: Any,
    weights: Any,
    metrics_collections: Any,
    updates_collections: Any,
    name: str | None,
) -> Metric:
    """True positives as a share of them and the misses."""
    with variable_scope(name, default_name, [predictions, labels, weights]):
        predictions, labels, weights = _aligned_as_bool(predictions, labels, weights)
        hit, new_hit = true_positives(labels, predictions, weights)
        missed, new_missed = misses(labels, predictions, weights)
        return collected(
            _share(hit, missed, "value"),
            _share(new_hit, new_missed, "update_op"),
            metrics_collections,
            updates_collections,
        )


def _share(hit: Tensor, missed: Tensor, name: str) -> Tensor:
    some = math.greater(hit + missed, 0)
    return array.where(some, math.div(hit, hit + missed), 0, name)
