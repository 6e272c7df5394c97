"""Part: what one task is told of a step. Pure data, made from the partitioned graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from minitf_runtime.devices.name import task_of
from minitf_runtime.graph import Node
from minitf_runtime.passes.data import Partitioned
from minitf_runtime.plan.regions import maybe_dead


@dataclass(frozen=True)
class Part:
    """One task's share. Transfers are numbered: the place of the edge in the partitioned graph.

    sends:   send node -> (transfer, task that receives it);  recvs: receive node -> transfer
    feeds:   feed nodes, in the order their values are handed in; fetches: fetch nodes likewise
    strands: node -> strand, for nodes that are not in strand 0
    maybe_dead: receives of tensors that a branch not taken leaves dead
    passes:  what may be done to its programs (plan/choice.py)
    traced:  its programs time every op (plan/trace.py)
    """

    task: str
    nodes: Mapping[str, tuple[Node, ...]]  # device -> nodes in the global order
    sends: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    recvs: Mapping[str, int] = field(default_factory=dict)
    feeds: tuple[str, ...] = ()
    fetches: tuple[str, ...] = ()
    strands: Mapping[str, int] = field(default_factory=dict)
    maybe_dead: frozenset[str] = frozenset()
    passes: tuple[str, ...] = ()
    traced: bool = False


def split(cut: Partitioned, passes: tuple[str, ...] = ()) -> dict[str, Part]:
    """The part of each task that has one."""
    nodes: dict[str, dict[str, tuple[Node, ...]]] = {}
    for device, members in cut.parts.items():
        if members:
            nodes.setdefault(task_of(device), {})[device] = members
    sends: dict[str, dict[str, tuple[int, str]]] = {t: {} for t in nodes}
    recvs: dict[str, dict[str, int]] = {t: {} for t in nodes}
    for i, e in enumerate(cut.edges):
        sends[task_of(e.src_device)][e.send] = (i, task_of(e.dst_device))
        recvs[task_of(e.dst_device)][e.recv] = i
    dead = maybe_dead(cut.step.nodes)
    dead_recvs = frozenset(e.recv for e in cut.edges if e.src in dead)
    client = task_of(cut.devices.client)
    parts = {}
    for task, by_device in nodes.items():
        names = {n.name for members in by_device.values() for n in members}
        parts[task] = Part(
            task,
            by_device,
            sends[task],
            recvs[task],
            tuple(node for _, node in cut.feeds if node in names) if task == client else (),
            tuple(node for _, node in cut.fetches if node in names) if task == client else (),
            {n: s for n, s in cut.strands.items() if s and n in names},
            dead_recvs & names,
            passes,
        )
    return parts
