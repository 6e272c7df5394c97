"""Hazards of waiting: steps that would wait for ever, or for a task that is not needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from minitf.viz.subject import Hazard, Subject, job_of
from minitf_runtime.devices.name import short_device
from minitf_runtime.graph import Graph

TAKES = "AccumulatorTakeGradient"  # also Sparse... and Resource...
APPLIES = "AccumulatorApplyGradient"
PLACEHOLDERS = ("Placeholder", "PlaceholderV2")


def more_replicas_than_workers(s: Subject) -> Iterator[Hazard]:
    if not s.between_graph:
        return
    workers = [t for t in s.tasks if job_of(t) == job_of(s.own_task)]
    for take in s.graph:
        if not take.op.endswith(TAKES):
            continue
        accumulator = take.inputs[0][0]
        gives = sum(n.op.endswith(APPLIES) for n, _, _ in s.graph.consumers(accumulator))
        wanted = _number(s.graph, take.inputs[1][0])
        if wanted is not None and gives and wanted > gives * len(workers):
            yield Hazard(
                "too-few-workers",
                f"an update waits for {wanted} gradients, but {len(workers)} workers give one each "
                "a step: a worker that waits for its token never gives the others",
                take.source,
                f"replicas_to_aggregate={gives * len(workers)}, or start more workers",
            )
            return


def no_device_filters(s: Subject) -> Iterator[Hazard]:
    peers = [t for t in s.tasks if job_of(t) == job_of(s.own_task)]
    if not s.between_graph or len(peers) < 2 or s.captured.options.device_filters:
        return
    job = job_of(s.own_task)
    yield Hazard(
        "no-filters",
        f"the session of {short_device(s.own_task)} waits for all {len(peers)} tasks of job {job}, "
        "of which its steps use one: another that is down stops it from starting",
        "",
        f"tf.ConfigProto(device_filters=['/job:ps', '/job:{job}/task:N'])",
    )


def queue_never_closed(s: Subject) -> Iterator[Hazard]:
    """A step whose data come from a queue that is filled in this graph and has no end.

    The tokens of synchronous replicas come from updates: such a queue has no end to wait for.
    """
    seen = set()
    updates = _descendants(s.graph, (n.name for n in s.graph if n.op.endswith(TAKES)))
    for n in s.cut.step:
        if not n.op.startswith("QueueDequeue") or n.inputs[0][0] not in s.graph:
            continue
        queue = n.inputs[0][0]
        users = [c for c, _, _ in s.graph.consumers(queue)]
        fills = [c.name for c in users if c.op.startswith("QueueEnqueue")]
        closed = any(c.op.startswith("QueueClose") for c in users)
        endless = any(name in updates or name in s.cut.step for name in fills)
        if fills and not closed and not endless and queue not in seen:
            seen.add(queue)
            yield Hazard(
                "open-queue",
                f"'{n.name}' waits for ever when nobody fills '{queue}' any more: nothing in the "
                "graph closes it",
                n.source,
                "fill it by a tf.train.QueueRunner, which closes it at the end, or run "
                "queue.close() after the last enqueue",
            )


def placeholder_in_queue_runner(s: Subject) -> Iterator[Hazard]:
    """An update from averaged gradients is run by the chief's queue runner, which feeds nothing."""
    takes = _descendants(s.graph, (n.name for n in s.graph if n.op.endswith(TAKES)))
    for placeholder in (n for n in s.graph if n.op in PLACEHOLDERS):
        below = _descendants(s.graph, [placeholder.name]) & takes
        runs = [n for n in below if s.graph[n].op.startswith("QueueEnqueue")]
        if runs:
            yield Hazard(
                "unfed-placeholder",
                f"the chief's queue runner applies the averaged gradients and feeds nothing, but "
                f"its update needs '{placeholder.name}'",
                placeholder.source,
                "use a variable that you assign, or a schedule such as "
                "tf.train.exponential_decay(..., global_step, ...)",
            )


def _number(graph: Graph, name: str) -> int | None:
    """The value of a constant scalar."""
    value = graph[name].attrs.get("value") if graph[name].op == "Const" else None
    return None if value is None else int(value)


def _descendants(graph: Graph, names: Iterable[str]) -> set[str]:
    """All nodes that wait for one of these."""
    found: set[str] = set()
    stack = list(names)
    while stack:
        for n, _, _ in graph.consumers(stack.pop()):
            if n.name not in found:
                found.add(n.name)
                stack.append(n.name)
    return found
