"""Elementwise arithmetic, rounding, exponentials, trigonometry, bits, casts and complex numbers.
Comparisons and choices are in comparison.py, gamma functions and their kin in special.py."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from minitf_runtime.errors import UnimplementedError, invalid
from minitf_runtime.ops.registry import OPS, Type, broadcast, kernel, op, unchanged
from minitf_runtime.types import (
    COMPLEX,
    FLOATS,
    DType,
    bool_,
    complex64,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    string,
    uint8,
    uint16,
    uint32,
    uint64,
)

INEXACT = (*FLOATS, *COMPLEX)
_ORDERED = (*FLOATS, int32, int64)
_SIGNED = (*_ORDERED, *COMPLEX)
_SMALL = (*FLOATS, uint8, int8, int16, int32, int64, *COMPLEX)
_WHOLE = (uint8, int8, uint16, int16, int32, int64)
_QUOTIENT = (*FLOATS, uint8, int8, uint16, int16, int32, int64, *COMPLEX)
_BITS = (int8, int16, int32, int64, uint8, uint16, uint32, uint64)


# ---- declarations


def unary(names: str, types: Iterable[DType], result: str = "T") -> None:
    """Declares ops of one input, shaped as it."""
    for name in names.split():
        op(name, f"x: T -> y: {result}", unchanged, T=Type(tuple(types)))


def binary(names: str, types: Iterable[DType], result: str = "T") -> None:
    """Declares ops of two inputs that broadcast."""
    for name in names.split():
        op(name, f"x: T, y: T -> z: {result}", broadcast, T=Type(tuple(types)))


unary("Neg Sign Square Reciprocal Inv", _SIGNED)
unary("Sqrt Rsqrt Exp Expm1 Log Log1p Sigmoid", INEXACT)
unary("Sin Cos Sinh Cosh Tanh Asinh Acosh Atanh", INEXACT)
unary("Tan Asin Acos Atan", _SIGNED)
unary("Abs", (*FLOATS, int8, int16, int32, int64))
unary("Floor Ceil Rint", FLOATS)
unary("Round", _SIGNED)
unary("Invert", _BITS)
unary("PopulationCount", _BITS, "uint8")
binary("Add", (*_SMALL, string))
binary("AddV2", _SMALL)
binary("Sub Mul", _QUOTIENT)
binary("Div RealDiv FloorDiv TruncateDiv", _QUOTIENT)
binary("DivNoNan MulNoNan Xdivy Xlogy", INEXACT)
binary("FloorMod Mod TruncateMod", (int32, int64, *FLOATS))
binary("Maximum Minimum", _ORDERED)
binary("Pow SquaredDifference", _SIGNED)
binary("BitwiseAnd BitwiseOr BitwiseXor LeftShift RightShift", _BITS)
op("Atan2", "y: T, x: T -> z: T", broadcast, T=Type(FLOATS))
op("NextAfter", "x1: T, x2: T -> output: T", broadcast, T=Type((float64, float32), float32))
for _name in "SqrtGrad RsqrtGrad ReciprocalGrad InvGrad SigmoidGrad TanhGrad".split():
    op(_name, "y: T, dy: T -> z: T", unchanged, T=Type(INEXACT))


# ---- kernels that are one function of the array module


# Operators are faster than the functions on scalars, and the same on arrays.
_OPERATORS = {
    "add": "{0} + {1}",
    "subtract": "{0} - {1}",
    "multiply": "{0} * {1}",
    "divide": "{0} / {1}",
    "negative": "-{0}",
    "less": "{0} < {1}",
    "less_equal": "{0} <= {1}",
    "greater": "{0} > {1}",
    "greater_equal": "{0} >= {1}",
    "logical_and": "{0} & {1}",
    "logical_or": "{0} | {1}",
}


def inline(name: str, inputs: int) -> str:
    """The array module's function of that name as an expression of its inputs."""
    places = ", ".join(f"{{{i}}}" for i in range(inputs))
    return _OPERATORS.get(name, f"xp.{name}({places})")


def ufunc(name: str) -> Callable[..., Any]:
    """A kernel that is the array module's function of that name."""

    def call(xp: Any, *args: Any) -> Any:
        return getattr(xp, name)(*args)

    return call


