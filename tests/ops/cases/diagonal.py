"""Cases of ops/diagonal.py."""

import numpy as np

from ops.cases import case, f32

_WHOLE = np.int64(-1)

CASES = {
    "MatrixDiag": [case(f32(3)), case(f32(2, 3)), case(f32(2, 0))],
    "MatrixDiagPart": [case(f32(3, 3)), case(f32(2, 3, 4)), case(f32(4, 2))],
    "MatrixSetDiag": [
        case(f32(3, 3), f32(3)),
        case(f32(2, 3, 4), f32(2, 3)),
        case(f32(4, 2), f32(2)),
    ],
    "MatrixBandPart": [
        case(f32(3, 4), _WHOLE, np.int64(0)),
        case(f32(2, 4, 4), np.int64(1), np.int64(2)),
        case(f32(3, 3), 0, 0),
    ],
    "Diag": [case(f32(3)), case(f32(2, 3))],
    "DiagPart": [case(f32(3, 3)), case(f32(2, 3, 2, 3))],
}
