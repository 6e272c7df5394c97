"""Part: what one task is told of a step. Pure data, made from the partitioned graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from minitf_runtime.devices.name import parse_full, task_of
from minitf_runtime.graph import Node
from minitf_runtime.passes.data import Partitioned
from minitf_runtime.passes.kernels import HOST_TYPES
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

    @cached_property
    def late_reads(self) -> frozenset[str]:
        """The Sends and Recvs between devices of this task that carry a variable, not its value.

        They carry a read, and both ends are in host memory, where TensorFlow's tensors share the
        variable's buffer: an op that waits for other steps sees what is in it by then.
        """
        if not self.strands:
            return frozenset()
        by_name = {n.name: n for nodes in self.nodes.values() for n in nodes}
        waited = self._taken_by_another_strand()
        recvs = {t: by_name[r] for r, t in self.recvs.items() if r in waited - self.maybe_dead}
        late: set[str] = set()
        for name, (transfer, task) in self.sends.items():
            if task != self.task or transfer not in recvs:
                continue
            send, recv = by_name[name], recvs[transfer]
            if _in_host_memory(send) and _in_host_memory(recv) and _is_read(send, by_name):
                late.update((name, recv.name))
        return frozenset(late)

    def _taken_by_another_strand(self) -> set[str]:
        strand = self.strands.get
        return {
            source
            for nodes in self.nodes.values()
            for n in nodes
            for source, _ in n.inputs
            if strand(source, 0) != strand(n.name, 0)
        }


def _in_host_memory(n: Node) -> bool:
    """Whether a Send takes its value from there, or a Recv leaves it there."""
    return n.op.startswith("_Host") or (parse_full(n.device).type or "CPU") in HOST_TYPES


def _is_read(send: Node, by_name: Mapping[str, Node]) -> bool:
    """Whether a Send takes what an Identity reads of a variable."""
    read = by_name[send.inputs[0][0]]
    if read.op != "Identity" or read.output_types[0].is_ref:
        return False
    source, index = read.inputs[0]
    return by_name[source].output_types[index].is_ref


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
