"""The cross entropy of sequences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitf.default import name_scope
from minitf.operation import Tensor
from minitf.ops import array, math
from minitf.ops.cross_entropy import sparse_softmax_cross_entropy_with_logits


def sequence_loss(
    logits: Any,
    targets: Any,
    weights: Any,
    average_across_timesteps: bool = True,
    average_across_batch: bool = True,
    sum_over_timesteps: bool = False,
    sum_over_batch: bool = False,
    softmax_loss_function: Callable[..., Any] | None = None,
    name: str | None = None,
) -> Tensor:
    """The weighted cross entropy of logits [batch, time, symbols] and targets [batch, time].

    An average is over the sum of the weights [batch, time]; a sum is over the count of those that
    are not zero. An axis with neither stays. Raises ValueError.
    """
    _check_rank(logits, 3, "Logits must be a [batch_size x sequence_length x logits] tensor")
    _check_rank(targets, 2, "Targets must be a [batch_size x sequence_length] tensor")
    _check_rank(weights, 2, "Weights must be a [batch_size x sequence_length] tensor")
    for axis, average, total in (
        ("timesteps", average_across_timesteps, sum_over_timesteps),
        ("batch", average_across_batch, sum_over_batch),
    ):
        if average and total:
            raise ValueError(
                f"average_across_{axis} and sum_over_{axis} cannot be set to True at same time."
            )
    with name_scope(name, "sequence_loss", [logits, targets, weights]):
        rows = array.reshape(logits, [-1, array.shape(logits)[2]])
        targets = array.reshape(targets, [-1])
        entropy = softmax_loss_function or sparse_softmax_cross_entropy_with_logits
        losses = entropy(labels=targets, logits=rows)
        losses *= array.reshape(weights, [-1])
        if average_across_timesteps and average_across_batch:
            return _averaged(losses, weights)
        if sum_over_timesteps and sum_over_batch:
            return _per_weight(losses, weights)
        losses = array.reshape(losses, array.shape(logits)[0:2])
        if average_across_timesteps or average_across_batch:
            return _averaged(losses, weights, [0] if average_across_batch else [1])
        if sum_over_timesteps or sum_over_batch:
            return _per_weight(losses, weights, [0] if sum_over_batch else [1])
        return losses  # type: ignore[no-any-return]


def _check_rank(value: Any, rank: int, fault: str) -> None:
    if len(value.shape) != rank:
        raise ValueError(fault)


def _averaged(losses: Tensor, weights: Any, axis: Any = None) -> Tensor:
    total = math.reduce_sum(losses, axis=axis)
    return math.div_no_nan(total, math.reduce_sum(weights, axis=axis))


def _per_weight(losses: Tensor, weights: Any, axis: Any = None) -> Tensor:
    total = math.reduce_sum(losses, axis=axis)
    count = math.cast(math.count_nonzero(weights, axis=axis), total.dtype)
    return math.div_no_nan(total, count)
