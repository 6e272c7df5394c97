"""The regularizers of contrib's layers: functions of weights that give a loss."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

from minitf import tf_logging as logging
from minitf.convert import constant, to_tensor
from minitf.default import GraphKeys, add_to_collection, get_collection, name_scope
from minitf.operation import Tensor
from minitf.ops import math, nn

Regularizer = Callable[..., Any]


def l1_regularizer(scale: Any, scope: str | None = None) -> Regularizer:
    """scale * sum of |weights|; nothing for a scale of 0. Raises ValueError for a bad scale."""
    return _scaled(
        scale, scope, "l1_regularizer", lambda weights: math.reduce_sum(math.abs(weights))
    )


def l2_regularizer(scale: Any, scope: str | None = None) -> Regularizer:
    """scale * sum of weights**2 / 2; nothing for a scale of 0. Raises ValueError."""
    return _scaled(scale, scope, "l2_regularizer", nn.l2_loss)


def _scaled(scale: Any, scope: str | None, default: str, norm: Regularizer) -> Regularizer:
    if isinstance(scale, numbers.Integral):
        raise ValueError(f"scale cannot be an integer: {scale}")
    if isinstance(scale, numbers.Real):
        if scale < 0.0:
            raise ValueError(f"Setting a scale less than 0 on a regularizer: {scale:g}")
        if scale == 0.0:
            logging.info("Scale of 0 disables regularizer.")
            return lambda _: None

    def regularizer(weights: Any, name: str | None = None) -> Tensor:
        with name_scope(scope, default, [weights]) as name:
            factor = to_tensor(scale, dtype=weights.dtype.base, name="scale")
            return math.multiply(factor, norm(weights), name=name)

    return regularizer


def l1_l2_regularizer(
    scale_l1: Any = 1.0, scale_l2: Any = 1.0, scope: str | None = None
) -> Regularizer | None:
    """The sum of both regularizers. Raises ValueError for a bad scale."""
    for name, scale in (("scale_l1", scale_l1), ("scale_l2", scale_l2)):
        if isinstance(scale, numbers.Integral):
            raise ValueError(f"{name} cannot be an integer: {scale}")
    scope = scope or "l1_l2_regularizer"
    if isinstance(scale_l1, numbers.Real) and scale_l1 == 0.0:
        return l2_regularizer(scale_l2, scope)
    if isinstance(scale_l2, numbers.Real) and scale_l2 == 0.0:
        return l1_regularizer(scale_l1, scope)
    return sum_regularizer([l1_regularizer(scale_l1), l2_regularizer(scale_l2)], scope)


def sum_regularizer(regularizer_list: Any, scope: str | None = None) -> Regularizer | None:
    """The sum of regularizers; None for none."""
    regularizers = [r for r in regularizer_list if r is not None]
    if not regularizers:
        return None

    def regularizer(weights: Any) -> Tensor | None:
        with name_scope(scope, "sum_regularizer", [weights]) as name:
            losses = [loss for r in regularizers if (loss := r(weights)) is not None]
            return math.add_n(losses, name=name) if losses else None

    return regularizer


def apply_regularization(regularizer: Regularizer, weights_list: Any = None) -> Tensor:
    """The regularizer's losses of all weights as one, also in REGULARIZATION_LOSSES.

    The weights are those given, or the collection WEIGHTS. Raises ValueError for none, and for a
    loss that is no scalar.
    """
    weights_list = weights_list or get_collection(GraphKeys.WEIGHTS)
    if not weights_list:
        raise ValueError("No weights to regularize.")
    with name_scope("get_regularization_penalty", values=weights_list) as scope:
        losses = [regularizer(weights) for weights in weights_list]
        losses = [constant(0.0) if loss is None else loss for loss in losses]
        for loss in losses:
            if loss.shape.ndims != 0:
                raise ValueError(
                    "regularizer must return a scalar Tensor instead of a Tensor with rank "
                    f"{loss.shape.ndims}."
                )
        total = math.add_n(losses, name=scope)
    add_to_collection(GraphKeys.REGULARIZATION_LOSSES, total)
    return total
