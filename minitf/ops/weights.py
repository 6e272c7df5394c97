"""Weights of losses and metrics: whether they broadcast to the values, and broadcasting them."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitf.convert import to_tensor
from minitf.default import control_dependencies, name_scope
from minitf.operation import Operation, Tensor
from minitf.ops import array, math
from minitf.ops.apply import apply_op
from minitf.ops.control_flow import cond
from minitf.ops.debug import Assert
from minitf.ops.group import no_op

_PREFIX = "weights can not be broadcast to values."


def assert_broadcastable(weights: Any, values: Any) -> Operation:
    """An op that fails unless weights are a scalar, or of the values' rank with sizes equal or one.

    Raises ValueError where the shapes are known and do not fit.
    """
    with name_scope(None, "assert_broadcastable", [weights, values]) as scope:
        with name_scope(None, "weights", [weights]) as weights_scope:
            weights = to_tensor(weights, name=weights_scope)
            weights_shape = array.shape(weights, name="shape")
            weights_rank = array.rank(weights, name="rank")
        with name_scope(None, "values", [values]) as values_scope:
            values = to_tensor(values, name=values_scope)
            values_shape = array.shape(values, name="shape")
            values_rank = array.rank(values, name="rank")
        checked = _checked_now(weights, values)
        if checked:
            return no_op(name=checked)
        is_scalar = math.equal(0, weights_rank, name="is_scalar")
        data = [
            _PREFIX, "weights.shape=", weights.name, weights_shape,
            "values.shape=", values.name, values_shape, "is_scalar=", is_scalar,
        ]  # fmt: skip
        is_valid = cond(
            is_scalar,
            lambda: is_scalar,
            lambda: _fits(weights_rank, weights_shape, values_rank, values_shape),
            name="is_valid_shape",
        )
        return Assert(is_valid, data, name=scope)


def _checked_now(weights: Tensor, values: Tensor) -> str:
    """What could be checked of the static shapes; '' if they are not known. Raises ValueError."""
    ws, vs = weights._shape_tuple, values._shape_tuple
    if ws is None or vs is None:
        return ""
    if not ws:
        return "static_scalar_check_success"
    if len(ws) != len(vs):
        raise ValueError(
            f"{_PREFIX} values.rank={len(vs)}. weights.rank={len(ws)}. "
            f"values.shape={values.shape}. weights.shape={weights.shape}."
        )
    if None in ws or None in vs:
        return ""
    for i, (w, v) in enumerate(zip(ws, vs)):
        if w not in (1, v):
            raise ValueError(
                f"{_PREFIX} Mismatch at dim {i}. "
                f"values.shape={np.array(vs)} weights.shape={np.array(ws)}."
            )
    return "static_dims_check_success"


def _fits(weights_rank: Any, weights_shape: Any, values_rank: Any, values_shape: Any) -> Tensor:
    given = [weights_rank, weights_shape, values_rank, values_shape]
    with name_scope(None, "has_valid_nonscalar_shape", given) as scope:
        same_rank = math.equal(values_rank, weights_rank, name="is_same_rank")
        return cond(  # type: ignore[no-any-return]
            same_rank,
            lambda: _has_valid_dims(weights_shape, values_shape),
            lambda: same_rank,
            name=scope,
        )


def _has_valid_dims(weights_shape: Tensor, values_shape: Tensor) -> Tensor:
    """Whether each size of the weights is one or that of the values."""
    with name_scope(None, "has_invalid_dims", [weights_shape, values_shape]) as scope:
        sizes = array.expand_dims(values_shape, -1)
        valid = array.concat((sizes, array.ones_like(sizes)), axis=1)
        asked = array.expand_dims(weights_shape, -1)
        _, invalid, _ = apply_op("DenseToDenseSetOperation", asked, valid, set_operation="a-b")
        count = array.size(invalid, name="num_invalid_dims")
        return math.equal(0, count, name=scope)


def broadcast_weights(weights: Any, values: Any) -> Tensor:
    """Weights of the shape of the values."""
    with name_scope(None, "broadcast_weights", [weights, values]) as scope:
        values = to_tensor(values, name="values")
        weights = to_tensor(weights, values.dtype.base, name="weights")
        known = weights.shape.is_fully_defined() and values.shape.is_fully_defined()
        if known and weights.shape.is_compatible_with(values.shape):
            return weights
        with control_dependencies([assert_broadcastable(weights, values)]):
            return math.multiply(weights, array.ones_like(values), name=scope)


def remove_squeezable_dimensions(
    labels: Any, predictions: Any, expected_rank_diff: int = 0, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Drops the last axis, of size one, of whichever has one too many."""
    with name_scope(name, "remove_squeezable_dimensions", [labels, predictions]):
        predictions = to_tensor(predictions)
        labels = to_tensor(labels)
        known = predictions.shape.ndims, labels.shape.ndims
        if None not in known:
            excess = known[0] - known[1] - expected_rank_diff  # type: ignore[operator]
            if excess == 1:
                predictions = array.squeeze(predictions, [-1])
            elif excess == -1:
                labels = array.squeeze(labels, [-1])
            return labels, predictions
        difference = array.rank(predictions) - array.rank(labels)
        predictions = _squeeze_if(expected_rank_diff + 1, difference, predictions)
        labels = _squeeze_if(expected_rank_diff - 1, difference, labels)
        return labels, predictions


def _squeeze_if(wanted: int, difference: Tensor, x: Tensor) -> Tensor:
    shape = x._shape_tuple
    if shape is not None and not (shape and shape[-1] in (None, 1)):
        return x
    return cond(  # type: ignore[no-any-return]
        math.equal(wanted, difference), lambda: array.squeeze(x, [-1]), lambda: x
    )
