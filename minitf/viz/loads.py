"""What each task of a cluster would hold, run and send: a cluster tried without processes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from minitf.viz.capture import Captured
from minitf.viz.sizes import NOMINAL_BATCH, Size, edge_sizes
from minitf.viz.source import read, step_asked
from minitf.viz.subject import VARIABLES, held, job_of, tasks_of
from minitf_runtime.devices.name import parse_full, task_of
from minitf_runtime.graph import Node
from minitf_runtime.passes.data import Partitioned


@dataclass(frozen=True)
class TaskRow:
    """A task's share of one step. `holds`: bytes of variables and slots; `unknown`: transfers
    whose bytes only the fed values decide."""

    task: str
    variables: int
    holds: int
    largest: str
    ops: int
    sends: Size
    receives: Size
    unknown: int


@dataclass(frozen=True)
class LinkRow:
    """All that one task sends to another in a step."""

    src: str
    dst: str
    messages: int
    size: Size
    unknown: int


@dataclass(frozen=True)
class Balance:
    """The tasks that hold or run something, and the links between them.

    replicas: how many workers would run this step, each on its own task; 1 where the client alone
    does. idle: tasks that the step leaves out. holds, wire: the fullest ps beside the average one.
    """

    tasks: tuple[TaskRow, ...]
    links: tuple[LinkRow, ...]
    replicas: int
    idle: tuple[str, ...]
    holds: float | None
    wire: float | None
    batch: int | None


def balance(
    source: str | os.PathLike[str] | Captured | Any,
    *,
    fetches: Sequence[str] = (),
    batch: int | None = None,
    **options: Any,
) -> Balance:
    """What each task holds and sends in a step of a script, saved graph, cluster or tf.Graph.

    fetches: what the step runs, default the train op; batch: the batch size; options: those of
    minitf.viz.read, such as cluster, gpus and strategy. Raises Unreadable, or the placer's OpError.
    """
    captured = read(source, **options)
    return read_balance(captured, step_asked(captured, fetches), batch)


def read_balance(captured: Captured, cut: Partitioned, batch: int | None = None) -> Balance:
    """Reads a step. Raises InvalidArgumentError for a batch size that does not fit."""
    sizes = edge_sizes(cut, batch)
    links = _links(cut, sizes)
    everyone = tasks_of(captured) or list(dict.fromkeys(map(task_of, cut.devices.names)))
    made: dict[str, list[Node]] = {t: [] for t in everyone}
    for n in cut.whole:
        if n.op in VARIABLES:
            made[task_of(n.device)].append(n)
    ops = dict.fromkeys(everyone, 0)
    for device, nodes in cut.parts.items():
        ops[task_of(device)] += sum(n.name in cut.placement for n in nodes)
    rows = [_task_row(t, made[t], ops[t], links) for t in everyone]
    busy = tuple(sorted((r for r in rows if r.ops or r.variables), key=lambda r: _order(r.task)))
    servers = [r for r in rows if job_of(r.task) == "ps"]
    at = NOMINAL_BATCH if batch is None else batch
    return Balance(
        busy,
        tuple(links),
        _replicas(cut, everyone),
        tuple(r.task for r in rows if r not in busy),
        _spread([r.holds for r in servers]),
        _spread([r.sends.at(at) + r.receives.at(at) for r in servers]),
        batch,
    )


def _task_row(task: str, variables: list[Node], ops: int, links: Iterable[LinkRow]) -> TaskRow:
    sends = [k for k in links if k.src == task]
    receives = [k for k in links if k.dst == task]
    largest = max(variables, key=held, default=None)
    return TaskRow(
        task,
        len(variables),
        sum(map(held, variables)),
        largest.name if largest else "",
        ops,
        sum((k.size for k in sends), Size()),
        sum((k.size for k in receives), Size()),
        sum(k.unknown for k in (*sends, *receives)),
    )


def _links(cut: Partitioned, sizes: list[Size | None]) -> list[LinkRow]:
    found: dict[tuple[str, str], list[Size | None]] = {}
    for e, size in zip(cut.edges, sizes):
        ends = task_of(e.src_device), task_of(e.dst_device)
        if ends[0] != ends[1]:
            found.setdefault(ends, []).append(size)
    return [
        LinkRow(
            src,
            dst,
            len(sent),
            sum((s for s in sent if s is not None), Size()),
            sent.count(None),
        )
        for (src, dst), sent in sorted(found.items(), key=lambda k: (*map(_order, k[0]),))
    ]


def _replicas(cut: Partitioned, everyone: list[str]) -> int:
    """The tasks of the client's job, if the step uses none of them but the client's own."""
    own = task_of(cut.devices.client)
    peers = [t for t in everyone if job_of(t) == job_of(own)]
    used = {task_of(d) for d in cut.parts}
    return len(peers) if used & set(peers) == {own} and len(used) > 1 else 1


def _order(task: str) -> tuple[str, int]:
    name = parse_full(task)
    return name.job or "", name.task or 0


def _spread(values: list[int]) -> float | None:
    """The largest value beside the average: 1 is even. None where there is nothing."""
    return max(values) * len(values) / sum(values) if sum(values) else None
