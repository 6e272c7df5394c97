"""The table of gradient functions, by op type. The functions themselves live in the domain files
beside this one, which tables.py imports.

    @gradient("MatMul")
    def matmul(op, grad):        # a gradient per output -> one per input, None where there is none
        ...

    undifferentiable("Shape", "Rank", "Size")
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from minitf.operation import Operation

__all__ = ["NoGradient", "NotDifferentiable", "RegisterGradient", "no_gradient"]

GradientFunction = Callable[..., Any]
F = TypeVar("F", bound=GradientFunction)

_table: dict[str, GradientFunction | None] = {}  # None: not differentiable, on purpose


def all_gradients() -> dict[str, GradientFunction | None]:
    """The table. Its domain files are imported at first use: not every program differentiates."""
    import minitf.gradients.tables  # noqa: F401

    return _table


def gradient(*op_types: str) -> Callable[[F], F]:
    """Registers the function below as the gradient of the named op types."""

    def decorate(fn: F) -> F:
        for op_type in op_types:
            _register(op_type, fn)
        return fn

    return decorate


def undifferentiable(*op_types: str) -> None:
    """Says that ops of these types pass no gradient on."""
    for op_type in op_types:
        _register(op_type, None)


def no_gradient(op_type: str) -> None:
    """undifferentiable, for the users' own op types (TF: no_gradient)."""
    if not isinstance(op_type, str):
        raise TypeError("op_type must be a string")
    all_gradients()
    undifferentiable(op_type)


NotDifferentiable = NoGradient = no_gradient


class RegisterGradient:
    """Decorator that registers the gradient function of an op type (TF: RegisterGradient)."""

    def __init__(self, op_type: str) -> None:
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._op_type = op_type

    def __call__(self, f: F) -> F:
        all_gradients()
        _register(self._op_type, f)
        return f


def _register(op_type: str, fn: GradientFunction | None) -> None:
    if op_type in _table:
        raise KeyError(
            f"Registering two gradient with name '{op_type}'! "
            f"(Previous registration was {_place(_table[op_type])})"
        )
    _table[op_type] = fn


def _place(fn: GradientFunction | None) -> str:
    code = getattr(fn, "__code__", None)
    return f"in {code.co_filename}:{code.co_firstlineno}" if code else "without a function"


def get_gradient_function(op: Operation) -> GradientFunction | None:
    """The function for an op: its own, its overriding type's or its type's; None for nothing to do.

    Raises LookupError if its type is not registered.
    """
    if not op._inputs:
        return None
    if op._gradient_function is not None:
        return op._gradient_function
    op_type = op._attrs.get("_gradient_op_type", op.type)
    table = all_gradients()
    if op_type not in table:
        raise LookupError(f"gradient registry has no entry for: {op_type}")
    return table[op_type]
