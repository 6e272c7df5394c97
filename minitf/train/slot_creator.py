"""Slots: variables that an optimizer or a moving average keeps beside each variable."""

from __future__ import annotations

from typing import Any

from minitf.default import colocate_with, get_default_graph
from minitf.initializers import zeros_initializer
from minitf.operation import Tensor
from minitf.ops.array import shape, zeros
from minitf.variable_scope import get_variable, get_variable_scope, variable_scope
from minitf.variables import Variable
from minitf.variables.base import SaveSliceInfo
from minitf.variables.resource import is_resource_variable


def create_slot(
    primary: Any, val: Tensor, name: str, colocate_with_primary: bool = True
) -> Variable:
    """A variable named `<primary>/<name>` that starts as the tensor `val`."""
    return _create(primary, val, None, None, name, colocate_with_primary, val.shape)


def create_slot_with_initializer(
    primary: Any,
    initializer: Any,
    shape: Any,
    dtype: Any,
    name: str,
    colocate_with_primary: bool = True,
) -> Variable:
    """create_slot for an initializer, or a function that makes the initial value."""
    return _create(primary, initializer, shape, dtype, name, colocate_with_primary, shape)


def create_zeros_slot(
    primary: Any, name: str, dtype: Any = None, colocate_with_primary: bool = True
) -> Variable:
    """A slot of zeros, shaped as the primary variable or tensor."""

    dtype = (dtype or primary.dtype).base
    if primary.shape.is_fully_defined():
        return create_slot_with_initializer(
            primary, zeros_initializer(), primary.shape, dtype, name, colocate_with_primary
        )
    whole = primary.initialized_value() if isinstance(primary, Variable) else primary
    return create_slot(primary, zeros(shape(whole), dtype=dtype), name, colocate_with_primary)


def _create(
    primary: Any, val: Any, shape: Any, dtype: Any, name: str, colocate: bool, known: Any
) -> Variable:
    with (
        get_default_graph().role_scope("slot"),
        variable_scope(None, f"{primary.op.name}/{name}"),
    ):
        if not colocate:
            return _variable(primary, val, shape, dtype, known)
        with colocate_with(primary):
            return _variable(primary, val, shape, dtype, known)


def _variable(primary: Any, val: Any, shape: Any, dtype: Any, known: Any) -> Variable:
    """The slot, named as the scope. It is never cut: its primary may be a part already."""
    scope = get_variable_scope()
    partitioner, scope.partitioner = scope.partitioner, None
    slot = get_variable(
        "",
        initializer=val,
        trainable=False,
        use_resource=is_resource_variable(primary) if isinstance(primary, Variable) else None,
        shape=shape if callable(val) else None,
        dtype=dtype,
        validate_shape=known.is_fully_defined(),
    )
    scope.partitioner = partitioner
    info = primary._get_save_slice_info() if isinstance(primary, Variable) else None
    if info is not None:
        own = slot.op.name[len(primary.op.name) + 1 :]
        slot._set_save_slice_info(
            SaveSliceInfo(
                f"{info.full_name}/{own}",
                list(info.full_shape),
                list(info.var_offset),
                list(info.var_shape),
            )
        )
    return slot  # type: ignore[no-any-return]
