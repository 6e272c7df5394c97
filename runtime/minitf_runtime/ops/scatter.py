"""Scatter updates: ops that change some rows or elements of a variable, by reference or by handle.

Updates of one place are done one after another, in the order of the indices.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minitf_runtime.errors import invalid
from minitf_runtime.ops import dims
from minitf_runtime.ops.gather import check_indices, scatter_into, scatter_nd_checks
from minitf_runtime.ops.gpu_rows import change_rows
from minitf_runtime.ops.indices import update_rows
from minitf_runtime.ops.registry import ShapeContext, Type, kernel, op
from minitf_runtime.types import FLOATS, INDEX, NUMBERS, Shape, int32, int64, show_shape

UFUNCS = {
    "Add": "add",
    "Sub": "subtract",
    "Mul": "multiply",
    "Div": "divide",
    "Min": "minimum",
    "Max": "maximum",
}
_ORDERED = (*FLOATS, int32, int64)


# ---- whole rows


def scatter_shape(c: ShapeContext) -> list[Shape]:
    """The variable's shape; updates are shaped as the indices and a row, or a scalar."""
    variable, indices, updates = c.shape(0), c.shape(1), c.shape(2)
    row = None if variable is None else dims.at_least(variable, 1)[1:]
    if updates != ():
        dims.merge(updates, dims.concatenate(indices, row))
    return [variable]


def _resource_scatter_shape(c: ShapeContext) -> list[Shape]:
    variable, updates = c.shape_value(0), c.shape(2)
    if variable is not None and updates != ():
        dims.merge(updates, dims.concatenate(c.shape(1), dims.at_least(variable, 1)[1:]))
    return []


def _rows_to_update(xp: Any, array: Any, indices: Any, updates: Any) -> tuple[Any, Any]:
    """Flat indices, and one update row for each of them."""
    row = array.shape[1:]
    if updates.shape not in ((), indices.shape + row):
        raise invalid(
            "Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], got "
            f"updates.shape {show_shape(updates.shape)}, indices.shape "
            f"{show_shape(indices.shape)}, params.shape {show_shape(array.shape)}"
        )
    check_indices(xp, indices, array.shape[0])
    rows = indices.reshape(-1)
    return rows, xp.broadcast_to(updates, indices.shape + row).reshape(rows.shape + row)


def _scatter_with(how: str) -> Callable[..., Any]:
    def scatter(xp: Any, ref: Any, indices: Any, updates: Any) -> Any:
        with ref.writable() as array:
            rows, values = _rows_to_update(xp, array, indices, updates)
            if xp is np:
                update_rows(xp, getattr(xp, how), array, rows, values)
            else:
                change_rows(xp, how, array, rows, values)
        return ref

    return scatter


def _scatter_update(xp: Any, ref: Any, indices: Any, updates: Any) -> Any:
    with ref.writable() as array:
        rows, values = _rows_to_update(xp, array, indices, updates)
        if xp is np:
            array[rows] = values
        else:
            change_rows(xp, "update", array, rows, values)
    return ref


# ---- elements and blocks


def scatter_nd_shape(c: ShapeContext) -> list[Shape]:
    """The variable's shape; the last axis of the indices leads into it."""
    scatter_nd_checks(dims.at_least(c.shape(1), 1), c.shape(2), c.shape(0))
    return [c.shape(0)]


def _resource_scatter_nd_shape(c: ShapeContext) -> list[Shape]:
    scatter_nd_checks(dims.at_least(c.shape(1), 1), c.shape(2), c.shape_value(0))
    return []


def _scatter_nd_with(how: str) -> Callable[..., Any]:
    def scatter_nd(xp: Any, ref: Any, indices: Any, updates: Any) -> Any:
        with ref.writable() as array:
            scatter_into(xp, array, indices, updates, how)
        return ref

    return scatter_nd


# ---- the table


def _by_handle(scatter: Callable[..., Any]) -> Callable[..., None]:
    def run(xp: Any, handle: Any, indices: Any, updates: Any) -> None:
        scatter(xp, handle, indices, updates)

    return run


def _declare(name: str, types: Any, fn: Callable[..., Any], locks: bool, nd: bool) -> None:
    by_ref = "ref: Ref(T), indices: Tindices, updates: T -> output_ref: Ref(T)"
    shape = scatter_nd_shape if nd else scatter_shape
    op(name, by_ref, shape, T=Type(types), Tindices=Type(INDEX), use_locking=locks)
    kernel(name)(fn)
    own, value, more = ("ref", "T", {"use_locking": True}) if nd else ("resource", "dtype", {})
    op(
        f"Resource{name}",
        f"{own}: resource, indices: Tindices, updates: {value} ->",
        _resource_scatter_nd_shape if nd else _resource_scatter_shape,
        stateful=True,
        **{value: Type(types), "Tindices": Type(INDEX)},
        **more,
    )
    kernel(f"Resource{name}")(_by_handle(fn))


_declare("ScatterUpdate", (), _scatter_update, True, False)
_declare("ScatterNdUpdate", (), _scatter_nd_with("update"), True, True)
for _name, _ufunc in UFUNCS.items():
    _types = _ORDERED if _name in ("Min", "Max") else NUMBERS
    _declare(f"Scatter{_name}", _types, _scatter_with(_ufunc), False, False)
for _name in ("Add", "Sub"):
    _declare(f"ScatterNd{_name}", NUMBERS, _scatter_nd_with(UFUNCS[_name]), False, True)
