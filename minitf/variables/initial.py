"""Initial values that depend on other variables: made safe against the order of initialisation."""

from __future__ import annotations

from typing import Any

from minitf.default import GraphKeys
from minitf.operation import Operation, Tensor

_VARIABLES = ("Variable", "VariableV2", "VarHandleOp")
_KEPT = ("IsVariableInitialized", "VarIsInitializedOp", "ReadVariableOp", "If")


def check_outside_control_flow(value: Tensor, name: str) -> None:
    """Raises ValueError for a tensor made in a loop or a conditional."""
    if value.op._control_flow_context is not None:
        raise ValueError(
            f"Initializer for variable {name} is from inside a control-flow construct, such as a "
            "loop or conditional. When creating a variable inside a loop or conditional, use a "
            "lambda as the initializer."
        )


def guarded(name: str, value: Tensor) -> Tensor:
    """`value`, computed from the initial values of those variables that are not initialized yet."""
    if _has_cycle(value.op):
        return value
    return _guarded(name, value, {})


def _has_cycle(op: Operation) -> bool:
    """Whether `op` is in or after a loop: its copy could not be made."""
    state: dict[Operation, bool] = {}  # False while the walk is inside, True once it has left
    stack: list[tuple[Operation, bool]] = [(op, False)]
    while stack:
        at, leaving = stack.pop()
        if leaving:
            state[at] = True
        elif at not in state:
            state[at] = False
            stack.append((at, True))
            for before in (*(t.op for t in at._inputs), *at._control_inputs):
                if state.get(before) is False:
                    return True
                stack.append((before, False))
    return False


def _guarded(name: str, tensor: Tensor, done: dict[Operation, Operation]) -> Tensor:
    op = tensor.op
    if op not in done:
        done[op] = _guarded_op(name, op, done)
    return done[op].outputs[tensor.value_index]


def _guarded_op(name: str, op: Operation, done: dict[Operation, Operation]) -> Operation:
    """The op itself, or a copy of it if some input had to be replaced."""
    if op.type in _KEPT:
        return op
    if op.type in _VARIABLES:
        variable = _variable_of(op)
        return op if variable is None else variable.initialized_value().op  # type: ignore[no-any-return]
    inputs = tuple(_guarded(name, t, done) for t in op._inputs)
    if inputs == op._inputs:
        return op
    attrs = dict(op._attrs)
    if op._class:
        attrs["_class"] = op._class
    op_type = "Switch" if op.type == "RefSwitch" else op.type
    copy = f"{op.name}_{name}".replace(":", "_")
    return op.graph.create_op(op_type, inputs, name=copy, attrs=attrs)


def _variable_of(op: Operation) -> Any:
    for key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES):
        for variable in op.graph.get_collection(key):
            if getattr(variable, "op", None) is op:
                return variable
    return None
