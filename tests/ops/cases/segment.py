"""Cases of ops/segment.py."""

from ops.cases import c64, case, f32, i32, ints, only_f32

_RUN_TIME = "the number of segments is known at run time only"
_IDS = ints(0, 0, 2, 2, 2)


def _sorted():
    rows = [case(f32(5, 2), _IDS), case(f32(5), _IDS), case(f32(0, 2), ints())]
    rows.append(case(i32(5, 2, low=1), ints(0, 0, 0, 1, 3, dtype="int64")))
    return [c.without("full shape", why=_RUN_TIME) for c in rows]


def _unsorted():
    return [
        case(f32(5, 2), ints(2, 0, 2, 4, 4), 5),
        case(f32(4), ints(1, -1, 1, 0), 3),
        case(f32(2, 3, 2), ints(0, 1, 0, 2, 2, 1).reshape(2, 3), 4),
        case(f32(0, 2), ints(), 3),
        case(i32(5, 2, low=1), ints(2, 0, 2, 1, 1, dtype="int64"), 3),
    ]


def _unsorted_extremes():
    why = "segments without rows hold the largest numbers"
    return [
        case(f32(5, 2), ints(2, 0, 2, 1, 1), 3),
        case(f32(3), ints(0, 0, 0), 1),
        *(c.without("gradient", why=why) for c in _unsorted()),
    ]


def _sparse(make):
    rows = [case(make(4, 3), ints(3, 0, 0, 1), ints(0, 0, 1, 3)), case(make(4), ints(2), ints(0))]
    return [c.without("full shape", why=_RUN_TIME) for c in rows]


def _sparse_counted(make):
    return [
        case(make(4, 3), ints(3, 0, 0, 1), ints(0, 0, 1, 3), 6),
        case(make(4), ints(2), ints(0), 1),
        case(make(4, 2), ints(), ints(), 3),
    ]


_GRADS = [
    case(f32(4, 3), ints(3, 0, 0, 1), ints(0, 0, 1, 3), 5),
    case(f32(2), ints(2, 2, 0), ints(0, 0, 1), 4),
]

CASES = {
    **{f"Segment{kind}": _sorted() for kind in ("Sum", "Mean", "Prod", "Min", "Max")},
    **{f"UnsortedSegment{kind}": _unsorted() for kind in ("Sum", "Prod")},
    **{f"UnsortedSegment{kind}": _unsorted_extremes() for kind in ("Min", "Max")},
    "SparseSegmentSum": _sparse(f32),
    "SparseSegmentMean": _sparse(f32),
    "SparseSegmentSqrtN": _sparse(f32),
    "SparseSegmentSumWithNumSegments": _sparse_counted(f32),
    "SparseSegmentMeanWithNumSegments": _sparse_counted(f32),
    "SparseSegmentSqrtNWithNumSegments": _sparse_counted(only_f32),
    "SparseSegmentMeanGrad": _GRADS,
    "SparseSegmentSqrtNGrad": _GRADS,
}
CASES["SegmentSum"].append(case(c64(3, 2), ints(0, 1, 1)).without("full shape", why=_RUN_TIME))
