"""Traces: programs that time every op, what a task saw of a step, and all tasks' shares as stats.

A traced step runs programs of its own; another step does not know that there are traces. Times are
nanoseconds of the wall clock of the task that took them.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from minitf_runtime.devices.name import parse_full
from minitf_runtime.graph import CONTROL, Node
from minitf_runtime.passes.data import RECVS, SENDS, Edge, Partitioned
from minitf_runtime.passes.recv_scheduling import tf_named
from minitf_runtime.plan.emit import Emitter
from minitf_runtime.plan.regions import Guard, Structure
from minitf_runtime.plan.rendezvous import Push, Rendezvous, Wait, size_of
from minitf_runtime.plan.state import Variable
from minitf_runtime.plan.step import Step
from minitf_runtime.types import DType, Shape

TRACED = 1 << 56  # the bit of a step's id that says it is traced: a value may come before its step
RECV_TENSOR = "RecvTensor"  # how TF calls a transfer in a trace


@dataclass(frozen=True)
class Trace:
    """What one task saw of a step.

    ops:   [node, start, end, [[output, sizes, bytes], ...]]
    sends: [transfer, start];  recvs: [transfer, start of waiting, arrival, bytes]
    """

    ops: list[Any] = field(default_factory=list)
    sends: list[Any] = field(default_factory=list)
    recvs: list[Any] = field(default_factory=list)


@dataclass(frozen=True)
class OutputStats:
    """A tensor that an op made."""

    slot: int
    dtype: DType | None
    shape: Shape
    nbytes: int
    allocator: str = ""


@dataclass(frozen=True)
class NodeStats:
    """When an op or a transfer ran, in nanoseconds. `thread`: the strand of the plan it is in."""

    name: str
    label: str
    scheduled: int
    start: int
    end: int
    thread: int
    outputs: Sequence[OutputStats]


class TracedRendezvous(Rendezvous):
    """The table of a traced step; it takes down what the programs say."""

    __slots__ = ("trace", "_arrived")

    def __init__(self, step: Step, push: Push | None, wait: Wait) -> None:
        self.trace = Trace()
        self._arrived: dict[Hashable, int] = {}
        super().__init__(step, push, wait)

    def send(self, key: Hashable, value: Any) -> None:
        self._arrived[key] = time.time_ns()
        super().send(key, value)

    def note(self, name: str, start: int, end: int, values: Sequence[Any]) -> None:
        """An op that has run."""
        sizes = enumerate(map(_size, values))
        self.trace.ops.append([name, start, end, [[i, *size] for i, size in sizes if size]])

    def sent(self, key: Hashable, start: int) -> None:
        self.trace.sends.append([key, start])

    def got(self, key: Hashable, start: int, value: Any) -> None:
        """A value that was waited for from `start` on."""
        _, nbytes = _size(value) or ([], 0)
        self.trace.recvs.append([key, start, self._arrived[key], nbytes])


def rendezvous(step: Step, push: Push | None, wait: Wait) -> Rendezvous:
    """The table of a step, of the kind that its id asks for."""
    kind = TracedRendezvous if step.id & TRACED else Rendezvous
    return kind(step, push, wait)


def _size(value: Any) -> tuple[list[int], int] | None:
    """Sizes and bytes of an array, or of what a variable holds."""
    if isinstance(value, Variable) and value.initialized:
        value = value.read()
    if not hasattr(value, "nbytes"):
        return None
    return list(value.shape), size_of(value)


class TracedEmitter(Emitter):
    """Writes programs that read the clock before and after every op."""

    def source(
        self, members: list[Node], nodes: Sequence[Node], flow: Structure | None
    ) -> tuple[str, dict[int, Node]]:
        self.names["now"] = time.time_ns
        self._line("note, sent, got = rdv.note, rdv.sent, rdv.got", None)
        return super().source(members, nodes, flow)

    def _node(self, n: Node, guard: Guard) -> None:
        for source in (*n.inputs, *((c, CONTROL) for c in n.control)):
            self._await_other_strand(source, n)
        self._line("start = now()", None)
        super()._node(n, guard)
        if n.name in self.part.recvs:
            key = self._key(self.part.recvs[n.name], tuple(self.counters))
            self._line(f"got({key}, start, {self._use(self.values[n.name, 0])})", None)
        elif n.name in self.part.sends:
            key = self._key(self.part.sends[n.name][0], tuple(self.counters))
            self._line(f"sent({key}, start)", None)
        elif n.op not in RECVS and n.op not in SENDS:
            self._line(f"note({n.name!r}, start, now(), [{self._made(n)}])", None)

    def _made(self, n: Node) -> str:
        """The outputs of a node that the program holds."""
        held = (self.values.get((n.name, i)) for i in range(len(n.output_types)))
        return ", ".join(self._use(name) if name else "None" for name in held)


def step_stats(cut: Partitioned, traces: Mapping[str, Trace]) -> dict[str, list[NodeStats]]:
    """What all tasks saw of a step, by device: its ops, and the transfers that came to it."""
    where = {n.name: (device, n) for device, part in cut.parts.items() for n in part}
    stats: dict[str, list[NodeStats]] = {}
    sent = {key: start for t in traces.values() for key, start in t.sends}
    for trace in traces.values():
        for name, start, end, outputs in trace.ops:
            device, node = where[name]
            thread = cut.strands.get(name, 0)
            stats.setdefault(device, []).append(_op(node, device, thread, start, end, outputs))
        for key, asked, arrived, nbytes in trace.recvs:
            edge = cut.edges[key[0] if isinstance(key, tuple) else key]
            start = min(sent.get(key, arrived), arrived)  # clocks of two hosts may differ
            stats.setdefault(edge.dst_device, []).append(
                _transfer(edge, asked, start, arrived, nbytes)
            )
    return {device: sorted(rows, key=lambda r: r.start) for device, rows in sorted(stats.items())}


def _op(
    node: Node, device: str, thread: int, start: int, end: int, outputs: Sequence[Any]
) -> NodeStats:
    allocator = (parse_full(device).type or "CPU").lower()
    made = [
        OutputStats(slot, node.output_types[slot].base, tuple(sizes), nbytes, allocator)
        for slot, sizes, nbytes in outputs
    ]
    shown = tf_named(node)
    return NodeStats(shown.name, op_label(shown), start, start, end, thread, made)


def _transfer(edge: Edge, asked: int, start: int, end: int, nbytes: int) -> NodeStats:
    label = transfer_label(edge, nbytes, end // 1000 - start // 1000)
    outputs = [OutputStats(0, None, (), nbytes)]
    return NodeStats(RECV_TENSOR, label, asked, start, end, 0, outputs)


def op_label(node: Node) -> str:
    """TF's text for an op: "mm = MatMul(x, w/read, ^init)"."""
    inputs = [name if slot == 0 else f"{name}:{slot}" for name, slot in node.inputs]
    inputs += [f"^{name}" for name in node.control]
    return f"{node.name} = {node.op}({', '.join(inputs)})"


def transfer_label(edge: Edge, nbytes: int, micros: int) -> str:
    """TF's text for a transfer: "[40B] [3.2Mb/s] edge_4_w/read from DEVICE to DEVICE"."""
    big = nbytes >= 0.1 * 2**20
    size = f"[{nbytes / 2**20:.1f}MB]" if big else f"[{nbytes}B]"
    rate = 8.0 * nbytes / max(micros, 1)
    speed = f"[{rate / 1000:.1f}Gb/s]" if rate >= 1000 else f"[{rate:f}Mb/s]"
    return f"{size} {speed} {edge.tensor_name} from {edge.src_device} to {edge.dst_device}"
