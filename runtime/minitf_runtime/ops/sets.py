"""Set operations on the rows of dense tensors; the results are sparse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minitf_runtime.errors import invalid
from minitf_runtime.ops.registry import Attr, ShapeContext, Type, kernel, op
from minitf_runtime.types import (
    Shape,
    int8,
    int16,
    int32,
    int64,
    show_shape,
    string,
    uint8,
    uint16,
)

_OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "a-b": lambda a, b: a - b,
    "b-a": lambda a, b: b - a,
    "intersection": lambda a, b: a & b,
    "union": lambda a, b: a | b,
}


@op(
    "DenseToDenseSetOperation",
    "set1: T, set2: T -> result_indices: int64, result_values: T, result_shape: int64",
    T=Type((int8, int16, int32, int64, uint8, uint16, string)),
    set_operation=Attr("string"),
    validate_indices=True,
)
def set_operation_shape(c: ShapeContext) -> list[Shape]:
    """The operation on the last axis of both, their other axes being equal."""
    shape = c.shape(0) if c.shape(0) is not None else c.shape(1)
    rank = None if shape is None else len(shape)
    return [(None, rank), (None,), (rank,)]


@kernel("DenseToDenseSetOperation", host_inputs="set1 set2",
        host_outputs="result_indices result_values result_shape")  # fmt: skip
def set_operation(xp: Any, a: Any, b: Any, *, set_operation: str) -> Any:
    operation = _OPERATIONS.get(set_operation)
    if operation is None:
        raise invalid(f"Invalid set_operation {set_operation}.")
    if a.ndim < 2 or a.ndim != b.ndim or a.shape[:-1] != b.shape[:-1]:
        raise invalid(
            "Sets need at least two dimensions, all but the last equal, got "
            f"{show_shape(a.shape)} and {show_shape(b.shape)}"
        )
    indices: list[tuple[int, ...]] = []
    values: list[Any] = []
    longest = 0
    for group in np.ndindex(*a.shape[:-1]):
        row = sorted(operation(set(a[group].tolist()), set(b[group].tolist())))
        indices += [(*group, i) for i in range(len(row))]
        values += row
        longest = max(longest, len(row))
    return (
        np.array(indices, np.int64).reshape(-1, a.ndim),
        np.array(values, a.dtype),
        np.array([*a.shape[:-1], longest], np.int64),
    )
