"""Cases of ops/gather.py."""

import numpy as np

from ops.cases import case, f32, i32, ints, strings

_TWO = np.array([[0, 1], [1, 0]], np.int32)
_ROWS = np.array([[2], [0]], np.int32)
_TWICE = np.array([[1], [1]])

CASES = {
    "Gather": [case(f32(4, 2), ints(3, 0, 0)), case(f32(4), _TWO.astype(np.int64))],
    "GatherV2": [
        case(f32(4, 2), ints(3, 0, 0), 0),
        case(f32(4, 2), _TWO, 1),
        case(f32(4, 2), 3, np.int64(0)),
        case(f32(2, 3, 2), ints(2, 0, dtype="int64"), -2),
        case(f32(2, 3), _TWO, 1, batch_dims=1).without("recorded", why="not in 1.15's kernel"),
        case(f32(2, 2, 3), _TWO, 2, batch_dims=1).without(
            "recorded", "gradient", why="neither TF 1.15's kernel nor its gradient can do so"
        ),
        case(strings(b"a", b"b"), 1, 0),
    ],
    "GatherNd": [
        case(f32(3, 2), _TWO),
        case(f32(3, 2), _ROWS),
        case(f32(3, 2), ints(1, 1, dtype="int64")).without("gradient", why="needs a vector in TF"),
        case(f32(3), np.zeros((2, 0), np.int32)),
        case(strings(b"a", b"b"), ints(1)),
    ],
    "ScatterNd": [
        case(_ROWS, f32(2, 3), ints(4, 3)),
        case(np.array([[1], [1]], np.int32), f32(2), ints(3)),
        case(_TWO, f32(2), ints(2, 2)),
    ],
    "TensorScatterUpdate": [case(f32(3, 2), _ROWS, f32(2, 2)), case(f32(2, 2), _TWO, f32(2))],
    "TensorScatterAdd": [case(f32(3, 2), _ROWS, f32(2, 2)), case(f32(3), _TWICE, f32(2))],
    "TensorScatterSub": [case(f32(3, 2), _ROWS, f32(2, 2)), case(f32(3), _TWICE, f32(2))],
    "ScatterNdNonAliasingAdd": [case(f32(3, 2), _ROWS, f32(2, 2))],
    "OneHot": [
        case(ints(0, 2, -1, 5), 3, 1.0, 0.0),
        case(_TWO.astype(np.int64), 2, 5, 7, axis=1),
        case(np.array([0, 1], np.uint8), 3, True, False, axis=0),
        case(1, 2, b"x", b"y"),
    ],
    "DynamicPartition": [
        case(f32(4, 2), ints(1, 0, 1, 1), num_partitions=3),
        case(f32(2, 2), _TWO, num_partitions=2),
        case(i32(3), ints(0, 0, 0), num_partitions=1),
    ],
    "DynamicStitch": [
        case([ints(0, 2), ints(1, 3)], [f32(2, 3), f32(2, 3)]),
        case([_TWO, 2], [f32(2, 2), f32()]).without("gradient", why="flows to hidden rows, too"),
    ],
    "ParallelDynamicStitch": [case([ints(0, 2), ints(1, 3)], [f32(2, 3), f32(2, 3)])],
}
CASES["DynamicPartition"] = [
    c.without("full shape", why="depends on the values") for c in CASES["DynamicPartition"]
]
