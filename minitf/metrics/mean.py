"""Metrics that are a mean: of values, of errors, of hits."""

from __future__ import annotations

from typing import Any

from minitf.default import control_dependencies
from minitf.metrics.base import Metric, aligned, as_row, broadcast, collected, metric_variable
from minitf.operation import Tensor
from minitf.ops import array, math, state
from minitf.ops.confusion import confusion_matrix
from minitf.ops.linalg import diag_part
from minitf.ops.weights import remove_squeezable_dimensions
from minitf.variable_scope import variable_scope
from minitf_runtime.types import float32, float64, int64


def mean(
    values: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The weighted mean of all values."""
    with variable_scope(name, "mean", [values, weights]):
        values = math.cast(values, float32)
        total = metric_variable([], float32, "total")
        count = metric_variable([], float32, "count")
        if weights is None:
            number = math.cast(array.size(values), float32)
        else:
            values, _, weights = aligned(values, None, weights)
            weights = broadcast(weights, values)
            values = math.multiply(values, weights)
            number = math.reduce_sum(weights)
        new_total = state.assign_add(total, math.reduce_sum(values))
        with control_dependencies([values]):
            new_count = state.assign_add(count, number)
        return collected(
            _ratio(total, count, "value"),
            _ratio(new_total, new_count, "update_op"),
            metrics_collections,
            updates_collections,
        )


def mean_tensor(
    values: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The weighted mean of the batches, element by element."""
    with variable_scope(name, "mean", [values, weights]):
        values = math.cast(values, float32)
        total = metric_variable(values.shape, float32, "total_tensor")
        count = metric_variable(values.shape, float32, "count_tensor")
        number = array.ones_like(values)
        if weights is not None:
            values, _, weights = aligned(values, None, weights)
            weights = broadcast(weights, values)
            values = math.multiply(values, weights)
            number = math.multiply(number, weights)
        new_total = state.assign_add(total, values)
        with control_dependencies([values]):
            new_count = state.assign_add(count, number)
        return collected(
            _ratio(total, count, "value"),
            _ratio(new_total, new_count, "update_op"),
            metrics_collections,
            updates_collections,
        )


def _ratio(total: Any, count: Any, name: str | None) -> Tensor:
    return math.div_no_nan(total, math.maximum(count, 0), name=name)


# ---- means of something about labels and predictions


def accuracy(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """How often predictions equal labels."""
    predictions, labels, weights = aligned(predictions, labels, weights)
    if labels.dtype is not predictions.dtype:
        predictions = math.cast(predictions, labels.dtype)
    hits = math.cast(math.equal(predictions, labels), float32)
    return mean(hits, weights, metrics_collections, updates_collections, name or "accuracy")


def mean_absolute_error(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    predictions, labels, weights = aligned(predictions, labels, weights)
    errors = math.abs(predictions - labels)
    name = name or "mean_absolute_error"
    return mean(errors, weights, metrics_collections, updates_collections, name)


def mean_squared_error(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    predictions, labels, weights = aligned(predictions, labels, weights)
    errors = math.squared_difference(labels, predictions)
    name = name or "mean_squared_error"
    return mean(errors, weights, metrics_collections, updates_collections, name)


def root_mean_squared_error(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    predictions, labels, weights = aligned(predictions, labels, weights)
    name = name or "root_mean_squared_error"
    squares, new_squares = mean_squared_error(labels, predictions, weights, name=name)
    root = math.sqrt(squares)
    return collected(root, math.sqrt(new_squares), metrics_collections, updates_collections)


def mean_relative_error(
    labels: Any,
    predictions: Any,
    normalizer: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The mean of |labels - predictions| / normalizer, zero where the normalizer is zero."""
    predictions, labels, weights = aligned(predictions, labels, weights)
    predictions, normalizer = remove_squeezable_dimensions(predictions, normalizer)
    predictions.shape.assert_is_compatible_with(normalizer.shape)
    errors = array.where(
        math.equal(normalizer, 0.0),
        array.zeros_like(labels),
        math.div(math.abs(labels - predictions), normalizer),
    )
    name = name or "mean_relative_error"
    return mean(errors, weights, metrics_collections, updates_collections, name)


def mean_cosine_distance(
    labels: Any,
    predictions: Any,
    dim: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """1 - sum(predictions * labels) along `dim`; both are taken to be normalised."""
    predictions, labels, weights = aligned(predictions, labels, weights)
    products = math.multiply(predictions, labels)
    cosines = math.reduce_sum(products, axis=[dim], keepdims=True)
    similarity, update = mean(cosines, weights, name=name or "mean_cosine_distance")
    distance = math.subtract(1.0, similarity)
    update = math.subtract(1.0, update)
    return collected(distance, update, metrics_collections, updates_collections)


def percentage_below(
    values: Any,
    threshold: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Which share of the values is less than the threshold."""
    below = math.cast(math.less(values, threshold), float32)
    name = name or "percentage_below_threshold"
    return mean(below, weights, metrics_collections, updates_collections, name)


# ---- means over classes


def mean_per_class_accuracy(
    labels: Any,
    predictions: Any,
    num_classes: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The mean of the classes' accuracies."""
    with variable_scope(name, "mean_accuracy", [predictions, labels, weights]):
        labels = as_row(math.cast(labels, int64))
        predictions = as_row(predictions)
        predictions.shape.assert_is_compatible_with(labels.shape)
        total = metric_variable([num_classes], float32, "total")
        count = metric_variable([num_classes], float32, "count")
        ones = array.ones([array.size(labels)], float32)
        if labels.dtype is not predictions.dtype:
            predictions = math.cast(predictions, labels.dtype)
        hits = math.cast(math.equal(predictions, labels), float32)
        if weights is not None:
            weights = math.cast(as_row(weights), float32)
            hits *= weights
            ones *= weights
        new_total = state.scatter_add(total, labels, ones)
        new_count = state.scatter_add(count, labels, hits)
        value = math.reduce_mean(_ratio(count, total, None), name="mean_accuracy")
        update = _ratio(new_count, new_total, "update_op")
        return collected(value, update, metrics_collections, updates_collections)


def mean_iou(
    labels: Any,
    predictions: Any,
    num_classes: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The mean of the classes' intersection over union; the update gives the confusion matrix."""
    with variable_scope(name, "mean_iou", [predictions, labels, weights]):
        predictions.shape.assert_is_compatible_with(labels.shape)
        matrix = metric_variable([num_classes, num_classes], float64, "total_confusion_matrix")
        predictions = math.cast(predictions, int64)
        labels = math.cast(labels, int64)
        classes = math.cast(num_classes, int64)
        predictions, labels = as_row(predictions), as_row(labels)
        if weights is not None:
            weights = as_row(weights)
        counted = confusion_matrix(labels, predictions, classes, float64, weights=weights)
        update = state.assign_add(matrix, counted)
        return collected(_iou(matrix), update, metrics_collections, updates_collections)


def _iou(matrix: Any) -> Tensor:
    """The mean over those classes that were seen or predicted at all."""
    predicted = math.cast(math.reduce_sum(matrix, 0), float32)
    labelled = math.cast(math.reduce_sum(matrix, 1), float32)
    both = math.cast(diag_part(matrix), float32)
    union = predicted + labelled - both
    valid = math.reduce_sum(math.cast(math.not_equal(union, 0), float32))
    union = array.where(math.greater(union, 0), union, array.ones_like(union))
    iou = math.div(both, union)
    seen = math.greater(valid, 0)
    return array.where(seen, math.reduce_sum(iou, name="mean_iou") / valid, 0)
