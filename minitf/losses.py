"""tf.losses: weighted losses that are put into a collection, and their sum."""

from __future__ import annotations

from typing import Any

from minitf.convert import constant, to_tensor
from minitf.default import (
    GraphKeys,
    add_to_collection,
    control_dependencies,
    get_collection,
    name_scope,
)
from minitf.operation import Tensor
from minitf.ops import array, math
from minitf.ops.arguments import renamed
from minitf.ops.control_flow import cond
from minitf.ops.cross_entropy import (
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits_v2,
    sparse_softmax_cross_entropy_with_logits,
)
from minitf.ops.nn import relu
from minitf.ops.weights import (
    assert_broadcastable,
    broadcast_weights,
    remove_squeezable_dimensions,
)
from minitf_runtime.types import float32

__all__ = [
    "Reduction", "absolute_difference", "add_loss", "compute_weighted_loss", "cosine_distance",
    "get_losses", "get_regularization_loss", "get_regularization_losses", "get_total_loss",
    "hinge_loss", "huber_loss", "log_loss", "mean_pairwise_squared_error", "mean_squared_error",
    "sigmoid_cross_entropy", "softmax_cross_entropy", "sparse_softmax_cross_entropy",
]  # fmt: skip


class Reduction:
    """How weighted losses become one number (TF: losses.Reduction)."""

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"
    SUM_OVER_NONZERO_WEIGHTS = SUM_BY_NONZERO_WEIGHTS

    @classmethod
    def all(cls) -> tuple[str, ...]:
        return (
            cls.NONE, cls.SUM, cls.MEAN, cls.SUM_OVER_BATCH_SIZE, cls.SUM_OVER_NONZERO_WEIGHTS,
            cls.SUM_BY_NONZERO_WEIGHTS,
        )  # fmt: skip

    @classmethod
    def validate(cls, key: str) -> None:
        if key not in cls.all():
            raise ValueError(f"Invalid Reduction Key {key}.")


# ---- the collection


def add_loss(loss: Tensor, loss_collection: str | None = GraphKeys.LOSSES) -> None:
    if loss_collection:
        add_to_collection(loss_collection, loss)


def get_losses(scope: str | None = None, loss_collection: str = GraphKeys.LOSSES) -> list[Tensor]:
    return get_collection(loss_collection, scope)


def get_regularization_losses(scope: str | None = None) -> list[Tensor]:
    return get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)


def get_regularization_loss(
    scope: str | None = None, name: str = "total_regularization_loss"
) -> Tensor:
    """The sum of the regularization losses, zero if there are none."""
    losses = get_regularization_losses(scope)
    return math.add_n(losses, name=name) if losses else constant(0.0)


def get_total_loss(
    add_regularization_losses: bool = True, name: str = "total_loss", scope: str | None = None
) -> Tensor:
    """The sum of all losses. Raises ValueError if there are none."""
    losses = get_losses(scope)
    if add_regularization_losses:
        losses += get_regularization_losses(scope)
    return math.add_n(losses, name=name)


# ---- weighting


