"""The functions of a GraphDef's library, read into graphs of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from minitf.default import get_default_graph
from minitf.func_graph import FuncGraph
from minitf.node_def import attr_value
from minitf.proto.graph import FunctionDef, FunctionDefLibrary, GraphDef, NodeDef
from minitf_runtime.graph import Function
from minitf_runtime.ops.registry import arg_types, op_def
from minitf_runtime.types import DType, as_dtype

# Adds the nodes of a body to a graph, with these inputs replaced; the importer has it.
ImportBody = Callable[[FuncGraph, GraphDef, Mapping[str, Any], Any], None]


class Library:
    """The functions of a library by name, each read when it is asked for."""

    def __init__(self, library: FunctionDefLibrary, import_body: ImportBody) -> None:
        self._import_body = import_body
        self._messages = {f.signature.name: f for f in library.function}
        self._read: dict[str, Function] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._messages

    def __getitem__(self, name: str) -> Function:
        """Raises ValueError for one that is not there, or cannot be read."""
        if name not in self._read:
            if name not in self._messages:
                raise ValueError(f"the function '{name}' is not in the library")
            self._read[name] = self._function(self._messages[name])
        return self._read[name]

    def _function(self, message: FunctionDef) -> Function:
        """Imports the body as a graph, with placeholders for the arguments."""
        graph = FuncGraph(message.signature.name, get_default_graph())
        with graph.as_default():
            for arg in message.signature.input_arg:
                graph.argument(arg.name, as_dtype(arg.type), None)
            args = {a.op.name: a for a in graph.arguments}
            outputs = {n.name: n for n in message.node_def}
            body = GraphDef()
            for node in message.node_def:
                _to_graph_inputs(body.node.add(), node, args, outputs)
            self._import_body(graph, body, args, self)
        results = []
        for out in message.signature.output_arg:
            text = _graph_input(message.ret[out.name], args, outputs)
            results.append(graph.get_tensor_by_name(text if ":" in text else f"{text}:0"))
        return graph.function(results)


def _to_graph_inputs(
    made: NodeDef, node: NodeDef, args: Mapping[str, Any], nodes: Mapping[str, NodeDef]
) -> None:
    made.CopyFrom(node)
    del made.input[:]
    made.input.extend(_graph_input(text, args, nodes) for text in node.input)


def _graph_input(text: str, args: Mapping[str, Any], nodes: Mapping[str, NodeDef]) -> str:
    """'node:output:number' as 'node:index'."""
    if text.startswith("^") or text in args:
        return text
    name, output, number = text.split(":")
    node = nodes[name]
    attrs = _arities(node)
    start = 0
    for arg in op_def(node.op).outputs:
        if arg.name == output:
            return f"{name}:{start + int(number)}"
        start += len(arg_types([arg], attrs))
    raise ValueError(f"input '{text}': {node.op} has no output of that name")


def _arities(node: NodeDef) -> dict[str, Any]:
    """The attributes that tell how many outputs of which type there are."""
    opdef = op_def(node.op)
    found: dict[str, Any] = {k: a.default for k, a in opdef.attrs.items()}
    for key in opdef.deciding:
        if key in node.attr:
            found[key] = attr_value(node.attr[key])
    return {k: v for k, v in found.items() if isinstance(v, (int, list, DType))}
