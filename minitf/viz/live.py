"""A running cluster: its master's session as it is, read and not changed; steps that it makes."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from typing import Any

from minitf.graph import Graph
from minitf.importer import import_graph_def
from minitf.node_def import graph_def
from minitf.proto.step_stats import StepStats, step_stats
from minitf.train.cluster_spec import ClusterSpec
from minitf.viz.capture import Captured
from minitf.viz.unreadable import Unreadable
from minitf_runtime.devices.name import parse_full
from minitf_runtime.errors import OpError
from minitf_runtime.graph import Node
from minitf_runtime.passes.data import Partitioned
from minitf_runtime.server.view import MasterView, SessionView

SECONDS = 2.0  # what a connection may take
RECORD_SECONDS = 30.0  # what the steps to be traced may take


def read_cluster(address: str, task: tuple[str, int] | None) -> Captured:
    """The session that ran last on the master at an address, or else on another of its cluster.

    task: only the sessions of that one. Raises Unreadable.
    """
    asked = ask(address, lambda master: master.describe())
    for view in _masters(asked, task):
        if view.sessions:
            return _captured(view, view.sessions[0])
    where = (
        f"{task[0]}:{task[1]} of the cluster at {address}" if task else f"the cluster at {address}"
    )
    raise Unreadable(f"no session is open on {where}")


def _masters(asked: MasterView, task: tuple[str, int] | None) -> Iterator[MasterView]:
    """The master asked, then the others of its cluster that answer; only that of `task`, if any."""
    name = task and f"/job:{task[0]}/replica:0/task:{task[1]}"
    if name and name not in asked.addresses:
        raise Unreadable(f"no task {name}; the cluster has {', '.join(sorted(asked.addresses))}")
    if name in (None, asked.task):
        yield asked
    for other, address in asked.addresses.items():
        if other != asked.task and name in (None, other):
            try:
                yield ask(address, lambda master: master.describe())
            except Unreadable:
                if name:
                    raise
                continue  # a dead task has no sessions


def ask(address: str, question: Callable[[Any], Any]) -> Any:
    """What the master at an address answers to `question(master)`. Raises Unreadable."""
    from minitf_runtime.server.client import master_at  # sockets only when they are asked for

    host, colon, port = address.rpartition(":")
    if not colon or not host or not port.isdecimal():
        raise Unreadable(f"--address: expected HOST:PORT but got '{address}'")
    try:
        socket.create_connection((host, int(port)), SECONDS).close()
    except (OSError, OverflowError) as e:
        why = getattr(e, "strerror", None) or str(e)
        raise Unreadable(f"nobody answers at {address}: {why}") from None
    try:
        return question(master_at(address))
    except OpError as e:
        raise Unreadable(f"no minitf server answers at {address}: {e.message}") from None


def record_steps(captured: Captured, cut: Partitioned, count: int) -> list[StepStats]:
    """The statistics of the next steps of this kind that the running program makes.

    Raises Unreadable if none comes, or if the session does not run such a step.
    """
    assert captured.cluster is not None
    job, index = captured.task
    feeds = [tensor for tensor, _ in cut.feeds]
    fetches = [tensor for tensor, _ in cut.fetches]
    seen = ask(
        captured.cluster.task_address(job, index),
        lambda master: master.record(
            captured.handle, feeds, fetches, list(cut.targets), count, RECORD_SECONDS
        ),
    )
    if not seen:
        raise Unreadable(f"{captured.origin} ran no such step in {RECORD_SECONDS:.0f} s")
    return [step_stats(stats) for stats in seen]


def _captured(master: MasterView, session: SessionView) -> Captured:
    name = parse_full(master.task)
    jobs: dict[str, dict[int, str]] = {}
    for task, address in master.addresses.items():
        other = parse_full(task)
        jobs.setdefault(other.job or "", {})[other.task or 0] = address
    made = Captured((name.job or "", name.task or 0), ClusterSpec(jobs), True)
    made.graph = client_graph(session.nodes)
    made.options = session.options
    made.origin = f"the session on {name.job}:{name.task}"
    made.placement = session.placement()
    made.seen = session.seen_devices()
    made.ran = session.partitioned()
    made.handle = session.handle
    return made


def client_graph(nodes: list[Node] | tuple[Node, ...]) -> Graph:
    """The nodes of an engine as a client's graph, with the lines and scopes that they know."""
    with Graph().as_default() as graph:
        import_graph_def(graph_def(nodes), name="")
    for n in nodes:
        op = graph.get_operation_by_name(n.name)
        file, _, line = n.source.rpartition(":")
        op._source = (file, int(line) if line.isdecimal() else 0, "")
        op._role, op._asked = n.role, n.asked
    return graph
