"""The table of gradient functions, by op type. The functions themselves live in the domain files
beside this one, which minitf.gradients imports.

    @gradient("MatMul")
    def matmul(op, grad):        # a gradient per output -> one per input, None where there is none
        ...

    no_gradient("Shape Rank Size")
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from minitf import source
from minitf.operation import Operation

GradientFunction = Callable[..., Any]
F = TypeVar("F", bound=GradientFunction)

GRADIENTS: dict[str, GradientFunction | None] = {}  # None: not differentiable, says so on purpose
_made_at: dict[str, str] = {}


def gradient(*op_types: str) -> Callable[[F], F]:
    """Registers the function below as the gradient of the named op types."""

    def decorate(fn: F) -> F:
        for op_type in op_types:
            _register(op_type, fn)
        return fn

    return decorate


def no_gradient(op_type: str) -> None:
    """Says that ops of a type (or of several, by spaces) pass no gradient on (TF: no_gradient)."""
    if not isinstance(op_type, str):
        raise TypeError("op_type must be a string")
    for one in op_type.split():
        _register(one, None)


NotDifferentiable = NoGradient = no_gradient


class RegisterGradient:
    """Decorator that registers the gradient function of an op type (TF: RegisterGradient)."""

    def __init__(self, op_type: str) -> None:
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._op_type = op_type

    def __call__(self, f: F) -> F:
        _register(self._op_type, f)
        return f


def _register(op_type: str, fn: GradientFunction | None) -> None:
    if op_type in GRADIENTS:
        raise KeyError(
            f"Registering two gradient with name '{op_type}'! "
            f"(Previous registration was in {_made_at[op_type]})"
        )
    GRADIENTS[op_type] = fn
    _made_at[op_type] = source.show(source.user_line())


def get_gradient_function(op: Operation) -> GradientFunction | None:
    """The function for an op: its own, its overriding type's or its type's; None for nothing to do.

    Raises LookupError if its type is not registered.
    """
    if not op._inputs:
        return None
    if op._gradient_function is not None:
        return op._gradient_function
    op_type = op._attrs.get("_gradient_op_type", op.type)
    if op_type not in GRADIENTS:
        raise LookupError(f"gradient registry has no entry for: {op_type}")
    return GRADIENTS[op_type]
