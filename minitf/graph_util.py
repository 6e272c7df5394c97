"""tf.graph_util: GraphDefs cut to what some outputs need, and with variables as constants."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

import numpy as np

from minitf import tf_logging
from minitf.node_def import set_attr
from minitf.proto.graph import GraphDef, NodeDef
from minitf.tensor_shape import TensorShape
from minitf_runtime.graph import parse_tensor_name
from minitf_runtime.types import as_dtype

__all__ = [
    "convert_variables_to_constants",
    "extract_sub_graph",
    "remove_training_nodes",
    "tensor_shape_from_node_def_name",
]

_VARIABLES = ("Variable", "VariableV2", "VarHandleOp")
_READS = ("ReadVariableOp", "ResourceGather")
# What a handle may pass on its way from its variable to a read.
_PASS = ("Enter", "Exit", "Identity", "Merge", "NextIteration", "Switch")


def _source(text: str) -> str:
    """The node of an input."""
    return parse_tensor_name(text.removeprefix("^"))[0]


def extract_sub_graph(graph_def: GraphDef, dest_nodes: Iterable[str]) -> GraphDef:
    """The nodes that the given ones need, in the order of the graph.

    Raises TypeError for wrong arguments, AssertionError for a node that is not there.
    """
    if not isinstance(graph_def, GraphDef):
        raise TypeError("graph_def must be a graph_pb2.GraphDef proto.")
    if isinstance(dest_nodes, str):
        raise TypeError("dest_nodes must be a list.")
    nodes = {node.name: node for node in graph_def.node}
    waiting = list(dest_nodes)
    for name in waiting:
        if name not in nodes:
            raise AssertionError(f"{name} is not in graph")
    keep: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in keep:
            keep.add(name)
            waiting += map(_source, nodes[name].input)
    made = _like(graph_def)
    made.node.extend(node for node in graph_def.node if node.name in keep)
    return made


def _like(graph_def: GraphDef) -> GraphDef:
    """A graph without nodes, of the same versions and functions."""
    made = GraphDef()
    made.library.CopyFrom(graph_def.library)
    made.versions.CopyFrom(graph_def.versions)
    return made


def convert_variables_to_constants(
    sess: Any,
    input_graph_def: GraphDef,
    output_node_names: Iterable[str],
    variable_names_whitelist: Container[str] | None = None,
    variable_names_blacklist: Container[str] | None = None,
) -> GraphDef:
    """The graph of the outputs, the variables' values in the session being constants of it."""
    needed = extract_sub_graph(input_graph_def, output_node_names)
    nodes = {node.name: node for node in needed.node}
    frozen = {
        node.name: f"{node.name}/Read/ReadVariableOp:0"
        if node.op == "VarHandleOp"
        else f"{node.name}:0"
        for node in needed.node
        if node.op in _VARIABLES
        and (variable_names_whitelist is None or node.name in variable_names_whitelist)
        and (variable_names_blacklist is None or node.name not in variable_names_blacklist)
    }
    values = sess.run(frozen)
    carriers = _carriers(nodes, frozen)
    made = _like(needed)
    for node in needed.node:
        made.node.extend(_frozen(node, values, carriers))
    tf_logging.info("Converted %d variables to const ops.", len(values))
    return made


def _carriers(nodes: dict[str, NodeDef], frozen: Container[str]) -> dict[str, int]:
    """The reads of frozen variables and the ops between, with the type of the variable.

    Raises ValueError for a read of what is no variable.
    """
    found: dict[str, int] = {}
    for node in nodes.values():
        if node.op not in _READS:
            continue
        dtype = node.attr["dtype"].type
        path = _way_back(nodes, node.name)
        origins = {name for name in path if nodes[name].op == "VarHandleOp"}
        if not origins:
            raise ValueError(
                f"Cannot find the variable that is an input to the {node.op} '{node.name}'."
            )
        if all(origin in frozen for origin in origins):
            found.update((name, dtype) for name in path if name not in origins)
    return found


