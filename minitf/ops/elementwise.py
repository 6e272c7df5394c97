"""Elementwise arithmetic, rounding, exponentials, trigonometry, casts and complex numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitf import tf_logging
from minitf.convert import constant, to_tensor
from minitf.default import name_scope
from minitf.operation import Tensor
from minitf.ops import array
from minitf.ops.apply import apply_op
from minitf.ops.raw import passthrough
from minitf_runtime.types import (
    DType,
    as_dtype,
    complex64,
    complex128,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
)

__all__ = [
    "abs", "acos", "acosh", "add", "angle", "asin", "asinh", "atan", "atan2", "atanh", "cast",
    "ceil", "complex", "conj", "cos", "cosh", "div", "div_no_nan", "divide", "exp", "expm1",
    "floor", "floor_div", "floordiv", "floormod", "imag", "log", "log1p", "log_sigmoid",
    "maximum", "minimum", "mod", "multiply", "negative", "pow", "real", "realdiv", "reciprocal",
    "rint", "round", "rsqrt", "saturate_cast", "scalar_mul", "sigmoid", "sign", "sin", "sinh",
    "sqrt", "square", "squared_difference", "subtract", "tan", "tanh", "to_complex128",
    "to_complex64", "to_double", "to_float", "to_int32", "to_int64", "truediv", "truncatediv",
    "truncatemod",
]  # fmt: skip

acos = passthrough("Acos", "acos")
acosh = passthrough("Acosh", "acosh")
asin = passthrough("Asin", "asin")
asinh = passthrough("Asinh", "asinh")
atan = passthrough("Atan", "atan")
atanh = passthrough("Atanh", "atanh")
ceil = passthrough("Ceil", "ceil")
cos = passthrough("Cos", "cos")
cosh = passthrough("Cosh", "cosh")
exp = passthrough("Exp", "exp")
expm1 = passthrough("Expm1", "expm1")
floor = passthrough("Floor", "floor")
log = passthrough("Log", "log")
log1p = passthrough("Log1p", "log1p")
negative = passthrough("Neg", "negative")
reciprocal = passthrough("Reciprocal", "reciprocal")
rint = passthrough("Rint", "rint")
rsqrt = passthrough("Rsqrt", "rsqrt")
sigmoid = passthrough("Sigmoid", "sigmoid")
sign = passthrough("Sign", "sign")
sin = passthrough("Sin", "sin")
sinh = passthrough("Sinh", "sinh")
sqrt = passthrough("Sqrt", "sqrt")
square = passthrough("Square", "square")
tan = passthrough("Tan", "tan")
tanh = passthrough("Tanh", "tanh")

add = passthrough("Add", "add")
atan2 = passthrough("Atan2", "atan2")
floor_div = passthrough("FloorDiv", "floor_div")
floormod = mod = passthrough("FloorMod", "floormod")
maximum = passthrough("Maximum", "maximum")
minimum = passthrough("Minimum", "minimum")
multiply = passthrough("Mul", "multiply")
nextafter = passthrough("NextAfter", "nextafter")
pow = passthrough("Pow", "pow")  # noqa: A001
realdiv = passthrough("RealDiv", "realdiv")
squared_difference = passthrough("SquaredDifference", "squared_difference")
subtract = passthrough("Sub", "subtract")
truncatediv = passthrough("TruncateDiv", "truncatediv")
truncatemod = passthrough("TruncateMod", "truncatemod")
xdivy = passthrough("Xdivy", "xdivy")
xlogy = passthrough("Xlogy", "xlogy")


# ---- quotients and products

# What the quotient of whole numbers is computed in.
_QUOTIENT_TYPES = {
    uint8: float32,
    int8: float32,
    uint16: float32,
    int16: float32,
    int32: float64,
    int64: float64,
}


def floordiv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x / y rounded towards minus infinity."""
    return apply_op("FloorDiv", x, y, name=name or "floordiv")