def compute_weighted_loss(
    losses: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """losses * weights, reduced to one number; it is put into the collection."""
    Reduction.validate(reduction)
    with (
        name_scope(scope, "weighted_loss", [losses, weights]),
        control_dependencies([assert_broadcastable(weights, losses)]),
    ):
        losses = to_tensor(losses)
        dtype = losses.dtype
        losses = math.cast(losses, float32)
        weights = math.cast(weights, float32)
        loss = _reduce(math.multiply(losses, weights), losses, weights, reduction)
        loss = math.cast(loss, dtype)
        add_loss(loss, loss_collection)
        return loss


def _reduce(weighted: Tensor, losses: Tensor, weights: Tensor, reduction: str) -> Tensor:
    if reduction == Reduction.NONE:
        return weighted
    loss = math.reduce_sum(weighted)
    if reduction == Reduction.MEAN:
        return _mean(loss, math.reduce_sum(array.ones_like(losses) * weights))
    if reduction == Reduction.SUM_BY_NONZERO_WEIGHTS:
        return _mean(loss, _num_present(losses, weights))
    if reduction == Reduction.SUM_OVER_BATCH_SIZE:
        return _mean(loss, _num_elements(losses))
    return loss


def _mean(losses: Tensor, count: Tensor) -> Tensor:
    return math.div_no_nan(math.reduce_sum(losses), count, name="value")


def _num_present(losses: Tensor, weights: Tensor, per_batch: bool = False) -> Tensor:
    """How many elements have a weight that is not zero, in all or in each row of the batch."""
    with name_scope(None, "num_present", [losses, weights]) as scope:
        weights = math.cast(weights, float32)
        present = array.where(
            math.equal(weights, 0.0), array.zeros_like(weights), array.ones_like(weights)
        )
        present = broadcast_weights(present, losses)
        if per_batch:
            axes = math.range(1, array.rank(present))
            return math.reduce_sum(present, axis=axes, keepdims=True, name=scope)
        return math.reduce_sum(present, name=scope)


def _num_elements(losses: Tensor) -> Tensor:
    with name_scope(None, "num_elements", [losses]) as scope:
        return math.cast(array.size(losses, name=scope), losses.dtype)


# ---- losses


def _check_given(**values: Any) -> None:
    for name, value in values.items():
        if value is None:
            raise ValueError(f"{name} must not be None.")


def _of_floats(first: Any, labels: Any) -> tuple[Tensor, Tensor]:
    """Predictions (or logits) and labels as float32 of compatible shapes."""
    first = math.cast(first, float32)
    labels = math.cast(labels, float32)
    first.shape.assert_is_compatible_with(labels.shape)
    return first, labels


def absolute_difference(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """|predictions - labels|."""
    _check_given(labels=labels, predictions=predictions)
    with name_scope(scope, "absolute_difference", [predictions, labels, weights]) as scope:
        predictions, labels = _of_floats(predictions, labels)
        losses = math.abs(math.subtract(predictions, labels))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def cosine_distance(
    labels: Any,
    predictions: Any,
    axis: int | None = None,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
    dim: int | None = None,
) -> Tensor:
    """1 - sum(predictions * labels) along `axis`; both are taken to be normalised."""
    axis = renamed("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("You must specify 'axis'.")
    _check_given(labels=labels, predictions=predictions)
    with name_scope(scope, "cosine_distance_loss", [predictions, labels, weights]) as scope:
        predictions, labels = _of_floats(predictions, labels)
        products = math.multiply(predictions, labels)
        losses = 1 - math.reduce_sum(products, axis=(axis,), keepdims=True)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def hinge_loss(
    labels: Any,
    logits: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """max(0, 1 - y * logits), y being -1 or 1 for labels 0 and 1."""
    _check_given(labels=labels, logits=logits)
    with name_scope(scope, "hinge_loss", [logits, labels, weights]) as scope:
        logits, labels = _of_floats(logits, labels)
        ones = array.ones_like(labels)
        labels = math.subtract(2 * labels, ones)
        losses = relu(math.subtract(ones, math.multiply(labels, logits)))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def huber_loss(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    delta: float = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """Half the squared error where it is at most `delta`, linear beyond."""
    _check_given(labels=labels, predictions=predictions)
    with name_scope(scope, "huber_loss", [predictions, labels, weights]) as scope:
        predictions, labels = _of_floats(predictions, labels)
        error = math.abs(math.subtract(predictions, labels))
        quadratic = math.minimum(error, delta)
        linear = math.subtract(error, quadratic)
        half = to_tensor(0.5, quadratic.dtype)
        losses = math.add(
            math.multiply(half, math.multiply(quadratic, quadratic)), math.multiply(delta, linear)
        )
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def log_loss(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    epsilon: float = 1e-7,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """Cross entropy of predicted probabilities."""
    _check_given(labels=labels, predictions=predictions)
    with name_scope(scope, "log_loss", [predictions, labels, weights]) as scope:
        predictions, labels = _of_floats(predictions, labels)
        positive = -math.multiply(labels, math.log(predictions + epsilon))
        losses = positive - math.multiply(1 - labels, math.log(1 - predictions + epsilon))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def mean_pairwise_squared_error(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
) -> Tensor:
    """The squared error of the differences between all pairs of elements of a row."""
    _check_given(labels=labels, predictions=predictions)
    with name_scope(scope, "mean_pairwise_squared_error", [predictions, labels, weights]):
        weights = math.cast(weights, float32)
        labels = math.cast(labels, float32)
        with control_dependencies([assert_broadcastable(weights, labels)]):
            predictions = math.cast(predictions, float32)
            predictions.shape.assert_is_compatible_with(labels.shape)
            loss = _pairwise_loss(math.subtract(predictions, labels), weights)
            add_loss(loss, loss_collection)
            return loss


def _pairwise_loss(diffs: Tensor, weights: Tensor) -> Tensor:
    axes = math.range(1, array.rank(diffs))
    squares = math.reduce_sum(math.square(diffs), axis=axes, keepdims=True)
    present = _num_present(diffs, weights, per_batch=True)
    own = 2.0 * math.div_no_nan(squares, math.maximum(present - 1, 0), name="value")
    total = math.square(math.reduce_sum(diffs, axis=axes, keepdims=True))
    pairs = math.maximum(math.multiply(present, present - 1), 0)
    crossed = 2.0 * math.div_no_nan(total, pairs, name="value")
    loss = math.reduce_sum(math.multiply(own - crossed, weights))
    any_present = math.reduce_sum(present) > 0
    return array.where(any_present, loss, array.zeros_like(loss), name="value")


def mean_squared_error(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """(predictions - labels) ** 2."""
    _check_given(labels=labels, predictions=predictions)
    with name_scope(scope, "mean_squared_error", [predictions, labels, weights]) as scope:
        predictions, labels = _of_floats(predictions, labels)
        losses = math.squared_difference(predictions, labels)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def sigmoid_cross_entropy(
    multi_class_labels: Any,
    logits: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """Cross entropy of independent classes; smoothing moves labels towards one half."""
    _check_given(multi_class_labels=multi_class_labels, logits=logits)
    values = [logits, multi_class_labels, weights]
    with name_scope(scope, "sigmoid_cross_entropy_loss", values) as scope:
        logits = to_tensor(logits)
        labels = math.cast(multi_class_labels, logits.dtype)
        logits.shape.assert_is_compatible_with(labels.shape)
        if label_smoothing > 0:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        losses = sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def softmax_cross_entropy(
    onehot_labels: Any,
    logits: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """Cross entropy of one class of many; smoothing moves labels towards equal shares."""
    _check_given(onehot_labels=onehot_labels, logits=logits)
    with name_scope(scope, "softmax_cross_entropy_loss", [logits, onehot_labels, weights]) as scope:
        logits = to_tensor(logits)
        labels = math.cast(onehot_labels, logits.dtype)
        logits.shape.assert_is_compatible_with(labels.shape)
        if label_smoothing > 0:
            classes = math.cast(array.shape(labels)[-1], logits.dtype)
            smooth_negatives = label_smoothing / classes
            labels = labels * (1.0 - label_smoothing) + smooth_negatives
        labels = array.stop_gradient(labels, name="labels_stop_gradient")
        losses = softmax_cross_entropy_with_logits_v2(labels, logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def sparse_softmax_cross_entropy(
    labels: Any,
    logits: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """Cross entropy of one class of many, labels being class numbers."""
    _check_given(labels=labels, logits=logits)
    with name_scope(scope, "sparse_softmax_cross_entropy_loss", [logits, labels, weights]) as scope:
        labels, logits = remove_squeezable_dimensions(labels, logits, expected_rank_diff=1)
        weights = _squeezed_weights(labels, weights)
        losses = sparse_softmax_cross_entropy_with_logits(
            labels=labels, logits=logits, name="xentropy"
        )
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def _squeezed_weights(labels: Tensor, weights: Any) -> Any:
    """Weights without a last axis of size one that the labels do not have."""
    if weights is None:
        return None
    weights = to_tensor(weights)
    shape = weights._shape_tuple
    if shape is not None and labels.shape.ndims is not None:
        extra = len(shape) - labels.shape.ndims
        return array.squeeze(weights, [-1]) if extra == 1 else weights
    difference = array.rank(weights) - array.rank(labels)
    if shape is None or (shape and shape[-1] in (None, 1)):
        return cond(
            math.equal(1, difference), lambda: array.squeeze(weights, [-1]), lambda: weights
        )
    return weights
