"""Comparisons, tests of floats, logic and elementwise choice."""

from __future__ import annotations

from typing import Any

from minitf_runtime.errors import invalid
from minitf_runtime.ops import dims
from minitf_runtime.ops.elementwise import binary, inline, ufunc, unary
from minitf_runtime.ops.registry import (
    OPS,
    ShapeContext,
    Type,
    broadcast,
    kernel,
    op,
    unchanged,
)
from minitf_runtime.types import (
    COMPLEX,
    FLOATS,
    NUMBERS,
    REALS,
    Shape,
    bool_,
    broadcast_shapes,
    int8,
    int16,
    int32,
    int64,
    show_shape,
    string,
    uint8,
)

_EQUATABLE = (*FLOATS, uint8, int8, int16, int32, int64, *COMPLEX, string, bool_)

unary("IsNan IsInf IsFinite", FLOATS, "bool")
binary("Less LessEqual Greater GreaterEqual", REALS, "bool")
op("LogicalNot", "x: bool -> y: bool", unchanged)
op("LogicalAnd", "x: bool, y: bool -> z: bool", broadcast)
op("LogicalOr", "x: bool, y: bool -> z: bool", broadcast)


def _equal_shape(c: ShapeContext) -> list[Shape]:
    """Shapes that do not fit are an error, or else make a scalar."""
    if c["incompatible_shape_error"]:
        return broadcast(c)
    x, y = c.shapes
    if x is None or y is None:
        return [None]
    if any(None in pair and 1 not in pair for pair in zip(x[::-1], y[::-1])):
        return [None]
    try:
        return broadcast(c)
    except ValueError:
        return [()]


for _name in ("Equal", "NotEqual"):
    op(
        _name,
        "x: T, y: T -> z: bool",
        _equal_shape,
        T=Type(_EQUATABLE),
        incompatible_shape_error=True,
    )
op(
    "ApproximateEqual",
    "x: T, y: T -> z: bool",
    lambda c: [dims.merge(c.shape(0), c.shape(1))],
    T=Type(NUMBERS),
    tolerance=1e-5,
)

_UFUNCS = {
    "IsNan": "isnan",
    "IsInf": "isinf",
    "IsFinite": "isfinite",
    "Less": "less",
    "LessEqual": "less_equal",
    "Greater": "greater",
    "GreaterEqual": "greater_equal",
    "LogicalNot": "logical_not",
    "LogicalAnd": "logical_and",
    "LogicalOr": "logical_or",
}
for _op, _fn in _UFUNCS.items():
    kernel(_op, inline=inline(_fn, len(OPS[_op].inputs)), elementwise=True)(ufunc(_fn))


def _differ_in_shape(x: Any, y: Any) -> bool:
    try:
        broadcast_shapes(x.shape, y.shape)
    except ValueError:
        return True
    return False


@kernel("Equal")
def equal(xp: Any, x: Any, y: Any, *, incompatible_shape_error: bool) -> Any:
    if not incompatible_shape_error and _differ_in_shape(x, y):
        return xp.zeros((), bool)
    return xp.equal(x, y)


@kernel("NotEqual")
def not_equal(xp: Any, x: Any, y: Any, *, incompatible_shape_error: bool) -> Any:
    if not incompatible_shape_error and _differ_in_shape(x, y):
        return xp.ones((), bool)
    return xp.not_equal(x, y)


@kernel("ApproximateEqual")
def approximate_equal(xp: Any, x: Any, y: Any, *, tolerance: float) -> Any:
    if x.shape != y.shape:
        raise invalid(
            f"x and y must be of the same shape. x shape: {show_shape(x.shape)}. "
            f"y shape: {show_shape(y.shape)}"
        )
    return xp.absolute(x - y) < tolerance


@op("Select", "condition: bool, t: T, e: T -> output: T", T=Type())
def select_shape(c: ShapeContext) -> list[Shape]:
    """Elements of t where the condition holds, else of e; a vector condition chooses whole rows."""
    condition = c.shape(0)
    out = dims.merge(c.shape(1), c.shape(2))
    if condition is None or out is None or condition == ():
        return [out]
    if len(condition) == 1 and len(out) != 1:
        dims.merge(condition, dims.at_least(out, 1)[:1])
        return [out]
    return [dims.merge(out, condition)]


@kernel("Select")
def select(xp: Any, condition: Any, t: Any, e: Any) -> Any:
    shape = t.shape
    if shape != e.shape:
        raise invalid(
            "'then' and 'else' must have the same size.  but received: "
            f"{show_shape(shape)} vs. {show_shape(e.shape)}"
        )
    if condition.shape == shape or condition.ndim == 0:
        return xp.where(condition, t, e)
    if condition.ndim != 1:
        raise invalid(
            "Inputs to operation Select of type Select must have the same size and shape.  "
            f"Input 0: {show_shape(condition.shape)} != input 1: {show_shape(shape)}"
        )
    if not shape or condition.size != shape[0]:
        raise invalid(
            "Number of batches of 'then' must match size of 'cond', but saw: "
            f"{shape[0] if shape else 1} vs. {condition.size}"
        )
    return xp.where(condition.reshape((-1,) + (1,) * (len(shape) - 1)), t, e)


@op("SelectV2", "condition: bool, t: T, e: T -> output: T", T=Type())
def select_v2_shape(c: ShapeContext) -> list[Shape]:
    """Elements of t where the condition holds, else of e; all three broadcast."""
    return [broadcast_shapes(c.shape(0), broadcast_shapes(c.shape(1), c.shape(2)))]


kernel("SelectV2", elementwise=True)(ufunc("where"))
