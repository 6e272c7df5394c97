"""Builds a script's graph without running a step or opening a port.

The script runs as it is; servers and sessions stand in. It is stopped at its first Session.run.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from minitf_runtime.passes.pipeline import partition_graph

from minitf import default, session, train
from minitf.graph import Graph
from minitf.train.cluster_spec import ClusterSpec
from minitf_runtime.passes.data import Devices
from minitf_runtime.session import LOCAL_TASK, SessionOptions


class Stop(BaseException):
    """Ends the script: all that could be seen was seen."""


@dataclass
class Captured:
    """What a script built: its graph, its cluster, the task it ran as, its session's options."""

    graph: Graph | None = None
    cluster: ClusterSpec | None = None
    task: tuple[str, int] = ("worker", 0)
    options: SessionOptions = field(default_factory=SessionOptions)
    servers: dict[str, tuple[str, int]] = field(default_factory=dict)

    def devices(self) -> Devices:
        """The devices a session of that task would see; the first is the client's."""
        if self.cluster is None or not self.cluster:
            names = tuple(f"{LOCAL_TASK}/device:CPU:{i}" for i in range(self.options.cpus))
            return Devices(names, True)
        own = _task_name(*self.task)
        tasks = [
            _task_name(job, i) for job in self.cluster.jobs for i in self.cluster.task_indices(job)
        ]
        if own not in tasks:
            own = tasks[-1]
        return Devices(tuple(f"{t}/device:CPU:0" for t in [own, *(t for t in tasks if t != own)]))


def _task_name(job: str, index: int) -> str:
    return f"/job:{job}/replica:0/task:{index}"


class _StandInMaster:
    """A master that runs nothing."""

    def __init__(self, captured: Captured, target: str, options: SessionOptions) -> None:
        self._captured = captured
        self._options = options
        if target in captured.servers:
            captured.task = captured.servers[target]

    def create_session(self, options: SessionOptions, nodes: Any) -> str:
        self._captured.options = self._options
        raise Stop


def capture(
    script: str,
    args: Sequence[str],
    cluster: Mapping[str, Sequence[str]] | None,
    task: tuple[str, int],
    flags: Sequence[str] = (),
) -> Captured:
    """Runs the script as `task` of `cluster` until its first step. Its own errors are its own."""
    captured = Captured(task=task)
    if cluster:
        captured.cluster = ClusterSpec(cluster)
    with (
        _standing_in(captured, cluster is not None),
        _environment(script, args, flags, cluster, task),
    ):
        try:
            runpy.run_path(script, run_name="__main__")
        except Stop:
            captured.graph = captured.graph or default.get_default_graph()
        except SystemExit as e:
            if e.code not in (None, 0):
                raise
    captured.graph = captured.graph or default.get_default_graph()
    return captured


@contextmanager
def _standing_in(captured: Captured, fixed: bool) -> Iterator[None]:
    """Server and connect replaced for the time of the block."""

    class StandInServer:
        def __init__(
            self,
            server_or_cluster_def: Any,
            job_name: str | None = None,
            task_index: int | None = None,
            **_: Any,
        ) -> None:
            spec = ClusterSpec(server_or_cluster_def)
            job = job_name or spec.jobs[0]
            if not fixed:
                captured.cluster = spec
            self.target = f"grpc://{spec.task_address(job, task_index or 0)}"
            self.server_def = spec.as_dict()
            captured.servers[self.target] = (job, task_index or 0)

        def start(self) -> None:
            return None

        def join(self) -> None:
            raise Stop

        @staticmethod
        def create_local_server(config: Any = None, start: bool = True) -> Any:
            return StandInServer({"local": ["127.0.0.1:1"]})

    def connect(target: str, options: SessionOptions) -> _StandInMaster:
        captured.graph = None
        return _StandInMaster(captured, target, options)

    def send(self: Any) -> None:
        captured.graph = self._graph
        original(self)

    saved = train.Server, session.connect
    original = session.BaseSession._send_graph
    train.Server, session.connect = StandInServer, connect  # type: ignore
    session.BaseSession._send_graph = send  # type: ignore[method-assign]
    try:
        yield
    finally:
        train.Server, session.connect = saved  # type: ignore
        session.BaseSession._send_graph = original  # type: ignore[method-assign]


@contextmanager
def _environment(
    script: str, args: Sequence[str], flags: Sequence[str], cluster: Any, task: tuple[str, int]
) -> Iterator[None]:
    argv, path, config = sys.argv, list(sys.path), os.environ.get("TF_CONFIG")
    sys.argv = [script, *args, *flags]
    sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
    if cluster:
        spec = {"cluster": dict(cluster), "task": {"type": task[0], "index": task[1]}}
        os.environ["TF_CONFIG"] = json.dumps(spec)
    try:
        yield
    finally:
        sys.argv, sys.path[:] = argv, path
        if config is not None:
            os.environ["TF_CONFIG"] = config
        else:
            os.environ.pop("TF_CONFIG", None)


def default_targets(graph: Graph) -> list[str]:
    """The train ops of a graph, or else the ops that nothing uses."""
    found = [op.name for op in graph.get_collection(default.GraphKeys.TRAIN_OP)]
    if found:
        return list(dict.fromkeys(found))
    return [
        op.name
        for op in graph.get_operations()
        if op._role == "forward"
        and not op._control_outputs
        and not any(t.consumers() for t in op.outputs)
    ]


def step_of(captured: Captured, fetches: Sequence[str]) -> Any:
    """The partitioned graph of the step that runs `fetches`, every placeholder it needs fed."""
    assert captured.graph is not None
    graph = captured.graph
    targets = [f for f in fetches if ":" not in f]
    tensors = [f for f in fetches if ":" in f]
    wanted = [graph.as_graph_element(f) for f in fetches]
    return partition_graph(
        captured_nodes(graph),
        captured.devices(),
        feeds=needed_placeholders(wanted),
        fetches=tensors,
        targets=targets,
        soft=captured.options.allow_soft_placement,
    )


def captured_nodes(graph: Graph) -> Any:
    from minitf_runtime.graph import Graph as EngineGraph

    return EngineGraph(graph.nodes())


def needed_placeholders(wanted: Sequence[Any]) -> list[str]:
    """The placeholders that a step with these ops needs to be fed."""
    found, seen = [], set()
    stack = [getattr(w, "op", w) for w in wanted]
    while stack:
        op = stack.pop()
        if op in seen:
            continue
        seen.add(op)
        if op.type == "Placeholder":
            found.append(op.outputs[0].name)
        stack += [t.op for t in op.inputs] + op.control_inputs
    return sorted(found)
