"""Index vectors against plain loops: by table, by sorting, with few and with many repetitions."""

from __future__ import annotations

import numpy as np
import pytest

from minitf_runtime.ops.indices import (
    MAX_RANGE,
    all_within,
    are_distinct,
    first_places,
    put_rows,
    rounds,
    update_rows,
)

RNG = np.random.RandomState(0)
VECTORS = {
    "few values": RNG.randint(0, 5, 100),
    "many values": RNG.randint(-500, 500, 300).astype(np.int32),
    "far apart": RNG.choice([-MAX_RANGE, 0, MAX_RANGE], 50),
    "int8, whole range": np.array([127, -128, 127, 0, -128], np.int8),
    "unsigned": np.array([3, 2**64 - 1, 3, 0], np.uint64),
    "floats": np.array([0.5, -0.0, 0.0, 0.5, 2.0]),
    "strings": np.array([b"a", b"bb", b"a", b""], object),
    "one": np.array([7]),
    "none": np.zeros(0, np.int64),
}


@pytest.mark.parametrize("name", VECTORS)
def test_first_places(name):
    values = VECTORS[name].tolist()
    assert first_places(np, VECTORS[name]).tolist() == [values.index(v) for v in values]


@pytest.mark.parametrize("name", VECTORS)
def test_distinct(name):
    values = VECTORS[name].tolist()
    assert are_distinct(np, VECTORS[name]) == (len(set(values)) == len(values))


def test_within():
    for dtype in (np.int32, np.int64):
        assert all_within(np.array([0, 4], dtype), 5)
        assert not all_within(np.array([0, 5], dtype), 5)
        assert not all_within(np.array([-1, 4], dtype), 5)
    assert all_within(np.zeros(0, np.int64), 0)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, object])
@pytest.mark.parametrize("shape", [(5,), (5, 2), (5, 2, 3), (5, 0)])
def test_put_rows(shape, dtype, order):
    """Also of values of another type, or of one row for all; the last of a row stays."""
    rows = np.array([3, 0, 3])
    values = np.arange(3 * np.prod(shape[1:], dtype=int)).reshape(3, *shape[1:])
    for given in (values.astype(dtype), values, values[:1]):
        array = np.zeros(shape, dtype, order)
        expected = array.copy()
        expected[rows] = given
        put_rows(np, array, rows, given)
        assert (array == expected).all()


def test_nan_equals_nothing():
    values = np.array([np.nan, 1.0, np.nan, 1.0])
    assert first_places(np, values).tolist() == [0, 1, 2, 1]


@pytest.mark.parametrize("name", VECTORS)
def test_rounds_cover_all_and_repeat_nothing(name):
    values, seen = VECTORS[name], []
    for chosen in rounds(np, values):
        assert len(set(values[chosen].tolist())) == len(values[chosen])
        seen += np.arange(len(values))[chosen].tolist()
    assert sorted(seen) == list(range(len(values)))


@pytest.mark.parametrize("ufunc", ["add", "subtract", "multiply", "divide", "minimum", "maximum"])
@pytest.mark.parametrize("width", [1, 3])
@pytest.mark.parametrize("limit", [1000, 60, 4])
def test_update_rows(ufunc, width, limit):
    rows = RNG.randint(0, limit, 60)
    values = RNG.uniform(0.5, 2.0, (60, width))
    array = RNG.uniform(0.5, 2.0, (limit, width))
    wanted = array.copy()
    for row, value in zip(rows, values):
        wanted[row] = getattr(np, ufunc)(wanted[row], value)
    update_rows(np, getattr(np, ufunc), array, rows, values)
    np.testing.assert_allclose(array, wanted, rtol=1e-12)


def test_update_no_rows():
    array = np.ones((3, 2))
    update_rows(np, np.add, array, np.zeros(0, np.int64), np.zeros((0, 2)))
    assert array.tolist() == [[1, 1]] * 3
