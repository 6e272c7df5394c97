"""Builds a script's graph without running a step or opening a port.

The script runs as it is; servers and sessions stand in. It is stopped at its first Session.run.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from typing import Any

from minitf import alias, default, session, train
from minitf.graph import Graph
from minitf.operation import Operation
from minitf.train.cluster_spec import ClusterSpec
from minitf.train.server import make_server_def
from minitf.viz.strategy import placing_by
from minitf.viz.unreadable import TimeUp, Unreadable, failed, within
from minitf_runtime.devices.gpu import find_gpus
from minitf_runtime.devices.name import parse_full
from minitf_runtime.devices.xla_cpu import XLA_CPU
from minitf_runtime.errors import NotFoundError
from minitf_runtime.graph import Graph as EngineGraph
from minitf_runtime.passes.data import Devices, Partitioned, Placed
from minitf_runtime.passes.pipeline import partition_graph, partition_placed, with_devices
from minitf_runtime.server.master import visible
from minitf_runtime.session import LOCAL_TASK, SessionOptions


class Stop(BaseException):
    """Ends the script: all that could be seen was seen."""


@dataclass
class Captured:
    """What a script built: its graph, its cluster, the task it ran as, its session's options.

    fixed: the cluster was given from outside and is not the script's. gpus: how many each task
    has that is no ps. cpus: how many the servers of the script have. origin: what it is called in
    errors. Of a session that really runs: placement and seen are where its master has put the ops,
    and on which devices it could; ran is the step that it ran last, handle its name there.
    """

    task: tuple[str, int]
    cluster: ClusterSpec | None = None
    fixed: bool = False
    gpus: int = 0
    graph: Graph = field(default_factory=default.get_default_graph)
    options: SessionOptions = field(default_factory=SessionOptions)
    servers: dict[str, tuple[str, int]] = field(default_factory=dict)  # target -> task
    cpus: dict[str, int] = field(default_factory=dict)
    origin: str = "the script"
    placement: Mapping[str, Placed] | None = None
    seen: Devices | None = None
    ran: Partitioned | None = None
    handle: str = ""

    def devices(self) -> Devices:
        """The devices a session of that task would see; the first is the client's.

        Raises NotFoundError when the cluster has no such task.
        """
        if self.seen is not None:
            return self.seen
        if not self.cluster:
            return Devices(tuple(self._devices_of(LOCAL_TASK)), True)
        tasks = [
            _task_name(job, i) for job in self.cluster.jobs for i in self.cluster.task_indices(job)
        ]
        own = _task_name(*self.task)
        if own not in tasks:
            raise NotFoundError(None, None, f"no task {own}; the cluster has {', '.join(tasks)}")
        others = [t for t in visible(tasks, self.options.device_filters) if t != own]
        return Devices(tuple(d for t in [own, *others] for d in self._devices_of(t)))

    def _devices_of(self, task: str) -> list[str]:
        gpus = 0 if parse_full(task).job == "ps" else self.gpus
        if not self.cluster and not gpus:
            gpus = len(find_gpus(self.options.gpus))
        kinds = [f"CPU:{i}" for i in range(self.cpus_of(task))] + [f"{XLA_CPU}:0"]
        kinds += [f"GPU:{i}" for i in range(gpus)]
        return [f"{task}/device:{kind}" for kind in kinds]

    def cpus_of(self, task: str) -> int:
        """The CPU devices of a task: as its server says, or else the first one made."""
        known = self.cpus if self.cluster else {}
        return known.get(task, next(iter(known.values()), self.options.cpus))


def _task_name(job: str, index: int) -> str:
    return f"/job:{job}/replica:0/task:{index}"


def capture(
    script: str,
    args: Sequence[str],
    cluster: Mapping[str, Sequence[str]] | None,
    task: tuple[str, int],
    gpus: int = 0,
    strategy: str | None = None,
    limit: float | None = None,
) -> Captured:
    """Runs the script as `task` of `cluster` until its first step; what it prints goes to stderr.

    strategy: one of strategy.STRATEGIES, for the variables that replica_device_setter places.
    limit: the seconds it gets. Raises Unreadable for a script that fails or does not come to an
    end.
    """
    default.reset_default_graph()
    captured = Captured(task, ClusterSpec(cluster) if cluster else None, bool(cluster), gpus)
    captured.origin = script
    with (
        _standing_in(captured),
        placing_by(strategy),
        _environment(script, args, cluster, task),
        redirect_stdout(sys.stderr),
        within(limit, script),
    ):
        try:
            runpy.run_path(script, run_name="__main__")
        except Stop:
            return captured
        except TimeUp as e:
            raise Unreadable(str(e)) from None
        except SystemExit as e:
            if e.code not in (None, 0):
                raise Unreadable(f"{script} ended itself with exit status {e.code}") from None
        except Exception as e:
            raise failed(e, script) from None
        captured.graph = default.get_default_graph()
    return captured


class _StandInMaster:
    """A master that runs nothing: the first thing asked of it ends the script."""

    def __init__(self, captured: Captured, target: str, options: SessionOptions) -> None:
        self._captured = captured
        self._target = target
        self._options = options

    def create_session(self, options: SessionOptions, nodes: Any) -> str:
        captured = self._captured
        captured.options = self._options
        captured.task = captured.servers.get(self._target, captured.task)
        if not self._target and not captured.fixed:
            captured.cluster = None  # a session of its own, beside the script's servers
        raise Stop

    def reset(self, containers: Sequence[str]) -> None:
        """Nothing has run, so there is nothing to drop."""


class _StandInServer:
    """tf.train.Server without a port. `captured` is set for the time of a capture."""

    captured: Captured

    def __init__(
        self,
        server_or_cluster_def: Any,
        job_name: str | None = None,
        task_index: int | None = None,
        protocol: str | None = None,
        config: Any = None,
        start: bool = True,
    ) -> None:
        made = make_server_def(server_or_cluster_def, job_name, task_index, protocol, config)
        spec, job, index = ClusterSpec(made.cluster), made.job_name, made.task_index
        cpus = made.default_session_config.device_count.get("CPU", 1)
        self.captured.cpus[_task_name(job, index)] = cpus
        if not self.captured.fixed:
            self.captured.cluster = spec
        self.target = f"grpc://{spec.task_address(job, index)}"
        self.server_def = made
        self.captured.servers[self.target] = (job, index)

    def start(self) -> None:
        """There is nothing to start."""

    def join(self) -> None:
        raise Stop

    @classmethod
    def create_local_server(cls, config: Any = None, start: bool = True) -> _StandInServer:
        return cls({"local": ["localhost:1"]}, config=config)


@contextmanager
def _standing_in(captured: Captured) -> Iterator[None]:
    """Server, and what sessions connect to, replaced for the time of the block."""

    class Server(_StandInServer):
        pass

    Server.captured = captured

    def send_graph(self: Any) -> None:
        captured.graph = self._graph
        saved_send(self)

    saved_server, saved_connect = train.Server, session.connect
    saved_send = session.BaseSession._send_graph
    train.Server = Server  # type: ignore[misc, assignment]
    session.connect = lambda target, options: _StandInMaster(captured, target, options)
    session.BaseSession._send_graph = send_graph  # type: ignore[method-assign]
    try:
        yield
    finally:
        train.Server, session.connect = saved_server, saved_connect  # type: ignore[misc]
        session.BaseSession._send_graph = saved_send  # type: ignore[method-assign]


@contextmanager
def _environment(
    script: str, args: Sequence[str], cluster: Any, task: tuple[str, int]
) -> Iterator[None]:
    """The script's sys.argv, sys.path, TF_CONFIG and `tensorflow` for the time of the block."""
    argv, path, environ = sys.argv, list(sys.path), dict(os.environ)
    no_alias = alias.install()
    sys.argv = [script, *args]
    sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
    if cluster:
        spec = {"cluster": dict(cluster), "task": {"type": task[0], "index": task[1]}}
        os.environ["TF_CONFIG"] = json.dumps(spec)
    try:
        yield
    finally:
        no_alias()
        _forget_flags(script)
        sys.argv, sys.path[:] = argv, path
        os.environ.clear()
        os.environ.update(environ)


