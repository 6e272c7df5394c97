"""Metrics of rankings: precision, recall and average precision of the k largest predictions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitf.default import control_dependencies, name_scope
from minitf.metrics.base import Metric, collected, metric_variable
from minitf.operation import Tensor
from minitf.ops import array, math, sets, state
from minitf.ops.control_flow import cond
from minitf.ops.reduction import reduced_shape
from minitf.ops.sorting import top_k
from minitf.ops.sparse import sparse_concat, sparse_reshape, sparse_retain
from minitf.ops.weights import assert_broadcastable, broadcast_weights
from minitf.sparse_tensor import SparseTensor, convert_to_tensor_or_sparse_tensor, is_sparse
from minitf_runtime.types import float64, int64


def _at_k(name: str, k: int | None, class_id: int | None = None) -> str:
    name = f"{name}_at_{'k' if k is None else k}"
    return name if class_id is None else f"{name}_class{class_id}"


# ---- precision and recall of the first k


def precision_at_top_k(
    labels: Any,
    predictions_idx: Any,
    k: int | None = None,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Which share of the classes predicted for each row are among its labels."""
    return _share(
        "precision", "false_positive", labels, predictions_idx, k, class_id, weights,
        metrics_collections, updates_collections, name,
    )  # fmt: skip


def recall_at_top_k(
    labels: Any,
    predictions_idx: Any,
    k: int | None = None,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Which share of each row's labels are among the classes predicted for it."""
    return _share(
        "recall", "false_negative", labels, predictions_idx, k, class_id, weights,
        metrics_collections, updates_collections, name,
    )  # fmt: skip


def _share(
    what: str,
    missed: str,
    labels: Any,
    predictions_idx: Any,
    k: int | None,
    class_id: int | None,
    weights: Any,
    metrics_collections: Any,
    updates_collections: Any,
    name: str | None,
) -> Metric:
    """True positives as a share of them and the missed."""
    values = [predictions_idx, labels, weights]
    with name_scope(name, _at_k(what, k, class_id), values) as scope:
        labels = _expanded_labels(labels, predictions_idx)
        chosen = math.cast(predictions_idx, int64)
        hit, new_hit = _counted("true_positive", labels, chosen, k, class_id, weights)
        miss, new_miss = _counted(missed, labels, chosen, k, class_id, weights)
        value = math.div(hit, math.add(hit, miss), name=scope)
        update = math.div(new_hit, math.add(new_hit, new_miss), name="update")
        return collected(value, update, metrics_collections, updates_collections)


def precision_at_k(
    labels: Any,
    predictions: Any,
    k: int,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """precision_at_top_k of the k largest predictions."""
    with name_scope(name, _at_k("precision", k, class_id), [predictions, labels, weights]) as scope:
        chosen = top_k(predictions, k).indices
        return precision_at_top_k(
            labels, chosen, k, class_id, weights, metrics_collections, updates_collections, scope
        )


sparse_precision_at_k = precision_at_k


def recall_at_k(
    labels: Any,
    predictions: Any,
    k: int,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """recall_at_top_k of the k largest predictions."""
    with name_scope(name, _at_k("recall", k, class_id), [predictions, labels, weights]) as scope:
        chosen = top_k(predictions, k).indices
        return recall_at_top_k(
            labels, chosen, k, class_id, weights, metrics_collections, updates_collections, scope
        )


# ---- counting in each row


def _true_positives(chosen: Any, labels: Any) -> SparseTensor:
    return sets.set_intersection(chosen, labels)


_FOUND: dict[str, Callable[..., SparseTensor]] = {
    "true_positive": _true_positives,
    "false_positive": lambda chosen, labels: sets.set_difference(chosen, labels),
    "false_negative": lambda chosen, labels: sets.set_difference(chosen, labels, aminusb=False),
}


def _counted(
    kind: str, labels: Any, chosen: Any, k: int | None, class_id: int | None, weights: Any
) -> Metric:
    with name_scope(None, _at_k(kind, k, class_id), [chosen, labels, weights]) as scope:
        found = _rows(kind, labels, chosen, class_id, weights)
        batch = math.cast(math.reduce_sum(found), float64)
        count = metric_variable([], float64, scope)
        return count, state.assign_add(count, batch, name="update")


def _rows(
    kind: str,
    labels: Any,
    chosen: Any,
    class_id: int | None = None,
    weights: Any = None,
    name: str | None = None,
) -> Tensor:
    """How many of that kind each row has (of one class, by weight): float64."""
    with name_scope(name, f"{kind}s", [chosen, labels, weights]):
        if class_id is not None:
            labels, chosen = _only(labels, class_id), _only(chosen, class_id)
        count = math.cast(sets.set_size(_FOUND[kind](chosen, labels)), float64)
        if weights is None:
            return count
        with control_dependencies([assert_broadcastable(weights, count)]):
            return math.multiply(count, math.cast(weights, float64))


def _only(ids: Any, class_id: int) -> SparseTensor:
    """The ids of one class, without the others."""
    ids = convert_to_tensor_or_sparse_tensor(ids)
    if isinstance(ids, SparseTensor):
        return sparse_retain(ids, math.equal(ids.values, class_id))
    shape = array.shape(ids, out_type=int64)
    last = array.size(shape) - 1
    one_each = reduced_shape(shape, array.reshape(last, [1]))
    wanted = array.fill(one_each, math.cast(class_id, int64))
    found = sets.set_intersection(wanted, ids)
    return SparseTensor(found.indices, found.values, shape)


def _expanded_labels(labels: Any, predictions: Any) -> Any:
    """Labels of one per row as rows of one, if the predictions are rows."""
    with name_scope(None, "expand_labels", [labels, predictions]) as scope:
        labels = convert_to_tensor_or_sparse_tensor(labels)
        if isinstance(labels, SparseTensor):
            one_less = math.equal(array.rank(predictions), array.size(labels.dense_shape) + 1)
            return cond(one_less, lambda: _with_last_axis(labels, scope), lambda: labels)
        rank, wanted = labels.shape.ndims, predictions.shape.ndims
        if rank is None or wanted is None:
            return cond(
                math.equal(array.rank(predictions), array.rank(labels) + 1),
                lambda: array.expand_dims(labels, -1, name=scope),
                lambda: labels,
            )
        if wanted == rank:
            return labels
        if wanted == rank + 1:
            return array.expand_dims(labels, -1, name=scope)
        raise ValueError(
            f"Unexpected labels shape {labels.shape} for predictions shape {predictions.shape}."
        )


def _with_last_axis(x: SparseTensor, name: str) -> SparseTensor:
    return sparse_reshape(x, array.concat((x.dense_shape, (1,)), 0), name=name)


# ---- average precision


def average_precision_at_k(
    labels: Any,
    predictions: Any,
    k: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The mean over rows of the precision at each of the k places that holds a label."""
    if k < 1:
        raise ValueError(f"Invalid k={k}.")
    name_values = [predictions, labels, weights]
    with name_scope(name, _at_k("average_precision", k), name_values) as scope:
        chosen = top_k(predictions, k).indices
        classes = math.cast(array.shape(predictions)[-1], int64)
        labels = _without_unknown(labels, classes)
        with name_scope(scope):
            precision = _average_precision(labels, chosen)
            return _mean_precision(
                precision, weights, metrics_collections, updates_collections, scope
            )


sparse_average_precision_at_k = average_precision_at_k


def _without_unknown(labels: Any, classes: Tensor) -> Any:
    """Labels that are no class as -1, which no prediction equals."""
    sparse = is_sparse(labels)

    def cleaned(values: Any) -> Tensor:
        unknown = math.greater_equal(values, classes)
        return array.where_v2(unknown, -1 * array.ones_like(values), values)

    def clean() -> Any:
        if not sparse:
            return cleaned(labels)
        return type(labels)(labels.indices, cleaned(labels.values), labels.dense_shape)

    largest = math.reduce_max(labels.values if sparse else labels)
    return cond(math.greater_equal(largest, classes), clean, lambda: labels)


def _average_precision(labels: Any, chosen: Any) -> Tensor:
    with name_scope(None, "average_precision", [chosen, labels]) as scope:
        chosen = math.cast(chosen, int64, name="predictions_idx")
        if chosen.shape.ndims == 0:
            raise ValueError("The rank of predictions_idx must be at least 1.")
        k = chosen.shape.as_list()[-1]
        if k is None:
            raise ValueError("The last dimension of predictions_idx must be set.")
        labels = _expanded_labels(labels, chosen)
        each = array.expand_dims(chosen, -1, name="predictions_idx_per_k")
        labels_each = _repeated(labels, k, "labels_per_k")
        relevant = _rows("true_positive", labels_each, each, name="relevant_per_k")
        hits = math.cumsum(relevant, axis=-1, name="tp_per_k")
        places = math.cumsum(array.ones_like(relevant), axis=-1, name="retrieved_per_k")
        precision = math.div(
            math.cast(hits, float64), math.cast(places, float64), name="precision_per_k"
        )
        relevant_precision = math.multiply(
            precision, math.cast(relevant, float64), name="relevant_precision_per_k"
        )
        total = math.reduce_sum(relevant_precision, axis=(-1,), name="precision_sum")
        return math.div(total, math.cast(_num_relevant(labels, k), float64), name=scope)


def _repeated(x: Any, k: int, name: str) -> Any:
    """Each row of labels k times, along a new axis before the last."""
    with name_scope(name, "expand_and_tile", [x]) as scope:
        x = convert_to_tensor_or_sparse_tensor(x)
        if isinstance(x, SparseTensor):
            place = array.reshape(array.size(x.dense_shape) + -1, [1])
            before = array.slice(x.dense_shape, [0], place)
            after = array.slice(x.dense_shape, place, [-1])
            shape = array.concat((before, [1], after), 0, name="expanded_shape")
            expanded = sparse_reshape(x, shape, name="expand")
            return expanded if k == 1 else sparse_concat(-2, [expanded] * k, name=scope)
        expanded = array.expand_dims(x, -2, name="expand")
        if k == 1:
            return expanded
        ones = array.ones_like(array.shape(x))
        multiples = array.concat((ones[:-1], (k,), ones[-1:]), 0, name="multiples")
        return array.tile(expanded, multiples, name=scope)


def _num_relevant(labels: Any, k: int) -> Tensor:
    with name_scope(None, "num_relevant", [labels]) as scope:
        labels = convert_to_tensor_or_sparse_tensor(labels)
        if isinstance(labels, SparseTensor):
            return math.minimum(sets.set_size(labels), k, name=scope)
        known = math.greater_equal(labels, 0)
        ones, zeros = array.ones_like(labels), array.zeros_like(labels)
        count = math.reduce_sum(array.where_v2(known, ones, zeros), axis=-1)
        return math.minimum(count, k, name=scope)


def _mean_precision(
    precision: Tensor,
    weights: Any,
    metrics_collections: Any,
    updates_collections: Any,
    name: str,
) -> Metric:
    if weights is not None:
        weights = broadcast_weights(math.cast(weights, float64), precision)
        precision = math.multiply(precision, weights)
    with name_scope(None, "max", [precision]) as scope:
        most = metric_variable([], float64, scope)
        if weights is None:
            batch = math.cast(array.size(precision, name="batch_max"), float64)
        else:
            batch = math.reduce_sum(weights, name="batch_max")
        new_most = state.assign_add(most, batch, name="update")
    with name_scope(None, "total", [precision]) as scope:
        total = metric_variable([], float64, scope)
        batch = math.reduce_sum(precision, name="batch_total")
        new_total = state.assign_add(total, batch, name="update")
    value = math.div_no_nan(total, most, name="mean")
    update = math.div_no_nan(new_total, new_most, name=name)
    return collected(value, update, metrics_collections, updates_collections)
