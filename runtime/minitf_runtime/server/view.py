"""A session as a reader sees it: what `Describe...` messages carry, and the values made from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from minitf_runtime.graph import Graph, Node, Reason
from minitf_runtime.passes.data import Devices, Edge, Fit, Partitioned, Placed
from minitf_runtime.passes.pipeline import with_devices
from minitf_runtime.plan.counts import Counts


@dataclass(frozen=True)
class StepView:
    """A step as it was cut: Partitioned without what all steps of the session share."""

    step: Sequence[Node]
    parts: Mapping[str, Sequence[Node]]
    edges: Sequence[Edge]
    feeds: Sequence[tuple[str, str]]
    fetches: Sequence[tuple[str, str]]
    targets: Sequence[str]
    strands: Mapping[str, int]


@dataclass(frozen=True)
class SessionView:
    """A session: its graph, how it was placed, and the step that ran last.

    devices: name -> incarnation, the client's first. placed: node -> device, reasons, request,
    number of its fit, types that it lacks.
    """

    handle: str
    options: Any  # SessionOptions
    devices: Mapping[str, int]
    nodes: Sequence[Node]
    placed: Mapping[str, tuple[str, tuple[Reason, ...], str, int, tuple[tuple[str, str], ...]]]
    fits: Sequence[Fit]
    last: StepView | None

    def placement(self) -> dict[str, Placed]:
        fits = [*self.fits, None]
        return {
            name: Placed(device, why, asked, fits[fit], lacks)
            for name, (device, why, asked, fit, lacks) in self.placed.items()
        }

    def seen_devices(self) -> Devices:
        return Devices(tuple(self.devices), False, dict(self.devices))

    def partitioned(self) -> Partitioned | None:
        """The step that ran last, as its master has it."""
        if self.last is None:
            return None
        last, placement = self.last, self.placement()
        return Partitioned(
            with_devices(Graph(self.nodes), placement),
            placement,
            Graph(last.step),
            {device: tuple(nodes) for device, nodes in last.parts.items()},
            tuple(last.edges),
            tuple(last.feeds),
            tuple(last.fetches),
            tuple(last.targets),
            last.strands,
            self.seen_devices(),
        )


@dataclass(frozen=True)
class MasterView:
    """The sessions of a master, that of the last step first, and the addresses of its cluster."""

    task: str
    addresses: Mapping[str, str]  # task -> HOST:PORT
    sessions: Sequence[SessionView]


@dataclass(frozen=True)
class SessionLoad:
    """What a master has counted of a session: nodes of its graph, steps that ran, failed, run."""

    handle: str
    nodes: int
    steps: int
    failed: int
    running: int


@dataclass(frozen=True)
class Load:
    """What one process has counted: the sessions of its master, and those that its task works for.

    now: seconds of a clock of that process, for rates. memory: bytes in use and bytes there are,
    of each GPU that something was placed on.
    """

    task: str
    now: float
    sessions: Sequence[SessionLoad]
    counts: Mapping[str, Counts]  # session -> sums of the task
    memory: Mapping[str, tuple[int, int]] = field(default_factory=dict)


def view_step(cut: Partitioned) -> StepView:
    return StepView(
        cut.step.nodes,
        cut.parts,
        cut.edges,
        cut.feeds,
        cut.fetches,
        cut.targets,
        cut.strands,
    )


def view_session(
    handle: str,
    options: Any,
    devices: Devices,
    graph: Graph,
    placement: Mapping[str, Placed],
    last: Partitioned | None,
) -> SessionView:
    """Fits are told once each: many nodes share one."""
    fits: dict[Fit, int] = {}
    placed = {}
    for name, p in placement.items():
        fit = -1 if p.fit is None else fits.setdefault(p.fit, len(fits))
        placed[name] = p.device, p.why, p.asked, fit, p.lacks
    named = {d: devices.incarnations.get(d, 0) for d in devices.names}
    step = None if last is None else view_step(last)
    return SessionView(handle, options, named, graph.nodes, placed, list(fits), step)
