"""Vectors that may name the same row more than once: where a value comes first, and how often."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

MAX_RANGE = 1 << 20  # of values for which a table is kept: 4 MiB each

_free_tables: list[Any] = []  # as many as were in use at a time


def all_within(indices: Any, limit: int) -> bool:
    """Whether 0 <= index < limit for all: read as unsigned, a negative index is the largest."""
    return not indices.size or int(indices.view(f"u{indices.itemsize}").max()) < limit


def first_places(xp: Any, values: Any) -> Any:
    """For each element of a vector the position where its value comes first; NaN equals nothing.

    Integers of a small range look each other up in a table, in linear time; all else is sorted.
    """
    keys = _keys(xp, values)
    if keys is not None:
        table = _free_table()
        table[keys[::-1]] = np.arange(keys.size - 1, -1, -1, dtype=np.int32)  # the last one stays
        places = table[keys]
        _free_tables.append(table)
        return places
    order, new = _sorted(xp, values)
    places = xp.empty(order.shape, xp.int64)
    places[order] = order[new][xp.cumsum(new) - 1]
    return places


def are_distinct(xp: Any, values: Any) -> bool:
    """Whether no value of a vector comes twice."""
    keys = _keys(xp, values)
    if keys is None:
        return bool(_sorted(xp, values)[1].all())
    positions = np.arange(keys.size, dtype=np.int32)
    table = _free_table()
    table[keys] = positions
    same = table[keys] == positions
    _free_tables.append(table)
    return bool(same.all())


def _keys(xp: Any, values: Any) -> Any:
    """Places in a table for the values of a vector; None if that would have to be too large."""
    if xp is not np or values.dtype.kind != "i" or not values.size:
        return None
    low = values.min()
    if int(values.max()) - int(low) >= MAX_RANGE:
        return None
    return np.subtract(values, low, dtype=np.int64)


def _free_table() -> Any:
    try:
        return _free_tables.pop()
    except IndexError:
        return np.empty(MAX_RANGE, np.int32)  # takes memory where it is used


def _sorted(xp: Any, values: Any) -> tuple[Any, Any]:
    """The positions in the order of their values, and which of them begin a new value."""
    order = xp.argsort(values, kind="stable")
    ordered = values[order]
    new = xp.ones(order.shape, bool)
    new[1:] = ordered[1:] != ordered[:-1]
    return order, new


def is_first(xp: Any, rows: Any) -> Any:
    """Which elements of a vector come for the first time."""
    return first_places(xp, rows) == xp.arange(rows.size)


def rounds(xp: Any, indices: Any) -> Iterator[Any]:
    """Selections that cover all positions, in each of which no index comes twice."""
    if are_distinct(xp, indices):
        yield slice(None)
        return
    order, new = _sorted(xp, indices)
    positions = xp.arange(order.size)
    nth = positions - xp.maximum.accumulate(xp.where(new, positions, 0))
    for k in range(int(nth.max()) + 1):
        yield order[nth == k]


def update_rows(xp: Any, ufunc: Any, array: Any, rows: Any, values: Any) -> None:
    """array[rows] = ufunc(array[rows], values), one row after another."""
    width = array[:1].size
    if width == 1:
        ufunc.at(array.reshape(-1), rows, values.reshape(-1))  # fast in one dimension
        return
    if are_distinct(xp, rows):
        put_rows(xp, array, rows, ufunc(xp.take(array, rows, axis=0), values))
        return
    first = is_first(xp, rows)
    if 2 * int(first.sum()) < rows.size and ufunc in (xp.add, xp.minimum, xp.maximum):
        order, new = _sorted(xp, rows)
        values = ufunc.reduceat(values[order], xp.flatnonzero(new), axis=0)
        rows = rows[order][new]
        array[rows] = ufunc(array[rows], values)
        return
    array[rows[first]] = ufunc(array[rows[first]], values[first])
    rows, values = rows[~first], values[~first]
    places = rows.astype(xp.int64)[:, None] * width + xp.arange(width)
    ufunc.at(array.reshape(-1), places.reshape(-1), values.reshape(-1))


def put_rows(xp: Any, array: Any, rows: Any, values: Any) -> None:
    """array[rows] = values; of a row named twice the last value stays.

    Rows of CPU arrays move as one item each: for 256 bytes twice as fast as number by number.
    """
    if xp is np and values.dtype == array.dtype and values.shape[1:] == array.shape[1:]:
        items, given = _row_items(array), _row_items(values)
        if items is not None and given is not None:
            array, values = items, given
    array[rows] = values


def _row_items(array: Any) -> Any:
    """A view of an array as a vector of its rows; None where these do not lie in one piece."""
    if array.ndim < 2 or not array.size or not array.flags.c_contiguous or array.dtype.hasobject:
        return None
    width = array.nbytes // len(array)
    return array.reshape(len(array), -1).view(f"V{width}").reshape(-1)
