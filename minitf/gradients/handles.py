"""What is known of the variable behind a resource handle."""

from __future__ import annotations

from typing import Any

from minitf.convert import constant
from minitf.operation import Operation, Tensor
from minitf.ops.apply import apply_op
from minitf_runtime.types import DType, float32, int32, is_full


def variable_op(handle: Tensor) -> Operation:
    """The op that made the handle, seen through the ops that pass it on."""
    while handle.op.type != "VarHandleOp" and handle.op._inputs:
        op = handle.op
        handle = op._inputs[handle.value_index if op.type == "IdentityN" else 0]
    return handle.op


def handle_dtype(handle: Tensor) -> DType:
    """The type of the variable's elements; float32 where it cannot be told, as in TF."""
    return variable_op(handle)._attrs.get("dtype", float32)  # type: ignore[no-any-return]


def variable_shape(handle: Tensor, out_type: Any = int32) -> Tensor:
    """The variable's shape: a constant if it is known now, else an op that asks."""
    known = variable_op(handle)._attrs.get("shape")
    if is_full(known):
        return constant(known, out_type)
    return apply_op("VariableShape", handle, out_type=out_type)  # type: ignore[no-any-return]
