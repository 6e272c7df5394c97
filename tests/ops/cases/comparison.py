"""Cases of ops/comparison.py."""

import numpy as np

from ops.cases import bools, c64, case, f32, i32, ints, strings

_NUMBERS = np.array([1.0, np.nan, np.inf, -np.inf, 0.0], np.float32)
_CLOSE = ints(0, 1, 2, 3, dtype="float32")

CASES = {
    **{n: [case(f32(2, 3)), case(_NUMBERS)] for n in ("IsNan", "IsInf", "IsFinite")},
    **{
        n: [case(f32(2, 3), f32(3)), case(i32(20), i32(20)), case(f32(), f32(2))]
        for n in ("Less", "LessEqual", "Greater", "GreaterEqual")
    },
    **{
        n: [
            case(f32(2, 3), f32(3)),
            case(i32(20), i32(20)),
            case(c64(2), c64(2)),
            case(bools(9), bools(9)),
            case(strings(b"a", b"b"), strings(b"a", b"c")),
            case(b"a", b"a"),
            case(f32(2), f32(3), incompatible_shape_error=False),
        ]
        for n in ("Equal", "NotEqual")
    },
    "ApproximateEqual": [
        case(_CLOSE, _CLOSE + np.float32(1e-6)),
        case(f32(3), f32(3), tolerance=1.0),
    ],
    "LogicalNot": [case(bools(5)), case(True)],
    "LogicalAnd": [case(bools(9), bools(9)), case(bools(2, 3), True)],
    "LogicalOr": [case(bools(9), bools(9)), case(bools(2, 3), True)],
    "Select": [
        case(bools(2, 3), f32(2, 3), f32(2, 3)),
        case(bools(2), f32(2, 3), f32(2, 3)),
        case(True, f32(2, 3), f32(2, 3)),
        case(bools(2), strings(b"a", b"b"), strings(b"c", b"d")),
    ],
    "SelectV2": [
        case(bools(2, 3), f32(2, 3), f32(2, 3)),
        case(bools(2, 1), f32(3), f32(2, 3)),
        case(False, f32(2), f32()),
    ],
}
