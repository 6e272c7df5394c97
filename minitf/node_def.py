"""NodeDef and GraphDef as plain views with TensorFlow's field names (`attr['T'].type` and so
on)."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitf.tensor_shape import ShapeView
from minitf_runtime.graph import Node
from minitf_runtime.types import DType


class AttrValue:
    """One attribute; the fields are those of the AttrValue message."""

    __slots__ = ("value",)

    def __init__(self, value: Any = None) -> None:
        self.value = value

    @property
    def s(self) -> bytes:
        value = self.value
        return value.encode() if isinstance(value, str) else value if value is not None else b""

    @property
    def i(self) -> int:
        return int(self.value or 0)

    @property
    def f(self) -> float:
        return float(self.value or 0)

    @property
    def b(self) -> bool:
        return bool(self.value)

    @property
    def type(self) -> int:
        return self.value.number if isinstance(self.value, DType) else 0

    @property
    def shape(self) -> ShapeView:
        return ShapeView(self.value)

    @property
    def tensor(self) -> Any:
        return self.value

    @property
    def list(self) -> ListValue:
        return ListValue(self.value or [])

    def __repr__(self) -> str:
        return f"AttrValue({self.value!r})"


class ListValue:
    """The `list` field of an attribute, read as whichever kind is asked for."""

    __slots__ = ("values",)

    def __init__(self, values: Any) -> None:
        self.values = list(values)

    @property
    def s(self) -> list[bytes]:
        return [v.encode() if isinstance(v, str) else v for v in self.values]

    @property
    def i(self) -> list[int]:
        return [int(v) for v in self.values]

    @property
    def f(self) -> list[float]:
        return [float(v) for v in self.values]

    @property
    def type(self) -> list[int]:
        return [v.number for v in self.values]

    @property
    def shape(self) -> list[ShapeView]:
        return [ShapeView(v) for v in self.values]


class AttrMap(dict[str, AttrValue]):
    """A missing attribute reads as an empty one, as in a protobuf map."""

    def __missing__(self, key: str) -> AttrValue:
        return AttrValue()


class NodeDefView:
    """A Node under the field names of the NodeDef message."""

    __slots__ = ("name", "op", "input", "device", "attr")

    def __init__(self, node: Node) -> None:
        self.name = node.name
        self.op = node.op
        self.device = node.device
        self.input = [n if i == 0 else f"{n}:{i}" for n, i in node.inputs]
        self.input += ["^" + c for c in node.control]
        self.attr = AttrMap({k: AttrValue(v) for k, v in node.attrs.items()})
        if node.colocate:
            self.attr["_class"] = AttrValue([f"loc:@{c}" for c in node.colocate])

    def __str__(self) -> str:
        lines = [f'name: "{self.name}"', f'op: "{self.op}"']
        lines += [f'input: "{i}"' for i in self.input]
        if self.device:
            lines.append(f'device: "{self.device}"')
        lines += [f"attr {{ {k}: {_show(v.value)} }}" for k, v in sorted(self.attr.items())]
        return "\n".join(lines) + "\n"


def _show(value: Any) -> str:
    return (
        f"array of {value.shape}"
        if isinstance(value, np.ndarray) and value.size > 8
        else repr(value)
    )


class GraphDefView:
    """A list of nodes under the field name of the GraphDef message."""

    __slots__ = ("node",)

    def __init__(self, nodes: Any) -> None:
        self.node = [NodeDefView(n) for n in nodes]

    def __str__(self) -> str:
        return "".join(f"node {{\n{n}}}\n" for n in self.node)
