"""Ops of conditionals and loops, and the stacks that their gradients use.

Switch, Merge, Enter, Exit, NextIteration and LoopCond never run as kernels: the plan compiler turns
them into Python's `if` and `while` (plan/regions.py). Their kernels are declared so that the placer
knows them.
"""

from __future__ import annotations

from typing import Any

from minitf_runtime.errors import InternalError, invalid
from minitf_runtime.ops.registry import (
    Count,
    ShapeContext,
    Type,
    kernel,
    op,
    scalar,
    unchanged,
    unknown,
)
from minitf_runtime.types import Shape


def _both(c: ShapeContext) -> list[Shape]:
    return [c.shape(0), c.shape(0)]


def _merged(c: ShapeContext) -> list[Shape]:
    """Sizes that all inputs agree on."""
    shape = c.shape(0)
    for other in c.shapes[1:]:
        if shape is None or other is None or len(shape) != len(other):
            return [None, ()]
        shape = tuple(m if m == n else None for m, n in zip(shape, other))
    return [shape, ()]


def _entered(c: ShapeContext) -> list[Shape]:
    """A loop variable may change its shape; the client says so if it does not."""
    return [c.shape(0) if c["is_constant"] else None]


_FRAME = dict(frame_name="", is_constant=False, parallel_iterations=10)
op("Switch", "data: T, pred: bool -> output_false: T, output_true: T", _both, T=Type())
op(
    "RefSwitch",
    "data: Ref(T), pred: bool -> output_false: Ref(T), output_true: Ref(T)",
    _both,
    T=Type(),
)
op("Merge", "inputs: N * T -> output: T, value_index: int32", _merged, N=Count(), T=Type())
op(
    "RefMerge",
    "inputs: N * Ref(T) -> output: Ref(T), value_index: int32",
    _merged,
    N=Count(),
    T=Type(),
)
op("Enter", "data: T -> output: T", _entered, T=Type(), **_FRAME)
op("RefEnter", "data: Ref(T) -> output: Ref(T)", _entered, T=Type(), **_FRAME)
op("Exit", "data: T -> output: T", unchanged, T=Type())
op("RefExit", "data: Ref(T) -> output: Ref(T)", unchanged, T=Type())
op("NextIteration", "data: T -> output: T", unchanged, T=Type())
op("RefNextIteration", "data: Ref(T) -> output: Ref(T)", unchanged, T=Type())
op("LoopCond", "input: bool -> output: bool", scalar)


@kernel("Switch", "RefSwitch", host_inputs="pred")
@kernel("Merge", "RefMerge", host_outputs="value_index")
@kernel("Enter", "RefEnter", "Exit", "RefExit", "NextIteration", "RefNextIteration")
@kernel("LoopCond", host_inputs="input", host_outputs="output")
def structured(xp: Any, *inputs: Any) -> None:
    raise InternalError(None, None, "an op of control flow reached an executor as a kernel")


class Stack:
    """Values of the iterations of a loop, kept for its gradient. Lives for one step."""

    def __init__(self, name: str, limit: int) -> None:
        self.name = name
        self.limit = limit
        self.items: list[Any] = []
        self.closed = False


op(
    "StackV2",
    "max_size: int32 -> handle: resource",
    lambda c: [(2,)],
    elem_type=Type(),
    stack_name="",
    stateful=True,
)
op(
    "StackPushV2",
    "handle: resource, elem: T -> output: T",
    lambda c: [c.shape(1)],
    T=Type(),
    swap_memory=False,
    stateful=True,
)
op(
    "StackPopV2",
    "handle: resource -> elem: elem_type",
    unknown,
    elem_type=Type(),
    stateful=True,
)
op("StackCloseV2", "handle: resource ->", lambda c: [], stateful=True)


@kernel("StackV2", host_inputs="max_size")
def stack(xp: Any, max_size: Any, *, node: Any) -> Stack:
    return Stack(node.attrs["stack_name"] or node.name, int(max_size))


@kernel("StackPushV2")
def stack_push(xp: Any, handle: Stack, elem: Any) -> Any:
    if handle.closed:
        raise invalid(f"Stack[{handle.name}] has already been closed.")
    if 0 <= handle.limit <= len(handle.items):
        raise invalid(f"Stack[{handle.name}] overflowed its max_size ({handle.limit})")
    handle.items.append(elem)
    return elem


@kernel("StackPopV2")
def stack_pop(xp: Any, handle: Stack) -> Any:
    if not handle.items:
        raise invalid(f"Stack[{handle.name}] is empty when calling Pop().")
    return handle.items.pop()


@kernel("StackCloseV2")
def stack_close(xp: Any, handle: Stack) -> None:
    handle.closed = True
    handle.items.clear()
