"""What each node of a step may have to wait for: ops that wait for other steps, such as dequeue.

Nodes that follow the same of them make up a strand. A branch or a loop is never cut into strands:
all of it follows what any of it follows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from minitf_runtime.graph import Graph, Node
from minitf_runtime.ops.registry import OPS
from minitf_runtime.passes.frames import ENTERS, ROOT, frames_of, has_loops
from minitf_runtime.passes.ids import MERGES, is_back_edge, waits_for

SWITCHES = ("Switch", "RefSwitch")
Follows = frozenset[str]
Condition = tuple[tuple[str, int], int]  # the predicate of a Switch, and which output is alive
_NONE: Follows = frozenset()


def blocked_by(nodes: Sequence[Node], twin: Mapping[str, str]) -> dict[str, Follows]:
    """Of nodes in topological order: the blocking ops that each follows (itself included)."""
    if not any(_is_blocking(op) for op in {n.op for n in nodes}):
        return dict.fromkeys((n.name for n in nodes), _NONE)
    construct: dict[str, str] = {}
    if any(n.op in (*SWITCHES, *ENTERS) for n in nodes):
        construct = _constructs(nodes, twin)
    by_name = {n.name: n for n in nodes}
    whole: dict[str, Follows] = {}  # what a branch or loop follows, as far as it is known
    while True:
        found: dict[str, Follows] = {}
        complete = True
        for n in nodes:
            home = construct.get(n.name)
            mine = whole.get(home, _NONE) if home else _NONE
            for source in waits_for(n, by_name, twin):
                theirs = found[source]
                if theirs and not theirs <= mine:
                    mine |= theirs
            if _is_blocking(n.op):
                mine |= {n.name}
            found[n.name] = mine
            if home and mine != whole.get(home, _NONE):
                whole[home] = mine
                complete = False
        if complete:
            return found


def _is_blocking(op: str) -> bool:
    opdef = OPS.get(op)
    return opdef is not None and opdef.blocking


def _constructs(nodes: Sequence[Node], twin: Mapping[str, str]) -> dict[str, str]:
    """Node of a branch or loop -> one node that stands for all of it: connected ones are one."""
    by_name = {n.name: n for n in nodes}
    members = _conditional(nodes, by_name, twin)
    leader = {name: name for name in members}

    def find(name: str) -> str:
        while leader[name] != name:
            leader[name] = name = leader[leader[name]]
        return name

    for name in members:
        for source in waits_for(by_name[name], by_name, twin):
            if source in members:
                leader[find(source)] = find(name)
    return {name: find(name) for name in members}


def _conditional(
    nodes: Sequence[Node], by_name: Mapping[str, Node], twin: Mapping[str, str]
) -> set[str]:
    """The nodes of branches and loops: what may not run, and what starts or ends such a part."""
    frames = frames_of(Graph(nodes)) if has_loops(nodes) else {}
    alive_if: dict[str, frozenset[Condition]] = {}
    outputs: dict[tuple[str, int], frozenset[Condition]] = {}
    members: set[str] = set()
    for n in nodes:
        data = [
            outputs.get(t, alive_if[t[0]]) for t in n.inputs if not is_back_edge(by_name[t[0]], n)
        ]
        if n.op in MERGES and data:
            data = [frozenset.intersection(*data)]
        others = [*n.control, *([twin[n.name]] if n.name in twin else [])]
        mine = frozenset().union(*data, *(alive_if[name] for name in others))
        alive_if[n.name] = mine
        in_loop = frames.get(n.name, ROOT) is not ROOT
        if n.op in SWITCHES and not in_loop:
            for i in (0, 1):
                outputs[n.name, i] = mine | {(n.inputs[1], i)}
        if in_loop or mine or n.op in (*SWITCHES, *MERGES):
            members.add(n.name)
    return members
