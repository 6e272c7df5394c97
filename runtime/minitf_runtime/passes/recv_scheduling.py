"""Receives in good time: control edges that hold each one back (TF: enable_recv_scheduling).

A step is laid out in time as if each op took 1 and each copy 10. A part then gets up to 100
triggers, one for each epoch of that time, and a receive waits for the trigger 6 epochs before its
own. All of it is TensorFlow's choice, the order among nodes of one time included.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from minitf_runtime.devices.name import task_of
from minitf_runtime.graph import CONTROL, Graph, Node
from minitf_runtime.passes.cut import Pair
from minitf_runtime.passes.data import RECVS
from minitf_runtime.passes.ids import id_order

EPOCHS = 100
AHEAD = 6  # epochs by which a receive may start early
OP_TIME = 1
COPY_TIME = 10
MARK = "@"  # no name of an op holds it. In TF triggers of two tasks may have one name, here not


def start_times(step: Graph) -> dict[str, int]:
    """When each node of a step without loops could start at the earliest."""
    times: dict[str, int] = {}
    for n in id_order(list(step.nodes)):
        time = OP_TIME
        for source, index in (*n.inputs, *((c, CONTROL) for c in n.control)):
            copied = index != CONTROL and step[source].device != n.device
            time = max(time, times[source] + OP_TIME + COPY_TIME * copied)
        times[n.name] = time
    return times


def time_pairs(
    times: dict[str, int], parts: Mapping[str, Sequence[Node]], pairs: Sequence[Pair]
) -> None:
    """Adds what a cut has made: a send is as early as its source, a receive as its first user."""
    graph = Graph(n for nodes in parts.values() for n in nodes)
    for pair in pairs:
        (token, _), *_ = graph[pair.send].inputs
        times[pair.send] = times[pair.src]
        times.setdefault(token, times[pair.src])
    for pair in pairs:
        users = [times[n.name] for n, _, _ in graph.consumers(pair.end) if n.name in times]
        times[pair.recv] = times[pair.end] = min(users)


def schedule(
    parts: Mapping[str, Sequence[Node]], times: Mapping[str, int], counts: dict[str, int]
) -> dict[str, list[Node]]:
    """The parts with their triggers.

    counts: task -> how many names it has given away; it numbers triggers and whole steps in one.
    """
    scheduled = {}
    for device, nodes in parts.items():
        first = counts.get(task_of(device), 0)
        scheduled[device] = _with_triggers(nodes, times, first)
        counts[task_of(device)] = first + len(scheduled[device]) - len(nodes)
    for task in {task_of(device) for device in parts}:
        counts[task] += 1
    return scheduled


def _with_triggers(nodes: Sequence[Node], times: Mapping[str, int], first: int) -> list[Node]:
    order = _by_time(nodes, times)
    epoch = order[-1].time // EPOCHS + 1
    triggers: list[Node] = []
    at = 0
    while len(triggers) < EPOCHS and at < len(order):
        number = len(triggers)
        if number * epoch > order[at].time:
            at += 1
            continue
        before = (order[at - 1].node.name,) if at else ()
        device = nodes[0].device
        name = f"synch_{number}_G{first + number}{MARK}{device}"
        triggers.append(Node(name, "ControlTrigger", control=before, device=device))
    return [_held_back(n, times[n.name] // epoch, triggers) for n in nodes] + triggers


def _held_back(n: Node, epoch: int, triggers: Sequence[Node]) -> Node:
    if n.op not in RECVS or epoch < AHEAD:
        return n
    return n.with_(control=(*n.control, triggers[epoch - AHEAD].name))


def with_tf_names(parts: Mapping[str, Sequence[Node]]) -> dict[str, list[Node]]:
    """The parts with the triggers' names as they are in TensorFlow."""
    return {device: [tf_named(n) for n in nodes] for device, nodes in parts.items()}


def tf_named(n: Node) -> Node:
    if MARK not in n.name and not any(MARK in name for name in n.control):
        return n
    control = tuple(name.partition(MARK)[0] for name in n.control)
    return n.with_(name=n.name.partition(MARK)[0], control=control)


class _Timed(NamedTuple):
    """A node and its time. Only the time counts: the heap's own order decides among equals."""

    time: int
    node: Node

    def __lt__(self, other: tuple[int, Node]) -> bool:  # type: ignore[override]
        return self.time < other[0]


def _by_time(nodes: Sequence[Node], times: Mapping[str, int]) -> list[_Timed]:
    """A topological order, the earliest first; a node comes later than what it waits for."""
    consumers: dict[str, list[Node]] = {}
    pending: dict[str, int] = {}
    ready: list[_Timed] = []
    for n in nodes:
        sources = [*(source for source, _ in n.inputs), *n.control]
        pending[n.name] = len(sources)
        for source in sources:
            consumers.setdefault(source, []).append(n)
        if not sources:
            heapq.heappush(ready, _Timed(times[n.name], n))
    order = []
    while ready:
        first = heapq.heappop(ready)
        order.append(first)
        for n in consumers.get(first.node.name, ()):
            pending[n.name] -= 1
            if not pending[n.name]:
                heapq.heappush(ready, _Timed(max(times[n.name], first.time + OP_TIME), n))
    return order