def _forget_flags(script: str) -> None:
    """Removes the script's flags: absl refuses them when the script runs again."""
    absl = sys.modules.get("absl.flags")
    if absl is not None:
        for flag in list(absl.FLAGS.flags_by_module_dict().get(script, ())):
            delattr(absl.FLAGS, flag.name)


def default_targets(graph: Graph) -> list[str]:
    """The train ops of a graph. Where these wait for the gradients of several workers a queue
    runner of the chief runs them; the step is then what the workers run.
    """
    found = list(dict.fromkeys(graph.get_collection(default.GraphKeys.TRAIN_OP)))
    if any(op.type.endswith("AccumulatorTakeGradient") for op in ancestors(found)):
        found = _worker_steps(graph) or found
    return [op.name for op in found]


def _worker_steps(graph: Graph) -> list[Operation]:
    """What takes the token that a worker waits for after it has given its gradients."""
    tokens = [
        op
        for op in graph.get_operations()
        if op.type.startswith("QueueDequeue")
        and any(c.type.endswith("AccumulatorApplyGradient") for c in op.control_inputs)
    ]
    return [user for op in tokens for user in op.outputs[0].consumers()]


def ends(graph: Graph) -> list[str]:
    """The ops of the model that nothing uses."""
    return [op.name for op in _unused(graph) if op._role == "forward"]


def _unused(graph: Graph) -> list[Operation]:
    return [
        op
        for op in graph.get_operations()
        if not op._control_outputs and not any(t.consumers() for t in op.outputs)
    ]


def step_of(captured: Captured, fetches: Sequence[str]) -> Partitioned:
    """The partitioned graph of the step that runs `fetches`, every placeholder it needs fed."""
    graph, devices = captured.graph, captured.devices()
    asked: dict[str, Any] = {
        "feeds": needed_placeholders([graph.as_graph_element(f) for f in fetches]),
        "fetches": [f for f in fetches if ":" in f],
        "targets": [f for f in fetches if ":" not in f],
    }
    whole, placement = EngineGraph(graph.nodes()), captured.placement
    if placement is not None:
        return partition_placed(with_devices(whole, placement), placement, devices, **asked)[0]
    return partition_graph(whole, devices, soft=captured.options.allow_soft_placement, **asked)


def needed_placeholders(wanted: Sequence[Any]) -> list[str]:
    """The placeholders that a step with these ops and tensors needs to be fed."""
    ops = ancestors([getattr(w, "op", w) for w in wanted])
    return sorted(op.outputs[0].name for op in ops if op.type == "Placeholder")


def ancestors(ops: Sequence[Operation]) -> set[Operation]:
    """The ops, and all that they depend on."""
    seen: set[Operation] = set()
    stack = list(ops)
    while stack:
        op = stack.pop()
        if op not in seen:
            seen.add(op)
            stack += [t.op for t in op.inputs] + op.control_inputs
    return seen
