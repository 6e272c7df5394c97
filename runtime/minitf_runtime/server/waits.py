"""What runs and waits on one task and under its master, as plain data for those who ask."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from minitf_runtime.graph import Graph, Node
from minitf_runtime.ops.registry import op_def
from minitf_runtime.plan.waits import Wait, gives_or_takes
from minitf_runtime.server.rpc import Waiter

ASK_SECONDS = 0.5  # what tasks get to tell why a step that is out of time still waits


@dataclass(frozen=True)
class RunningStep:
    """A step as its master knows it. left: the other tasks that have not answered yet.

    Without a handle it is a session that is being opened, and `left` are the tasks of its cluster.
    """

    id: int
    handle: str
    seconds: float
    names: tuple[str, ...]  # targets and fetches
    left: tuple[str, ...]


@dataclass(frozen=True)
class ResourceOp:
    """An op of a session that other steps may wait for.

    resource: device, container and shared name of its queue or accumulator; without a shared name
    the session's handle and the name of the op that made it.
    """

    handle: str
    node: str
    op: str
    source: str
    resource: tuple[str, str, str]


@dataclass(frozen=True)
class TaskWaits:
    """What a task answers: its own threads by step, and what its master runs."""

    task: str
    addresses: Mapping[str, str]  # task -> HOST:PORT
    waits: Mapping[int, Sequence[Wait]]
    running: Sequence[RunningStep]
    ops: Sequence[ResourceOp]


class Asked(Protocol):
    """A task of another process."""

    name: str

    def ask_waits(self, done: Waiter) -> None: ...


def ask(tasks: Collection[Asked]) -> tuple[list[TaskWaits], dict[str, str]]:
    """The answers of these tasks; and of those that do not answer in time, why."""
    asked = [(task.name, Waiter()) for task in tasks]
    for task, (_, waiter) in zip(tasks, asked):
        task.ask_waits(waiter)
    until = time.monotonic() + ASK_SECONDS
    answers, silent = [], {}
    for name, waiter in asked:
        try:
            answers.append(waiter.wait(max(0.0, until - time.monotonic())))
        except TimeoutError:
            silent[name] = "does not answer"
        except Exception as e:
            silent[name] = str(e)
    return answers, silent


def running_step(handle: str, run: Any) -> RunningStep:
    """How a master's StepRun stands."""
    names = (*run.cut.targets, *(tensor for tensor, _ in run.cut.fetches))
    return RunningStep(run.id, handle, time.monotonic() - run.since, names, run.left())


def opening(key: int, since: float, tasks: Collection[str]) -> RunningStep:
    """A session that waits for the tasks of its cluster; the number is no step's."""
    return RunningStep(-1 - key, "", time.monotonic() - since, (), tuple(tasks))


def resource_ops(handle: str, placed: Graph) -> Iterator[ResourceOp]:
    """The ops on queues and accumulators of a session's graph."""
    for n in placed.nodes:
        if n.inputs and gives_or_takes(n.op):
            maker = _maker(placed, n)
            if maker is not None:
                shared = maker.attrs["shared_name"]
                name = shared or f"{handle}/{maker.name}"
                resource = (maker.device, maker.attrs["container"], name)
                yield ResourceOp(handle, n.name, n.op, n.source, resource)


def _maker(graph: Graph, n: Node) -> Node | None:
    """The op that made the handle that n takes."""
    seen: Node | None = n
    while seen is not None and seen.inputs:
        seen = graph.get(seen.inputs[0][0])
    is_handle = seen is not None and op_def(seen.op).stateful and "shared_name" in seen.attrs
    return seen if is_handle else None
