"""Cases of ops/math.py."""

import numpy as np

from ops.cases import c64, case, f32, i32, ints, only_f32, reals

_SUM = [
    case([f32(2, 3)]),
    case([f32(2, 3), f32(2, 3)]),
    case([f32(2), f32(2), f32(2), f32(2)]),
    case([f32(), f32(), f32()]),
    case([i32(2), i32(2), i32(2)]),
]
_LENGTH = "its length is known at run time only"


def _range(start, limit, delta):
    return case(np.array(start), np.array(limit), np.array(delta))


def _axes(a, b):
    shapes = case(ints(*a), ints(*b))
    return shapes.without("full shape", why="TF does not look at the values")


CASES = {
    "AddN": [*_SUM, case([c64(2), c64(2)])],
    "AccumulateNV2": [case(*c.inputs, shape=c.inputs[0][0].shape) for c in _SUM],
    "Range": [
        case(0, 5, 1),
        case(1, 10, 3),
        case(5, -4, -2),
        case(3, 3, 1),
        case(0.0, 1.0, 0.1),
        _range(2**40, 2**40 + 5, 2),
        case(2.0, -1.0, -0.7),
    ],
    "LinSpace": [
        case(f32(), f32(), 7),
        case(1.0, 2.0, 1),
        case(np.float64(0), np.float64(3), np.int64(4)),
    ],
    "Bincount": [
        case(ints(1, 2, 2, 9), 4, ints(dtype="float32")),
        case(ints(1, 2, 2, 9), 4, ints(5, 6, 7, 8)),
        case(ints(1, 2, 2, 9).reshape(2, 2), 12, only_f32(2, 2)),
        case(ints(), 3, ints()),
    ],
    "HistogramFixedWidth": [
        case(f32(20, low=-1.0, high=6.0), reals(0, 5), 5),
        case(i32(3, 4), ints(-2, 3), 4, dtype="int64"),
    ],
    "Bucketize": [
        case(f32(2, 5), boundaries=[-1.0, 0.0, 1.5]),
        case(ints(-1, 0, 3, 10), boundaries=[0.0, 3.0, 10.0]),
    ],
    "BroadcastGradientArgs": [
        _axes([2, 3], [3]),
        _axes([2, 1], [2, 1]),
        _axes([2, 1, 3], [2, 1, 1]),
        _axes([], [2]),
        _axes([1, 1], [1]),
        _axes([0, 2], [1, 2]),
    ],
    "ClipByValue": [
        case(f32(2, 3), reals(-0.5), reals(1.0)),
        case(f32(2, 3), f32(2, 3, low=-2, high=-0.5), f32(low=0.5, high=1.0)),
    ],
    "CheckNumerics": [case(f32(2, 3), message="bad"), case(f32(), message="bad")],
}