def _way_back(nodes: dict[str, NodeDef], read: str) -> set[str]:
    """A read and all that its handle passes."""
    seen: set[str] = set()
    waiting = [read]
    while waiting:
        name = waiting.pop()
        node = nodes[name]
        if name in seen:
            continue
        seen.add(name)
        if node.op in _READS or node.op in ("Enter", "Switch", "Identity"):
            waiting.append(_source(node.input[0]))
        elif node.op in _PASS:
            waiting += [_source(text) for text in node.input if not text.startswith("^")]
    return seen


def _frozen(node: NodeDef, values: dict[str, Any], carriers: dict[str, int]) -> list[NodeDef]:
    """What stands for a node in the graph without variables."""
    if node.name in values:
        return [_constant(node.name, node.attr["dtype"].type, values[node.name])]
    if node.name not in carriers:
        return [node]
    made = NodeDef()
    made.CopyFrom(node)
    if "_output_shapes" in made.attr:
        del made.attr["_output_shapes"]
    if node.op == "ReadVariableOp":
        made.op = "Identity"
        del made.attr["dtype"]
    elif node.op == "ResourceGather":
        return _gather(made)
    made.attr["T"].type = carriers[node.name]
    return [made]


def _constant(name: str, dtype: int, value: Any) -> NodeDef:
    made = NodeDef(name=name, op="Const")
    made.attr["dtype"].type = dtype
    array = np.asarray(value, as_dtype(dtype).as_numpy_dtype)
    set_attr(made.attr["value"], array, "tensor")
    return made


def _gather(read: NodeDef) -> list[NodeDef]:
    """A gather from the constant, along its first axis."""
    if read.attr["batch_dims"].i:
        raise ValueError("batch_dims != 0 is not supported by freeze_graph.")
    indices = read.attr["Tindices"].type
    axis = _constant(f"{read.name}/axis", indices, 0)
    made = NodeDef(name=read.name, op="GatherV2", device=read.device)
    made.input.extend([*read.input[:2], axis.name])
    made.attr["Tparams"].type = read.attr["dtype"].type
    made.attr["Tindices"].type = indices
    made.attr["Taxis"].type = indices
    if "_class" in read.attr:
        made.attr["_class"].CopyFrom(read.attr["_class"])
    return [axis, made]


def remove_training_nodes(
    input_graph: GraphDef, protected_nodes: Container[str] | None = None
) -> GraphDef:
    """The graph without checks of numbers, and without identities that no control edge touches."""
    keep = protected_nodes or ()
    nodes = input_graph.node
    checks = {n.name for n in nodes if n.op == "CheckNumerics" and n.name not in keep}
    waits_for_check = {f"^{name}" for name in checks}
    inputs = {n.name: [t for t in n.input if t not in waits_for_check] for n in nodes}
    controlled = {n for n, texts in inputs.items() if any(t.startswith("^") for t in texts)}
    controlled |= {t[1:] for texts in inputs.values() for t in texts if t.startswith("^")}
    spliced = {
        n.name: inputs[n.name][0]
        for n in nodes
        if n.name in checks
        or (n.op == "Identity" and n.name not in keep and n.name not in controlled)
    }
    made = GraphDef()
    for node in nodes:
        if node.name not in spliced:
            new = made.node.add()
            new.CopyFrom(node)
            new.input[:] = [_spliced(text, spliced) for text in inputs[node.name]]
    return made


def _spliced(text: str, spliced: dict[str, str]) -> str:
    while text in spliced:
        text = spliced[text]
    return text


def tensor_shape_from_node_def_name(graph: Any, input_name: str) -> TensorShape:
    name = input_name if ":" in input_name else f"{input_name}:0"
    return graph.get_tensor_by_name(name).get_shape()  # type: ignore[no-any-return]
