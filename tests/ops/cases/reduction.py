"""Cases of ops/reduction.py."""

import numpy as np

from ops.cases import bools, c64, case, f32, i32, i64, ints

_EMPTY = case(f32(0, 3), 0)


_LONG_AXES = case(f32(2, 3), ints(1, dtype="int64"), keep_dims=True).without(
    "gradient", why="TF's gradient takes int32 axes"
)


def _over_axes(make, **attrs):
    """One axis, several, all, none, a scalar, kept."""
    return [
        case(make(2, 3, 4), 1),
        case(make(2, 3, 4), ints(0, -1)),
        case(make(2, 3), ints(0, 1)),
        case(make(2, 3), ints()),
        case(make(3), 0),
        case(make(), ints()),
        case(make(2, 3), ints(1, dtype="int64"), keep_dims=True),
    ]


def _scans():
    return [
        case(f32(2, 3), 0),
        case(f32(2, 3), -1, exclusive=True),
        case(f32(2, 3), 1, reverse=True),
        case(f32(4), 0, exclusive=True, reverse=True),
        case(i32(4), 0),
        case(f32(2, 0), 1, exclusive=True),
    ]


CASES = {
    "Sum": [*_over_axes(f32), _EMPTY, case(i32(2, 3), 1), case(c64(2, 3), 0)],
    "Mean": [*_over_axes(f32), case(i32(2, 3), 1), case(c64(2, 3), 0)],
    "Prod": [*_over_axes(f32)[:-1], _LONG_AXES, _EMPTY, case(i32(2, 3), 1)],
    "Max": [*_over_axes(f32), _EMPTY, case(i32(2, 3), 1)],
    "Min": [*_over_axes(f32), _EMPTY, case(i32(2, 3), 1)],
    "EuclideanNorm": [
        *_over_axes(f32),
        case(ints(3, 5), 0),
        case(c64(2, 3), 1),
        case(c64(3, 1), 1),
    ],
    "Any": _over_axes(bools),
    "All": _over_axes(bools),
    "ArgMax": [
        case(f32(2, 3), 0),
        case(f32(2, 3), -1, output_type="int32"),
        case(f32(4), 0),
        case(i64(2, 3), np.int64(1)),
    ],
    "ArgMin": [case(f32(2, 3), 0), case(f32(2, 3, 4), -2, output_type="int32"), case(f32(4), 0)],
    "Cumsum": _scans(),
    "Cumprod": _scans(),
}
