"""Ops of special functions: error, gamma, beta, zeta and Bessel functions. What they compute is in
special_functions.py, in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitf_runtime.errors import invalid
from minitf_runtime.ops import special_functions as functions
from minitf_runtime.ops.elementwise import unary
from minitf_runtime.ops.registry import ShapeContext, Type, broadcast, kernel, op
from minitf_runtime.types import FLOATS, Shape, float32, float64, merge_shapes, show_shape

_DOUBLES = Type((float32, float64))


def _in_double(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel that computes in float64 and gives the type of its operands."""

    def call(xp: Any, *args: Any) -> Any:
        wide = xp.broadcast_arrays(*(xp.asarray(a, xp.float64) for a in args))
        return fn(xp, *wide).astype(args[0].dtype)

    return call


_UNARY = {
    "Erf": functions.erf,
    "Erfc": functions.erfc,
    "Lgamma": functions.lgamma,
    "Digamma": functions.digamma,
    "BesselI0e": functions.bessel_i0e,
    "BesselI1e": functions.bessel_i1e,
}
for _name, _fn in _UNARY.items():
    unary(_name, FLOATS)
    kernel(_name)(_in_double(_fn))

_BINARY: dict[str, tuple[str, Callable[..., Any]]] = {
    "Igamma": ("a: T, x: T -> z: T", functions.igamma),
    "Igammac": ("a: T, x: T -> z: T", functions.igammac),
    "IgammaGradA": ("a: T, x: T -> z: T", functions.igamma_grad_a),
    "Polygamma": ("a: T, x: T -> z: T", functions.polygamma),
    "RandomGammaGrad": ("alpha: T, sample: T -> output: T", functions.random_gamma_grad),
    "Zeta": ("x: T, q: T -> z: T", functions.zeta),
}
for _name, (_signature, _fn) in _BINARY.items():
    op(_name, _signature, broadcast, T=_DOUBLES)
    kernel(_name)(_in_double(_fn))


@op("Betainc", "a: T, b: T, x: T -> z: T", T=_DOUBLES)
def betainc_shape(c: ShapeContext) -> list[Shape]:
    """The regularised incomplete beta function; scalars go with any shape."""
    out: Shape = ()
    for shape in c.shapes:
        if shape != ():
            out = shape if out == () else merge_shapes(out, shape)
    return [out]


@kernel("Betainc")
def betainc(xp: Any, a: Any, b: Any, x: Any) -> Any:
    named = [("a", a), ("b", b), ("x", x)]
    shaped = [(name, v.shape) for name, v in named if v.ndim]
    for name, shape in shaped[1:]:
        if shape != shaped[0][1]:
            raise invalid(
                f"Shapes of {shaped[0][0]} and {name} are inconsistent: "
                f"{show_shape(shaped[0][1])} vs. {show_shape(shape)}"
            )
    return _in_double(functions.betainc)(xp, a, b, x)
