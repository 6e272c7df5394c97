"""Gradients of ops that look at values and pass them on."""

from __future__ import annotations

from typing import Any

from minitf.gradients.registry import gradient
from minitf.ops.apply import apply_op


@gradient("Print")
def print_(op: Any, *grads: Any) -> Any:
    return [*grads, *[None] * (len(op.inputs) - 1)]


@gradient("CheckNumerics")
def check_numerics(op: Any, grad: Any) -> Any:
    message = "Not a number (NaN) or infinity (Inf) values detected in gradient. "
    return apply_op("CheckNumerics", grad, message=message + op._attrs["message"])


@gradient("PreventGradient")
def prevent_gradient(op: Any, grad: Any) -> Any:
    raise LookupError(f"Gradient explicitly disabled. Reason: {op.get_attr('message')}")
