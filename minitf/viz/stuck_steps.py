"""Which steps of a running cluster wait, for what, and where the chain of waiting ends."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from minitf.viz.live import ask
from minitf.viz.unreadable import Unreadable

SECONDS = 5.0  # what a step may wait
AT_ONCE = 16  # tasks that are asked at the same time


@dataclass(frozen=True)
class StuckLink:
    """A thread of a step, and what it waits for.

    kind: "receive" (the tensor of `maker` on another device), "strand" (the same of another thread
    of the device), "blocked" (`node` waits for a queue or an accumulator), "compute" (it does not
    wait). line: the user's line of `node`; for "receive" that of the maker. resource: kind, name
    and state. text: all that in words.
    """

    step: str
    device: str
    kind: str
    seconds: float
    node: str
    op: str
    line: str
    maker: str
    maker_device: str
    resource: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class StuckStep:
    """A step that waits; each link waits for the next one, and `end` says why the last goes no
    further.

    task, runs: the master that runs it, and its targets and fetches. seconds: its longest wait.
    beside: how many other threads of the step wait for the same end. opens: it is a session that
    waits for the tasks of its cluster.
    """

    step: str
    task: str
    runs: tuple[str, ...]
    seconds: float
    links: tuple[StuckLink, ...]
    end: str
    beside: int
    opens: bool


@dataclass(frozen=True)
class Stuck:
    """What waits longer than `limit` in a cluster. silent: tasks that do not answer, and why."""

    address: str
    limit: float
    tasks: int
    running: int
    silent: dict[str, str]
    steps: tuple[StuckStep, ...]


def stuck(address: str, limit: float = SECONDS) -> Stuck:
    """Asks every task of the cluster at HOST:PORT; the steps that wait for more than `limit`
    seconds, those that wait longest first.

    Raises Unreadable if nobody answers at that address.
    """
    from minitf_runtime.server.stuck import chains  # the engine's servers only when they are asked

    address = address.removeprefix("grpc://")
    views, silent = _ask_all(address)
    steps = [_row(c) for c in chains(views, silent) if c.seconds >= limit]
    running = sum(len(view.running) for view in views)
    return Stuck(address, limit, len(views) + len(silent), running, silent, tuple(steps))


def _ask_all(address: str) -> tuple[list[Any], dict[str, str]]:
    """The answers of all tasks; and of those that give none, why."""
    first = _waits(address)
    others = {task: a for task, a in first.addresses.items() if task != first.task}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = dict(zip(others, pool.map(_waits_or_none, others.values())))
    silent = {task: _silence(others[task], answer) for task, answer in answers.items()}
    views = [first, *(a for a in answers.values() if not isinstance(a, Unreadable))]
    return views, {task: why for task, why in silent.items() if why}


def _waits(address: str) -> Any:
    return ask(address, lambda master: master.waits())


def _waits_or_none(address: str) -> Any:
    """The answer, or the Unreadable that says why there is none."""
    try:
        return _waits(address)
    except Unreadable as e:
        return e


def _silence(address: str, answer: Any) -> str:
    if not isinstance(answer, Unreadable):
        return ""
    refused = "refused" in str(answer)
    why = "nobody listens there" if refused else "its process is stopped, or too busy"
    return f"does not answer at {address}: {why}"


def _row(chain: Any) -> StuckStep:
    return StuckStep(
        f"{chain.step:x}",
        chain.task,
        chain.names,
        chain.seconds,
        tuple(_links(chain.links)),
        chain.end,
        chain.beside,
        chain.opens,
    )


def _links(links: Iterable[Any]) -> Iterable[StuckLink]:
    from minitf_runtime.server.stuck import doing

    for step, w in links:
        yield StuckLink(
            f"{step:x}",
            w.device,
            w.kind,
            w.seconds,
            w.node,
            w.op,
            w.source,
            w.maker,
            w.maker_device,
            w.resource,
            doing(w),
        )
