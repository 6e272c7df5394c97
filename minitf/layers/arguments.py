"""What the arguments of layers may be: names of functions, sizes per dimension, layouts."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from minitf import initializers
from minitf.operation import Tensor
from minitf.ops import math, nn
from minitf.ops.constant_value import constant_value
from minitf.ops.control_flow import cond


def _softmax(x: Any) -> Any:
    if x.shape.ndims == 2:
        return nn.softmax(x)
    powers = math.exp(x - math.reduce_max(x, axis=-1, keepdims=True))
    return powers / math.reduce_sum(powers, axis=-1, keepdims=True)


_ACTIVATIONS: dict[str, Callable[..., Any] | None] = {
    "elu": nn.elu,
    "exponential": math.exp,
    "linear": None,
    "relu": nn.relu,
    "sigmoid": math.sigmoid,
    "softmax": _softmax,
    "softplus": nn.softplus,
    "softsign": nn.softsign,
    "tanh": math.tanh,
}


def activation_of(given: Any) -> Callable[..., Any] | None:
    """The function that an argument `activation` means; None changes nothing. Raises ValueError."""
    if isinstance(given, str):
        if given not in _ACTIVATIONS:
            raise ValueError(f"Unknown activation function:{given}")
        return _ACTIVATIONS[given]
    if given is not None and not callable(given):
        raise TypeError(f"Could not interpret activation function identifier: {given!r}")
    return given  # type: ignore[no-any-return]


def initializer_of(given: Any) -> Any:
    """The initializer that an argument means: one by name, or a class made into an object."""
    if isinstance(given, str):
        if given not in initializers.__all__:
            raise ValueError(f"Unknown initializer:{given}")
        given = getattr(initializers, given)
        return given() if callable(given) else given
    if given is not None and not callable(given):
        raise ValueError(f"Could not interpret initializer identifier: {given}")
    return given() if inspect.isclass(given) else given


def function_of(what: str, given: Any) -> Any:
    """A regularizer or constraint: a function or None. Raises ValueError for anything else."""
    if given is not None and not callable(given):
        raise ValueError(f"Could not interpret {what} identifier: {given}")
    return given() if inspect.isclass(given) else given


def sizes(value: Any, n: int, name: str) -> tuple[int, ...]:
    """One number for all of n dimensions, or n numbers. Raises ValueError."""
    if isinstance(value, int):
        return (value,) * n
    fault = f"The `{name}` argument must be a tuple of {n} integers. Received: {value}"
    try:
        values = tuple(value)
    except TypeError:
        raise ValueError(fault) from None
    if len(values) != n:
        raise ValueError(fault)
    for one in values:
        try:
            int(one)
        except (ValueError, TypeError):
            raise ValueError(f"{fault} including element {one} of type {type(one)}") from None
    return values


def layout(value: str | None) -> str:
    """`channels_last` (the default) or `channels_first`. Raises ValueError."""
    name = "channels_last" if value is None else value.lower()
    if name not in ("channels_first", "channels_last"):
        raise ValueError(
            'The `data_format` argument must be one of "channels_first", "channels_last". '
            f"Received: {value}"
        )
    return name


def op_layout(data_format: str, ndim: int) -> str:
    """The layout as ops name it: NHWC and the like."""
    space = "DHW"[5 - ndim :]
    return f"N{space}C" if data_format == "channels_last" else f"NC{space}"


def padding_name(value: Any) -> Any:
    """`valid`, `same` or `causal`; pairs of numbers are left alone. Raises ValueError."""
    if isinstance(value, (list, tuple)):
        return value
    name = value.lower()
    if name not in ("valid", "same", "causal"):
        raise ValueError(
            'The `padding` argument must be a list/tuple or one of "valid", "same" (or "causal", '
            f"only for `Conv1D). Received: {name}"
        )
    return name


# ---- a predicate that may be known already


def known_truth(pred: Any) -> bool | None:
    """What a predicate is where that is known before any run. Raises TypeError."""
    if isinstance(pred, Tensor):
        value = constant_value(pred)
        if value is None:
            value = pred.graph.static.value(pred)
        return None if value is None else bool(value)
    if hasattr(pred, "_as_graph_element"):
        return None
    if pred not in (0, 1):
        raise TypeError(
            f"`pred` must be a Tensor, or a Python bool, or 1 or 0. Found instead: {type(pred)}"
        )
    return bool(pred)


def smart_cond(pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any]) -> Any:
    """One branch if the predicate is known, else a cond."""
    truth = known_truth(pred)
    if truth is None:
        return cond(pred, true_fn, false_fn)
    return true_fn() if truth else false_fn()
