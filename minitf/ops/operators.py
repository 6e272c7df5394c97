"""The operators of Tensor: importing this module gives them to the class. `[]` is in slicing.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitf.convert import to_tensor
from minitf.default import name_scope
from minitf.operation import Tensor
from minitf.ops.apply import apply_op
from minitf.ops.comparison import greater, greater_equal, less, less_equal, logical_xor
from minitf.ops.elementwise import abs as absolute
from minitf.ops.elementwise import div, floordiv, truediv
from minitf.ops.matmul import matmul
from minitf_runtime.types import string

__all__: list[str] = []


def _op(op_type: str) -> Callable[..., Any]:
    def call(x: Any, y: Any, name: str | None = None) -> Any:
        return apply_op(op_type, x, y, name=name)

    return call


def _add(x: Any, y: Any, name: str | None = None) -> Any:
    joins = x.dtype.base is string
    return apply_op("Add" if joins else "AddV2", x, y, name=name)


def _forward(name: str, fn: Callable[..., Any]) -> Callable[..., Any]:
    """tensor OP other: `other` becomes a tensor, of this one's type if it can."""

    def operator(x: Tensor, y: Any) -> Any:
        with name_scope(None, name, [x, y]) as scope:
            if not isinstance(y, Tensor):
                try:
                    y = to_tensor(y, name="y", preferred_dtype=x.dtype.base)
                except TypeError:
                    if hasattr(type(y), f"__r{name}__"):
                        return NotImplemented
                    raise
            return fn(x, y, name=scope)

    return operator


def _reflected(name: str, fn: Callable[..., Any]) -> Callable[..., Any]:
    """other OP tensor: `other` becomes a tensor of this one's type."""

    def operator(y: Tensor, x: Any) -> Any:
        with name_scope(None, name, [x, y]) as scope:
            x = to_tensor(x, y.dtype.base, name="x")
            return fn(x, y, name=scope)

    return operator


_BINARY: dict[str, Callable[..., Any]] = {
    "add": _add,
    "sub": _op("Sub"),
    "mul": _op("Mul"),
    "div": div,
    "truediv": truediv,
    "floordiv": floordiv,
    "mod": _op("FloorMod"),
    "pow": _op("Pow"),
    "matmul": matmul,
    "and": _op("LogicalAnd"),
    "or": _op("LogicalOr"),
    "xor": logical_xor,
}
_OTHERS: dict[str, Callable[..., Any]] = {
    "__neg__": lambda x: apply_op("Neg", x),
    "__abs__": absolute,
    "__invert__": lambda x: apply_op("LogicalNot", x),
    "__lt__": less,
    "__le__": less_equal,
    "__gt__": greater,
    "__ge__": greater_equal,
}

for _name, _fn in _BINARY.items():
    Tensor.override(f"__{_name}__", _forward(_name, _fn))
    Tensor.override(f"__r{_name}__", _reflected(_name, _fn))
for _name, _fn in _OTHERS.items():
    Tensor.override(_name, _fn)
