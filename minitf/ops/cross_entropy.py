"""Losses of tf.nn: cross entropies of labels and logits, and the Poisson loss."""

from __future__ import annotations

import math as pymath
from typing import Any

from minitf.convert import constant, to_tensor
from minitf.default import control_dependencies, name_scope
from minitf.operation import Tensor
from minitf.ops import array, math
from minitf.ops.apply import apply_op
from minitf.ops.arguments import renamed
from minitf.ops.check import assert_equal
from minitf.ops.nn import relu
from minitf.tensor_shape import TensorShape
from minitf_runtime.types import float16, float32


def _check_named(name: str, sentinel: Any, labels: Any, logits: Any) -> None:
    if sentinel is not None:
        raise ValueError(f"Only call `{name}` with named arguments (labels=..., logits=..., ...)")
    if labels is None or logits is None:
        raise ValueError("Both labels and logits must be provided.")


def _check_same_shape(first: str, a: Tensor, second: str, b: Tensor) -> None:
    try:
        a.shape.merge_with(b.shape)
    except ValueError:
        raise ValueError(
            f"{first} and {second} must have the same shape ({b.shape} vs {a.shape})"
        ) from None


# ---- one of many classes


def softmax_cross_entropy_with_logits_v2(
    labels: Any, logits: Any, axis: Any = None, name: str | None = None, dim: Any = None
) -> Tensor:
    """-sum(labels * log_softmax(logits)) along `axis`; gradients flow into both."""
    axis = renamed("axis", axis, "dim", dim)
    if axis is None:
        axis = -1
    with name_scope(name, "softmax_cross_entropy_with_logits", [logits, labels]) as name:
        logits = to_tensor(logits, name="logits")
        labels = to_tensor(labels, name="labels")
        precise = math.cast(logits, float32) if logits.dtype is float16 else logits
        labels = math.cast(labels, precise.dtype)
        rank = array.rank(precise)
        shape = logits.shape
        if axis != -1:
            precise = _move_to_end(precise, axis, rank)
            labels = _move_to_end(labels, axis, rank)
        input_shape = array.shape(precise)
        precise = _flatten_outer(precise)
        labels = _flatten_outer(labels)
        cost, _ = apply_op("SoftmaxCrossEntropyWithLogits", precise, labels, name=name)
        output_shape = array.slice(input_shape, [0], [math.subtract(rank, 1)])
        cost = array.reshape(cost, output_shape)
        if shape.dims is not None:
            sizes = shape.as_list()
            del sizes[axis]
            cost.set_shape(sizes)
        return math.cast(cost, logits.dtype) if logits.dtype is float16 else cost


def _move_to_end(x: Tensor, axis: Any, rank: Tensor) -> Tensor:
    order = array.concat([math.range(axis), math.range(axis + 1, rank), [axis]], 0)
    return array.transpose(x, order)


def _flatten_outer(logits: Tensor) -> Tensor:
    """All axes but the last made one."""
    rank = array.rank(logits)
    last = array.slice(array.shape(logits), [math.subtract(rank, 1)], [1])
    out = array.reshape(logits, array.concat([[-1], last], 0))
    shape = logits._shape_tuple
    if shape is not None and None not in shape[:-1]:
        out.set_shape([pymath.prod(shape[:-1]), shape[-1]])  # type: ignore[type-var]
    return out


