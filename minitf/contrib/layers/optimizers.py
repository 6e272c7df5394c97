"""optimize_loss: one op that trains, with clipping, noise and summaries of the gradients."""

from __future__ import annotations

from typing import Any

from minitf import summary
from minitf.convert import to_tensor
from minitf.default import GraphKeys, get_collection
from minitf.indexed_slices import IndexedSlices
from minitf.initializers import constant_initializer
from minitf.operation import Tensor
from minitf.ops import math
from minitf.ops.check import assert_scalar
from minitf.ops.group import with_dependencies
from minitf.ops.random import truncated_normal
from minitf.train.adagrad import AdagradOptimizer
from minitf.train.adam import AdamOptimizer
from minitf.train.ftrl import FtrlOptimizer
from minitf.train.global_step import assert_global_step, get_global_step
from minitf.train.gradient_descent import GradientDescentOptimizer
from minitf.train.momentum import MomentumOptimizer
from minitf.train.optimizer import Optimizer
from minitf.train.rmsprop import RMSPropOptimizer
from minitf.variable_scope import get_variable, variable_scope
from minitf.variables.collections import trainable_variables

OPTIMIZER_CLS_NAMES = {
    "Adagrad": AdagradOptimizer,
    "Adam": AdamOptimizer,
    "Ftrl": FtrlOptimizer,
    "Momentum": lambda learning_rate: MomentumOptimizer(learning_rate, momentum=0.9),
    "RMSProp": RMSPropOptimizer,
    "SGD": GradientDescentOptimizer,
}
OPTIMIZER_SUMMARIES = [
    "learning_rate", "loss", "gradients", "gradient_norm", "global_gradient_norm",
]  # fmt: skip
Pairs = list[tuple[Any, Any]]  # a gradient, or None, and its variable


def optimize_loss(
    loss: Any,
    global_step: Any,
    learning_rate: Any,
    optimizer: Any,
    gradient_noise_scale: float | None = None,
    gradient_multipliers: Any = None,
    clip_gradients: Any = None,
    learning_rate_decay_fn: Any = None,
    update_ops: Any = None,
    variables: Any = None,
    name: str | None = None,
    summaries: Any = None,
    colocate_gradients_with_ops: bool = False,
    increment_global_step: bool = True,
) -> Tensor:
    """The loss, available after one step of training.

    `optimizer` is a name, a class, an object or a function of the learning rate; `clip_gradients`
    the greatest global norm, or a function of pairs. Raises ValueError for what does not fit.
    """
    loss = to_tensor(loss)
    assert_scalar(loss)
    if global_step is None:
        global_step = get_global_step()
    else:
        assert_global_step(global_step)
    with variable_scope(name, "OptimizeLoss", [loss, global_step]):
        if update_ops is None:
            update_ops = dict.fromkeys(get_collection(GraphKeys.UPDATE_OPS))
        if update_ops:
            loss = with_dependencies(update_ops, loss)
        rate = _learning_rate(learning_rate)
        wanted = _wanted_summaries(summaries)
        if learning_rate is not None and learning_rate_decay_fn is not None:
            if global_step is None:
                raise ValueError("global_step is required for learning_rate_decay_fn.")
            rate = learning_rate_decay_fn(rate, global_step)
            if "learning_rate" in wanted:
                summary.scalar("learning_rate", rate)
        trainer = _optimizer(optimizer, rate)
        pairs = trainer.compute_gradients(
            loss,
            trainable_variables() if variables is None else variables,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
        )
        if gradient_noise_scale is not None:
            pairs = [(_with_noise(g, gradient_noise_scale), v) for g, v in pairs]
        if gradient_multipliers is not None:
            pairs = [(_multiplied(g, v, gradient_multipliers), v) for g, v in pairs]
        pairs = _clipped_and_summarized(pairs, clip_gradients, wanted, loss)
        step = global_step if increment_global_step else None
        train = trainer.apply_gradients(pairs, global_step=step, name="train")
        return with_dependencies([train], loss)  # type: ignore[no-any-return]


