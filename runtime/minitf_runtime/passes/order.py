"""One topological order for all parts of a step, and strands: what may run beside the rest.

Each part runs its nodes in the one order of the whole, so the earliest unfinished node of a step
always has all it needs: a part that waits for an input cannot cause a deadlock.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from minitf_runtime.errors import InternalError
from minitf_runtime.graph import Graph, Node
from minitf_runtime.passes.cut import Pair
from minitf_runtime.passes.frames import ENTERS, EXITS, ROOT, Frame, frames_of, has_loops
from minitf_runtime.passes.ids import waits_for
from minitf_runtime.passes.strands import blocked_by

_NONE: frozenset[str] = frozenset()


def step_order(step: Graph) -> list[str]:
    """The order before the cut: feeds, then creation order, what waits for other steps last.

    Creation order keeps unordered readers and writers of a variable as the user wrote them. But a
    read that waits for nothing comes first: in TF it is ready before a write, which has a value to
    wait for too.
    """
    feeds = [n.name for n in step if n.op in ("_Arg", "_Recv")]
    rest = [n for n in step if n.op not in ("_Arg", "_Recv")]
    rest.sort(key=lambda n: not _is_ready_read(n, step))
    follows = blocked_by([*(step[f] for f in feeds), *rest], {})
    now = [n.name for n in rest if not follows[n.name]]
    return feeds + now + [n.name for n in rest if follows[n.name]]


def _is_ready_read(n: Node, step: Graph) -> bool:
    """Whether it is a variable's handle, or reads one, and waits for nothing else."""
    if n.control:
        return False
    return n.op == "VarHandleOp" or (
        n.op == "ReadVariableOp" and _is_ready_read(step[n.inputs[0][0]], step)
    )


class Order(NamedTuple):
    """The global order, the parts in it, and the strands of nodes that are not in strand 0."""

    names: list[str]
    parts: dict[str, tuple[Node, ...]]
    strands: dict[str, int]


def arrange(
    parts: Mapping[str, Sequence[Node]], pairs: Sequence[Pair], order: Sequence[str]
) -> Order:
    """Extends the order of the step to the cut's nodes: a Send comes soon, a Recv late."""
    twin = {pair.recv: pair.send for pair in pairs}
    nodes = {n.name: n for part in parts.values() for n in part}
    names = list(order)
    if pairs:
        names = _extend(nodes, twin, pairs, order)
        hops = _hops(names, nodes, twin)
        names.sort(key=hops.__getitem__)
    follows = blocked_by([nodes[name] for name in names], twin)
    numbers: dict[frozenset[str], int] = {_NONE: 0}
    strand = {name: numbers.setdefault(follows[name], len(numbers)) for name in names}
    position = {name: i for i, name in enumerate(names)}
    arranged = {
        device: tuple(sorted(part, key=lambda n: position[n.name]))
        for device, part in sorted(parts.items())
    }
    return Order(names, arranged, {name: s for name, s in strand.items() if s})


def _hops(
    names: Sequence[str], nodes: Mapping[str, Node], twin: Mapping[str, str]
) -> dict[str, int]:
    """How many transfers each node waits for, one after the other. Names are in topological order.

    A part first runs all that needs none, then all that needs one, and so on: nothing that could be
    sent at once waits behind a receive (and a variable is read before what another task sends
    changes it, as in TF). A loop counts as one: no node of it before all that enters it, on any
    task.
    """
    loops = _Loops(nodes)
    while True:
        hops: dict[str, int] = {}
        for name in names:
            before = [hops[source] for source in waits_for(nodes[name], nodes, {})]
            if name in twin:
                before.append(hops[twin[name]] + 1)
            hops[name] = loops.at_least(name, max(before, default=0))
        if not loops.learn(hops):
            return hops


class _Loops:
    """What is known of each frame: the hops that all entering it, and all leaving it, wait for."""

    def __init__(self, nodes: Mapping[str, Node]) -> None:
        self._frames = frames_of(Graph(nodes.values())) if has_loops(list(nodes.values())) else {}
        self._nodes = nodes
        self._start: dict[Frame, int] = {}
        self._end: dict[Frame, int] = {}

    def at_least(self, name: str, hops: int) -> int:
        frame = self._frames.get(name, ROOT)
        if frame is ROOT:
            return hops
        known = self._end if self._nodes[name].op in EXITS else self._start
        return max(hops, known.get(frame, 0))

    def learn(self, hops: Mapping[str, int]) -> bool:
        """Takes in a round of hops; whether the next one may differ."""
        changed = False
        for name, frame in self._frames.items():
            if self._nodes[name].op in ENTERS and hops[name] > self._start.get(frame, 0):
                self._start[frame] = hops[name]
                changed = True
            while frame is not ROOT:
                if hops[name] > self._end.get(frame, 0):
                    self._end[frame] = hops[name]
                    changed = True
                frame = frame.outer
        return changed


def _extend(
    nodes: Mapping[str, Node],
    twin: Mapping[str, str],
    pairs: Sequence[Pair],
    order: Sequence[str],
) -> list[str]:
    """A topological order; among nodes that are ready the one wanted first goes first."""
    consumers: dict[str, list[str]] = {name: [] for name in nodes}
    pending: dict[str, int] = {}
    for n in nodes.values():
        before = list(waits_for(n, nodes, twin))
        pending[n.name] = len(before)
        for source in before:
            consumers[source].append(n.name)
    wanted = _wanted(pairs, consumers, order)
    made = {name: i for i, name in enumerate(nodes)}
    ready = [(wanted.get(name, _AT_ONCE), made[name], name) for name in nodes if not pending[name]]
    heapq.heapify(ready)
    extended = []
    while ready:
        name = heapq.heappop(ready)[2]
        extended.append(name)
        for consumer in consumers[name]:
            pending[consumer] -= 1
            if not pending[consumer]:
                heapq.heappush(ready, (wanted.get(consumer, _AT_ONCE), made[consumer], consumer))
    if len(extended) < len(nodes):
        stuck = next(name for name in nodes if pending[name])
        raise InternalError(None, None, f"The cut made a cycle through node '{stuck}'")
    return extended


_AT_ONCE = -1.0


def _wanted(
    pairs: Sequence[Pair], consumers: Mapping[str, Sequence[str]], order: Sequence[str]
) -> dict[str, float]:
    """Where nodes are wanted: a Recv before its first consumer, if that is one of the step."""
    wanted: dict[str, float] = {name: i for i, name in enumerate(order)}
    for pair in pairs:
        first = min(wanted.get(user, _AT_ONCE) for user in consumers[pair.end])
        if first >= 0:
            wanted[pair.recv] = wanted[pair.end] = first - 0.5
    return wanted