def truediv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x / y as Python 3 divides: whole numbers become floats. Raises TypeError for mixed types."""
    with name_scope(name, "truediv", [x, y]) as name:
        x = to_tensor(x, name="x")
        y = to_tensor(y, name="y")
        _check_same_type(x, y)
        wide = _QUOTIENT_TYPES.get(x.dtype.base)
        if wide is not None:
            x, y = cast(x, wide), cast(y, wide)
        elif not (x.dtype.is_floating or x.dtype.is_complex):
            raise TypeError(f"Invalid dtype {x.dtype.base!r} in __truediv__")
        return apply_op("RealDiv", x, y, name=name)


def _check_same_type(x: Tensor, y: Tensor) -> None:
    if x.dtype.base is not y.dtype.base:
        raise TypeError(
            f"x and y must have the same dtype, got {x.dtype.base!r} != {y.dtype.base!r}"
        )


def divide(x: Any, y: Any, name: str | None = None) -> Any:
    """x / y by Python's own rules, and so by the operators of x and y."""
    return x / y if name is None else truediv(x, y, name)


def div(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x / y as Python 2 divides: whole numbers round down."""
    with name_scope(name, "div", [x, y]) as name:
        x = to_tensor(x, name="x")
        y = to_tensor(y, x.dtype.base, name="y")
        op_type = "RealDiv" if x.dtype.is_floating or x.dtype.is_complex else "FloorDiv"
        return apply_op(op_type, x, y, name=name)


def div_no_nan(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x / y, and 0 where y is 0."""
    return _no_nan("DivNoNan", "div_no_nan", x, y, name)


def multiply_no_nan(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x * y, and 0 where y is 0 even if x is not finite."""
    return _no_nan("MulNoNan", "multiply_no_nan", x, y, name)


def _no_nan(op_type: str, default_name: str, x: Any, y: Any, name: str | None) -> Tensor:
    with name_scope(name, default_name, [x, y]) as name:
        x = to_tensor(x, name="x")
        y = to_tensor(y, x.dtype.base, name="y")
        return apply_op(op_type, x, y, name=name)


def reciprocal_no_nan(x: Any, name: str | None = None) -> Tensor:
    """1 / x, and 0 where x is 0."""
    with name_scope(name, "reciprocal_no_nan", [x]) as name:
        x = to_tensor(x, name="x")
        one = constant(1, x.dtype.base, name="one")
        return apply_op("DivNoNan", one, x, name=name)


def scalar_mul(scalar: Any, x: Any, name: str | None = None) -> Any:
    """A scalar times a Tensor or IndexedSlices. Raises ValueError if it is no scalar."""
    scalar = to_tensor(scalar, x.dtype.base, name="scalar")
    if scalar._shape != ():
        raise ValueError(f"Only scalar multiply works, got shape {scalar.shape}")
    if _has_values(x):
        return _with_values(x, multiply(scalar, x.values, name))
    return multiply(scalar, x, name)


def polyval(coeffs: Any, x: Any, name: str | None = None) -> Tensor:
    """The polynomial with these coefficients, highest power first, at x."""
    with name_scope(name, "polyval", [*coeffs, x]) as name:
        x = to_tensor(x, name="x")
        if len(coeffs) < 1:
            return array.zeros_like(x, name=name)
        tensors = [to_tensor(c, name=f"coeff_{i}") for i, c in enumerate(coeffs)]
        out = tensors[0]
        for c in tensors[1:]:
            out = c + out * x
        return out


# ---- one input


def abs(x: Any, name: str | None = None) -> Tensor:  # noqa: A001
    """The absolute value; real for complex numbers."""
    with name_scope(name, "Abs", [x]) as name:
        x = to_tensor(x, name="x")
        if x.dtype.is_complex:
            return apply_op("ComplexAbs", x, Tout=x.dtype.real_dtype, name=name)
        return apply_op("Abs", x, name=name)


def round(x: Any, name: str | None = None) -> Tensor:  # noqa: A001
    """To the nearest whole number, halves to the even one."""
    x = to_tensor(x, name="x")
    return x if x.dtype.is_integer else apply_op("Round", x, name=name)


def log_sigmoid(x: Any, name: str | None = None) -> Tensor:
    """log(sigmoid(x)), without overflow."""
    with name_scope(name, "LogSigmoid", [x]) as name:
        x = to_tensor(x, name="x")
        return negative(apply_op("Softplus", -x), name=name)


# ---- complex numbers


def complex(real: Any, imag: Any, name: str | None = None) -> Tensor:  # noqa: A001
    """real + i imag. Raises TypeError unless both are float32 or both float64."""
    real = to_tensor(real, name="real")
    imag = to_tensor(imag, name="imag")
    with name_scope(name, "Complex", [real, imag]) as name:
        kinds = {(float32, float32): complex64, (float64, float64): complex128}
        out_type = kinds.get((real.dtype.base, imag.dtype.base))
        if out_type is None:
            raise TypeError(
                f"real and imag have incorrect types: {real.dtype.name} {imag.dtype.name}"
            )
        return apply_op("Complex", real, imag, Tout=out_type, name=name)


def real(input: Any, name: str | None = None) -> Tensor:  # noqa: A002
    """The real part; a real tensor itself."""
    with name_scope(name, "Real", [input]) as name:
        x = to_tensor(input, name="input")
        return _part("Real", x, name) if x.dtype.is_complex else x


def imag(input: Any, name: str | None = None) -> Tensor:  # noqa: A002
    """The imaginary part; zeros for a real tensor."""
    with name_scope(name, "Imag", [input]) as name:
        x = to_tensor(input, name="input")
        return _part("Imag", x, name) if x.dtype.is_complex else array.zeros_like(x)


def angle(input: Any, name: str | None = None) -> Tensor:  # noqa: A002
    """The argument of complex numbers; zeros for a real tensor."""
    with name_scope(name, "Angle", [input]) as name:
        x = to_tensor(input, name="input")
        return _part("Angle", x, name) if x.dtype.is_complex else array.zeros_like(x)


def _part(op_type: str, x: Tensor, name: str | None) -> Tensor:
    return apply_op(op_type, x, Tout=x.dtype.real_dtype, name=name)


def conj(x: Any, name: str | None = None) -> Tensor:
    """The complex conjugate; a real tensor itself. Raises TypeError for what is no number."""
    if isinstance(x, Tensor) and _is_real(x):
        return x
    with name_scope(name, "Conj", [x]) as name:
        x = to_tensor(x, name="x")
        if x.dtype.is_complex:
            return apply_op("Conj", x, name=name)
        if _is_real(x):
            return x
        raise TypeError(f"Expected numeric or variant tensor, got dtype {x.dtype!r}")


def _is_real(x: Tensor) -> bool:
    return x.dtype.is_floating or x.dtype.is_integer


# ---- casts


def _has_values(x: Any) -> bool:
    """Whether x is IndexedSlices or a SparseTensor, whose values are cast alone."""
    return hasattr(x, "dense_shape")


def _with_values(x: Any, values: Tensor) -> Any:
    return type(x)(values=values, indices=x.indices, dense_shape=x.dense_shape)


def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """x with elements of another type. Nothing is made if it has that type already."""
    target = as_dtype(dtype).base
    if getattr(x, "dtype", None) is target and not _has_values(x):
        return x
    with name_scope(name, "Cast", [x]) as name:
        if _has_values(x):
            return _with_values(x, cast(x.values, target, name=name))
        x = to_tensor(x, name="x")
        if x.dtype.is_complex and target.is_floating:
            tf_logging.warn("Casting complex to real discards imaginary part.")
        if x.dtype.base is target:
            return x
        return apply_op("Cast", x, DstT=target, name=name)


def saturate_cast(value: Any, dtype: Any, name: str | None = None) -> Any:
    """cast that clips to the limits of the new type first."""
    with name_scope(name, "saturate_cast", [value]) as name:
        value = to_tensor(value, name="value")
        target = as_dtype(dtype).base
        with np.errstate(over="ignore"):  # limits of integers may be infinite as float16
            if value.dtype.min < target.min:
                value = maximum(value, to_tensor(target.min, value.dtype.base, name="min"))
            if value.dtype.max > target.max:
                value = minimum(value, to_tensor(target.max, value.dtype.base, name="max"))
        return cast(value, target, name=name)


def _caster(name: str, target: DType, default_name: str) -> Any:
    def to_type(x: Any, name: str | None = default_name) -> Any:
        return cast(x, target, name=name)

    to_type.__name__ = to_type.__qualname__ = name
    to_type.__doc__ = f"x as {target.name} (TF: the same, an old spelling of cast)."
    return to_type


to_float = _caster("to_float", float32, "ToFloat")
to_double = _caster("to_double", float64, "ToDouble")
to_int32 = _caster("to_int32", int32, "ToInt32")
to_int64 = _caster("to_int64", int64, "ToInt64")
to_complex64 = _caster("to_complex64", complex64, "ToComplex64")
to_complex128 = _caster("to_complex128", complex128, "ToComplex128")
