"""Why steps wait: from what the tasks answer, the chain from each wait to where it ends.

Pure functions of data. A chain may lead from one step to another: from a dequeue to the step that
is to enqueue.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from minitf_runtime.devices.name import short_device, task_of
from minitf_runtime.plan.waits import BLOCKED, COMPUTE, RECEIVE, STRAND, Wait
from minitf_runtime.server.waits import ResourceOp, RunningStep, TaskWaits

MOST_CHAINS = 3  # that the text of an error holds
# type of an op that waits -> type of those that end its wait, and what they would do
_GIVES = (
    ("QueueDequeue", "QueueEnqueue", "would add to it"),
    ("QueueEnqueue", "QueueDequeue", "would take from it"),
    ("QueueClose", "QueueDequeue", "would take from it"),
    ("AccumulatorTakeGradient", "AccumulatorApplyGradient", "would give it a gradient"),
)


class Link(NamedTuple):
    """A thread of a step."""

    step: int
    wait: Wait


@dataclass(frozen=True)
class Chain:
    """Why a step waits: each link for the next, and after the last `end` says why it goes no
    further.

    task, names: the master that runs the step, its targets and fetches; "" and () if no master that
    answers knows it. seconds: the longest wait of the step in this chain. beside: how many other
    threads of the step wait for the same end. opens: it is no step yet, but a session that waits
    for the tasks of its cluster.
    """

    step: int
    task: str
    names: tuple[str, ...]
    seconds: float
    links: tuple[Link, ...]
    end: str
    beside: int = 0
    opens: bool = False


def chains(views: Sequence[TaskWaits], silent: Mapping[str, str]) -> list[Chain]:
    """The chains of all steps, those that wait longest first. silent: tasks without an answer."""
    seen = _Seen(views, silent)
    found = [chain for step in seen.steps for chain in seen.chains(step)]
    return sorted(found, key=lambda c: -c.seconds)


def in_short(step: int, views: Sequence[TaskWaits], silent: Mapping[str, str]) -> str:
    """Where the chains of a step end, for the text of an error; "" if nothing is known."""
    found = _Seen(views, silent).chains(step)
    told = dict.fromkeys(_in_short(chain) for chain in found)
    return "".join(f"\n  {text}" for text in list(told)[:MOST_CHAINS])


def _in_short(chain: Chain) -> str:
    if not chain.links:
        return chain.end
    last = chain.links[-1].wait
    text = f"{short_device(last.device)}: {doing(last, True)}, for {last.seconds:.1f} s"
    return f"{text}: {chain.end}" if chain.end else text


def doing(wait: Wait, with_line: bool = False) -> str:
    """What a thread does, in words."""
    notes = [] if wait.op in wait.node else [wait.op]
    if with_line and wait.source:
        notes.append(f"made at {wait.source}")
    node = f"'{wait.node}' ({', '.join(notes)})" if notes else f"'{wait.node}'"
    if wait.kind == RECEIVE:
        made = f", made at {wait.source}," if with_line and wait.source else ""
        return f"waits for '{wait.maker}'{made} from {short_device(wait.maker_device)}"
    if wait.kind == STRAND:
        return f"{node} waits for '{wait.maker}', which another thread runs"
    if wait.kind == COMPUTE:
        return f"computes {node}"
    if not wait.resource:
        return f"{node} waits"
    kind, name, state = wait.resource
    return f"{node} waits for {kind} '{name}', which {state}"


class _Seen:
    """What all tasks have answered."""

    def __init__(self, views: Sequence[TaskWaits], silent: Mapping[str, str]) -> None:
        self.silent = silent
        self.links: dict[int, list[Link]] = {}
        self.running: dict[int, tuple[str, RunningStep]] = {}
        self.ops: dict[tuple[str, str], ResourceOp] = {}
        self.owner: dict[str, str] = {}  # session -> task of its master
        for view in views:
            for step, waits in view.waits.items():
                self.links.setdefault(step, []).extend(Link(step, w) for w in waits)
            for run in view.running:
                self.running[run.id] = view.task, run
            for op in view.ops:
                self.ops[op.handle, op.node] = op
                self.owner[op.handle] = view.task
        self.steps = list({**self.links, **self.running})

    def chains(self, step: int) -> Iterator[Chain]:
        """For each end the longest chain that leads there."""
        best: dict[object, list[tuple[tuple[Link, ...], str]]] = {}
        for link in self.links.get(step, ()):
            links, end = self._follow(link)
            best.setdefault((links[-1], end), []).append((links, end))
        task, run = self.running.get(step, ("", None))
        names = run.names if run else ()
        for found in best.values():
            links, end = max(found, key=lambda f: len(f[0]))
            seconds = max(link.wait.seconds for link in links if link.step == step)
            others = sum(f[0] not in links for f, _ in found)
            yield Chain(step, task, names, seconds, links, end, others)
        if run is not None and not best:
            for other in run.left:
                if other in self.silent:
                    end, opens = self._silence(other), not run.handle
                    yield Chain(step, task, names, run.seconds, (), end, opens=opens)

    def _follow(self, link: Link) -> tuple[tuple[Link, ...], str]:
        links = [link]
        while True:
            following, end = self._next(links[-1])
            if following is None:
                return tuple(links), end
            if following in links:
                return tuple(links), _circle(links, following)
            links.append(following)

    def _next(self, link: Link) -> tuple[Link | None, str]:
        """The thread that this one waits for; or why there is none."""
        kind = link.wait.kind
        if kind == RECEIVE:
            return self._sender(link)
        if kind == STRAND:
            return self._longest(self._owing(link.step, link.wait.maker)), ""
        return self._giver(link) if kind == BLOCKED else (None, "")

    def _owing(self, step: int, what: str) -> list[Link]:
        return [link for link in self.links.get(step, ()) if what in link.wait.owes]

    def _longest(self, links: Sequence[Link]) -> Link | None:
        return max(links, key=lambda link: link.wait.seconds, default=None)

    def _sender(self, link: Link) -> tuple[Link | None, str]:
        found = self._longest(self._owing(link.step, link.wait.tensor))
        task = task_of(link.wait.maker_device)
        if found is not None:
            return found, ""
        if task in self.silent:
            return None, self._silence(task)
        _, run = self.running.get(link.step, ("", None))
        if run is not None and task in run.left:
            return None, f"{short_device(task)} has not begun its part of the step"
        return (
            None,
            f"{short_device(task)} has ended its part of the step: the tensor is on its way",
        )

    def _silence(self, task: str) -> str:
        return f"task {task} {self.silent[task]}"

    def _giver(self, link: Link) -> tuple[Link | None, str]:
        """A step that is to run an op which ends the wait for a queue or an accumulator."""
        _, run = self.running.get(link.step, ("", None))
        op = self.ops.get((run.handle, link.wait.node)) if run else None
        if op is None:
            return None, "the master that runs this step does not answer"
        wanted, does = next((g, d) for waits, g, d in _GIVES if waits in op.op)
        givers = [o for o in self.ops.values() if o.resource == op.resource and wanted in o.op]
        found = [
            other
            for giver in givers
            for step, (_, run) in self.running.items()
            if run.handle == giver.handle
            for other in self._owing(step, giver.node)
        ]
        if found:
            return self._longest(found), ""
        if not givers:
            return None, f"no op in an open session {does}"
        return None, f"{self._told(givers)} {does}, but no running step is still to run it"

    def _told(self, givers: Sequence[ResourceOp]) -> str:
        owners: dict[str, list[str]] = {}
        for op in givers:
            line = f" ({op.source})" if op.source else ""
            owners.setdefault(f"'{op.node}'{line}", []).append(short_device(self.owner[op.handle]))
        texts = [f"{op} of {' and '.join(sorted(set(tasks)))}" for op, tasks in owners.items()]
        return ", ".join(texts[:MOST_CHAINS])


def _circle(links: Sequence[Link], again: Link) -> str:
    if again is links[-1]:
        return f"'{again.wait.node}' itself stands before what would end the wait"
    return f"'{again.wait.node}' waits for this: a circle"
