"""GraphDefs cut to a name scope, and without savers, devices or default attributes.

Nothing here looks at a live graph. For tf.train.export_meta_graph.
"""

from __future__ import annotations

from collections.abc import Container

from minitf.node_def import set_attr
from minitf.proto.graph import AttrValue, GraphDef, NodeDef
from minitf.proto.saver import SaverDef
from minitf.scoped_names import is_below, without_scope
from minitf_runtime.graph import parse_tensor_name
from minitf_runtime.ops.registry import OPS, REQUIRED

_UNBOUND = "$unbound_inputs_"
_SAVE_OR_RESTORE = frozenset(
    prefix + op
    for prefix in ("", "Legacy")
    for op in ("Save", "SaveSlice", "SaveV2", "Restore", "RestoreSlice", "RestoreV2")
)


def part_of(
    graph_def: GraphDef, scope: str | None, left_out: Container[str]
) -> tuple[GraphDef, list[str]]:
    """The nodes of the scope, named without it, save those left out.

    Also the names that inputs from elsewhere got, which an import must bind.
    """
    made = GraphDef()
    made.versions.CopyFrom(graph_def.versions)
    made.library.CopyFrom(graph_def.library)
    unbound: dict[str, None] = {}
    for node in graph_def.node:
        if is_below(node.name, scope) and node.name not in left_out:
            made.node.append(node)
            unbound.update(dict.fromkeys(_cut_off(made.node[-1], scope)))
    return made, list(unbound)


def _cut_off(node: NodeDef, scope: str | None) -> list[str]:
    """Takes the scope off all names that a node has; gives its inputs from elsewhere."""
    rename = without_scope(scope)
    outside = [not is_below(text, scope) for text in node.input]
    node.input[:] = [
        _unbound(text) if out else rename(text) for text, out in zip(node.input, outside)
    ]
    node.name = rename(node.name)
    if "_class" in node.attr:
        classes = [c.decode() for c in node.attr["_class"].list.s]
        kept = [rename(c).encode() for c in classes if is_below(c, scope)]
        node.attr["_class"].list.s[:] = kept
    if "frame_name" in node.attr:
        node.attr["frame_name"].s = rename(node.attr["frame_name"].s.decode()).encode()
    return [text for text, out in zip(node.input, outside) if out]


def _unbound(text: str) -> str:
    mark = "^" if text.startswith("^") else ""
    return mark + _UNBOUND + text.removeprefix("^")


def other_savers(graph_def: GraphDef, saver_def: SaverDef | None) -> set[str]:
    """The nodes of savers other than this one: all that is in a scope where one saves or restores.

    A saver whose ops are in no scope is not found.
    """
    scopes = {
        _scope_of(node.name) for node in graph_def.node
        if node.op in _SAVE_OR_RESTORE and "/" in node.name
    }  # fmt: skip
    if saver_def is not None:
        scopes -= {_scope_of(saver_def.save_tensor_name), _scope_of(saver_def.restore_op_name)}
    return {n.name for n in graph_def.node if n.name.startswith(tuple(scopes))}


def _scope_of(name: str) -> str:
    return parse_tensor_name(name)[0].rpartition("/")[0] + "/"


def clear_devices(graph_def: GraphDef) -> None:
    for node in graph_def.node:
        node.device = ""


def strip_defaults(graph_def: GraphDef) -> None:
    """Takes away the attributes that have the value which a reader supplies."""
    for node in graph_def.node:
        declared = OPS[node.op].attrs if node.op in OPS else {}
        for key in [k for k in node.attr if k in declared]:
            if declared[key].default is REQUIRED:
                continue
            default = AttrValue()
            set_attr(default, declared[key].default, declared[key].kind)
            if node.attr[key] == default:
                del node.attr[key]
