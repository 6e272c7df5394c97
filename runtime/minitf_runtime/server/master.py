"""Master: owns sessions, turns (feeds, fetches) into a registered step once, and drives steps.

It talks to tasks through `TaskStub` and knows no sockets.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from minitf_runtime.devices.name import parse_full, parse_strict
from minitf_runtime.errors import (
    AbortedError,
    CancelledError,
    DeadlineExceededError,
    InvalidArgumentError,
    NotFoundError,
)
from minitf_runtime.garbage import collection_paused
from minitf_runtime.graph import Graph, Node
from minitf_runtime.ops.registry import load, op_def
from minitf_runtime.passes.data import Devices, Partitioned, Placed
from minitf_runtime.passes.pipeline import partition_placed, place_graph, with_devices
from minitf_runtime.passes.recv_scheduling import with_tf_names
from minitf_runtime.passes.rewrite import rewrite
from minitf_runtime.plan.part import Part, split
from minitf_runtime.plan.trace import TRACED, NodeStats, step_stats
from minitf_runtime.server.options import RunOptions, RunResult, SessionOptions
from minitf_runtime.server.recorder import Recorder
from minitf_runtime.server.step import StepRun
from minitf_runtime.server.stuck import in_short
from minitf_runtime.server.view import Load, MasterView, SessionLoad, SessionView, view_session
from minitf_runtime.server.waits import TaskWaits, ask, opening, resource_ops, running_step
from minitf_runtime.server.watch import watch_for_stuck

Done = Callable[[Any, BaseException | None], None]  # (values, error)


class TaskStub(Protocol):
    """A task as its master sees it, here or in another process."""

    name: str

    def describe(self) -> dict[str, int]: ...
    def create_session(self, handle: str, isolate: bool) -> None: ...
    def delete_session(self, handle: str) -> None: ...
    def register(self, handle: str, part: Part) -> int: ...
    def start(
        self, handle: str, graph: int, step_id: int, feeds: Sequence[Any], done: Done
    ) -> None: ...
    def cancel(self, step_id: int, error: BaseException | None) -> None: ...
    def cleanup(self, step_id: int) -> None: ...
    def ask_waits(self, done: Done) -> None: ...
    def reset(self, containers: Sequence[str]) -> None: ...


class Cluster(Protocol):
    """Finds the tasks of a cluster."""

    @property
    def addresses(self) -> Mapping[str, str]: ...  # task -> HOST:PORT

    def tasks(self) -> list[str]: ...
    def stub(self, task: str) -> TaskStub: ...
    def wait_for(self, tasks: list[str], timeout: float | None) -> dict[str, dict[str, int]]: ...


@dataclass(frozen=True)
class Registered:
    """A step that every task with a part has compiled. `where`: task -> graph number;
    `traced`: the same of its traced form, once that was asked for."""

    partitioned: Partitioned
    where: Mapping[str, int]
    feeds: tuple[str, ...]
    fetches: tuple[str, ...]
    traced: dict[str, int] = field(default_factory=dict)


@dataclass
class _Session:
    handle: str
    options: SessionOptions
    devices: Devices
    stubs: dict[str, TaskStub]
    graph: Graph = field(default_factory=lambda: Graph(()))
    placed: Graph = field(default_factory=lambda: Graph(()))  # the same, with full devices
    placement: Mapping[str, Placed] = field(default_factory=dict)
    assigned: dict[str, str] = field(default_factory=dict)
    steps: dict[Any, Registered] = field(default_factory=dict)
    running: set[StepRun] = field(default_factory=set)
    cut_names: int = 0
    triggers: dict[str, int] | None = None  # the names of recv_scheduling, by task
    last: Registered | None = None  # the step that ran last
    ran: float = 0.0  # when
    ended: int = 0  # steps
    failed: int = 0  # of these
    recorders: tuple[Recorder, ...] = ()
    lock: threading.Lock = field(default_factory=threading.Lock)

    def view(self) -> SessionView:
        with self.lock:
            cut = self.last.partitioned if self.last else None
            return view_session(
                self.handle, self.options, self.devices, self.graph, self.placement, cut
            )

    def load(self) -> SessionLoad:
        done, failed = self.ended - self.failed, self.failed
        return SessionLoad(self.handle, len(self.graph), done, failed, len(self.running))


class Master:
    """The sessions whose client device is on this task."""

    def __init__(self, own: Any, cluster: Cluster | None = None) -> None:
        self._own = own  # the Task of this process
        self._cluster = cluster
        self._sessions: dict[str, _Session] = {}
        self._opening: dict[int, tuple[float, list[str]]] = {}  # sessions that wait for tasks
        self._lock = threading.Lock()
        watch_for_stuck(self)

    def create_session(self, options: SessionOptions, nodes: Sequence[Node]) -> str:
        """Waits for the tasks it may use, places the graph, and opens a session on each task."""
        found = self._find_devices(options)
        own = self._own.describe()
        names = tuple(own) + tuple(d for t, ds in found.items() for d in ds)
        incarnations = {**own, **{d: i for ds in found.values() for d, i in ds.items()}}
        devices = Devices(names, self._cluster is None, incarnations)
        handle = f"{random.getrandbits(64):016x}"
        stubs = {t: self._cluster.stub(t) for t in found} if self._cluster else {}
        session = _Session(handle, options, devices, stubs)
        session.triggers = {} if options.recv_scheduling else None
        self._extend(session, nodes)
        self._own.create_session(handle, options.isolate_session_state)
        for stub in stubs.values():
            stub.create_session(handle, options.isolate_session_state)
        with self._lock:
            self._sessions[handle] = session
        return handle

    def extend(self, handle: str, nodes: Sequence[Node]) -> None:
        """Adds nodes and places the whole graph anew; an error leaves the session as it was."""
        session = self._session(handle)
        with session.lock:
            self._extend(session, nodes)

    def list_devices(self, handle: str) -> dict[str, int]:
        devices = self._session(handle).devices
        return {d: devices.incarnations.get(d, 0) for d in devices.names}

    def describe(self) -> MasterView:
        """All sessions, that of the last step first; for readers, who change nothing."""
        with self._lock:
            sessions = sorted(self._sessions.values(), key=lambda s: s.ran, reverse=True)
        addresses = self._cluster.addresses if self._cluster else {}
        return MasterView(self._own.name, addresses, [s.view() for s in sessions])

    def load(self) -> Load:
        """What this master and its task have counted of the steps."""
        with self._lock:
            sessions = [s.load() for s in self._sessions.values()]
        own = self._own
        return Load(own.name, time.monotonic(), sessions, own.counts(), own.memory())

    def waits(self) -> TaskWaits:
        """What runs and waits on this task and under this master; for readers."""
        with self._lock:
            sessions = list(self._sessions.values())
        running = [running_step(s.handle, run) for s in sessions for run in list(s.running)]
        running += [opening(key, *what) for key, what in list(self._opening.items())]
        ops = [op for s in sessions for op in resource_ops(s.handle, s.placed)]
        addresses = self._cluster.addresses if self._cluster else {}
        return TaskWaits(self._own.name, addresses, self._own.waits(), running, ops)

    def running(self) -> list[StepRun]:
        """The steps that run now."""
        with self._lock:
            return [run for session in self._sessions.values() for run in list(session.running)]

    def why_waiting(self, run: StepRun) -> str:
        """What the threads of a step wait for, in a few lines; asks its other tasks."""
        answers, silent = ask(run.remote.values())
        return in_short(run.id, [self.waits(), *answers], silent)

    def prepare(
        self, handle: str, feeds: Sequence[str], fetches: Sequence[str], targets: Sequence[str]
    ) -> Registered:
        """The registered step for these names; made and cached at the first call."""
        session = self._session(handle)
        key = step_key(feeds, fetches, targets)
        found = session.steps.get(key)
        if found is not None:
            return found
        with session.lock:
            if key not in session.steps:
                session.steps[key] = self._register(session, *key)
            return session.steps[key]

    def run(
        self,
        handle: str,
        feeds: Mapping[str, Any],
        fetches: Sequence[str],
        targets: Sequence[str],
        options: RunOptions,
    ) -> RunResult:
        """Runs one step. Raises the first error of any task; the session stays usable."""
        session = self._session(handle)
        step = self.prepare(handle, list(feeds), fetches, targets)
        session.last, session.ran = step, time.monotonic()
        values, traces = self._recorded(
            session, step, [feeds[name] for name in step.feeds], options
        )
        by_name = dict(zip(step.fetches, values))
        return RunResult(
            [by_name[f] for f in fetches],
            with_tf_names(step.partitioned.parts) if options.partition_graphs else None,
            step_stats(step.partitioned, traces) if options.trace else None,
        )

    def record(
        self,
        handle: str,
        feeds: Sequence[str],
        fetches: Sequence[str],
        targets: Sequence[str],
        count: int,
        seconds: float,
    ) -> list[Mapping[str, Sequence[NodeStats]]]:
        """The statistics of the next steps of this kind that the session's program runs, of fewer
        when the time is up. Raises NotFoundError for a step that it has never run."""
        session = self._session(handle)
        step = session.steps.get(step_key(feeds, fetches, targets))
        if step is None:
            names = ", ".join((*targets, *fetches))
            raise NotFoundError(None, None, f"The session has run no step of {names}")
        recorder = Recorder(step, count)
        with session.lock:
            session.recorders = (*session.recorders, recorder)
        try:
            return recorder.wait(count, seconds)
        finally:
            with session.lock:
                session.recorders = tuple(r for r in session.recorders if r is not recorder)

    def close(self, handle: str) -> None:
        """Ends a session; its running steps get CancelledError. State on the tasks stays."""
        session = self._session(handle)
        with self._lock:
            self._sessions.pop(handle, None)
        error = CancelledError(
            None, None, "Step was cancelled by an explicit call to `Session::Close()`."
        )
        for step in list(session.running):
            step.fail(error)
        self._own.delete_session(handle)
        for stub in session.stubs.values():
            stub.delete_session(handle)

    def reset(self, containers: Sequence[str]) -> None:
        """Closes all sessions of this master and drops containers on every task it can see."""
        with self._lock:
            handles = list(self._sessions)
        for handle in handles:
            self.close(handle)
        self._own.reset(containers)
        if self._cluster is not None:
            for task in self._cluster.tasks():
                if task != self._own.name:
                    self._cluster.stub(task).reset(containers)

    # ---- parts of the above

    def _session(self, handle: str) -> _Session:
        with self._lock:
            found = self._sessions.get(handle)
        if found is None:
            raise AbortedError(None, None, f"Session {handle} is not found.")
        return found

    def _find_devices(self, options: SessionOptions) -> dict[str, dict[str, int]]:
        if self._cluster is None:
            return {}
        tasks = visible(self._cluster.tasks(), options.device_filters)
        others = [t for t in tasks if t != self._own.name]
        key = random.getrandbits(56)
        self._opening[key] = time.monotonic(), others
        try:
            return self._cluster.wait_for(others, options.timeout or None)
        finally:
            del self._opening[key]

    @collection_paused()
    def _extend(self, session: _Session, nodes: Sequence[Node]) -> None:
        load(n.op for n in nodes)
        known = session.graph
        for n in nodes:
            if n.name in known:
                raise InvalidArgumentError(
                    None, None, f"Node '{n.name}' is already in the graph of this session"
                )
        graph = rewrite(Graph((*known.nodes, *nodes)))
        placement = place_graph(
            graph,
            session.devices,
            soft=session.options.allow_soft_placement,
            assigned=session.assigned,
        )
        for name in session.assigned:
            # What it was placed for at first is told before that it stays.
            why = dict.fromkeys((*session.placement[name].why, *placement[name].why))
            placement[name] = session.placement[name]._replace(why=tuple(why))
        session.graph = graph
        session.placed = with_devices(graph, placement)
        session.placement = placement
        for n in nodes:
            if op_def(n.op).stateful:
                session.assigned[n.name] = placement[n.name].device
        if session.options.log_device_placement:
            _log_placement(graph, placement)

    @collection_paused()
    def _register(self, session: _Session, feeds: Any, fetches: Any, targets: Any) -> Registered:
        cut, session.cut_names = partition_placed(
            session.placed,
            session.placement,
            session.devices,
            feeds=feeds,
            fetches=fetches,
            targets=targets,
            counter=session.cut_names,
            triggers=session.triggers,
        )
        where = self._register_parts(session, split(cut, session.options.passes))
        client = cut.devices.client
        here = {n.name for n in cut.parts.get(client, ())}
        return Registered(
            cut,
            where,
            tuple(t for t, node in cut.feeds if node in here),
            tuple(t for t, node in cut.fetches if node in here),
        )

    def _register_parts(self, session: _Session, parts: Mapping[str, Part]) -> dict[str, int]:
        where = {}
        for task, part in parts.items():
            stub = self._own if task == self._own.name else session.stubs[task]
            where[task] = stub.register(session.handle, part)
        return where

    def _traced(self, session: _Session, step: Registered) -> Mapping[str, int]:
        """The graph numbers of the step's traced form; made at the first call."""
        with session.lock:
            if not step.traced:
                parts = split(step.partitioned)
                traced = {t: replace(part, traced=True) for t, part in parts.items()}
                step.traced.update(self._register_parts(session, traced))
        return step.traced

    def _recorded(
        self, session: _Session, step: Registered, feeds: Sequence[Any], options: RunOptions
    ) -> tuple[list[Any], Mapping[str, Any]]:
        """Runs the step, traced also for those who record steps of its kind."""
        recorders = [r for r in session.recorders if r.claim(step)]
        if not recorders:
            return self._run(session, step, feeds, options)
        stats = None
        try:
            values, traces = self._run(session, step, feeds, replace(options, trace=True))
            stats = step_stats(step.partitioned, traces)
        finally:
            for recorder in recorders:
                recorder.add(stats)
        return values, traces

    def _run(
        self, session: _Session, step: Registered, feeds: Sequence[Any], options: RunOptions
    ) -> tuple[list[Any], Mapping[str, Any]]:
        """The fetched values, and what each task saw if the step is to be traced."""
        own = self._own.name
        remote = {t: session.stubs[t] for t in step.where if t != own}
        where = self._traced(session, step) if options.trace else step.where
        step_id = random.getrandbits(56) | (TRACED if options.trace else 0)
        run = StepRun(step_id, self._own, remote, step.partitioned)
        session.running.add(run)
        timer = self._timer(run, options.timeout or session.options.timeout)
        try:
            for task, stub in remote.items():
                stub.start(session.handle, where[task], run.id, (), run.expect(task))
            if own in where:
                return run.here(session.handle, where[own], feeds), run.traces
            run.wait()
            return [], run.traces
        finally:
            if timer is not None:
                timer.cancel()
            session.running.discard(run)
            with self._lock:
                session.ended += 1
                session.failed += run.error is not None
            run.cleanup()

    def _timer(self, run: StepRun, timeout: float) -> threading.Timer | None:
        if not timeout:
            return None

        def end() -> None:
            text = f"Operation timed out.{self.why_waiting(run)}"
            run.fail(DeadlineExceededError(None, None, text))

        timer = threading.Timer(timeout, end)
        timer.daemon = True
        timer.start()
        return timer


def step_key(feeds: Iterable[str], fetches: Iterable[str], targets: Iterable[str]) -> Any:
    """What tells the steps of a session apart."""
    return tuple(sorted(feeds)), tuple(sorted(fetches)), tuple(sorted(targets))


def visible(tasks: Sequence[str], device_filters: Sequence[str]) -> list[str]:
    """The tasks that agree with one of the filters; all when there are none."""
    filters = [_filter(f) for f in device_filters]
    return [t for t in tasks if not filters or any(_agrees(f, t) for f in filters)]


def _filter(text: str) -> Any:
    name = parse_strict(text)
    if name is None:
        raise InvalidArgumentError(None, None, f"Malformed device filter '{text}'")
    return name


def _agrees(wanted: Any, task: str) -> bool:
    """Whether a filter agrees with a task on every field that both have."""
    name = parse_full(task)
    return (
        wanted.job in (None, name.job)
        and wanted.replica in (None, name.replica)
        and wanted.task in (None, name.task)
    )


def _log_placement(graph: Graph, placement: Mapping[str, Placed]) -> None:
    """TF's lines on stdout, in placing order: NAME: (OP): DEVICE."""
    for name, placed in placement.items():
        print(f"{name}: ({graph[name].op}): {placed.device}")
