"""Timeline: the statistics of a step as a Chrome trace, for chrome://tracing and Perfetto."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

_LABEL = re.compile(r"(?P<name>.*) = (?P<op>.*)\((?P<inputs>.*)\)")
_TRANSFER = re.compile(r"\[.*\] edge_\d+_(?P<source>\S+) from (?P<sender>\S+) to (\S+)")
_RECEIVED = re.compile(r"(/_|_S)\d+$")  # what a cut adds to the name of a received tensor
RECV_TENSOR = "RecvTensor"


class Label(NamedTuple):
    """What a timeline_label says: an op and the tensors it takes."""

    op: str
    inputs: tuple[str, ...]


class Transfer(NamedTuple):
    """What the label of a transfer says; `source` is the op whose output is sent."""

    source: str
    sender: str


def read_label(text: str) -> Label:
    """'mm = MatMul(x, w/read)' as op and inputs; "unknown" for a label of another form."""
    found = _LABEL.fullmatch(text)
    if found is None:
        return Label("unknown", ())
    inputs = found["inputs"]
    return Label(found["op"], tuple(inputs.split(", ")) if inputs else ())


def read_transfer(node: Any) -> Transfer | None:
    """The transfer that a NodeExecStats stands for, if it does."""
    found = _TRANSFER.match(node.timeline_label) if node.node_name == RECV_TENSOR else None
    return Transfer(found["source"], found["sender"]) if found else None


def without_cut(name: str) -> str:
    """The name that a received tensor has on the device that made it."""
    return _RECEIVED.sub("", name)


class AllocationMaximum(NamedTuple):
    """The moment at which an allocator held most, and what it held."""

    timestamp: int
    num_bytes: int
    tensors: set[str]


class StepStatsAnalysis(NamedTuple):
    """`chrome_trace` has format_to_string; `allocator_maximums` is by name of the allocator."""

    chrome_trace: ChromeTrace
    allocator_maximums: dict[str, AllocationMaximum]


class ChromeTrace:
    """Events in the Chrome trace format."""

    def __init__(self) -> None:
        self._processes: list[dict[str, Any]] = []
        self._events: list[dict[str, Any]] = []

    def process(self, name: str) -> int:
        """A new row of that name; gives its pid."""
        pid = len(self._processes)
        event = {"name": "process_name", "ph": "M", "pid": pid, "args": {"name": name}}
        self._processes.append(event)
        return pid

    def event(self, ph: str, cat: str, name: str, at: Place, **more: Any) -> None:
        where = {"pid": at.pid, "tid": at.tid, "ts": at.time}
        self._events.append({"ph": ph, "cat": cat, "name": name, **where, **more})

    def format_to_string(self, pretty: bool = False) -> str:
        form = {"indent": 4} if pretty else {"separators": (",", ":")}
        return json.dumps({"traceEvents": self._processes + self._events}, **form)  # type: ignore


class Place(NamedTuple):
    """A moment in a lane of a row."""

    pid: int
    tid: int
    time: int


class _Tensor:
    """An output of an op: where it was made and when it was used last."""

    def __init__(self, number: int, name: str, output: Any, start: Place, end: Place) -> None:
        memory = output.tensor_description.allocation_description
        self.number = number
        self.name = name
        self.description = str(output.tensor_description).replace('"', "")
        self.nbytes = memory.requested_bytes
        self.allocator = memory.allocator_name
        self.start = start
        self.end = end
        self.last_use = end.time


class _Span(NamedTuple):
    """An op or a transfer in its lane."""

    node: Any
    device: str
    start: Place
    end: Place

    @property
    def label(self) -> Label:
        if self.node.node_name == RECV_TENSOR:
            return Label(RECV_TENSOR, ())
        if "/stream:" in self.device or "/memcpy" in self.device:  # a GPU's own record: name:op
            return Label(self.node.node_name.partition(":")[2] or "unknown", ())
        return read_label(self.node.timeline_label)

    @property
    def made(self) -> Iterator[tuple[str, Any]]:
        """The tensors it makes, by name."""
        for i, output in enumerate(self.node.output):
            yield (f"{self.node.node_name}:{i}" if i else self.node.node_name), output


class Timeline:
    """The ops of a step over time, a row for each device (TF: timeline.Timeline)."""

    def __init__(self, step_stats: Any, graph: Any = None) -> None:
        self._step_stats = step_stats

    def generate_chrome_trace_format(
        self, show_dataflow: bool = True, show_memory: bool = False
    ) -> str:
        """The JSON text of the trace.

        show_dataflow: arrows from each producer to its consumers in other lanes and rows, those
        between devices by way of the transfer. show_memory: tensors as objects, bytes as counters.
        """
        analysis = self.analyze_step_stats(show_dataflow, show_memory)
        return analysis.chrome_trace.format_to_string(pretty=True)

    def analyze_step_stats(
        self, show_dataflow: bool = True, show_memory: bool = True
    ) -> StepStatsAnalysis:
        return _Writer(self._step_stats).write(show_dataflow, show_memory)


class _Writer:
    """One trace under construction."""

    def __init__(self, step_stats: Any) -> None:
        self.trace = ChromeTrace()
        self.allocators = self.trace.process("Allocators")
        self.tensor_pids: dict[str, int] = {}
        self.spans: list[_Span] = []
        self.tensors: dict[tuple[str, str], _Tensor] = {}  # (device, name) -> tensor
        self.numbers = 0
        self.flows = 0
        by_device: dict[str, list[Any]] = {}
        for device in step_stats.dev_stats:  # TF tells of one device in several messages
            by_device.setdefault(device.device, []).extend(device.node_stats)
        for name, nodes in by_device.items():
            pid = self.trace.process(f"{name} Compute")
            self.tensor_pids[name] = self.trace.process(f"{name} Tensors")
            self.spans += _lanes(nodes, name, pid)

    def write(self, show_dataflow: bool, show_memory: bool) -> StepStatsAnalysis:
        self._find_tensors()
        for span in self.spans:
            self._show_op(span)
            for name in self._inputs(span):
                self._use(span, name, show_dataflow)
        maximums = self._show_memory() if show_memory else {}
        return StepStatsAnalysis(self.trace, maximums)

    def _find_tensors(self) -> None:
        for span in self.spans:
            transfer = read_transfer(span.node)
            for name, output in span.made:
                if transfer is not None:
                    name = _received(transfer.source)
                tensor = _Tensor(self.numbers, name, output, span.start, span.end)
                self.tensors[span.device, name] = tensor
                self.numbers += 1

    def _show_op(self, span: _Span) -> None:
        label = span.label
        name = span.node.node_name
        args = {"name": name.partition(":")[0] if "/stream:" in span.device else name}
        args["op"] = label.op
        args.update({f"input{i}": t for i, t in enumerate(label.inputs)})
        duration = span.end.time - span.start.time
        self.trace.event("X", "Op", label.op, span.start, dur=duration, args=args)

    def _inputs(self, span: _Span) -> Sequence[tuple[str, str]]:
        """The tensors that a span takes, with the device that has them."""
        transfer = read_transfer(span.node)
        if transfer is not None:
            return [(transfer.sender, transfer.source)]
        return [(span.device, name) for name in span.label.inputs]

    def _find(self, device: str, name: str) -> _Tensor | None:
        source = without_cut(name)
        for choice in (name, _received(source), source):
            if (device, choice) in self.tensors:
                return self.tensors[device, choice]
        return None

    def _use(self, span: _Span, wanted: tuple[str, str], show_dataflow: bool) -> None:
        tensor = self._find(*wanted)
        if tensor is None:
            return
        tensor.last_use = max(tensor.last_use, span.end.time - 1)
        if not show_dataflow or tensor.end[:2] == span.start[:2]:
            return  # within a lane the order shows it
        # within the op, so that viewers find it; never back, though clocks of two hosts differ
        leaves = max(tensor.start.time, tensor.end.time - 1)
        start = tensor.end._replace(time=min(leaves, span.start.time))
        self.trace.event("s", "DataFlow", tensor.name, start, id=self.flows)
        self.trace.event("t", "DataFlow", tensor.name, span.start, id=self.flows)
        self.flows += 1

    def _show_memory(self) -> dict[str, AllocationMaximum]:
        changes: dict[str, list[tuple[int, int, str]]] = {}
        for (device, name), tensor in self.tensors.items():
            pid = self.tensor_pids[device]
            made = tensor.start._replace(pid=pid)
            known = {"id": tensor.number}
            self.trace.event("N", "Tensor", name, made, **known)
            last = tensor.end._replace(pid=pid, time=max(tensor.end.time - 1, made.time))
            snapshot = {"snapshot": {"tensor_description": tensor.description}}
            self.trace.event("O", "Tensor", name, last, **known, args=snapshot)
            gone = Place(pid, 0, tensor.last_use)
            self.trace.event("D", "Tensor", name, gone, **known)
            changes.setdefault(tensor.allocator, []).extend(
                [(made.time, tensor.nbytes, name), (gone.time, -tensor.nbytes, name)]
            )
        return {name: self._count(name, sorted(rows)) for name, rows in changes.items()}

    def _count(self, allocator: str, changes: list[tuple[int, int, str]]) -> AllocationMaximum:
        """Shows the bytes of an allocator over time; gives their maximum."""
        most = AllocationMaximum(0, 0, set())
        held: set[str] = set()
        total = 0
        for time, nbytes, name in changes:
            total += nbytes
            (held.discard if nbytes < 0 else held.add)(name)
            if total > most.num_bytes:
                most = AllocationMaximum(time, total, set(held))
            at = Place(self.allocators, 0, time)
            self.trace.event("C", "Memory", allocator, at, args={allocator: total})
        return most


def _received(source: str) -> str:
    """The name under which the receiving device has a tensor of another one."""
    return f"{source} (received)"


def _lanes(nodes: Sequence[Any], device: str, pid: int) -> list[_Span]:
    """The ops of a device in lanes in which nothing overlaps; transfers come after the ops."""
    ends: list[int] = []
    spans = []
    for node in sorted(nodes, key=lambda n: (n.node_name == RECV_TENSOR, n.all_start_micros)):
        start = node.all_start_micros
        end = start + node.all_end_rel_micros
        lane = next((i for i, last in enumerate(ends) if start >= last), len(ends))
        ends[lane : lane + 1] = [end]
        spans.append(_Span(node, device, Place(pid, lane, start), Place(pid, lane, end)))
    return spans