_UFUNCS = {
    "Neg": "negative",
    "Abs": "absolute",
    "Square": "square",
    "Sqrt": "sqrt",
    "Exp": "exp",
    "Expm1": "expm1",
    "Log": "log",
    "Log1p": "log1p",
    "Sin": "sin",
    "Cos": "cos",
    "Tan": "tan",
    "Asin": "arcsin",
    "Acos": "arccos",
    "Atan": "arctan",
    "Sinh": "sinh",
    "Cosh": "cosh",
    "Tanh": "tanh",
    "Asinh": "arcsinh",
    "Acosh": "arccosh",
    "Atanh": "arctanh",
    "Floor": "floor",
    "Ceil": "ceil",
    "Rint": "rint",
    "Round": "rint",
    "Invert": "invert",
    "Add": "add",
    "AddV2": "add",
    "Sub": "subtract",
    "Mul": "multiply",
    "Div": "divide",
    "RealDiv": "divide",
    "Mod": "fmod",
    "TruncateMod": "fmod",
    "FloorMod": "remainder",
    "Maximum": "maximum",
    "Minimum": "minimum",
    "Pow": "power",
    "Atan2": "arctan2",
    "NextAfter": "nextafter",
    "BitwiseAnd": "bitwise_and",
    "BitwiseOr": "bitwise_or",
    "BitwiseXor": "bitwise_xor",
}
_ONLY_INEXACT = {"Div", "RealDiv", "Tan", "Asin", "Acos", "Atan"}
_ONLY_FLOATS = {"Mod", "TruncateMod", "FloorMod", "Round"}

for _op, _fn in _UFUNCS.items():
    _types = FLOATS if _op in _ONLY_FLOATS else INEXACT if _op in _ONLY_INEXACT else ()
    _form = inline(_fn, len(OPS[_op].inputs))
    kernel(_op, types=_types, inline=_form, elementwise=True)(ufunc(_fn))


# ---- kernels with a rule of their own


@kernel("Add", types=(string,), priority=1)
def join_strings(xp: Any, x: Any, y: Any) -> Any:
    return np.asarray(np.add(x, y), object)


@kernel("Round", types=(int32, int64))
def round_whole(xp: Any, x: Any) -> Any:
    return x


@kernel("Sign", types=_ORDERED, elementwise=True)
def sign(xp: Any, x: Any) -> Any:
    """0 for NaN, as in TF. NumPy's own gives NaN and is nine times slower where it is in place."""
    return ((x > 0).astype(xp.int8) - (x < 0).astype(xp.int8)).astype(x.dtype)


@kernel("Sign", types=COMPLEX, elementwise=True)
def complex_sign(xp: Any, x: Any) -> Any:
    return xp.sign(x)


@kernel("Reciprocal", "Inv", types=INEXACT, elementwise=True)
def reciprocal(xp: Any, x: Any) -> Any:
    return 1 / x


@kernel("Rsqrt", elementwise=True)
def rsqrt(xp: Any, x: Any) -> Any:
    return 1 / xp.sqrt(x)


@kernel("Sigmoid", elementwise=True)
def sigmoid(xp: Any, x: Any) -> Any:
    return 1 / (1 + xp.exp(-x))


@kernel("PopulationCount")
def population_count(xp: Any, x: Any) -> Any:
    unsigned = x.view(f"u{x.itemsize}")
    count = xp.zeros(x.shape, xp.uint8)
    for bit in range(8 * x.itemsize):
        count += (unsigned >> unsigned.dtype.type(bit)).astype(xp.uint8) & 1
    return count


@kernel("SquaredDifference", elementwise=True)
def squared_difference(xp: Any, x: Any, y: Any) -> Any:
    d = x - y
    return d * d.conj()


def _check_divisor(xp: Any, x: Any, y: Any) -> None:
    """On a GPU x / 0 is 0: as in TF, nobody waits there to find it."""
    if xp is np and x.size and not y.all():
        raise invalid("Integer division by zero")


@kernel("FloorDiv", types=FLOATS, elementwise=True)
def floor_div(xp: Any, x: Any, y: Any) -> Any:
    return xp.floor(x / y)  # NumPy's // rounds otherwise: 1.0 // 0.1 is 9


@kernel("FloorDiv", types=_WHOLE)
def floor_div_whole(xp: Any, x: Any, y: Any) -> Any:
    _check_divisor(xp, x, y)
    return x // y


@kernel("FloorMod", types=(int32, int64))
def floor_mod_whole(xp: Any, x: Any, y: Any) -> Any:
    _check_divisor(xp, x, y)
    return xp.remainder(x, y)


@kernel("Div", "RealDiv", "TruncateDiv", types=_WHOLE)
def truncate_div(xp: Any, x: Any, y: Any) -> Any:
    _check_divisor(xp, x, y)
    return (x - xp.fmod(x, y)) // y


@kernel("Mod", "TruncateMod", types=(int32, int64))
def truncate_mod(xp: Any, x: Any, y: Any) -> Any:
    _check_divisor(xp, x, y)
    return xp.fmod(x, y)


@kernel("DivNoNan", elementwise=True)
def div_no_nan(xp: Any, x: Any, y: Any) -> Any:
    return xp.where(y == 0, 0, x / y)


