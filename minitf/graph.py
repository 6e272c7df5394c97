"""Graph: a client's graph of live Operations, its names, collections and scopes.

The scopes themselves are in scopes.py, the default graph and module-level functions in default.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from minitf import source
from minitf.lookup import as_graph_element
from minitf.operation import Operation, Tensor, show_inputs
from minitf.scopes import (
    ColocationScope,
    ControlDependencies,
    DeviceScope,
    NameScope,
    apply_colocation,
    apply_device_scopes,
    control_inputs_for,
    device_scope,
)
from minitf.stacks import graph_stack
from minitf_runtime.garbage import collect_if_due
from minitf_runtime.graph import Node
from minitf_runtime.ops.registry import infer_shapes, op_def
from minitf_runtime.ops.static import StaticValues

_OP_NAME = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\-/]*$")
_SCOPE_NAME = re.compile(r"^[A-Za-z0-9_.\-/]*$")


class Graph:
    """A dataflow graph under construction (TF: Graph)."""

    building_function = False  # one that takes in tensors of the graph around it (func_graph.py)

    def __init__(self) -> None:
        collect_if_due()
        self._ops: list[Operation] = []
        self._by_name: dict[str, Operation] = {}
        self._names_in_use: dict[str, int] = {}
        self._name_scope = ""
        self._next_id = 0
        self._collections: dict[Any, list[Any]] = {}
        self._device_stack: list[DeviceScope] = []
        self._colocation_stack: list[ColocationScope] = []
        self._control_stack: list[ControlDependencies] = []
        self._attr_scopes: dict[str, Any] = {}
        self._gradient_overrides: dict[str, str] = {}
        self._container = ""
        self._finalized = False
        self._unfeedable: set[Tensor] = set()
        self._unfetchable: set[Operation] = set()
        self.control_flow_context: Any = None
        self.role = "forward"
        self.original_op: Operation | None = None  # the op that new ones are the gradient of
        self.line: source.Line | None = None  # the user's, where all new ops are of one
        self.seed: int | None = None
        self.static = StaticValues(describe)
        self.session_for: Callable[[Any, str], Any] = _no_session
        self.variable_scope_store: Any = None  # owned by variable_scope.py

    # ---- making ops

    def create_op(
        self,
        op_type: str,
        inputs: Sequence[Tensor],
        dtypes: Any = None,
        input_types: Any = None,
        name: str | None = None,
        attrs: dict[str, Any] | None = None,
        **_: Any,
    ) -> Operation:
        """Adds an op of checked inputs and complete attributes; ops/apply.py is the usual caller.

        Raises RuntimeError if the graph is finalized, ValueError if the inputs' shapes do not fit.
        """
        self._check_not_finalized()
        opdef = op_def(op_type)
        attrs = dict(attrs or {})
        for key, attr in self._attr_scopes.items():
            attrs.setdefault(key, attr)
        if op_type in self._gradient_overrides:
            attrs.setdefault("_gradient_op_type", self._gradient_overrides[op_type])
        if name is None:
            name = op_type
        name = name[:-1] if name.endswith("/") else self.unique_name(name)
        if not _OP_NAME.match(name):
            raise ValueError(f"'{name}' is not a valid node name")
        if self._container and opdef.stateful and attrs.get("container") == "":
            attrs["container"] = self._container
        control = control_inputs_for(self, inputs) if self._control_stack else ()
        op = Operation.made(
            self, name, opdef, tuple(inputs), *opdef.types(attrs), control, attrs
        )  # fmt: skip
        self.set_shapes(op)
        for scope in self._control_stack:
            scope.seen.add(op)
        if self._device_stack:
            apply_device_scopes(op, self._device_stack)
        if self._colocation_stack:
            apply_colocation(op, self._colocation_stack)
        self._add(op)
        return op

    def adopt(self, op: Operation) -> None:
        """Takes in an op that was made from a NodeDef. Raises ValueError if it does not fit."""
        self._check_not_finalized()
        if not _OP_NAME.match(op.name):
            raise ValueError(f"'{op.name}' is not a valid node name")
        if op.name in self._by_name:
            raise ValueError(f"Duplicate node name in graph: '{op.name}'")
        self.set_shapes(op)
        self._names_in_use.setdefault(op.name.lower(), 1)
        self._add(op)

    def set_shapes(self, op: Operation) -> None:
        """Runs the op's shape function. Raises ValueError naming op and shapes."""
        inputs = op._inputs
        try:
            shapes = infer_shapes(
                op.op_def,
                [t._shape for t in inputs],
                op._attrs,
                len(op.outputs),
                self.static,
                inputs,
            )
        except ValueError as e:
            raise ValueError(
                f"{e} for '{op.name}' (op: '{op.type}') with input shapes: {show_inputs(inputs)}."
            ) from None
        for tensor, shape in zip(op.outputs, shapes):
            tensor._shape = shape

    def _add(self, op: Operation) -> None:
        op._id = self._next_id
        self._next_id += 1
        self._ops.append(op)
        self._by_name[op.name] = op
        if self.control_flow_context is not None:
            self.control_flow_context.add_op(op)

    @property
    def outermost(self) -> Graph:
        """The graph that sessions run: itself, unless it is that of a function."""
        return self

    @property
    def _last_id(self) -> int:
        return self._next_id

    @property
    def version(self) -> int:
        return self._next_id

    def nodes(self, start: int = 0) -> list[Node]:
        """The ops made since `start` as plain data, for the engine."""
        return [op.to_node() for op in self._ops[start:]]

    def as_graph_def(self, from_version: int | None = None, add_shapes: bool = False) -> Any:
        """The ops (made since that version) as a GraphDef message (TF: Graph.as_graph_def)."""
        from minitf.node_def import graph_def

        return graph_def(self.nodes(from_version or 0), add_shapes)

    # ---- names

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """`name` in the current scope, with _1, _2 ... if it is taken (case does not count)."""
        if self._name_scope:
            name = f"{self._name_scope}/{name}"
        key = name.lower()
        i = self._names_in_use.get(key, 0)
        if mark_as_used:
            self._names_in_use[key] = i + 1
        if i > 0:
            base = key
            while key in self._names_in_use:
                key = f"{base}_{i}"
                i += 1
            if mark_as_used:
                self._names_in_use[key] = 1
            name = f"{name}_{i - 1}"
        return name

    def name_scope(self, name: str | None) -> NameScope:
        """Prefixes the names of ops; yields the prefix with a slash. A name ending in / is
        final."""
        return NameScope(self, name)

    def enter_name_scope(self, name: str | None) -> str:
        """Makes `name` the current scope; returns the one that it takes the place of."""
        if isinstance(name, bytes):
            name = name.decode()
        if name and not (_SCOPE_NAME if self._name_scope else _OP_NAME).match(name):
            raise ValueError(f"'{name}' is not a valid scope name")
        outer = self._name_scope
        if not name:
            self._name_scope = ""
        elif name.endswith("/"):
            self._name_scope = name[:-1]
        else:
            self._name_scope = self.unique_name(name)
        return outer

    def get_name_scope(self) -> str:
        return self._name_scope

    # ---- scopes

    def user_line(self) -> source.Line:
        """The user's line that the ops made now belong to."""
        return self.line or source.user_line()

    @contextmanager
    def at_line(self, line: source.Line | None) -> Iterator[None]:
        """Says which line the ops made inside belong to; None: the one that calls for each."""
        outer, self.line = self.line, line
        try:
            yield
        finally:
            self.line = outer

    @contextmanager
    def device(self, device_name_or_function: Any) -> Iterator[None]:
        """Asks for a device for the ops made inside (TF: Graph.device)."""
        scope = device_scope(device_name_or_function, self.user_line())
        self._device_stack.append(scope)
        stack = self._device_stack
        try:
            yield
        finally:
            if not stack or stack[-1] is not scope:
                raise RuntimeError("Exiting device scope without proper scope nesting")
            stack.pop()

    @contextmanager
    def colocate_with(self, op: Any, ignore_existing: bool = False) -> Iterator[None]:
        """Puts the ops made inside on the device of `op` (TF: Graph.colocate_with)."""
        if op is None and not ignore_existing:
            raise ValueError(
                "Trying to reset colocation (op is None) but ignore_existing is not True"
            )
        device_stack, self._device_stack = self._device_stack, []
        stack = self._colocation_stack
        if ignore_existing:
            self._colocation_stack = []
        if op is not None:
            target = self.as_operation(getattr(op, "handle", op))
            self._colocation_stack.append(ColocationScope(target, self.user_line()))
        try:
            yield
        finally:
            self._device_stack = device_stack
            if ignore_existing:
                self._colocation_stack = stack
            elif op is not None:
                stack.pop()

    def control_dependencies(self, control_inputs: Any) -> ControlDependencies:
        """Makes the ops inside wait for the given ones; None forgets all outer scopes."""
        if control_inputs is None:
            return ControlDependencies(self, None)
        ops = dict.fromkeys(self.as_operation(c) for c in control_inputs)
        return ControlDependencies(self, list(ops))

    @contextmanager
    def container(self, container_name: str) -> Iterator[str]:
        """Names the resource container of stateful ops made inside."""
        outer, self._container = self._container, container_name
        try:
            yield container_name
        finally:
            self._container = outer

    @contextmanager
    def attr_scope(self, attrs: dict[str, Any]) -> Iterator[None]:
        """Adds attributes to the ops made inside; None takes one away."""
        outer = self._attr_scopes
        self._attr_scopes = {k: v for k, v in {**outer, **attrs}.items() if v is not None}
        try:
            yield
        finally:
            self._attr_scopes = outer

    @contextmanager
    def role_scope(self, role: str) -> Iterator[None]:
        """Says what the ops made inside are for (gradient, apply, slot ...); viz shows it."""
        outer, self.role = self.role, role
        try:
            yield
        finally:
            self.role = outer

    @contextmanager
    def gradient_override_map(self, op_type_map: dict[str, str]) -> Iterator[None]:
        """Makes ops of the given types use another registered gradient. Raises TypeError."""
        if not isinstance(op_type_map, dict):
            raise TypeError("op_type_map must be a dictionary mapping strings to strings")
        if not all(isinstance(s, str) for pair in op_type_map.items() for s in pair):
            raise TypeError("op_type_map must be a dictionary mapping strings to strings")
        outer = self._gradient_overrides
        self._gradient_overrides = {**outer, **op_type_map}
        try:
            yield
        finally:
            self._gradient_overrides = outer

    def as_default(self) -> AbstractContextManager[Graph]:
        return graph_stack.push(self)

    # ---- looking up

    def as_operation(self, obj: Any) -> Operation:
        """The op behind a tensor, variable, op or name."""
        if not isinstance(obj, (str, Operation, Tensor)) and hasattr(obj, "op"):
            obj = obj.op
        found = self.as_graph_element(obj)
        return found.op if isinstance(found, Tensor) else found

    def as_graph_element(
        self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True
    ) -> Any:
        """The Tensor or Operation that `obj` (or its name) means; see lookup.py for the errors."""
        return as_graph_element(self, obj, allow_tensor, allow_operation)

    def get_operations(self) -> list[Operation]:
        return list(self._ops)

    def get_operation_by_name(self, name: str) -> Operation:
        if not isinstance(name, str):
            raise TypeError(f"Operation names are strings (or similar), not {type(name).__name__}.")
        return self.as_graph_element(name, allow_tensor=False)  # type: ignore[no-any-return]

    def get_tensor_by_name(self, name: str) -> Tensor:
        if not isinstance(name, str):
            raise TypeError(f"Tensor names are strings (or similar), not {type(name).__name__}.")
        return self.as_graph_element(name, allow_operation=False)  # type: ignore[no-any-return]

    def is_feedable(self, tensor: Tensor) -> bool:
        return tensor not in self._unfeedable

    def is_fetchable(self, tensor_or_op: Any) -> bool:
        op = tensor_or_op.op if isinstance(tensor_or_op, Tensor) else tensor_or_op
        return op not in self._unfetchable

    def prevent_feeding(self, tensor: Tensor) -> None:
        self._unfeedable.add(tensor)

    def prevent_fetching(self, op: Operation) -> None:
        self._unfetchable.add(op)

    # ---- collections

    def add_to_collection(self, name: Any, value: Any) -> None:
        self._check_not_finalized()
        self._collections.setdefault(name, []).append(value)

    def add_to_collections(self, names: Any, value: Any) -> None:
        names = (names,) if isinstance(names, str) else dict.fromkeys(names)
        for name in names:
            self.add_to_collection(name, value)

    def get_collection_ref(self, name: Any) -> list[Any]:
        return self._collections.setdefault(name, [])

    def get_collection(self, name: Any, scope: str | None = None) -> list[Any]:
        items = self._collections.get(name, [])
        if scope is None:
            return list(items)
        pattern = re.compile(scope)
        return [i for i in items if hasattr(i, "name") and pattern.match(i.name)]

    def get_all_collection_keys(self) -> list[Any]:
        return [k for k in self._collections if isinstance(k, str)]

    @property
    def collections(self) -> list[Any]:
        return list(self._collections)

    def clear_collection(self, name: Any) -> None:
        self._check_not_finalized()
        self._collections.pop(name, None)

    # ---- the end of construction

    def finalize(self) -> None:
        """Makes the graph read-only."""
        self._finalized = True

    @property
    def finalized(self) -> bool:
        return self._finalized

    def _unsafe_unfinalize(self) -> None:
        self._finalized = False

    def _check_not_finalized(self) -> None:
        if self._finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")


def describe(key: Any) -> Any:
    """A Tensor as StaticValues wants it."""
    op = key.op
    return (
        op.type,
        op._attrs,
        op._inputs,
        [t._shape for t in op._inputs],
        key.value_index,
        key._shape,
    )


def _no_session(session: Any, what: str) -> Any:
    raise ValueError(
        f"Cannot {what} without a session: no default session is registered. Use "
        "`with sess.as_default()` or pass an explicit session."
    )
