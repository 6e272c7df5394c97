"""Cases of ops/joining.py and ops/padding.py."""

import numpy as np

from ops.cases import case, f32, i32, ints, strings

_PADS = np.array([[1, 0], [2, 1]], np.int32)

CASES = {
    "ConcatV2": [
        case([f32(2, 3), f32(1, 3)], 0),
        case([f32(2, 3), f32(2, 0), f32(2, 1)], -1),
        case([f32(2), f32(2)], np.int64(0)).without("gradient", why="TF's own takes int32 only"),
        case([strings(b"a"), strings(b"b", b"c")], 0),
    ],
    "Concat": [case(1, [f32(2, 3), f32(2, 1)]), case(0, [f32(1), f32(2), f32(1)])],
    "ConcatOffset": [case(1, [ints(2, 3), ints(2, 4), ints(2, 1)]), case(0, [ints(2), ints(3)])],
    "Pack": [
        case([f32(2, 3), f32(2, 3)]),
        case([f32(2, 3), f32(2, 3), f32(2, 3)], axis=1),
        case([f32(2), f32(2)], axis=-1),
        case([f32(), f32()]),
        case([strings(b"a"), strings(b"b")], axis=1),
    ],
    "ParallelConcat": [case([f32(1, 2), f32(1, 2)], shape=[2, 2])],
    "Unpack": [
        case(f32(2, 3), num=2),
        case(f32(2, 3), num=3, axis=1),
        case(f32(2, 3), num=3, axis=-1),
        case(strings(b"a", b"b"), num=2),
    ],
    "Split": [
        case(1, f32(2, 4), num_split=2),
        case(-2, f32(4, 1), num_split=4),
        case(0, f32(0, 2), num_split=3),
    ],
    "SplitV": [
        case(f32(2, 5), ints(2, 3), 1, num_split=2),
        case(f32(5, 2), ints(1, -1, 2, dtype="int64"), 0, num_split=3),
        case(f32(3), ints(3, 0), -1, num_split=2),
    ],
    "Tile": [
        case(f32(2, 3), ints(1, 2)),
        case(f32(2), ints(3, dtype="int64")),
        case(f32(2, 1), ints(0, 2)),
        case(strings(b"a", b"b"), ints(2)),
    ],
    "Pad": [
        case(f32(2, 3), _PADS),
        case(i32(2, 3), _PADS.astype(np.int64)),
        case(strings(b"a"), np.array([[1, 1]], np.int32)),
    ],
    "PadV2": [case(f32(2, 3), _PADS, f32()).without("gradient", why="TF has none for the value")],
    "MirrorPad": [
        case(f32(2, 3), np.array([[1, 1], [2, 0]], np.int32), mode="REFLECT"),
        case(f32(2, 3), np.array([[2, 1], [0, 3]], np.int64), mode="SYMMETRIC"),
    ],
    "MirrorPadGrad": [
        case(f32(4, 5), np.array([[1, 1], [2, 0]], np.int32), mode="REFLECT"),
        case(f32(5, 6), np.array([[2, 1], [0, 3]], np.int32), mode="SYMMETRIC"),
    ],
}
