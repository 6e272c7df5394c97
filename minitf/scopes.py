"""Scopes that shape the ops made in them: device, colocation and control-dependency scopes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from minitf import source
from minitf_runtime.devices.name import merge_requested, parse_requested
from minitf_runtime.graph import Reason

if TYPE_CHECKING:
    from minitf.graph import Graph
    from minitf.operation import Operation, Tensor


class NameScope(AbstractContextManager[str]):
    """One `with graph.name_scope(name)`; a class, for a generator takes longer."""

    __slots__ = ("graph", "name", "outer")

    def __init__(self, graph: Graph, name: str | None) -> None:
        self.graph = graph
        self.name = name

    def __enter__(self) -> str:
        graph = self.graph
        self.outer = graph.enter_name_scope(self.name)
        return graph._name_scope and graph._name_scope + "/"

    def __exit__(self, *exc: object) -> None:
        self.graph._name_scope = self.outer


@dataclass(frozen=True)
class DeviceScope:
    """One `with tf.device(...)`: a name, a function, or None, which hides the scopes outside it."""

    spec: str | None
    function: Callable[[Operation], Any] | None
    text: str
    line: tuple[str, int, str]

    def apply(self, op: Operation) -> None:
        if self.function is not None:
            device = _text(self.function(op))
        else:
            device = merge_requested(self.spec or "", op.device)
        if device != op.device:
            op._device = device
            op._asked = (Reason("scope", f"with tf.device({self.text})", source.show(self.line)),)


def _text(result: Any) -> str:
    """What a device function returned, as canonical text. Raises TypeError, ValueError."""
    if isinstance(result, bytes):
        result = result.decode()
    if not isinstance(result, str) and hasattr(result, "to_string"):
        result = result.to_string()
    if not isinstance(result, str):
        raise TypeError(f"Expected binary or unicode string, got {result!r}")
    return str(parse_requested(result))


def device_scope(device_name_or_function: Any, line: source.Line) -> DeviceScope:
    """The scope for an argument of tf.device. Raises ValueError for a malformed name."""
    arg = device_name_or_function
    if arg is None:
        return DeviceScope(None, None, "None", line)
    if callable(arg):
        return DeviceScope(None, arg, getattr(arg, "__name__", type(arg).__name__), line)
    if isinstance(arg, bytes):
        arg = arg.decode()
    text = arg if isinstance(arg, str) else arg.to_string()
    return DeviceScope(str(parse_requested(text)), None, repr(text), line)


def apply_device_scopes(op: Operation, stack: list[DeviceScope]) -> None:
    """Gives a new op its device, innermost scope first (spec: strings merge, functions replace)."""
    for scope in reversed(stack):
        if scope.spec is None and scope.function is None:
            break
        scope.apply(op)


@dataclass(frozen=True)
class ColocationScope:
    """One `with tf.colocate_with(op)`."""

    op: Operation
    line: tuple[str, int, str]


def apply_colocation(op: Operation, stack: list[ColocationScope]) -> None:
    """Adds the groups of all colocation scopes; the outermost one with a device wins last."""
    if not stack:
        return
    groups: set[str] = set()
    for scope in reversed(stack):
        groups.update(scope.op._class or (scope.op.name,))
        why = Reason("colocate", f"colocated with '{scope.op.name}'", source.show(scope.line))
        if scope.op.device:
            op._set_device(scope.op.device)
        op._asked += (why,)
    op._class = tuple(sorted(groups))


class ControlDependencies:
    """One `with tf.control_dependencies(...)`; None starts a fresh stack outside any loop or
    cond."""

    def __init__(self, graph: Graph, ops: list[Operation] | None) -> None:
        self.graph = graph
        self.fresh = ops is None
        self.ops = ops or []
        self.seen: set[Operation] = set()
        self._outer_stack: list[ControlDependencies] = []
        self._outer_context: Any = None

    def __enter__(self) -> None:
        if self.fresh:
            self._outer_stack = self.graph._control_stack
            self.graph._control_stack = []
            self._outer_context = self.graph.control_flow_context
            self.graph.control_flow_context = None
        self.graph._control_stack.append(self)

    def __exit__(self, *exc: object) -> None:
        self.graph._control_stack.pop()
        if self.fresh:
            self.graph._control_stack = self._outer_stack
            self.graph.control_flow_context = self._outer_context


def control_inputs_for(graph: Graph, inputs: Sequence[Tensor]) -> tuple[Operation, ...]:
    """Control inputs of a new op; a scope that one of its inputs was made in needs no edge."""
    input_ops = {t.op for t in inputs}
    out: dict[Operation, None] = {}
    for scope in graph._control_stack:
        if scope.seen.isdisjoint(input_ops):
            out.update((c, None) for c in scope.ops if c not in input_ops)
    return tuple(out)
