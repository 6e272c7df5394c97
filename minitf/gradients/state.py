"""Gradients of reads of resource variables."""

from __future__ import annotations

from typing import Any

from minitf.gradients.registry import gradient


@gradient("ReadVariableOp")
def read_variable_op(op: Any, grad: Any) -> Any:
    return grad