def _learning_rate(given: Any) -> Any:
    if given is None or (isinstance(given, Tensor) and given.shape.ndims == 0):
        return given
    if not isinstance(given, float):
        raise ValueError(
            f"Learning rate should be 0d Tensor or float. Got {given} of type {type(given)}"
        )
    if given < 0.0:
        raise ValueError("Invalid learning_rate %s.", given)
    start = constant_initializer(given)
    return get_variable("learning_rate", [], trainable=False, initializer=start)


def _wanted_summaries(given: Any) -> Any:
    if given is None:
        return ["loss", "learning_rate", "global_gradient_norm"]
    for one in given:
        if one not in OPTIMIZER_SUMMARIES:
            raise ValueError(
                f"Summaries should be one of [{', '.join(OPTIMIZER_SUMMARIES)}], you provided "
                f"{one}."
            )
    return given


def _optimizer(given: Any, rate: Any) -> Optimizer:
    if isinstance(given, Optimizer):
        return given
    is_class = isinstance(given, type) and issubclass(given, Optimizer)
    if rate is None and (is_class or isinstance(given, str)):
        kind = "class" if is_class else "string"
        raise ValueError(
            f"Learning rate is None, but should be specified if optimizer is {kind} ({given})."
        )
    if isinstance(given, str):
        if given not in OPTIMIZER_CLS_NAMES:
            raise ValueError(
                f"Optimizer name should be one of [{', '.join(OPTIMIZER_CLS_NAMES)}], you provided "
                f"{given}."
            )
        given = OPTIMIZER_CLS_NAMES[given]
    if not callable(given):
        raise ValueError(
            "Unrecognized optimizer: should be string, subclass of Optimizer, instance of subclass "
            f"of Optimizer or function with one argument. Got {given}."
        )
    made = given() if rate is None else given(rate)
    if not isinstance(made, Optimizer):
        raise ValueError(
            f"Unrecognized optimizer: function should return subclass of Optimizer. Got {made}."
        )
    return made


def _with_noise(gradient: Any, scale: float) -> Any:
    if gradient is None:
        return None
    sparse = isinstance(gradient, IndexedSlices)
    shape = gradient.dense_shape if sparse else gradient.shape
    return gradient + truncated_normal(shape) * scale


def _multiplied(gradient: Any, variable: Any, factors: Any) -> Any:
    key = variable if variable in factors else variable.name
    if gradient is None or key not in factors:
        return gradient
    if isinstance(gradient, IndexedSlices):
        values = gradient.values * factors[key]
        return IndexedSlices(values, gradient.indices, gradient.dense_shape)
    return gradient * math.cast(factors[key], gradient.dtype)


def _clipped_and_summarized(pairs: Pairs, clip: Any, wanted: Any, loss: Tensor) -> Pairs:
    def norm(name: str) -> None:
        if "global_gradient_norm" in wanted or "gradient_norm" in wanted:
            summary.scalar(f"global_norm/{name}", math.global_norm([g for g, _ in pairs]))

    norm("gradient_norm")
    pairs = _clipped(pairs, clip)
    if "loss" in wanted:
        summary.scalar("loss", loss)
    for gradient, variable in pairs:
        if gradient is not None:
            _summarize(gradient, variable.name.replace(":", "_"), wanted)
    if clip is not None:
        norm("clipped_gradient_norm")
    return pairs


def _clipped(pairs: Pairs, clip: Any) -> Pairs:
    if isinstance(clip, float):
        gradients, variables = zip(*pairs)
        clipped, _ = math.clip_by_global_norm(gradients, clip)
        return list(zip(clipped, variables))
    if callable(clip):
        return clip(pairs)  # type: ignore[no-any-return]
    if clip is not None:
        raise ValueError(f"Unknown type {type(clip)} for clip_gradients")
    return pairs


def _summarize(gradient: Any, name: str, wanted: Any) -> None:
    values = gradient.values if isinstance(gradient, IndexedSlices) else gradient
    if "gradients" in wanted:
        summary.histogram(f"gradients/{name}", values)
    if "gradient_norm" in wanted:
        summary.scalar(f"gradient_norm/{name}", math.global_norm([values]))
