"""Cases of ops/sorting.py."""

import numpy as np

from ops.cases import bools, case, f32, ints, only_f32, strings

_X = np.array([2, 1, 2, 3, 1], np.int32)
_MATRIX = np.array([[1, 2, 1], [3, 4, 3], [1, 2, 1]], np.int32)

_TOP_K = [case(f32(3, 4), k=2), case(ints(1, 3, 3, 2), k=4)]

CASES = {
    "Where": [case(bools(2, 3)), case(f32(4)), case(np.zeros((0, 2), bool))],
    "Unique": [
        case(_X),
        case(_X.astype(np.float32), out_idx="int64"),
        case(strings(b"b", b"a", b"b")),
    ],
    "UniqueV2": [
        case(_X, ints(dtype="int64")),
        case(_MATRIX, ints(0)),
        case(_MATRIX, ints(-1), out_idx="int64"),
    ],
    "UniqueWithCounts": [case(_X), case(strings(b"b", b"a", b"b"))],
    "UniqueWithCountsV2": [case(_MATRIX, ints(1)), case(_X, ints(0))],
    "ListDiff": [case(_X, ints(2, 9)), case(strings(b"b", b"a"), strings(b"a"), out_idx="int64")],
    "InvertPermutation": [case(ints(2, 0, 1)), case(ints(dtype="int64"))],
    "UnravelIndex": [case(ints(5, 0, 3), ints(2, 3)), case(5, ints(2, 3))],
    "TopK": [c.without("recorded", why="TF 1.15 reads it in old graphs only") for c in _TOP_K],
    "TopKV2": [case(f32(3, 4), 2), case(ints(1, 3, 3, 2), 3), case(f32(2, 3), 0), case(f32(4), 1)],
    "InTopK": [case(only_f32(3, 4), ints(0, 3, 2), k=2), case(only_f32(2, 3), ints(5, -1), k=1)],
    "InTopKV2": [
        case(only_f32(3, 4), ints(0, 3, 2), 2),
        case(np.array([[1, np.inf], [2, 2]], np.float32), ints(0, 1, dtype="int64"), np.int64(1)),
    ],
    "NthElement": [case(f32(3, 4), 1), case(f32(5), 0, reverse=True)],
    "LowerBound": [
        case(np.array([[1, 3, 3, 5], [0, 0, 0, 9]]), np.array([[3, 6], [-1, 0]])),
        case(np.zeros((0, 2)), np.zeros((0, 3)), out_type="int64"),
    ],
    "UpperBound": [case(np.array([[1, 3, 3, 5], [0, 0, 0, 9]]), np.array([[3, 6], [-1, 0]]))],
}
for _name in "Where Unique UniqueV2 UniqueWithCounts UniqueWithCountsV2 ListDiff".split():
    CASES[_name] = [c.without("full shape", why="depends on the values") for c in CASES[_name]]
