"""What the tasks of a running cluster have counted, as the page asks for it once a second."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from minitf.viz.capture import Captured
from minitf.viz.rows import edges_with_rows
from minitf_runtime.devices.name import short_device
from minitf_runtime.errors import OpError
from minitf_runtime.passes.data import Partitioned
from minitf_runtime.plan.counts import BLOCKED, Counts
from minitf_runtime.server.client import RemoteMaster
from minitf_runtime.server.view import Load, SessionLoad

ANSWER_SECONDS = 1.0  # what a task gets that has answered before
PROBE_SECONDS = 0.1  # and one that has not
FRESH_SECONDS = 0.3  # several pages share an answer


@dataclass(frozen=True)
class Shown:
    """What a page shows: a session of the master `task`, the number of nodes of its graph, and the
    receive node of each transfer in the page's order; none for a step that the session never
    cut."""

    task: str
    handle: str
    nodes: int
    receives: tuple[str, ...]


def shown(captured: Captured, cut: Partitioned) -> Shown:
    job, index = captured.task
    edges = edges_with_rows(cut) if cut is captured.ran else ()
    nodes = len(captured.graph.get_operations())
    receives = tuple(edge.recv for edge, _ in edges)
    return Shown(f"/job:{job}/replica:0/task:{index}", captured.handle, nodes, receives)


class Watch:
    """Lines to all tasks of a cluster, which stay open between the questions."""

    def __init__(self, addresses: Mapping[str, str]) -> None:
        self._lines = {task: RemoteMaster(address) for task, address in addresses.items()}
        self._loads: dict[str, Load] = {}
        self._asked = float("-inf")
        self._lock = threading.Lock()

    @property
    def tasks(self) -> list[str]:
        return sorted(self._lines)

    def loads(self) -> dict[str, Load]:
        """What each task that answers has counted."""
        with self._lock:
            if time.monotonic() - self._asked > FRESH_SECONDS:
                self._loads = self._ask()
                self._asked = time.monotonic()
            return self._loads

    def _ask(self) -> dict[str, Load]:
        start = time.monotonic()
        answers = {task: line.ask_load() for task, line in self._lines.items()}
        found = {}
        for task, answer in answers.items():
            patience = ANSWER_SECONDS if task in self._loads else PROBE_SECONDS
            load = _answered(answer, max(0.0, start + patience - time.monotonic()))
            if load is not None:
                found[task] = load
        return found

    def close(self) -> None:
        with self._lock:
            for line in self._lines.values():
                line.hang_up()


def _answered(answer: Callable[[float], Load], seconds: float) -> Load | None:
    try:
        return answer(seconds)
    except (TimeoutError, OpError):
        return None


def live(what: Shown, tasks: Sequence[str], loads: Mapping[str, Load]) -> dict[str, Any]:
    """The numbers of the page as plain JSON; sums since each session began.

    state: "up", "gone" (its master does not answer), "ended" or "changed" (the session or its graph
    is another now). bytes, waited: for each transfer of the page.
    """
    counts = [load.counts[what.handle] for load in loads.values() if what.handle in load.counts]
    return {
        "state": _state(what, loads.get(what.task)),
        "sessions": [
            _session(task, session, session.handle == what.handle)
            for task in sorted(loads)
            for session in loads[task].sessions
        ],
        "tasks": [_task(what, task, loads.get(task)) for task in tasks],
        "bytes": [sum(c.received.get(name, 0) for c in counts) for name in what.receives],
        "waited": [sum(c.waited.get(name, 0.0) for c in counts) for name in what.receives],
    }


def _state(what: Shown, load: Load | None) -> str:
    if load is None:
        return "gone"
    session = next((s for s in load.sessions if s.handle == what.handle), None)
    if session is None:
        return "ended"
    return "up" if session.nodes == what.nodes else "changed"


def _session(task: str, session: SessionLoad, mine: bool) -> dict[str, Any]:
    return {
        "id": session.handle[:8],
        "task": short_device(task),
        "shown": mine,
        "steps": session.steps,
        "failed": session.failed,
        "running": session.running,
    }


def _task(what: Shown, task: str, load: Load | None) -> dict[str, Any]:
    """All sessions of a task together."""
    made: dict[str, Any] = {"name": short_device(task), "up": load is not None}
    if load is not None:
        counts = load.counts.values()
        made |= {
            "now": load.now,
            "steps": sum(c.steps for c in counts),
            "running": sum(c.running for c in counts),
            "seconds": sum(c.seconds for c in counts),
            "waited": sum(sum(c.waited.values()) for c in counts),
            "longest": _longest(what, load.counts),
        }
    return made


def _longest(what: Shown, counts: Mapping[str, Counts]) -> dict[str, Any] | None:
    """The longest wait that goes on: seconds, and the number of the page's transfer; or "blocked"
    for an op that waits for another step, "other" for a transfer of another session."""
    waits = [(s, handle, name) for handle, c in counts.items() for name, s in c.waiting.items()]
    if not waits:
        return None
    seconds, handle, name = max(waits)
    known = handle == what.handle and name in what.receives
    other = "blocked" if name == BLOCKED else "other"
    return {"seconds": seconds, "for": what.receives.index(name) if known else other}
