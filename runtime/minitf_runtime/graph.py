"""Node and Graph: a dataflow graph as plain immutable data, in the order the client made it.

No client object, no device and no kernel is known here. Graphs as text: passes/text.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

from minitf_runtime.types import DType, Shape

CONTROL = -1  # the slot of a control edge


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something is where it is: the rule, in words, and the user's line that asked for it.

    node: the op that the rule looked at; device: what was asked for, where the rule is about that.
    """

    rule: str
    text: str
    at: str = ""  # "train.py:31"
    node: str = ""
    device: str = ""


class Node(NamedTuple):
    """One op of a graph. `inputs` are (node, output index); `device` is what was asked for.

    A tuple, as passes make several of each node: a frozen dataclass takes six times as long.
    """

    name: str
    op: str
    inputs: tuple[tuple[str, int], ...] = ()
    control: tuple[str, ...] = ()
    device: str = ""
    attrs: Mapping[str, Any] = MappingProxyType({})
    colocate: tuple[str, ...] = ()  # names of the `_class` attribute, without "loc:@"
    input_types: tuple[DType, ...] = ()  # what the op takes: a ref type is taken by reference
    output_types: tuple[DType, ...] = ()
    output_shapes: tuple[Shape, ...] = ()
    source: str = ""  # the user's line that made it, "train.py:40"
    role: str = "forward"  # forward gradient apply variable slot init save
    asked: tuple[Reason, ...] = ()  # the scopes that gave `device` and `colocate`

    def on(self, device: str) -> Node:
        return Node._make((*self[:4], device, *self[5:]))  # in less time than `with_` takes

    def with_(self, **changes: Any) -> Node:
        return self._replace(**changes)


@dataclass(frozen=True, eq=False)
class Function:
    """A graph that ops call with tensors, as the value of an attribute.

    args: its `_Arg` nodes, those of what it captured last; results: the tensors that it gives;
    nodes: in the order they were made, with all that have an effect.
    """

    name: str
    nodes: tuple[Node, ...]
    args: tuple[str, ...] = ()
    results: tuple[tuple[str, int], ...] = ()


class Graph:
    """Nodes in id order, found by name. Immutable; passes return new graphs."""

    __slots__ = ("nodes", "_by_name", "_consumers")

    def __init__(self, nodes: Iterable[Node]) -> None:
        self.nodes: tuple[Node, ...] = tuple(nodes)
        self._by_name = {n.name: n for n in self.nodes}
        self._consumers: dict[str, list[tuple[Node, int, int]]] | None = None

    def __getitem__(self, name: str) -> Node:
        return self._by_name[name]

    def get(self, name: str) -> Node | None:
        return self._by_name.get(name)

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __iter__(self) -> Iterator[Node]:
        return iter(self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Graph) and self.nodes == other.nodes

    __hash__ = None  # type: ignore[assignment]

    def consumers(self, name: str) -> list[tuple[Node, int, int]]:
        """(consumer, its input slot, output index taken); slot and index are CONTROL for
        control."""
        if self._consumers is None:
            table: dict[str, list[tuple[Node, int, int]]] = {}
            for node in self.nodes:
                for slot, (source, index) in enumerate(node.inputs):
                    table.setdefault(source, []).append((node, slot, index))
                for source in node.control:
                    table.setdefault(source, []).append((node, CONTROL, CONTROL))
            self._consumers = table
        return self._consumers.get(name, [])

    def only(self, keep: frozenset[str] | set[str]) -> Graph:
        return Graph(n for n in self.nodes if n.name in keep)

    def map(self, change: Callable[[Node], Node]) -> Graph:
        return Graph(change(n) for n in self.nodes)


def tensor_name(name: str, index: int) -> str:
    return f"{name}:{index}"


def parse_tensor_name(text: str) -> tuple[str, int]:
    """'x:1' -> ('x', 1); 'x' -> ('x', 0)."""
    name, colon, index = text.rpartition(":")
    return (name, int(index)) if colon else (text, 0)
