"""Vectors that may name the same row more than once: where a value comes first, and how often."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

MAX_RANGE = 1 << 20  # of values for which a table is kept: 4 MiB each

_free_tables: list[Any] = []  # as many as were in use at a time


def first_places(xp: Any, values: Any) -> Any:
    """For each element of a vector the position where its value comes first; NaN equals nothing.

    Integers of a small range look each other up in a table, in linear time; all else is sorted.
    """
    if xp is np and values.dtype.kind == "i" and values.size:
        low = int(values.min())
        if int(values.max()) - low < MAX_RANGE:
            return _looked_up(values.astype(np.int64) - low)
    order, new = _sorted(xp, values)
    places = xp.empty(order.shape, xp.int64)
    places[order] = order[new][xp.cumsum(new) - 1]
    return places


def _looked_up(keys: Any) -> Any:
    try:
        table = _free_tables.pop()
    except IndexError:
        table = np.empty(MAX_RANGE, np.int32)  # takes memory where it is used
    table[keys[::-1]] = np.arange(keys.size - 1, -1, -1, dtype=np.int32)  # the last one stays
    places = table[keys]
    _free_tables.append(table)
    return places


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
    if is_first(xp, indices).all():
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
    first = is_first(xp, rows)
    if first.all():
        array[rows] = ufunc(array[rows], values)
        return
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
