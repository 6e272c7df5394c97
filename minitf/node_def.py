"""Nodes as NodeDef and GraphDef messages, and attributes back from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitf.function_def import add_to_library
from minitf.proto.graph import AttrValue, GraphDef, NodeDef
from minitf.proto.tensor import array_of_proto, shape_of_proto, shape_proto, tensor_proto
from minitf_runtime.errors import NotFoundError
from minitf_runtime.graph import Function, Node
from minitf_runtime.ops.registry import OPS, REQUIRED, OpDef, load
from minitf_runtime.types import DType, as_dtype
from minitf_runtime.version import GRAPH_DEF_VERSION

Functions = Any  # function_def.Library: the functions by name
_ITEM_FIELDS = dict(
    string="s", int="i", float="f", bool="b", type="type", shape="shape", tensor="tensor"
)


def graph_def(nodes: Sequence[Node], add_shapes: bool = False) -> GraphDef:
    """The message of a graph; with `add_shapes`, the attribute _output_shapes on each node."""
    made = GraphDef()
    made.versions.producer = GRAPH_DEF_VERSION
    for node in nodes:
        _fill(made.node.add(), node, add_shapes)
    add_to_library(made.library, nodes, lambda message, node: _fill(message, node, False))
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
    if kind == "func":
        made.func.name = value.name
        return
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
    (Function, "func"),
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


def attr_value(attr: AttrValue, functions: Functions | None = None) -> Any:
    """The plain value of an attribute. Raises ValueError for one that minitf cannot hold."""
    field = attr.WhichOneof("value")
    if field == "func":
        if functions is None:
            raise ValueError(f"the function '{attr.func.name}' is in a library that is not here")
        return functions[attr.func.name]
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
        raise ValueError(f"a {field} cannot stand here: {value}")
    read: Callable[[Any], Any] = _READERS.get(field, _same)
    return read(value)


def _same(value: Any) -> Any:
    return value


def find_op_def(node: NodeDef) -> OpDef:
    """The definition of the node's op. Raises NotFoundError if there is none of that name."""
    load([node.op])
    found = OPS.get(node.op)
    if found is None:
        raise NotFoundError(
            None, None, f"Op type not registered '{node.op}' in minitf (node '{node.name}')"
        )
    return found


def read_attrs(
    node: NodeDef, opdef: OpDef, functions: Functions | None = None
) -> tuple[dict[str, Any], Any]:
    """All attributes of a node, and the shapes of outputs that it tells. Raises ValueError."""
    given = {}
    for key in node.attr:
        try:
            given[key] = attr_value(node.attr[key], functions)
        except (TypeError, ValueError) as e:
            raise ValueError(f"attr '{key}': {e}") from None
    shapes = given.pop("_output_shapes", None)
    unknown = [k for k in given if k not in opdef.attrs and not k.startswith("_")]
    if unknown:
        raise ValueError(f"NodeDef mentions attr '{unknown[0]}' not in Op<{opdef.name}>")
    for key, attr in opdef.attrs.items():
        if key not in given and attr.default is REQUIRED:
            raise ValueError(f"NodeDef missing attr '{key}' from Op<{opdef.name}>")
        given.setdefault(key, attr.default)
    return given, shapes


def check_inputs(inputs: Sequence[Any], types: Sequence[DType]) -> None:
    """Raises ValueError if the tensors are not of the types that an op takes."""
    if len(inputs) != len(types):
        raise ValueError(f"takes {len(types)} inputs, got {len(inputs)}")
    for slot, (tensor, dtype) in enumerate(zip(inputs, types)):
        if tensor.dtype.base is not dtype.base or (dtype.is_ref and not tensor.dtype.is_ref):
            raise ValueError(
                f"Input {slot} was passed {tensor.dtype.name} from {tensor.name} incompatible "
                f"with expected {dtype.name}."
            )


_READERS: dict[str, Callable[[Any], Any]] = {
    "s": lambda data: data.decode("utf-8", "surrogateescape"),
    "type": lambda number: as_dtype(number).base,
    "shape": shape_of_proto,
    "tensor": array_of_proto,
}
