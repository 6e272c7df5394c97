"""Comparisons, tests of floats, logic, and ops on bits."""

from __future__ import annotations

from typing import Any

from minitf.operation import Tensor
from minitf.ops.apply import apply_op
from minitf.ops.raw import passthrough

__all__ = [
    "equal", "greater", "greater_equal", "is_finite", "is_inf", "is_nan", "less", "less_equal",
    "logical_and", "logical_not", "logical_or", "logical_xor", "not_equal",
]  # fmt: skip

approximate_equal = passthrough("ApproximateEqual", "approximate_equal")
greater = passthrough("Greater", "greater")
greater_equal = passthrough("GreaterEqual", "greater_equal")
is_finite = passthrough("IsFinite", "is_finite")
is_inf = passthrough("IsInf", "is_inf")
is_nan = passthrough("IsNan", "is_nan")
less = passthrough("Less", "less")
less_equal = passthrough("LessEqual", "less_equal")
logical_and = passthrough("LogicalAnd", "logical_and")
logical_not = passthrough("LogicalNot", "logical_not")
logical_or = passthrough("LogicalOr", "logical_or")

bitwise_and = passthrough("BitwiseAnd", "bitwise_and")
bitwise_or = passthrough("BitwiseOr", "bitwise_or")
bitwise_xor = passthrough("BitwiseXor", "bitwise_xor")
invert = passthrough("Invert", "invert")
left_shift = passthrough("LeftShift", "left_shift")
right_shift = passthrough("RightShift", "right_shift")


def equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Where x and y are equal. (`==` of Tensors compares the objects, as in TF 1.)"""
    return apply_op("Equal", x, y, name=name)


def not_equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Where x and y differ."""
    return apply_op("NotEqual", x, y, name=name)


def logical_xor(x: Any, y: Any, name: str | None = "LogicalXor") -> Tensor:
    """Where exactly one of x and y is true."""
    either = logical_or(x, y)
    return logical_and(either, logical_not(logical_and(x, y)), name=name)
