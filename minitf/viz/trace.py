"""The statistics of one step as rows: ops, transfers, the critical path, and who waits how long.

Times are in microseconds from the start of the step. How they look: trace_text.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from minitf.timeline import RECV_TENSOR, read_label, read_transfer, without_cut
from minitf_runtime.devices.name import task_of
from minitf_runtime.ops.registry import OPS

Interval = tuple[int, int]


@dataclass(frozen=True)
class OpTime:
    """One run of an op; `blocks`: it may wait for other steps, so that its time is not work."""

    name: str
    op: str
    device: str
    start: float
    duration: float
    bytes: int
    blocks: bool


@dataclass(frozen=True)
class TransferTime:
    """From the sender's send to the arrival; `waited`: how long the receiver stood still for it."""

    tensor: str
    src: str
    dst: str
    start: float
    duration: float
    bytes: int
    waited: float


@dataclass(frozen=True)
class Hop:
    """A piece of the critical path; `after`: what passed since the piece before was done."""

    kind: str  # "op" or "transfer"
    name: str
    device: str
    start: float
    duration: float
    after: float


@dataclass(frozen=True)
class TaskTime:
    """How a task spent the step; both are lengths of time in which at least one thread did."""

    task: str
    computing: float
    waiting: float


@dataclass(frozen=True)
class StepTrace:
    """A step from its first op to its last."""

    duration: float
    ops: tuple[OpTime, ...]
    transfers: tuple[TransferTime, ...]
    path: tuple[Hop, ...]
    tasks: tuple[TaskTime, ...]


@dataclass(frozen=True)
class _Span:
    """An op or a transfer, in nanoseconds of the wall clock."""

    node: Any
    device: str

    @cached_property
    def start(self) -> int:
        return self.node.all_start_nanos or self.node.all_start_micros * 1000  # type: ignore

    @cached_property
    def end(self) -> int:
        node = self.node
        return self.start + (  # type: ignore[no-any-return]
            node.all_end_rel_nanos or node.all_end_rel_micros * 1000
        )

    @cached_property
    def asked(self) -> int:
        """When somebody began to want it."""
        node = self.node
        return node.scheduled_nanos or node.scheduled_micros * 1000 or self.start  # type: ignore

    @property
    def thread(self) -> Any:
        return (self.device, self.node.thread_id)

    @cached_property
    def is_transfer(self) -> bool:
        return bool(self.node.node_name == RECV_TENSOR)

    @cached_property
    def name(self) -> str:
        """The op's name, or that of the op whose output was sent."""
        transfer = read_transfer(self.node)
        return transfer.source if transfer else self.node.node_name  # type: ignore[no-any-return]

    @cached_property
    def op(self) -> str:
        return read_label(self.node.timeline_label).op

    @cached_property
    def blocks(self) -> bool:
        return self.op in OPS and OPS[self.op].blocking

    @cached_property
    def nbytes(self) -> int:
        return sum(
            o.tensor_description.allocation_description.requested_bytes for o in self.node.output
        )


def read(step_stats: Any) -> StepTrace:
    """The rows of a step's StepStats, of this engine or of TensorFlow."""
    spans = [
        _Span(node, device.device)
        for device in step_stats.dev_stats
        if device.device.startswith("/job:")  # TF also tells of "/host:CPU", the same ops again
        for node in device.node_stats
    ]
    spans.sort(key=lambda s: (s.start, s.end))
    if not spans:
        return StepTrace(0, (), (), (), ())
    zero = spans[0].start
    return StepTrace(
        (max(s.end for s in spans) - zero) / 1000,
        tuple(_op_time(s, zero) for s in spans if not s.is_transfer),
        tuple(_transfer_time(s, zero) for s in spans if s.is_transfer),
        tuple(_hops(_critical_path(spans), zero)),
        tuple(_task_times(spans)),
    )


def as_json(trace: StepTrace) -> dict[str, Any]:
    return asdict(trace)


def _op_time(s: _Span, zero: int) -> OpTime:
    start, duration = _micros(s, zero)
    return OpTime(s.name, s.op, s.device, start, duration, s.nbytes, s.blocks)


def _transfer_time(s: _Span, zero: int) -> TransferTime:
    start, duration = _micros(s, zero)
    transfer = read_transfer(s.node)
    src = transfer.sender if transfer else ""
    waited = max(0, s.end - s.asked) / 1000
    return TransferTime(s.name, src, s.device, start, duration, s.nbytes, waited)


def _micros(s: _Span, zero: int) -> tuple[float, float]:
    return (s.start - zero) / 1000, (s.end - s.start) / 1000


def _critical_path(spans: Sequence[_Span]) -> list[_Span]:
    """Back from what ended last, each time to what the piece had to wait for longest."""
    made = _Made(spans)
    path = [max(spans, key=lambda s: s.end)]
    while True:
        before = made.before(path[-1])
        if before is None:
            return path[::-1]
        path.append(before)


class _Made:
    """What can hold up an op: its inputs, and what its thread ran before."""

    def __init__(self, spans: Sequence[_Span]) -> None:
        self._ops: dict[tuple[str, str], list[_Span]] = {}
        self._transfers: dict[tuple[str, str], list[_Span]] = {}
        self._previous: dict[int, _Span] = {}
        last: dict[Any, _Span] = {}
        for s in spans:
            table = self._transfers if s.is_transfer else self._ops
            table.setdefault((s.device, s.name), []).append(s)
            if not s.is_transfer:
                if s.thread in last:
                    self._previous[id(s)] = last[s.thread]
                last[s.thread] = s

    def before(self, s: _Span) -> _Span | None:
        """The last of these to end; it began before `s` did."""
        found = [self._input(*source, s) for source in self._sources(s)]
        found.append(self._previous.get(id(s)))
        return max((f for f in found if f is not None), key=lambda f: f.end, default=None)

    def _sources(self, s: _Span) -> Iterable[tuple[str, str]]:
        transfer = read_transfer(s.node)
        if transfer is not None:
            return [(transfer.sender, transfer.source)]
        inputs = read_label(s.node.timeline_label).inputs
        return [(s.device, name.lstrip("^").partition(":")[0]) for name in inputs]

    def _input(self, device: str, name: str, of: _Span) -> _Span | None:
        """The last run of an op, or arrival of its output, before `of`."""
        rows = self._ops.get((device, name), [])
        if not rows:
            rows = self._transfers.get((device, without_cut(name)), [])
        earlier = [r for r in rows if r.start < of.start]
        return max(earlier, key=lambda r: r.end, default=None)


def _hops(path: Sequence[_Span], zero: int) -> Iterable[Hop]:
    done = path[0].start
    for s in path:
        kind = "transfer" if s.is_transfer else "op"
        start, duration = _micros(s, zero)
        yield Hop(kind, s.name, s.device, start, duration, max(0, s.start - done) / 1000)
        done = s.end


def _task_times(spans: Sequence[_Span]) -> Iterable[TaskTime]:
    for task in sorted({task_of(s.device) for s in spans}):
        mine = [s for s in spans if task_of(s.device) == task]
        work = [(s.start, s.end) for s in mine if not s.is_transfer and not s.blocks]
        waits = [(s.asked, s.end) for s in mine if s.is_transfer and s.asked < s.end]
        waits += [(s.start, s.end) for s in mine if s.blocks]
        yield TaskTime(task, _covered(work) / 1000, _covered(waits) / 1000)


def _covered(intervals: Sequence[Interval]) -> int:
    """The length of the union."""
    total = end = 0
    for a, b in sorted(intervals):
        total += max(0, b - max(a, end))
        end = max(end, b)
    return total
