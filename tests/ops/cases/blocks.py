"""Cases of ops/blocks.py."""

import numpy as np

from ops.cases import case, f32, ints

_NO_CROPS = np.zeros((2, 2), np.int32)

CASES = {
    "SpaceToDepth": [
        case(f32(2, 4, 6, 3), block_size=2),
        case(f32(2, 3, 4, 6), block_size=2, data_format="NCHW").without("recorded", why="GPU only"),
    ],
    "DepthToSpace": [
        case(f32(2, 2, 3, 8), block_size=2),
        case(f32(2, 8, 2, 3), block_size=2, data_format="NCHW").without("recorded", why="GPU only"),
    ],
    "SpaceToBatchND": [
        case(f32(1, 4, 4, 2), ints(2, 2), _NO_CROPS),
        case(f32(2, 5), ints(3), np.array([[1, 0]], np.int32)),
        case(f32(2, 4, 3), ints(2, 1, dtype="int64"), np.array([[1, 1], [0, 0]])),
    ],
    "BatchToSpaceND": [
        case(f32(4, 2, 2, 2), ints(2, 2), _NO_CROPS),
        case(f32(6, 3), ints(3), np.array([[1, 2]], np.int32)),
    ],
    "ExtractImagePatches": [
        case(f32(1, 4, 5, 2), ksizes=[1, 2, 3, 1], strides=[1, 2, 1, 1], rates=[1, 1, 1, 1],
             padding="VALID"),
        case(f32(2, 4, 5, 1), ksizes=[1, 3, 2, 1], strides=[1, 2, 2, 1], rates=[1, 1, 2, 1],
             padding="SAME"),
    ],
}  # fmt: skip
for _name in ("SpaceToBatchND", "BatchToSpaceND"):
    CASES[_name] = [
        c.without("unknown shape", why="the shape of block_shape must be known")
        for c in CASES[_name]
    ]
