"""Gradients of elementwise ops of two inputs that broadcast, of sums of many, and of choices."""

from __future__ import annotations

from typing import Any

from minitf.default import control_dependencies
from minitf.gradients.broadcasting import (
    same_static_shapes,
    sides,
    sides_of_shapes,
    smart_sides,
)
from minitf.gradients.registry import gradient
from minitf.ops.apply import apply_op
from minitf.ops.array import ones, ones_like, shape, zeros, zeros_like
from minitf.ops.elementwise import cast, conj, div_no_nan, scalar_mul
from minitf.ops.reduction import reduce_sum
from minitf_runtime.types import float32, int32


@gradient("AddN", "AccumulateNV2")
def add_n(op: Any, grad: Any) -> Any:
    return [grad] * len(op.inputs)


@gradient("Add", "AddV2")
def add(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    if same_static_shapes(x, y, grad):
        return grad, grad
    x_side, y_side = smart_sides(x, y, grad)
    return x_side.fit(grad), y_side.fit(grad)


@gradient("Sub")
def sub(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    if same_static_shapes(x, y, grad):
        return grad, -grad
    x_side, y_side = smart_sides(x, y, grad)
    return x_side.fit(grad), y_side.fit(-grad)


@gradient("Mul")
def mul(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    if same_static_shapes(x, y, grad) and grad.dtype.base in (int32, float32):
        return apply_op("Mul", grad, y), apply_op("Mul", grad, x)
    x_side, y_side = smart_sides(x, y, grad)
    x = conj(x)
    y = conj(y)
    return x_side.fit(apply_op("Mul", grad, y)), y_side.fit(apply_op("Mul", x, grad))


@gradient("MulNoNan")
def mul_no_nan(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    if same_static_shapes(x, y, grad):
        return apply_op("MulNoNan", grad, y), apply_op("MulNoNan", x, grad)
    x_side, y_side = sides(x, y)
    grad_x = x_side.reduce(apply_op("MulNoNan", grad, y))
    return grad_x, y_side.reduce(apply_op("MulNoNan", x, grad))


def _division(op_type: str, divide: Any) -> None:
    """Registers grad / y and grad * (-x / y / y), divided by one of TF's division ops."""

    @gradient(op_type)
    def division(op: Any, grad: Any) -> Any:
        x_side, y_side = sides(*op.inputs)
        x = conj(op.inputs[0])
        y = conj(op.inputs[1])
        grad_x = x_side.reduce(divide(grad, y))
        return grad_x, y_side.reduce(grad * divide(divide(-x, y), y))


_division("Div", lambda a, b: a / b)
_division("RealDiv", lambda a, b: apply_op("RealDiv", a, b))
_division("DivNoNan", div_no_nan)


@gradient("FloorMod")
def floor_mod(op: Any, grad: Any) -> Any:
    x = conj(op.inputs[0])
    y = conj(op.inputs[1])
    x_side, y_side = sides(x, y)
    quotient = apply_op("FloorDiv", x, y)
    return x_side.reduce(grad), y_side.reduce(grad * apply_op("Neg", quotient))


@gradient("Pow")
def pow_(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    x_side, y_side = smart_sides(x, y, grad)
    x = conj(x)
    y = conj(y)
    grad_x = x_side.fit(grad * y * apply_op("Pow", x, y - 1))
    z = conj(op.outputs[0])
    # No logarithm of 0, nor of a negative real number, for which there is no sensible value.
    mask = apply_op("NotEqual", x, 0) if x.dtype.is_complex else x > 0
    safe = apply_op("Select", mask, x, ones_like(x))
    log_x = apply_op("Select", mask, apply_op("Log", safe), zeros_like(x))
    return grad_x, y_side.fit(grad * z * log_x)


def _extremum(op_type: str, chooses_x: str) -> None:
    """Registers the gradient that goes to the chosen input."""

    @gradient(op_type)
    def extremum(op: Any, grad: Any) -> Any:
        x, y = op.inputs
        x_shape = shape(x)
        y_shape = shape(y)
        nothing = zeros(shape(grad), grad.dtype)
        mask = apply_op(chooses_x, x, y)
        x_side, y_side = sides_of_shapes(x_shape, y_shape)
        grad_x = x_side.reduce(apply_op("Select", mask, grad, nothing))
        return grad_x, y_side.reduce(apply_op("Select", mask, nothing, grad))


_extremum("Maximum", "GreaterEqual")
_extremum("Minimum", "LessEqual")


@gradient("SquaredDifference")
def squared_difference(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    with control_dependencies([grad]):
        grad_x = scalar_mul(2.0, grad) * (x - y)
    if same_static_shapes(x, y, grad):
        return grad_x, -grad_x
    x_side, y_side = smart_sides(x, y, grad)
    to_x = x_side.fit(grad_x)
    return to_x, -y_side.fit(grad_x)


@gradient("Atan2")
def atan2(op: Any, grad: Any) -> Any:
    y, x = op.inputs
    with control_dependencies([grad]):
        scaled = grad / (apply_op("Square", x) + apply_op("Square", y))
        return x * scaled, -y * scaled


@gradient("Xlogy")
def xlogy(op: Any, grad: Any) -> Any:
    return _x_times(op, grad, "Xlogy", lambda x, y: apply_op("Xdivy", x, y))


@gradient("Xdivy")
def xdivy(op: Any, grad: Any) -> Any:
    return _x_times(op, grad, "Xdivy", lambda x, y: apply_op("Xdivy", apply_op("Neg", x), y**2))


def _x_times(op: Any, grad: Any, op_type: str, slope_y: Any) -> Any:
    """For ops that are x times something of y, and 0 where x is 0."""
    x, y = op.inputs
    x_side, y_side = sides(x, y)
    with control_dependencies([grad]):
        not_zero = cast(apply_op("NotEqual", x, cast(0.0, x.dtype)), x.dtype)
        slope_x = apply_op(op_type, not_zero, y)
        by_y = slope_y(x, y)
        return x_side.reduce(slope_x * grad), y_side.reduce(by_y * grad)


# ---- special functions of two or three inputs


@gradient("Igamma")
def igamma(op: Any, grad: Any) -> Any:
    a, x = op.inputs
    a_side, x_side = sides(a, x)
    with control_dependencies([grad]):
        slope_a = apply_op("IgammaGradA", a, x)
        # In logarithms before the sum, as gamma functions can grow large.
        slope_x = apply_op("Exp", -x + (a - 1) * apply_op("Log", x) - apply_op("Lgamma", a))
        return a_side.reduce(slope_a * grad), x_side.reduce(slope_x * grad)


@gradient("Igammac")
def igammac(op: Any, grad: Any) -> Any:
    grad_a, grad_x = igamma(op, grad)
    return -grad_a, -grad_x


@gradient("Betainc")
def betainc(op: Any, grad: Any) -> Any:
    """Only by x; a and b get none, as in TF."""
    a, b, x = op.inputs
    _, x_side = sides(a, x)
    log_beta = apply_op("Lgamma", a) + apply_op("Lgamma", b) - apply_op("Lgamma", a + b)
    slope = apply_op(
        "Exp", (b - 1) * apply_op("Log", 1 - x) + (a - 1) * apply_op("Log", x) - log_beta
    )
    return None, None, x_side.reduce(slope * grad)


@gradient("Zeta")
def zeta(op: Any, grad: Any) -> Any:
    """Only by q, as in TF."""
    x, q = op.inputs
    _, q_side = sides(x, q)
    with control_dependencies([grad]):
        x = conj(x)
        q = conj(q)
        return None, q_side.reduce(-x * apply_op("Zeta", x + 1, q) * grad)


@gradient("Polygamma")
def polygamma(op: Any, grad: Any) -> Any:
    """Only by x, as in TF."""
    n, x = op.inputs
    _, x_side = sides(n, x)
    with control_dependencies([grad]):
        n = conj(n)
        x = conj(x)
        return None, x_side.reduce(apply_op("Polygamma", n + 1, x) * grad)


@gradient("NextAfter")
def next_after(op: Any, grad: Any) -> Any:
    x1, x2 = op.inputs
    one, two = sides(x1, x2)
    with control_dependencies([grad]):
        slope1 = ones(one.shape, x1.dtype)
        slope2 = zeros(two.shape, x2.dtype)
        return one.reduce(slope1 * grad), two.reduce(slope2 * grad)


# ---- choices and comparisons


@gradient("Select")
def select(op: Any, grad: Any) -> Any:
    chosen, x, _ = op.inputs
    nothing = zeros_like(x)
    return (
        None,
        apply_op("Select", chosen, grad, nothing),
        apply_op("Select", chosen, nothing, grad),
    )


@gradient("SelectV2")
def select_v2(op: Any, grad: Any) -> Any:
    chosen, x, y = op.inputs
    nothing = zeros([], grad.dtype.base)
    grad_x = apply_op("SelectV2", chosen, grad, nothing)
    x_shape = shape(x)
    out_shape = shape(op.outputs[0])
    grad_x = _to_shape(grad_x, x_shape, out_shape)
    grad_y = apply_op("SelectV2", chosen, nothing, grad)
    y_shape = shape(y)
    return None, grad_x, _to_shape(grad_y, y_shape, out_shape)


def _to_shape(grad: Any, wanted: Any, given: Any) -> Any:
    axes, _ = apply_op("BroadcastGradientArgs", wanted, given)
    return apply_op("Reshape", reduce_sum(grad, axis=axes, keepdims=True), wanted)
