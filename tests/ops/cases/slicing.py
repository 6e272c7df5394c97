"""Cases of ops/slicing.py and ops/reversing.py."""

import numpy as np

from ops.cases import case, f32, ints, strings

_X = f32(4, 3, 2)

CASES = {
    "Slice": [
        case(_X, ints(1, 0, 1), ints(2, -1, 1)),
        case(_X, ints(0, 0, 0, dtype="int64"), ints(0, 2, 2, dtype="int64")).without(
            "gradient", why="TF's own takes int32 only"
        ),
        case(strings(b"a", b"b", b"c"), ints(1), ints(2)),
        case(f32(), ints(), ints()),
    ],
    "StridedSlice": [
        case(_X, ints(1), ints(3), ints(1)),
        case(_X, ints(3, 2), ints(0, 0), ints(-2, -1), end_mask=2),
        case(_X, ints(-1, 0), ints(0, 2), ints(1, 1), shrink_axis_mask=1),
        case(_X, ints(0, 1), ints(0, 2), ints(1, 1), ellipsis_mask=1, shrink_axis_mask=2),
        case(_X, ints(0, 0, 1), ints(0, 0, 9), ints(1, 1, 1),
             new_axis_mask=1, begin_mask=2, end_mask=2),
        case(_X, ints(2, dtype="int64"), ints(1, dtype="int64"), ints(1, dtype="int64")),
        case(_X, ints(1, 1, 1), ints(2, 2, 2), ints(1, 1, 1), shrink_axis_mask=7),
        case(f32(3), ints(0), ints(0), ints(-1), begin_mask=1, end_mask=1),
        case(strings(b"a", b"b"), ints(1), ints(2), ints(1), shrink_axis_mask=1),
        case(f32(), ints(), ints(), ints()),
        case(f32(), ints(0), ints(0), ints(1), new_axis_mask=1),
    ],
    "StridedSliceGrad": [
        case(ints(4, 3, 2), ints(1), ints(3), ints(1), f32(2, 3, 2)),
        case(ints(3), ints(2), ints(0), ints(-1), f32(2)),
        case(ints(4, 3), ints(1, 0), ints(2, 3), ints(1, 1), f32(3), shrink_axis_mask=1),
        case(ints(3), ints(0, 0), ints(0, 2), ints(1, 1), f32(1, 2), new_axis_mask=1),
    ],
    "ReverseV2": [
        case(f32(2, 3), ints(0)),
        case(f32(2, 3), ints(-1, 0, dtype="int64")),
        case(f32(2), ints()),
        case(strings(b"a", b"b"), ints(0)),
    ],
    "Reverse": [
        case(f32(2, 3), np.array([True, False])),
        case(f32(2, 3), np.array([False, False])),
    ],
    "ReverseSequence": [
        case(f32(2, 3, 2), ints(1, 3, dtype="int64"), seq_dim=1),
        case(f32(3, 2), ints(2, 0), seq_dim=0, batch_dim=1),
        case(f32(2, 2, 3), ints(3, 2), seq_dim=2, batch_dim=0),
    ],
    "Roll": [
        case(f32(2, 3), ints(1), ints(0)),
        case(f32(2, 3), ints(1, -1), ints(0, 1)),
        case(f32(4), 1, 0),
    ],
}  # fmt: skip

EXEMPT = dict.fromkeys(
    ("StridedSliceAssign", "ResourceStridedSliceAssign"), "changes a variable: test_slicing.py"
)
