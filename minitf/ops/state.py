"""tf.assign, tf.scatter_* and their kin: updates of variables of both kinds, and of references."""

from __future__ import annotations

from typing import Any

from minitf.convert import to_tensor
from minitf.default import name_scope
from minitf.operation import Tensor
from minitf.ops import array
from minitf.ops.apply import apply_op
from minitf.ops.elementwise import cast

__all__ = [
    "assign", "assign_add", "assign_sub", "batch_scatter_update", "count_up_to",
    "is_variable_initialized", "scatter_add",
    "scatter_div", "scatter_max", "scatter_min", "scatter_mul", "scatter_nd_add",
    "scatter_nd_sub", "scatter_nd_update", "scatter_sub", "scatter_update",
]  # fmt: skip


def is_variable_initialized(ref: Any, name: str | None = None) -> Tensor:
    """Whether a variable (or what a reference refers to) has a value."""
    if ref.dtype.is_ref:
        return apply_op("IsVariableInitialized", ref, name=name)  # type: ignore[no-any-return]
    return ref.is_initialized(name=name)  # type: ignore[no-any-return]


def assign(
    ref: Any,
    value: Any,
    validate_shape: bool | None = None,
    use_locking: bool | None = None,
    name: str | None = None,
) -> Any:
    """Stores `value` in a variable; gives the variable (its reference) after that."""
    if not ref.dtype.is_ref:
        return ref.assign(value, name=name)
    attrs = dict(validate_shape=validate_shape, use_locking=use_locking)
    return apply_op("Assign", ref, value, name=name, **attrs)


def assign_add(ref: Any, value: Any, use_locking: bool | None = None, name: Any = None) -> Any:
    if not ref.dtype.is_ref:
        return ref.assign_add(value)
    return apply_op("AssignAdd", ref, value, use_locking=use_locking, name=name)


def assign_sub(ref: Any, value: Any, use_locking: bool | None = None, name: Any = None) -> Any:
    if not ref.dtype.is_ref:
        return ref.assign_sub(value)
    return apply_op("AssignSub", ref, value, use_locking=use_locking, name=name)


def count_up_to(ref: Any, limit: int, name: str | None = None) -> Any:
    """Raises the variable by one; gives the value before. The step fails at `limit`."""
    if ref.dtype.is_ref:
        return apply_op("CountUpTo", ref, limit=limit, name=name)
    return apply_op("ResourceCountUpTo", ref.handle, limit=limit, T=ref.dtype, name=name)


def _scatter(op: str, ref: Any, indices: Any, updates: Any, use_locking: bool, name: Any) -> Any:
    if ref.dtype.is_ref:
        return apply_op(op, ref, indices, updates, use_locking=use_locking, name=name)
    return ref._scatter(op, indices, updates, name=name)


def scatter_update(
    ref: Any, indices: Any, updates: Any, use_locking: bool = True, name: Any = None
) -> Any:
    """Replaces the rows of a variable at `indices`."""
    return _scatter("ScatterUpdate", ref, indices, updates, use_locking, name)


def scatter_add(
    ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: Any = None
) -> Any:
    return _scatter("ScatterAdd", ref, indices, updates, use_locking, name)


def scatter_sub(
    ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: Any = None
) -> Any:
    return _scatter("ScatterSub", ref, indices, updates, use_locking, name)


def scatter_mul(
    ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: Any = None
) -> Any:
    return _scatter("ScatterMul", ref, indices, updates, use_locking, name)


def scatter_div(
    ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: Any = None
) -> Any:
    return _scatter("ScatterDiv", ref, indices, updates, use_locking, name)


def scatter_max(
    ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: Any = None
) -> Any:
    return _scatter("ScatterMax", ref, indices, updates, use_locking, name)


def scatter_min(
    ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: Any = None
) -> Any:
    return _scatter("ScatterMin", ref, indices, updates, use_locking, name)


def scatter_nd_update(
    ref: Any, indices: Any, updates: Any, use_locking: bool = True, name: Any = None
) -> Any:
    """Replaces the elements or blocks of a variable that the last axis of `indices` leads to."""
    return _scatter("ScatterNdUpdate", ref, indices, updates, use_locking, name)


def scatter_nd_add(
    ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: Any = None
) -> Any:
    return _scatter("ScatterNdAdd", ref, indices, updates, use_locking, name)


def scatter_nd_sub(
    ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: Any = None
) -> Any:
    return _scatter("ScatterNdSub", ref, indices, updates, use_locking, name)


def batch_scatter_update(
    ref: Any, indices: Any, updates: Any, use_locking: bool = True, name: Any = None
) -> Any:
    """scatter_update in the last axis of `indices`, the axes before it being a batch."""

    with name_scope(name):
        indices = to_tensor(indices, name="indices")
        sizes = array.shape(indices)
        rank = indices.shape.ndims
        if rank is None:
            raise ValueError("batch_gather does not allow indices with unknown shape.")
        last = array.expand_dims(indices, axis=-1)
        places = []
        for axis in range(rank - 1):
            size = sizes[axis]
            form = [1] * (rank + 1)
            form[axis] = size
            along = array.reshape(apply_op("Range", 0, size, 1), form)
            if along.dtype.base is not last.dtype:
                along = cast(along, last.dtype)
            places.append(along * array.ones_like(last))
        where = array.concat([*places, last], axis=-1)
        return scatter_nd_update(ref, where, updates, use_locking=use_locking)
