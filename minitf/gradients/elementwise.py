"""Gradients of elementwise ops of one input, of complex numbers and of casts.

As in TF, most formulas wait for the incoming gradient, not to run early and hold memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minitf.convert import constant
from minitf.default import control_dependencies
from minitf.gradients.broadcasting import sides
from minitf.gradients.registry import gradient
from minitf.ops.apply import apply_op
from minitf.ops.array import shape, zeros, zeros_like
from minitf.ops.elementwise import cast, conj, div_no_nan
from minitf.ops.elementwise import complex as make_complex
from minitf_runtime.types import COMPLEX, FLOATS

Formula = Callable[[Any, Any], Any]


def of_input(op_type: str, formula: Formula) -> None:
    """Registers formula(x, grad) of an op with the one input x."""
    gradient(op_type)(lambda op, grad: _later(formula, op.inputs[0], grad))


def of_output(op_type: str, formula: Formula) -> None:
    """Registers formula(y, grad) of an op with one input and the output y."""
    gradient(op_type)(lambda op, grad: _later(formula, op.outputs[0], grad))


def _later(formula: Formula, value: Any, grad: Any) -> Any:
    with control_dependencies([grad]):
        return formula(conj(value), grad)


def _one(grad: Any) -> Any:
    return constant(1, grad.dtype)


# ---- powers, exponentials and logarithms


@gradient("Neg")
def neg(op: Any, grad: Any) -> Any:
    return -grad


@gradient("Abs")
def abs_(op: Any, grad: Any) -> Any:
    return grad * apply_op("Sign", op.inputs[0])


@gradient("Inv", "Reciprocal")
def reciprocal(op: Any, grad: Any) -> Any:
    return apply_op("ReciprocalGrad", op.outputs[0], grad)


@gradient("InvGrad", "ReciprocalGrad")
def reciprocal_grad(op: Any, grad: Any) -> Any:
    b = op.inputs[1]
    with control_dependencies([grad]):
        ca = conj(op.inputs[0])
        cg = conj(grad)
        return cg * -2.0 * b * ca, apply_op("ReciprocalGrad", ca, grad)


@gradient("Square")
def square(op: Any, grad: Any) -> Any:
    with control_dependencies([grad]):
        x = conj(op.inputs[0])
        two = constant(2.0, x.dtype)
        return apply_op("Mul", grad, apply_op("Mul", x, two))


@gradient("Sqrt")
def sqrt(op: Any, grad: Any) -> Any:
    return apply_op("SqrtGrad", op.outputs[0], grad)


@gradient("SqrtGrad")
def sqrt_grad(op: Any, grad: Any) -> Any:
    with control_dependencies([grad]):
        ga = grad / op.inputs[0]
        return -conj(ga) * op.outputs[0], 0.5 * ga


@gradient("Rsqrt")
def rsqrt(op: Any, grad: Any) -> Any:
    return apply_op("RsqrtGrad", op.outputs[0], grad)


@gradient("RsqrtGrad")
def rsqrt_grad(op: Any, grad: Any) -> Any:
    a, b = op.inputs
    with control_dependencies([grad]):
        ca = conj(a)
        cg = conj(grad)
        grad_a = -1.5 * cg * b * apply_op("Square", ca)
        return grad_a, apply_op("RsqrtGrad", ca, grad)


of_output("Exp", lambda y, grad: grad * y)
of_input("Expm1", lambda x, grad: grad * apply_op("Exp", x))
of_input("Log", lambda x, grad: grad * apply_op("Reciprocal", x))
of_input("Log1p", lambda x, grad: grad * apply_op("Reciprocal", 1 + x))

# ---- trigonometric and hyperbolic functions

of_input("Sin", lambda x, grad: grad * apply_op("Cos", x))
of_input("Cos", lambda x, grad: -grad * apply_op("Sin", x))
of_input("Sinh", lambda x, grad: grad * apply_op("Cosh", x))
of_input("Cosh", lambda x, grad: grad * apply_op("Sinh", x))
of_output("Tanh", lambda y, grad: apply_op("TanhGrad", y, grad))
of_output("Asinh", lambda y, grad: grad / apply_op("Cosh", y))
of_output("Acosh", lambda y, grad: grad / apply_op("Sinh", y))


def _tan(x: Any, grad: Any) -> Any:
    return apply_op("Square", apply_op("Reciprocal", apply_op("Cos", x))) * grad


def _asin(x: Any, grad: Any) -> Any:
    return grad * _one_over_sqrt(x, grad)


def _acos(x: Any, grad: Any) -> Any:
    inverse = _one_over_sqrt(x, grad)
    return -grad * inverse


def _one_over_sqrt(x: Any, grad: Any) -> Any:
    """1 / sqrt(1 - x^2)."""
    x2 = apply_op("Square", x)
    return apply_op("Reciprocal", apply_op("Sqrt", apply_op("Sub", _one(grad), x2)))


def _atan(x: Any, grad: Any) -> Any:
    x2 = apply_op("Square", x)
    return grad * apply_op("Reciprocal", apply_op("Add", _one(grad), x2))


def _atanh(x: Any, grad: Any) -> Any:
    x2 = apply_op("Square", x)
    return grad * apply_op("Reciprocal", apply_op("Sub", _one(grad), x2))


of_input("Tan", _tan)
of_input("Asin", _asin)
of_input("Acos", _acos)
of_input("Atan", _atan)
of_input("Atanh", _atanh)


@gradient("TanhGrad")
def tanh_grad(op: Any, grad: Any) -> Any:
    with control_dependencies([grad]):
        a = conj(op.inputs[0])
        b = conj(op.inputs[1])
        return grad * -2.0 * b * a, apply_op("TanhGrad", a, grad)


of_output("Sigmoid", lambda y, grad: apply_op("SigmoidGrad", y, grad))


@gradient("SigmoidGrad")
def sigmoid_grad(op: Any, grad: Any) -> Any:
    with control_dependencies([grad]):
        a = conj(op.inputs[0])
        gb = grad * conj(op.inputs[1])
        return gb - 2.0 * gb * a, apply_op("SigmoidGrad", a, grad)


# ---- special functions


def _error_function(op_type: str, factor: float) -> None:
    """Registers grad * factor * exp(-x^2)."""

    @gradient(op_type)
    def error_function(op: Any, grad: Any) -> Any:
        scale = constant(factor, grad.dtype)
        with control_dependencies([grad]):
            x = conj(op.inputs[0])
            return grad * scale * apply_op("Exp", -apply_op("Square", x))


_error_function("Erf", 2 / math.sqrt(math.pi))
_error_function("Erfc", -2 / math.sqrt(math.pi))
of_input("Lgamma", lambda x, grad: grad * apply_op("Digamma", x))
of_input("Digamma", lambda x, grad: grad * apply_op("Polygamma", constant(1, x.dtype), x))


@gradient("BesselI0e")
def bessel_i0e(op: Any, grad: Any) -> Any:
    x, y = op.inputs[0], op.outputs[0]
    with control_dependencies([grad]):
        return grad * (apply_op("BesselI1e", x) - apply_op("Sign", x) * y)


@gradient("BesselI1e")
def bessel_i1e(op: Any, grad: Any) -> Any:
    x, y = op.inputs[0], op.outputs[0]
    with control_dependencies([grad]):
        # The formula divides by x; at 0 the derivative is 0.5.
        eps = np.finfo(x.dtype.as_numpy_dtype).eps
        nothing = zeros_like(x)
        large = apply_op("Abs", x) > eps
        safe = apply_op("Select", large, x, eps + nothing)
        slope = apply_op("BesselI0e", safe) - y * (
            apply_op("Sign", safe) + apply_op("Reciprocal", safe)
        )
        return grad * apply_op("Select", large, slope, 0.5 + nothing)


# ---- steps


@gradient("Sign")
def sign(op: Any, grad: Any) -> Any:
    x = op.inputs[0]
    return zeros(shape(x), x.dtype)


# ---- complex numbers and casts


@gradient("Complex")
def complex_(op: Any, grad: Any) -> Any:
    x, y = sides(*op.inputs)
    return x.reduce(_part("Real", grad)), y.reduce(_part("Imag", grad))


def _part(op_type: str, z: Any) -> Any:
    return apply_op(op_type, z, Tout=z.dtype.real_dtype)


@gradient("Real")
def real(op: Any, grad: Any) -> Any:
    return make_complex(grad, constant(0, grad.dtype))


@gradient("Imag")
def imag(op: Any, grad: Any) -> Any:
    return make_complex(constant(0, grad.dtype), grad)


@gradient("Angle")
def angle(op: Any, grad: Any) -> Any:
    x = op.inputs[0]
    with control_dependencies([grad]):
        re = _part("Real", x)
        im = _part("Imag", x)
        z = apply_op("Reciprocal", make_complex(im, re))
        return -make_complex(grad, constant(0, grad.dtype)) * z


@gradient("Conj")
def conj_(op: Any, grad: Any) -> Any:
    return conj(grad)


@gradient("ComplexAbs")
def complex_abs(op: Any, grad: Any) -> Any:
    y = op.outputs[0]
    scaled = make_complex(grad, zeros_like(grad)) * op.inputs[0]
    return div_no_nan(scaled, make_complex(y, zeros_like(y)))


@gradient("Cast")
def cast_(op: Any, grad: Any) -> Any:
    source = op.inputs[0].dtype.base
    inexact = FLOATS + COMPLEX
    return cast(grad, source) if source in inexact and grad.dtype.base in inexact else None
