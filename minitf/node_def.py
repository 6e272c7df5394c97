"""Nodes as NodeDef and GraphDef messages, and attributes back from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from minitf.proto.graph import AttrValue, GraphDef, NodeDef
from minitf.proto.tensor import array_of_proto, shape_of_proto, shape_proto, tensor_proto
from minitf_runtime.graph import Node
from minitf_runtime.ops.registry import OPS
from minitf_runtime.types import DType, as_dtype

PRODUCER = 134  # the GraphDef version of TensorFlow 1.15
_ITEM_FIELDS = dict(
    string="s", int="i", float="f", bool="b", type="type", shape="shape", tensor="tensor"
)


def graph_def(nodes: Iterable[Node], add_shapes: bool = False) -> GraphDef:
    """The message of a graph; with `add_shapes`, the attribute _output_shapes on each node."""
    made = GraphDef()
    made.versions.producer = PRODUCER
    for node in nodes:
        _fill(made.node.add(), node, add_shapes)
    return made


def node_def(node: Node) -> NodeDef:
    made = NodeDef()
    _fill(made, node, False)
    return made


def _fill(made: NodeDef, node: Node, add_shapes: bool) -> None:
    made.name = node.name
    made.op = node.op
    made.device = node.device
    made.input.extend(n if i == 0 else f"{n}:{i}" for n, i in node.inputs)
    made.input.extend("^" + c for c in node.control)
    declared = OPS[node.op].attrs if node.op in OPS else {}
    for key, value in node.attrs.items():
        kind = declared[key].kind if key in declared else "any"
        set_attr(made.attr[key], value, kind)
    if node.colocate:
        set_attr(made.attr["_class"], [f"loc:@{c}" for c in node.colocate], "list(string)")
    if add_shapes and node.output_shapes:
        set_attr(made.attr["_output_shapes"], node.output_shapes, "list(shape)")


def set_attr(made: AttrValue, value: Any, kind: str = "any") -> None:
    """Stores a value as the field of its kind. Raises TypeError for a value that has none."""
    if "any" in kind:
        kind = _kind_of(value)
    if not kind.startswith("list("):
        _put(made, _ITEM_FIELDS[kind], kind, value)
        return
    made.list.SetInParent()
    item = kind[len("list(") : -1]
    for one in value:
        getattr(made.list, _ITEM_FIELDS[item]).append(_message(item, one))


def _kind_of(value: Any) -> str:
    for types, kind in _KINDS:
        if isinstance(value, types):
            return kind
    if isinstance(value, list):
        return f"list({_kind_of(value[0]) if value else 'int'})"
    raise TypeError(f"an attribute cannot hold {value!r}")


_KINDS: tuple[tuple[Any, str], ...] = (
    ((bool, np.bool_), "bool"),
    ((int, np.integer), "int"),
    ((float, np.floating), "float"),
    ((str, bytes), "string"),
    (DType, "type"),
    ((tuple, type(None)), "shape"),
    (np.ndarray, "tensor"),
)


def _put(made: AttrValue, field: str, kind: str, value: Any) -> None:
    message = _message(kind, value)
    if kind in ("shape", "tensor"):
        getattr(made, field).CopyFrom(message)
    else:
        setattr(made, field, message)


def _message(kind: str, value: Any) -> Any:
    """A value as its field takes it."""
    if kind == "string":
        return value if isinstance(value, bytes) else value.encode("utf-8", "surrogateescape")
    if kind == "type":
        return value.number
    if kind == "shape":
        return shape_proto(value)
    if kind == "tensor":
        return tensor_proto(value)
    return value


def attr_value(attr: AttrValue) -> Any:
    """The plain value of an attribute. Raises ValueError for one that minitf cannot hold."""
    field = attr.WhichOneof("value")
    if field == "list":
        return next(
            ([_plain(f, v) for v in getattr(attr.list, f)]
             for f in attr.list.fields if len(getattr(attr.list, f))),
            [],
        )  # fmt: skip
    if field is None:
        raise ValueError("an attribute has no value")
    return _plain(field, getattr(attr, field))


def _plain(field: str, value: Any) -> Any:
    if field == "func" or field == "placeholder":
        raise ValueError(f"functions are not supported: {value.name if field == 'func' else value}")
    read: Callable[[Any], Any] = _READERS.get(field, _same)
    return read(value)


def _same(value: Any) -> Any:
    return value


_READERS: dict[str, Callable[[Any], Any]] = {
    "s": lambda data: data.decode("utf-8", "surrogateescape"),
    "type": lambda number: as_dtype(number).base,
    "shape": shape_of_proto,
    "tensor": array_of_proto,
}
