"""Cases of ops/special.py."""

import numpy as np

from ops.cases import case, f32, reals

_POSITIVE = dict(low=0.3, high=6.0)
_LARGE = dict(low=1.0, high=60.0)
_EDGES = np.array([0.0, 1.0, -3.0, np.inf, -np.inf, np.nan, 0.5, 8.5, 30.0])
_POLES = np.array([0.0, -1.0, -1.5, -0.3, np.inf, np.nan])
_A = np.array([0.0, -1.0, 1.0, 1.0, 1.0, 2.0, 50.0, 0.5])
_X = np.array([1.0, 1.0, -1.0, 0.0, np.inf, 3.0, 70.0, 0.01])
_S = np.array([1.0, 0.5, 2.0, 2.0, 2.0, 2.5, 3.0, 10.0])
_Q = np.array([1.0, 1.0, 1.0, 0.0, -1.0, -1.5, -0.5, 20.0])
_ORDERS = np.array([0.0, 1.0, 1.0, 2.0, 1.5, -1.0, 3.0])
_PLACES = np.array([1.0, 1.0, 0.0, -0.5, 1.0, 1.0, 10.0])
_NO_SLOPE = "edges have no slope"


def _edges(*values):
    return case(*values).without("gradient", why=_NO_SLOPE)


def _binary(**limits):
    return [
        case(f32(2, 3, **limits), f32(2, 3, **limits)),
        case(f32(2, 1, **limits), f32(3, **limits)),
    ]


CASES = {
    "Erf": [case(f32(2, 3)), _edges(_EDGES)],
    "Erfc": [case(f32(2, 3)), _edges(_EDGES)],
    "Lgamma": [case(f32(2, 3, **_POSITIVE)), case(f32(3, low=-0.9, high=-0.1)), _edges(_POLES)],
    "Digamma": [case(f32(2, 3, **_POSITIVE)), case(f32(3, low=-0.9, high=-0.1)), _edges(_POLES)],
    "BesselI0e": [case(f32(2, 3, **_POSITIVE)), case(f32(9, low=20.0, high=90.0)), case(f32(2, 3))],
    "BesselI1e": [case(f32(2, 3, **_POSITIVE)), case(f32(9, low=20.0, high=90.0)), case(f32(2, 3))],
    "Igamma": [*_binary(**_POSITIVE), case(f32(9, **_LARGE), f32(9, **_LARGE)), _edges(_A, _X)],
    "Igammac": [*_binary(**_POSITIVE), case(f32(9, **_LARGE), f32(9, **_LARGE)), _edges(_A, _X)],
    "IgammaGradA": [
        *_binary(**_POSITIVE),
        case(f32(9, **_LARGE), f32(9, **_LARGE)),
        _edges(_A, _X),
    ],
    "Zeta": [
        case(f32(2, 3, low=1.5, high=6.0), f32(3, **_POSITIVE)).no_gradient_for(0),
        _edges(_S, _Q),
    ],
    "Polygamma": [
        case(reals(0, 1, 2), f32(3, low=0.5)).no_gradient_for(0),
        _edges(_ORDERS, _PLACES),
    ],
    "Betainc": [
        case(
            f32(2, 3, **_POSITIVE), f32(2, 3, **_POSITIVE), f32(2, 3, low=0.1, high=0.9)
        ).no_gradient_for(0, 1),
        case(reals(2.0), reals(3.0), f32(4, low=0.1, high=0.9)).no_gradient_for(0, 1),
    ],
}
