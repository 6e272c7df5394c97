"""Metrics that try several thresholds between the classes: *_at_thresholds, auc and its like."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from minitf import tf_logging
from minitf.convert import constant
from minitf.default import control_dependencies
from minitf.metrics.base import Metric, aligned, broadcast, collected, metric_variable
from minitf.operation import Tensor
from minitf.ops import array, check, math, state
from minitf.variable_scope import variable_scope
from minitf_runtime.types import bool_, float32, int32, int64

Counts = dict[str, Any]  # by kind: a vector with a count for each threshold
_KINDS = {
    "tp": "true_positives",
    "fn": "false_negatives",
    "tn": "true_negatives",
    "fp": "false_positives",
}
_TINY = 1e-7  # how far the outer thresholds lie beyond 0 and 1


def _counts(
    labels: Any, predictions: Any, thresholds: Sequence[float], weights: Any, *kinds: str
) -> tuple[Counts, Counts]:
    """How many of each kind (default: all) there are at each threshold: so far, and updated."""
    kinds = kinds or tuple(_KINDS)
    predictions, labels, weights = _checked(predictions, labels, weights)
    number = len(thresholds)
    column = array.reshape(predictions, [-1, 1])
    row = array.reshape(math.cast(labels, bool_), [1, -1])
    size = column.shape.as_list()[0]
    if size is None:
        size = array.shape(column)[0]
    limits = array.tile(array.expand_dims(constant(thresholds), [1]), array.stack([1, size]))
    places: dict[str, Tensor] = {}
    places["positive"] = math.greater(array.tile(array.transpose(column), [number, 1]), limits)
    if {"fn", "tn"} & set(kinds):
        places["negative"] = math.logical_not(places["positive"])
    places["true"] = array.tile(row, [number, 1])
    if {"fp", "tn"} & set(kinds):
        places["false"] = math.logical_not(places["true"])
    if weights is not None:
        weights = broadcast(weights, predictions)
        weights = array.tile(array.reshape(weights, [1, -1]), [number, 1])
        limits.shape.assert_is_compatible_with(weights.shape)
    values, updates = {}, {}
    for kind in _KINDS:
        if kind in kinds:
            values[kind], updates[kind] = _count(kind, places, weights, number)
    return values, updates


def _checked(predictions: Any, labels: Any, weights: Any) -> tuple[Tensor, Tensor, Any]:
    message = "predictions must be in [0, 1]"
    zero = math.cast(0.0, predictions.dtype)
    above = check.assert_greater_equal(predictions, zero, message=message)
    one = math.cast(1.0, predictions.dtype)
    below = check.assert_less_equal(predictions, one, message=message)
    with control_dependencies([above, below]):
        predictions = math.cast(predictions, float32)
        return aligned(predictions, math.cast(labels, bool_), weights)


def _count(kind: str, places: dict[str, Tensor], weights: Any, number: int) -> Metric:
    label = "true" if kind in ("tp", "fn") else "false"
    prediction = "positive" if kind in ("tp", "fp") else "negative"
    count = metric_variable([number], float32, _KINDS[kind])
    found = math.cast(math.logical_and(places[label], places[prediction]), float32)
    if weights is not None:
        found *= weights
    return count, state.assign_add(count, math.reduce_sum(found, 1))


# ---- counts and shares at given thresholds


def _at_thresholds(kind: str) -> Callable[..., Metric]:
    def count(
        labels: Any,
        predictions: Any,
        thresholds: Sequence[float],
        weights: Any = None,
        metrics_collections: Any = None,
        updates_collections: Any = None,
        name: str | None = None,
    ) -> Metric:
        with variable_scope(name, _KINDS[kind], [predictions, labels, weights]):
            values, updates = _counts(labels, predictions, thresholds, weights, kind)
            value = array.identity(values[kind])
            return collected(value, updates[kind], metrics_collections, updates_collections)

    count.__name__ = count.__qualname__ = f"{_KINDS[kind]}_at_thresholds"
    count.__doc__ = f"The {_KINDS[kind].replace('_', ' ')} if more than a threshold is positive."
    return count


true_positives_at_thresholds = _at_thresholds("tp")
true_negatives_at_thresholds = _at_thresholds("tn")
false_positives_at_thresholds = _at_thresholds("fp")
false_negatives_at_thresholds = _at_thresholds("fn")


def _share_at_thresholds(share: str, missed: str, what: str) -> Callable[..., Metric]:
    def metric(
        labels: Any,
        predictions: Any,
        thresholds: Sequence[float],
        weights: Any = None,
        metrics_collections: Any = None,
        updates_collections: Any = None,
        name: str | None = None,
    ) -> Metric:
        scope = f"{share}_at_thresholds"
        with variable_scope(name, scope, [predictions, labels, weights]):
            values, updates = _counts(labels, predictions, thresholds, weights, "tp", missed)
            value, update = (
                math.div(c["tp"], _TINY + c["tp"] + c[missed], name=f"{share}_{which}")
                for c, which in ((values, "value"), (updates, "update_op"))
            )
            return collected(value, update, metrics_collections, updates_collections)

    metric.__name__ = metric.__qualname__ = f"{share}_at_thresholds"
    metric.__doc__ = f"Which share of the positive {what} was right, at each threshold."
    return metric


precision_at_thresholds = _share_at_thresholds("precision", "fp", "predictions")
recall_at_thresholds = _share_at_thresholds("recall", "fn", "labels")


# ---- one number from many thresholds


def _spread(number: int, last: float = 1.0 + _TINY) -> list[float]:
    """Thresholds at equal distances, the first below 0 and the last beyond 1."""
    inner = [(i + 1) * 1.0 / (number - 1) for i in range(number - 2)]
    return [0.0 - _TINY, *inner, last]


def auc(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    curve: str = "ROC",
    name: str | None = None,
    summation_method: str = "trapezoidal",
    thresholds: Sequence[float] | None = None,
) -> Metric:
    """The area under the ROC or the precision-recall ("PR") curve."""
    with variable_scope(name, "auc", [labels, predictions, weights]):
        if curve not in ("ROC", "PR"):
            raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
        if thresholds is None:
            limits = _spread(num_thresholds)
        else:
            limits = [0.0 - _TINY, *sorted(thresholds), 1.0 + _TINY]
        values, updates = _counts(labels, predictions, limits, weights)
        return collected(
            _area(values, curve, summation_method, "value"),
            _area(updates, curve, summation_method, "update_op"),
            metrics_collections,
            updates_collections,
        )


_HEIGHTS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "trapezoidal": lambda left, right: (left + right) / 2.0,
    "careful_interpolation": lambda left, right: (left + right) / 2.0,
    "minoring": lambda left, right: math.minimum(left, right),
    "majoring": lambda left, right: math.maximum(left, right),
}


def _area(c: Counts, curve: str, method: str, name: str) -> Tensor:
    if curve == "PR" and method == "careful_interpolation":
        return _interpolated_area(c["tp"], c["fp"], c["fn"])
    if curve == "PR" and method == "trapezoidal":
        tf_logging.warning(
            "Trapezoidal rule is known to produce incorrect PR-AUCs; "
            'please switch to "careful_interpolation" instead.'
        )
    if method not in _HEIGHTS:
        raise ValueError(f"Invalid summation_method: {method}")
    epsilon = 1.0e-6
    y = math.div(c["tp"] + epsilon, c["tp"] + c["fn"] + epsilon)
    if curve == "ROC":
        x = math.div(c["fp"], c["fp"] + c["tn"] + epsilon)
    else:
        x, y = y, math.div(c["tp"] + epsilon, c["tp"] + c["fp"] + epsilon)
    last = x.shape.as_list()[0] - 1
    widths = x[:last] - x[1:]
    return math.reduce_sum(math.multiply(widths, _HEIGHTS[method](y[:last], y[1:])), name=name)


def _interpolated_area(tp: Any, fp: Any, fn: Any) -> Tensor:
    """The area under the PR curve, true positives going linearly with positives between points.

    J. Davis and M. Goadrich, "The relationship between precision-recall and ROC curves", 2006.
    """
    last = tp.shape.as_list()[0] - 1
    gained = tp[:last] - tp[1:]
    p = tp + fp
    slope = math.div_no_nan(gained, math.maximum(p[:last] - p[1:], 0), name="prec_slope")
    intercept = tp[1:] - math.multiply(slope, p[1:])
    ratio = array.where(
        math.logical_and(p[:last] > 0, p[1:] > 0),
        math.div_no_nan(p[:last], math.maximum(p[1:], 0), name="recall_relative_ratio"),
        array.ones_like(p[1:]),
    )
    increment = math.div_no_nan(
        slope * (gained + intercept * math.log(ratio)),
        math.maximum(tp[1:] + fn[1:], 0),
        name="pr_auc_increment",
    )
    return math.reduce_sum(increment, name="interpolate_pr_auc")


def sensitivity_at_specificity(
    labels: Any,
    predictions: Any,
    specificity: float,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The recall at the threshold where the true negative rate comes closest to `specificity`."""
    if not 0 <= specificity <= 1:
        raise ValueError("`specificity` must be in the range [0, 1].")

    def sensitivity(c: Counts, name: str) -> Tensor:
        specificities = math.div(c["tn"], c["tn"] + c["fp"] + _TINY)
        best = math.argmin(math.abs(specificities - specificity), 0)
        best = math.cast(best, int32)
        return math.div(c["tp"][best], c["tp"][best] + c["fn"][best] + _TINY, name)

    with variable_scope(name, "sensitivity_at_specificity", [predictions, labels, weights]):
        limits = _spread(num_thresholds)
        values, updates = _counts(labels, predictions, limits, weights)
        value, update = sensitivity(values, "value"), sensitivity(updates, "update_op")
        return collected(value, update, metrics_collections, updates_collections)


def specificity_at_sensitivity(
    labels: Any,
    predictions: Any,
    sensitivity: float,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The true negative rate at the last threshold where recall is closest to `sensitivity`."""
    if not 0 <= sensitivity <= 1:
        raise ValueError("`sensitivity` must be in the range [0, 1].")

    def specificity(c: Counts, name: str) -> Tensor:
        sensitivities = math.div(c["tp"], c["tp"] + c["fn"] + _TINY)
        least = math.reduce_min(math.abs(sensitivities - sensitivity))
        closest = math.equal(math.abs(sensitivities - sensitivity), least)
        best = math.argmax(math.cumsum(math.cast(closest, int64)), 0)
        best = math.cast(best, int32)
        return math.div(c["tn"][best], c["tn"][best] + c["fp"][best] + _TINY, name)

    with variable_scope(name, "specificity_at_sensitivity", [predictions, labels, weights]):
        limits = _spread(num_thresholds, last=1.0 - _TINY)
        values, updates = _counts(labels, predictions, limits, weights)
        value, update = specificity(values, "value"), specificity(updates, "update_op")
        return collected(value, update, metrics_collections, updates_collections)
