"""tf.import_graph_def: the nodes of a GraphDef as ops of the default graph."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

from minitf.convert import to_tensor
from minitf.default import get_default_graph, name_scope
from minitf.function_library import Library
from minitf.graph import Graph
from minitf.node_def import check_inputs, find_op_def, read_attrs
from minitf.operation import Operation, Tensor
from minitf.proto.graph import GraphDef, NodeDef
from minitf_runtime.errors import UnimplementedError
from minitf_runtime.graph import parse_tensor_name
from minitf_runtime.ops.registry import OpDef, arg_types
from minitf_runtime.types import merge_shapes
from minitf_runtime.version import GRAPH_DEF_VERSION

__all__ = ["import_graph_def"]

_BACK_EDGE = ("NextIteration", "RefNextIteration")
_MERGE = ("Merge", "RefMerge")


def import_graph_def(
    graph_def: GraphDef,
    input_map: Mapping[str, Any] | None = None,
    return_elements: Sequence[str] | None = None,
    name: str | None = None,
    op_dict: Any = None,
    producer_op_list: Any = None,
) -> list[Any] | None:
    """Adds the nodes below the scope `name` ('import'), with some of their inputs replaced.

    Gives the ops and tensors named in `return_elements`. Raises TypeError for wrong arguments,
    ValueError for a graph that does not hold together, NotFoundError for an unknown op,
    UnimplementedError for the call of a function. A graph that fails leaves the ops that were made
    before the failure.
    """
    if not isinstance(graph_def, GraphDef):
        raise TypeError("graph_def must be a GraphDef proto.")
    inputs = _checked_map(input_map)
    wanted = _checked_names(return_elements)
    _check_version(graph_def)
    _check_functions(graph_def)
    graph = get_default_graph()
    with name_scope(name, "import", list(inputs.values())) as scope:
        prefix = (scope or "").rstrip("/")
        replaced = {key: to_tensor(value) for key, value in inputs.items() if key[0] != "^"}
        replaced.update((k, graph.as_operation(v)) for k, v in inputs.items() if k[0] == "^")
        with _plain_scopes(graph) as device_stack:
            library = Library(graph_def.library, _import_body)
            made = _Import(graph, prefix, replaced, device_stack, graph_def, library)
            made.run()
    made.join(graph.control_flow_context)
    if made.unused:
        raise ValueError(
            "Attempted to map inputs that were not found in graph_def: "
            f"[{', '.join(sorted(made.unused))}]"
        )
    return None if return_elements is None else [made.element(n) for n in wanted]


def _import_body(
    graph: Graph, body: GraphDef, replaced: Mapping[str, Tensor], library: Library
) -> None:
    """Adds nodes to a graph under their own names, with some inputs replaced by tensors of it."""
    inputs = {f"{name}:0": tensor for name, tensor in replaced.items()}
    with _plain_scopes(graph) as device_stack:
        _Import(graph, "", inputs, device_stack, body, library).run()


def _checked_map(input_map: Mapping[str, Any] | None) -> dict[str, Any]:
    if not all(isinstance(key, str) for key in input_map or ()):
        raise TypeError("input_map must be a dictionary mapping strings to Tensor objects.")
    return {_canonical(key): value for key, value in (input_map or {}).items()}


def _canonical(name: str) -> str:
    """'x' -> 'x:0'; control inputs as they are."""
    return name if name.startswith("^") or ":" in name else f"{name}:0"


def _checked_names(names: Sequence[str] | None) -> tuple[str, ...]:
    found = tuple(names or ())
    if not all(isinstance(n, str) for n in found):
        raise TypeError("return_elements must be a list of strings.")
    return found


def _check_version(graph_def: GraphDef) -> None:
    versions = graph_def.versions
    if versions.min_consumer > GRAPH_DEF_VERSION:
        raise ValueError(
            f"GraphDef min consumer version {versions.min_consumer} above current version "
            f"{GRAPH_DEF_VERSION}. Please upgrade minitf."
        )
    if GRAPH_DEF_VERSION in versions.bad_consumers:
        raise ValueError(f"GraphDef disallows consumer version {GRAPH_DEF_VERSION}.")
    if versions.producer < 0:
        raise ValueError(f"GraphDef producer version {versions.producer} below min producer 0.")


def _check_functions(graph_def: GraphDef) -> None:
    """A library of functions that nobody calls does no harm."""
    functions = {function.signature.name for function in graph_def.library.function}
    for node in graph_def.node:
        if node.op in functions:
            raise UnimplementedError(
                None, None, f"node '{node.name}' calls '{node.op}': functions are not supported"
            )


@contextmanager
def _plain_scopes(graph: Graph) -> Iterator[list[Any]]:
    """Nodes say themselves where they belong: hides the scopes, and gives the device scopes."""
    context, graph.control_flow_context = graph.control_flow_context, None
    devices, graph._device_stack = graph._device_stack, []
    classes, graph._colocation_stack = graph._colocation_stack, []
    attrs, graph._attr_scopes = graph._attr_scopes, {}
    try:
        yield devices
    finally:
        graph.control_flow_context = context
        graph._device_stack = devices
        graph._colocation_stack = classes
        graph._attr_scopes = attrs


class _Import:
    """The state of one import: ops by the name that their node has."""

    def __init__(
        self,
        graph: Graph,
        prefix: str,
        replaced: dict[str, Any],
        device_stack: list[Any],
        graph_def: GraphDef,
        library: Library,
    ) -> None:
        self._graph = graph
        self._prefix = prefix
        self._replaced = replaced
        self._device_stack = device_stack
        self._library = library
        self._nodes = {node.name: node for node in graph_def.node}
        self._ops: dict[str, Operation] = {}
        self._back_edges: list[tuple[Operation, int, str]] = []
        self.unused = set(replaced)
        if len(self._nodes) != len(graph_def.node):
            raise ValueError("two nodes of the graph_def have the same name")

    def run(self) -> None:
        for name in self._order():
            node = self._nodes[name]
            try:
                self._ops[name] = self._make(node)
            except (TypeError, ValueError) as e:
                raise ValueError(f"node '{name}' (op: '{node.op}'): {e}") from e
        for op, slot, source in self._back_edges:
            op._update_input(slot, self._tensor(source))
        self._put_with_colocated()

    def join(self, context: Any) -> None:
        """Makes the ops part of the branch or loop in which the import was called, if any.

        Not before all are there: a loop among them has a cycle.
        """
        if context is None:
            return
        for op in self._ops.values():
            op._context = context
        for op in self._ops.values():
            context.add_op(op)

    def element(self, name: str) -> Any:
        """An op, or a tensor, by its name in the graph_def. Raises ValueError."""
        node, _ = parse_tensor_name(name)
        if node not in self._ops:
            raise ValueError(f"Requested return_element '{name}' not found in graph_def.")
        return self._tensor(name) if ":" in name else self._ops[node]

    # ---- the order

    def _order(self) -> list[str]:
        """Inputs before consumers; the back edges of loops do not count."""
        waiting = {name: self._sources(node) for name, node in self._nodes.items()}
        consumers: dict[str, list[str]] = {}
        for name, sources in waiting.items():
            for source in sources:
                consumers.setdefault(source, []).append(name)
        ready = deque(name for name, sources in waiting.items() if not sources)
        order = []
        while ready:
            name = ready.popleft()
            order.append(name)
            for consumer in consumers.get(name, ()):
                waiting[consumer].discard(name)
                if not waiting[consumer]:
                    ready.append(consumer)
        if len(order) < len(self._nodes):
            stuck = sorted(name for name, sources in waiting.items() if sources)
            raise ValueError(f"the graph_def has a cycle through {stuck[:5]}")
        return order

    def _sources(self, node: NodeDef) -> set[str]:
        sources = set()
        for text in node.input:
            if _canonical(text) in self._replaced:
                continue
            source = parse_tensor_name(text.removeprefix("^"))[0]
            if source not in self._nodes:
                raise ValueError(f"Node '{node.name}': Unknown input node '{text}'")
            if not self._is_back_edge(node, source):
                sources.add(source)
        return sources

    def _is_back_edge(self, node: NodeDef, source: str) -> bool:
        return node.op in _MERGE and self._nodes[source].op in _BACK_EDGE

    # ---- making ops

    def _make(self, node: NodeDef) -> Operation:
        opdef = find_op_def(node)
        attrs, shapes = _attrs(node, opdef, self._prefix, self._library)
        inputs = self._inputs(node)
        check_inputs(inputs, arg_types(opdef.inputs, attrs))
        name = f"{self._prefix}/{node.name}" if self._prefix else node.name
        if name in self._graph._by_name:
            raise ValueError(f"Node '{name}' already exists in the Graph")
        colocated = any(other != name for other in attrs.get("_class") or ())
        self._graph._device_stack = [] if colocated else list(self._device_stack)
        where = None if colocated else node.device
        with self._graph.device(where) if where else nullcontext():
            op = self._graph.create_op(node.op, inputs, name=name + "/", attrs=attrs)
        self._graph._names_in_use.setdefault(name.lower(), 1)
        op._add_control_inputs([self._control(t) for t in node.input if t.startswith("^")])
        pending = self._pending(op, node)
        self._back_edges += pending
        _set_shapes(op, shapes, bool(pending))
        return op

    def _inputs(self, node: NodeDef) -> list[Tensor]:
        """The data inputs; a back edge stands for the loop's first value until it is there."""
        texts = [t for t in node.input if not t.startswith("^")]
        forward = [
            self._tensor(t) for t in texts
            if _canonical(t) in self._replaced
            or not self._is_back_edge(node, parse_tensor_name(t)[0])
        ]  # fmt: skip
        if len(forward) == len(texts):
            return forward
        return (forward + forward[:1] * len(texts))[: len(texts)]

    def _pending(self, op: Operation, node: NodeDef) -> list[tuple[Operation, int, str]]:
        """The back edges that a Merge waits for."""
        texts = [t for t in node.input if not t.startswith("^")]
        return [
            (op, slot, text) for slot, text in enumerate(texts)
            if _canonical(text) not in self._replaced
            and self._is_back_edge(node, parse_tensor_name(text)[0])
        ]  # fmt: skip

    def _tensor(self, text: str) -> Tensor:
        key = _canonical(text)
        if key in self._replaced:
            self.unused.discard(key)
            return self._replaced[key]  # type: ignore[no-any-return]
        name, index = parse_tensor_name(text)
        outputs = self._ops[name].outputs
        if index >= len(outputs):
            raise ValueError(f"input '{text}': node '{name}' has {len(outputs)} outputs")
        return outputs[index]

    def _control(self, text: str) -> Operation:
        if text in self._replaced:
            self.unused.discard(text)
            return self._replaced[text]  # type: ignore[no-any-return]
        return self._ops[text[1:]]

    def _put_with_colocated(self) -> None:
        """An op with a class takes the device of the first op of the class that has one."""
        for op in self._ops.values():
            for name in op._class:
                other = self._graph._by_name.get(name)
                if other is None:
                    raise ValueError(
                        "Specified colocation to an op that does not exist during import: "
                        f"{name} in {op.name}"
                    )
                if other.device:
                    op._set_device(other.device)
                    break


def _attrs(
    node: NodeDef, opdef: OpDef, prefix: str, library: Library
) -> tuple[dict[str, Any], Any]:
    """All attributes of the new op, and the shapes that the node tells. Raises ValueError."""
    attrs, shapes = read_attrs(node, opdef, library)
    if attrs.get("_class"):
        scope = f"{prefix}/" if prefix else ""
        attrs["_class"] = [scope + c.removeprefix("loc:@") for c in attrs["_class"]]
    return attrs, shapes


def _set_shapes(op: Operation, told: Any, in_loop: bool) -> None:
    """Adds the shapes that the node tells; of a loop's merge nothing else is known yet."""
    for tensor, shape in zip(op.outputs, told or [None] * len(op.outputs)):
        tensor._shape = shape if in_loop else merge_shapes(tensor._shape, shape)
