"""Rows picked and changed by index on a GPU, where no one waits to look at the indices.

As in TF, those out of bounds pick zeros and change nothing. Neither does cupy's `ufunc.at` have all
operations and types, nor is it said which of several values for one row stays.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minitf_runtime.devices.arrays import on_host
from minitf_runtime.ops.indices import rounds

_NEUTRAL = {"add": 0, "subtract": 0, "multiply": 1, "divide": 1}


def within(indices: Any, limit: int) -> Any:
    return (indices >= 0) & (indices < limit)


def picked(xp: Any, taken: Any, inside: Any, axis: int = 0) -> Any:
    """What indices picked, beginning at `axis`, with zeros for those that are not `inside`."""
    return xp.where(
        inside.reshape(inside.shape + (1,) * (taken.ndim - axis - inside.ndim)), taken, 0
    )


def flat_rows(xp: Any, vectors: Any, shape: Any) -> Any:
    """The rows that index vectors lead to, of an array whose first axes have this shape; -1 for
    those that lead out of it."""
    rows = xp.zeros(vectors.shape[:-1], np.int64)
    inside = xp.ones(vectors.shape[:-1], bool)
    for d, limit in enumerate(shape):
        rows = rows * limit + vectors[..., d]
        inside &= within(vectors[..., d], limit)
    return xp.where(inside, rows, -1)


def change_rows(xp: Any, how: str, array: Any, rows: Any, values: Any) -> None:
    """array[rows] = how(array[rows], values), or the values themselves if `how` is update."""
    if not array.size or not rows.size:
        return
    inside = within(rows, len(array))
    column = inside.reshape((-1,) + (1,) * (array.ndim - 1))
    if how in _NEUTRAL:
        rows = xp.where(inside, rows, 0)
        values = xp.where(column, values, _NEUTRAL[how])
    else:  # a row out of bounds repeats one that is not; if all are, row 0 stays as it is
        one = inside.argmax()
        spare = xp.where(inside[one], rows[one], 0)
        values = xp.where(column, values, xp.where(inside[one], values[one], array[spare]))
        rows = xp.where(inside, rows, spare)
    if how == "update":
        array[rows] = values
    elif how in ("multiply", "divide"):
        for part in _rounds(xp, rows):
            array[rows[part]] = getattr(xp, how)(array[rows[part]], values[part])
    elif how in ("minimum", "maximum") and array.dtype == np.float16:
        wide = array.astype(np.float32)
        getattr(xp, how).at(wide, rows, values.astype(np.float32))
        array[...] = wide
    else:
        xp_how, values = ("add", -values) if how == "subtract" else (how, values)
        getattr(xp, xp_how).at(array, rows, values)


def add_rows(xp: Any, array: Any, rows: Any, values: Any) -> None:
    """array[rows] += values, with all values of one row, on any device."""
    if xp is np:
        np.add.at(array, rows, values)
    else:
        change_rows(xp, "add", array, rows, values)


def _rounds(xp: Any, rows: Any) -> Any:
    """Selections in each of which no row comes twice; waits for the rows to be there."""
    for part in rounds(np, on_host(xp, rows)):
        yield part if isinstance(part, slice) else xp.asarray(part)
