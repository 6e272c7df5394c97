"""Id order: the order in which TF's runtime takes nodes from a GraphDef, which all passes go by."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence

from minitf_runtime.errors import InvalidArgumentError
from minitf_runtime.graph import Node

MERGES = ("Merge", "RefMerge")
NEXT_ITERATIONS = ("NextIteration", "RefNextIteration")


def sources(node: Node) -> list[str]:
    """Names of all nodes that `node` has an edge from, by data and by control."""
    return [name for name, _ in node.inputs] + [*node.control]


def is_back_edge(source: Node | None, node: Node) -> bool:
    """Whether an edge closes a loop (NextIteration -> Merge)."""
    return node.op in MERGES and source is not None and source.op in NEXT_ITERATIONS


def waits_for(n: Node, nodes: Mapping[str, Node], twin: Mapping[str, str]) -> list[str]:
    """The nodes that must be done before `n` runs: its inputs but for back edges, and its Send."""
    before = sources(n)
    if n.op in MERGES:
        before = [source for source in before if not is_back_edge(nodes[source], n)]
    if n.name in twin:
        before.append(twin[n.name])
    return before


def id_order(nodes: Sequence[Node]) -> list[Node]:
    """The given order, except that a node waits for its inputs (a Merge not for its NextIteration).

    Raises InvalidArgumentError for an input that is no node, and for a cycle.
    """
    if _is_ordered(nodes):
        return list(nodes)
    index = {n.name: i for i, n in enumerate(nodes)}
    for n in nodes:
        for source in sources(n):
            if source not in index:
                raise InvalidArgumentError(
                    None, None, f"Node '{n.name}': Unknown input node '{source}'"
                )
    return _wait_for_inputs(nodes, index)


def _is_ordered(nodes: Sequence[Node]) -> bool:
    """Whether all that a node has an edge from stands before it: so does a client make nodes."""
    before: set[str] = set()
    for n in nodes:
        for source, _ in n.inputs:
            if source not in before:
                return False
        if n.control and not before.issuperset(n.control):
            return False
        before.add(n.name)
    return True


def _wait_for_inputs(nodes: Sequence[Node], index: dict[str, int]) -> list[Node]:
    waiting: list[int] = []
    consumers: dict[int, list[int]] = {}
    for i, n in enumerate(nodes):
        pending = 0
        for source in sources(n):
            if not is_back_edge(nodes[index[source]], n):
                consumers.setdefault(index[source], []).append(i)
                pending += 1
        waiting.append(pending)
    ready = [i for i, pending in enumerate(waiting) if not pending]
    order: list[Node] = []
    while ready:
        i = heapq.heappop(ready)
        order.append(nodes[i])
        for consumer in consumers.get(i, ()):
            waiting[consumer] -= 1
            if not waiting[consumer]:
                heapq.heappush(ready, consumer)
    if len(order) < len(nodes):
        stuck = [n.name for i, n in enumerate(nodes) if waiting[i]]
        raise InvalidArgumentError(
            None, None, f"{len(stuck)} nodes in a cycle or behind one, first '{stuck[0]}'"
        )
    return order