def softmax_cross_entropy_with_logits(
    _sentinel: Any = None,
    labels: Any = None,
    logits: Any = None,
    dim: Any = -1,
    name: str | None = None,
    axis: Any = None,
) -> Tensor:
    """The same with labels that take no gradient."""
    axis = dim if axis is None else axis
    _check_named("softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    with name_scope(name, "softmax_cross_entropy_with_logits_sg", [logits, labels]) as name:
        labels = array.stop_gradient(labels, name="labels_stop_gradient")
    return softmax_cross_entropy_with_logits_v2(labels, logits, axis=axis, name=name)


def sparse_softmax_cross_entropy_with_logits(
    _sentinel: Any = None, labels: Any = None, logits: Any = None, name: str | None = None
) -> Tensor:
    """-log_softmax(logits)[labels]: labels are class numbers, logits have one more axis.

    Raises ValueError when the shapes do not fit.
    """
    _check_named("sparse_softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    with name_scope(name, "SparseSoftmaxCrossEntropyWithLogits", [labels, logits]):
        labels = to_tensor(labels)
        logits = to_tensor(logits)
        half = logits.dtype is float16
        precise = math.cast(logits, float32) if half else logits
        labels_shape = array.shape(labels)
        known = _check_sparse_shapes(labels.shape, logits.shape)
        if logits.shape.ndims == 2:
            cost = _sparse_cost(precise, labels, name)
            return math.cast(cost, float16) if half else cost
        checks = []
        if not known:
            checks.append(assert_equal(array.shape(labels), array.shape(logits)[:-1]))
        with control_dependencies(checks):
            classes = array.shape(logits)[array.rank(logits) - 1]
            precise = array.reshape(precise, [-1, classes])
            static = labels.shape
            labels = array.reshape(labels, [-1])
            cost = array.reshape(_sparse_cost(precise, labels, name), labels_shape)
            cost.set_shape(static)
            return math.cast(cost, float16) if half else cost


def _sparse_cost(logits: Tensor, labels: Tensor, name: str | None) -> Tensor:
    cost, _ = apply_op("SparseSoftmaxCrossEntropyWithLogits", logits, labels, name=name)
    return cost  # type: ignore[no-any-return]


def _check_sparse_shapes(labels: TensorShape, logits: TensorShape) -> bool:
    """Whether both shapes are known. Raises ValueError if they do not fit."""
    known = labels.is_fully_defined() and logits[:-1].is_fully_defined()
    if logits.ndims == 0:
        raise ValueError(f"Logits cannot be scalars - received shape {logits}.")
    if None not in (labels.ndims, logits.ndims) and labels.ndims != logits.ndims - 1:
        raise ValueError(
            f"Rank mismatch: Rank of labels (received {labels.ndims}) should equal rank of logits "
            f"minus 1 (received {logits.ndims})."
        )
    if known and labels != logits[:-1]:
        raise ValueError(
            f"Shape mismatch: The shape of labels (received {labels}) should equal the shape of "
            f"logits except for the last dimension (received {logits})."
        )
    return known


# ---- many independent classes


def sigmoid_cross_entropy_with_logits(
    _sentinel: Any = None, labels: Any = None, logits: Any = None, name: str | None = None
) -> Tensor:
    """Cross entropy of independent labels in [0, 1], elementwise."""
    _check_named("sigmoid_cross_entropy_with_logits", _sentinel, labels, logits)
    with name_scope(name, "logistic_loss", [logits, labels]) as name:
        logits = to_tensor(logits, name="logits")
        labels = to_tensor(labels, name="labels")
        _check_same_shape("logits", labels, "labels", logits)
        zeros = array.zeros_like(logits, dtype=logits.dtype)
        positive = logits >= zeros
        relu_logits = array.where(positive, logits, zeros)
        neg_abs = array.where(positive, -logits, logits)
        return math.add(relu_logits - logits * labels, math.log1p(math.exp(neg_abs)), name=name)


def weighted_cross_entropy_with_logits(
    labels: Any = None,
    logits: Any = None,
    pos_weight: Any = None,
    name: str | None = None,
    targets: Any = None,
) -> Tensor:
    """sigmoid cross entropy in which positive labels count `pos_weight` times."""
    labels = renamed("labels", labels, "targets", targets)
    with name_scope(name, "logistic_loss", [logits, labels]) as name:
        logits = to_tensor(logits, name="logits")
        labels = to_tensor(labels, name="labels")
        _check_same_shape("logits", labels, "labels", logits)
        log_weight = 1 + (pos_weight - 1) * labels
        negative = (1 - labels) * logits
        softplus = math.log1p(math.exp(-math.abs(logits))) + relu(-logits)
        return math.add(negative, log_weight * softplus, name=name)


def log_poisson_loss(
    targets: Any, log_input: Any, compute_full_loss: bool = False, name: str | None = None
) -> Tensor:
    """exp(log_input) - log_input * targets, and Stirling's term when the full loss is asked for."""
    with name_scope(name, "log_poisson_loss", [log_input, targets]):
        log_input = to_tensor(log_input, name="log_input")
        targets = to_tensor(targets, name="targets")
        _check_same_shape("log_input", targets, "targets", log_input)
        result = math.exp(log_input) - log_input * targets
        if compute_full_loss:
            result = result + _stirling(targets)
        return result


def _stirling(targets: Tensor) -> Tensor:
    """The logarithm of targets! for targets above one, else zero."""
    half = constant(0.5, targets.dtype)
    two_pi = constant(2 * pymath.pi, targets.dtype)
    approximation = targets * math.log(targets) - targets + half * math.log(two_pi * targets)
    zeros = array.zeros_like(targets, dtype=targets.dtype)
    ones = array.ones_like(targets, dtype=targets.dtype)
    small = math.logical_and(targets >= zeros, targets <= ones)
    return array.where(small, zeros, approximation)
