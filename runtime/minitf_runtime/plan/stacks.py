"""Takes out the stacks of a loop's gradient that nobody needs: what is popped is known beforehand.

A push hands on its value then, a pop does nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from minitf_runtime.graph import Graph, Node
from minitf_runtime.passes.carried import STACK, handle_users


def without_unused_stacks(nodes: Sequence[Node]) -> list[Node]:
    """The nodes, those that use a stack of which no popped value is used without it."""
    graph = Graph(nodes)
    used = {tensor for n in nodes for tensor in n.inputs}
    idle: set[str] = set()
    for n in nodes:
        if n.op == STACK:
            users = handle_users(graph, n)
            if not any(u.op == "StackPopV2" and (u.name, 0) in used for u in users):
                idle.update(u.name for u in users)
    return [_without_stack(n) if n.name in idle else n for n in nodes]


def _without_stack(n: Node) -> Node:
    if n.op == "StackPushV2":
        return n.with_(op="Identity", inputs=n.inputs[1:], input_types=n.input_types[1:], attrs={})
    waits = dict.fromkeys((*n.control, *(name for name, _ in n.inputs)))
    return n.with_(op="NoOp", inputs=(), input_types=(), control=tuple(waits), attrs={})
