"""Cases of ops/array.py."""

import numpy as np

from ops.cases import c64, case, f32, i32, ints, only_f32, strings

CASES = {
    "Shape": [case(f32(2, 3)), case(f32()), case(i32(0, 2), out_type="int64")],
    "ShapeN": [case([f32(2, 3), f32(4)]), case([i32(2), i32(1, 1)], out_type="int64")],
    "Size": [case(f32(2, 3)), case(f32(0, 3), out_type="int64"), case(f32())],
    "Rank": [case(f32(2, 3)), case(f32())],
    "Reshape": [
        case(f32(2, 3), ints(3, 2)),
        case(f32(2, 3), ints(-1)),
        case(f32(2, 3), ints(3, -1, 1, dtype="int64")),
        case(f32(0, 3), ints(3, 0)),
        case(f32(1), ints()),
        case(strings(b"a", b"b"), ints(2, 1)),
    ],
    "ExpandDims": [
        case(f32(2, 3), 1),
        case(f32(2, 3), -1),
        case(f32(), 0),
        case(f32(2), np.int64(0)),
    ],
    "Squeeze": [
        case(f32(1, 2, 1)),
        case(f32(1, 2, 1), squeeze_dims=[0]),
        case(f32(1, 2, 1), squeeze_dims=[-1, 0]),
        case(f32(1, 1)),
    ],
    "Transpose": [
        case(f32(2, 3), ints(1, 0)),
        case(f32(2, 3, 4), ints(2, 0, 1, dtype="int64")),
        case(f32(), ints()),
        case(strings(b"a", b"b").reshape(1, 2), ints(1, 0)),
    ],
    "ConjugateTranspose": [case(f32(2, 3), ints(1, 0)), case(c64(2, 3), ints(1, 0))],
    "Bitcast": [
        case(only_f32(2), type="int32"),
        case(only_f32(2), type="uint8"),
        case(i32(3, 2), type="int64"),
        case(i32(), type="float32"),
        case(i32(2), type="int16"),
    ],
    "Fill": [
        case(ints(2, 3), 1.5),
        case(ints(dtype="int64"), 2),
        case(ints(2), b"x"),
        case(ints(0, 2), True),
    ],
    "Empty": [
        case(ints(2, 3), dtype="float32", init=True),
        case(ints(0), dtype="int64", init=True),
    ],
    "ZerosLike": [case(f32(2, 3)), case(strings(b"a")), case(f32())],
    "OnesLike": [case(f32(2, 3)), case(f32())],
    "BroadcastTo": [
        case(f32(1, 3), ints(2, 3)),
        case(f32(), ints(2, 2)),
        case(f32(2, 1), ints(4, 2, 3, dtype="int64")).without(
            "gradient", why="TF's own takes int32 only"
        ),
    ],
    "BroadcastArgs": [
        case(ints(2, 1), ints(3)).without("full shape", why="the values are known, too"),
        case(ints(2, 3), ints(dtype="int32")),
        case(ints(1, dtype="int64"), ints(4, 5, dtype="int64")),
    ],
    "StopGradient": [case(f32(2)).without("gradient", why="it stops")],
    "PreventGradient": [case(f32(2)).without("gradient", why="it raises")],
    "Snapshot": [case(f32(2))],
    "GuaranteeConst": [case(f32(2))],
    "DeepCopy": [case(f32(2, 3)), case(f32())],
}
