"""minitf viz --check: the table of hazards, and what is checked for each before the first run."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from minitf.viz import hazards_bytes, hazards_variables, hazards_waiting
from minitf.viz.capture import Captured
from minitf.viz.reasons import why_of
from minitf.viz.source import read, step_asked
from minitf.viz.subject import Finder, Hazard, Subject
from minitf_runtime.errors import OpError

HAZARDS: tuple[Finder, ...] = (
    hazards_bytes.table_crosses_whole,
    hazards_bytes.constant_crosses,
    hazards_bytes.one_ps_holds_most,
    hazards_bytes.no_kernel_there,
    hazards_variables.variable_on_worker,
    hazards_variables.order_differs,
    hazards_variables.unordered_access,
    hazards_waiting.more_replicas_than_workers,
    hazards_waiting.no_device_filters,
    hazards_waiting.queue_never_closed,
    hazards_waiting.placeholder_in_queue_runner,
)


def check(
    source: str | os.PathLike[str] | Captured | Any, *, fetches: Sequence[str] = (), **options: Any
) -> list[Hazard]:
    """The hazards of a script, saved graph, running cluster or tf.Graph.

    A script that is given a cluster is also run as another task of its job, to compare the two.
    fetches: what the step runs, default the train op; options: those of minitf.viz.read. Raises
    Unreadable.
    """
    captured = read(source, **options)
    peer = peer_of(captured) if options.get("cluster") else None
    other = read(source, **{**options, "task": peer}) if peer else None
    return find_hazards(captured, fetches, other)


def peer_of(captured: Captured) -> tuple[str, int] | None:
    """Another task of the job that a script ran as."""
    job, index = captured.task
    tasks = captured.cluster.task_indices(job) if captured.cluster else []
    return next(((job, i) for i in tasks if i != index), None)


def find_hazards(
    captured: Captured, fetches: Sequence[str] = (), other: Captured | None = None
) -> list[Hazard]:
    """The hazards of a step. `other`: the same script as another task.

    A graph that cannot be placed is one hazard. Raises Unreadable for a bad fetch.
    """
    subjects = []
    for each in (captured, other):
        try:
            if each is not None:
                subjects.append(Subject(each, step_asked(each, fetches)))
        except OpError as e:
            if not e.placement:
                raise
            return [_cannot_be_placed(each or captured, e)]
    subject, *others = subjects
    for twin in others:
        if twin.own_task != subject.own_task:  # else the script says itself which task it is
            subject = Subject(captured, subject.cut, twin)
    found = (hazard for find in HAZARDS for hazard in find(subject))
    return list(dict.fromkeys(found))


def _cannot_be_placed(captured: Captured, error: OpError) -> Hazard:
    """The placer's refusal: no kernel where the op was asked to be, no such device, a conflict."""
    refused = why_of(captured, error.node or "")
    end = refused.links[-1].text
    kind = "conflict"
    if "kernel" in end or any(r.by == "kernel" for r in refused.ruled_out):
        kind = "no-kernel"
    elif end.startswith("no device"):
        kind = "no-device"
    return Hazard(
        kind,
        f"'{refused.name}' ({refused.op}) cannot be placed, and so nothing can run: {end}",
        refused.at,
        _REMEDY.get(kind, f"minitf viz --why {refused.name} shows who asked for what"),
    )


_REMEDY = {
    "no-kernel": "ask for a device whose type has a kernel for the op, or set allow_soft_placement",
    "no-device": "ask for a device that is there, or look at a cluster that has it: --cluster",
}
