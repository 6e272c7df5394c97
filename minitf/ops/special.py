"""Special functions: error, gamma, beta, zeta and Bessel functions."""

from __future__ import annotations

from typing import Any

from minitf.convert import to_tensor
from minitf.default import name_scope
from minitf.operation import Tensor
from minitf.ops.elementwise import abs as absolute
from minitf.ops.elementwise import exp
from minitf.ops.raw import passthrough
from minitf.ops.reduction import reduce_sum

__all__ = [
    "betainc", "digamma", "erf", "erfc", "igamma", "igammac", "lbeta", "lgamma", "polygamma",
    "zeta",
]  # fmt: skip

bessel_i0e = passthrough("BesselI0e", "bessel_i0e")
bessel_i1e = passthrough("BesselI1e", "bessel_i1e")
betainc = passthrough("Betainc", "betainc")
digamma = passthrough("Digamma", "digamma")
erf = passthrough("Erf", "erf")
erfc = passthrough("Erfc", "erfc")
igamma = passthrough("Igamma", "igamma")
igammac = passthrough("Igammac", "igammac")
lgamma = passthrough("Lgamma", "lgamma")
polygamma = passthrough("Polygamma", "polygamma")
zeta = passthrough("Zeta", "zeta")


def lbeta(x: Any, name: str | None = None) -> Tensor:
    """The logarithm of |Beta(x)|, along the last axis."""
    with name_scope(name, "lbeta", [x]):
        x = to_tensor(x, name="x")
        return reduce_sum(lgamma(x), axis=[-1]) - lgamma(reduce_sum(x, axis=[-1]))


def bessel_i0(x: Any, name: str | None = None) -> Tensor:
    """The modified Bessel function of order 0."""
    with name_scope(name, "bessel_i0", [x]):
        return exp(absolute(x)) * bessel_i0e(x)


def bessel_i1(x: Any, name: str | None = None) -> Tensor:
    """The modified Bessel function of order 1."""
    with name_scope(name, "bessel_i1", [x]):
        return exp(absolute(x)) * bessel_i1e(x)