@kernel("MulNoNan", elementwise=True)
def mul_no_nan(xp: Any, x: Any, y: Any) -> Any:
    return xp.where(y == 0, 0, x * y)


@kernel("Xdivy", elementwise=True)
def xdivy(xp: Any, x: Any, y: Any) -> Any:
    return xp.where(x == 0, 0, x / y)


@kernel("Xlogy", elementwise=True)
def xlogy(xp: Any, x: Any, y: Any) -> Any:
    return xp.where(x == 0, 0, x * xp.log(y))


@kernel("Pow", types=(int32, int64), priority=1)
def power_whole(xp: Any, x: Any, y: Any) -> Any:
    if xp is np and (y < 0).any():
        raise invalid("Integers to negative integer powers are not allowed")
    return xp.power(x, y)


def _shift_count(xp: Any, y: Any) -> Any:
    """Shifts stay within the width of the type, as in TF."""
    return xp.clip(y, 0, 8 * y.itemsize - 1)


@kernel("LeftShift")
def left_shift(xp: Any, x: Any, y: Any) -> Any:
    return xp.left_shift(x, _shift_count(xp, y))


@kernel("RightShift")
def right_shift(xp: Any, x: Any, y: Any) -> Any:
    return xp.right_shift(x, _shift_count(xp, y))


# ---- gradients in terms of the result y


@kernel("SqrtGrad", elementwise=True)
def sqrt_grad(xp: Any, y: Any, dy: Any) -> Any:
    return dy * 0.5 / y.conj()


@kernel("RsqrtGrad", elementwise=True)
def rsqrt_grad(xp: Any, y: Any, dy: Any) -> Any:
    y = y.conj()
    return dy * -0.5 * y * (y * y)


@kernel("ReciprocalGrad", "InvGrad", elementwise=True)
def reciprocal_grad(xp: Any, y: Any, dy: Any) -> Any:
    y = y.conj()
    return -y * dy * y


@kernel("SigmoidGrad", elementwise=True)
def sigmoid_grad(xp: Any, y: Any, dy: Any) -> Any:
    return dy * y * (1 - y)


@kernel("TanhGrad", elementwise=True)
def tanh_grad(xp: Any, y: Any, dy: Any) -> Any:
    return dy * (1 - y * y)


# ---- casts and complex numbers

_REAL = Type((float32, float64), float32)
_COMPLEX = Type(COMPLEX, complex64)

op("Cast", "x: SrcT -> y: DstT", unchanged, SrcT=Type(), DstT=Type(), Truncate=False)
op("Complex", "real: T, imag: T -> out: Tout", broadcast, T=_REAL, Tout=_COMPLEX)
op("ComplexAbs", "x: T -> y: Tout", unchanged, T=_COMPLEX, Tout=_REAL)
for _name in ("Real", "Imag", "Angle"):
    op(_name, "input: T -> output: Tout", unchanged, T=_COMPLEX, Tout=_REAL)
op("Conj", "input: T -> output: T", unchanged, T=_COMPLEX)

_NUMPY = {t: np.dtype(t.as_numpy_dtype) for t in (*_BITS, *FLOATS, *COMPLEX, bool_)}
_C_NAMES = {float16: "half", float32: "float", float64: "double"}


@kernel("Cast", elementwise=True)
def cast(xp: Any, x: Any, *, SrcT: DType, DstT: DType, Truncate: bool) -> Any:  # noqa: N803
    if SrcT is DstT:
        return x
    source, target = _NUMPY.get(SrcT), _NUMPY.get(DstT)
    if source is None or target is None or Truncate:
        names = [_C_NAMES.get(t, t.name) for t in (SrcT, DstT)]
        how = " by truncation" if Truncate else ""
        raise UnimplementedError(None, None, f"Cast {names[0]} to {names[1]}{how} is not supported")
    if source.kind == "c" and target.kind != "c":
        x = x.real
    if target.kind == "u" and source.kind in "fc":
        x = x.astype(xp.int64)  # beyond the range the low bits stay, as in C on common machines
    return x.astype(target)


@kernel("Complex")
def complex_(xp: Any, real: Any, imag: Any, *, Tout: DType) -> Any:  # noqa: N803
    out = xp.empty(xp.broadcast_shapes(real.shape, imag.shape), Tout.as_numpy_dtype)
    out.real = real
    out.imag = imag
    return out


@kernel("Real")
def real(xp: Any, x: Any) -> Any:
    return x.real


@kernel("Imag")
def imag(xp: Any, x: Any) -> Any:
    return x.imag


kernel("Angle")(ufunc("angle"))
kernel("ComplexAbs")(ufunc("absolute"))
kernel("Conj")(ufunc("conj"))
