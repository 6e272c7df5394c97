"""What a check looks at: a script's graph as asked for, its step as cut, and a second replica's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from minitf.viz.capture import Captured
from minitf_runtime.devices.name import parse_full, parse_strict, task_of
from minitf_runtime.graph import Graph, Node
from minitf_runtime.passes.data import Partitioned
from minitf_runtime.types import nbytes

VARIABLES = frozenset(("Variable", "VariableV2", "VarHandleOp"))


@dataclass(frozen=True)
class Hazard:
    """Something that will go wrong or cost much: what, the user's line, and what to do about it."""

    kind: str
    text: str
    at: str
    remedy: str


@dataclass(frozen=True)
class Subject:
    """A script's step. `other`: the same of the script as another worker, where there is one."""

    captured: Captured
    cut: Partitioned
    other: Subject | None = None

    @cached_property
    def graph(self) -> Graph:
        """All nodes with the devices asked for."""
        return Graph(self.captured.graph.nodes())

    @cached_property
    def own_task(self) -> str:
        return task_of(self.cut.devices.client)

    @cached_property
    def tasks(self) -> list[str]:
        return tasks_of(self.captured)

    @cached_property
    def variables(self) -> list[Node]:
        """The variables of the graph, each with its full device."""
        return [n for n in self.cut.whole if n.op in VARIABLES]

    @cached_property
    def between_graph(self) -> bool:
        """Whether each worker builds a graph of its own, with its ops on its own task."""
        return self.other is not None and _at_home(self) and _at_home(self.other)

    def line(self, name: str) -> str:
        node = self.cut.whole.get(name)
        return node.source if node else ""


Finder = Callable[[Subject], Iterator[Hazard]]


def _at_home(subject: Subject) -> bool:
    """Whether ops are asked to the client's task, and none to others of its job or put there."""
    own = parse_full(subject.own_task)
    used = {parse_full(device) for device in subject.cut.parts}
    asked = {parse_strict(device) for device in {n.device for n in subject.graph}}
    at_home = (own.job, own.task)
    return any(d and (d.job, d.task) == at_home for d in asked) and all(
        d.task in (own.task, None) for d in asked | used if d and d.job == own.job
    )


def tasks_of(captured: Captured) -> list[str]:
    """All tasks of the cluster, also those that device filters hide; [] without a cluster."""
    cluster = captured.cluster
    if not cluster:
        return []
    return [
        f"/job:{job}/replica:0/task:{i}" for job in cluster.jobs for i in cluster.task_indices(job)
    ]


def job_of(device: str) -> str:
    return parse_full(device).job or ""


def held(variable: Node) -> int:
    """The bytes of a variable; 0 if its shape is not known."""
    if variable.op == "VarHandleOp":
        return nbytes(variable.attrs["dtype"], variable.attrs["shape"]) or 0
    return nbytes(variable.output_types[0], variable.output_shapes[0]) or 0


def size_text(count: int) -> str:
    """25.6 MB, 812 B."""
    amount, units = float(count), iter(("B", "kB", "MB", "GB", "TB"))
    unit = next(units)
    while amount >= 1000:
        amount, unit = amount / 1000, next(units)
    return f"{count} B" if unit == "B" else f"{amount:.3g} {unit}"
