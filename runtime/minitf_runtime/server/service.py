"""Server: one task of a cluster with its master, behind one address."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import Any

from minitf_runtime.devices.gpu import ALL_GPUS, GpuOptions
from minitf_runtime.errors import (
    DataLossError,
    InternalError,
    InvalidArgumentError,
    OpError,
    UnavailableError,
)
from minitf_runtime.graph import Function, Node, Reason
from minitf_runtime.passes.data import Edge, Fit
from minitf_runtime.plan.counts import Counts
from minitf_runtime.plan.part import Part
from minitf_runtime.plan.trace import NodeStats, OutputStats, Trace
from minitf_runtime.plan.waits import Wait
from minitf_runtime.server.blas import bound_threads
from minitf_runtime.server.cluster import RemoteTasks
from minitf_runtime.server.master import Master
from minitf_runtime.server.options import RunOptions, RunResult, SessionOptions
from minitf_runtime.server.rpc import Requests
from minitf_runtime.server.task import Task
from minitf_runtime.server.view import Load, MasterView, SessionLoad, SessionView, StepView
from minitf_runtime.server.waits import ResourceOp, RunningStep, TaskWaits
from minitf_runtime.transport.zeromq import Endpoint
from minitf_runtime.wire import messages as m
from minitf_runtime.wire.codec import decode, encode, record

log = logging.getLogger("minitf")
record(Node, Reason, Part, SessionOptions, RunOptions, RunResult, Trace, NodeStats, OutputStats)
record(GpuOptions, Function)
record(MasterView, SessionView, StepView, Edge, Fit, Load, SessionLoad, Counts)
record(TaskWaits, RunningStep, ResourceOp, Wait)

MOST_IGNORED = 100  # senders that are told of in the log

Addresses = Mapping[str, Mapping[int, str]]  # job -> task index -> HOST:PORT


class Server:
    """Listens on its own address of the cluster; `master` serves sessions of this process too.

    Raises InternalError or InvalidArgumentError for a task that the cluster does not have,
    UnknownError when the port is in use.
    """

    def __init__(
        self,
        cluster: Addresses,
        job: str,
        index: int,
        cpus: int = 1,
        gpus: GpuOptions = ALL_GPUS,
    ) -> None:
        if job not in cluster:
            raise InternalError(None, None, f'Job "{job}" was not defined in cluster')
        if index not in cluster[job]:
            raise InvalidArgumentError(None, None, f'Task {index} was not defined in job "{job}"')
        self.name = f"/job:{job}/replica:0/task:{index}"
        self.addresses = {
            f"/job:{j}/replica:0/task:{i}": _canonical(a)
            for j, tasks in cluster.items()
            for i, a in tasks.items()
        }
        self.address = self.addresses[self.name]
        bound_threads(self.address, self.addresses.values())
        self._by_address = {a: t for t, a in self.addresses.items()}
        self._requests = Requests()
        self._ignored: set[bytes] = set()  # senders of messages that could not be read
        self._started_by: dict[int, str] = {}  # step -> address of the master that runs it here
        self._stopped = threading.Event()
        insecure = os.environ.get("MINITF_INSECURE") == "1"
        self._endpoint = Endpoint(self.address, self._receive, self._lost, insecure)
        self.task = Task(self.name, cpus, self._push, gpus, self._endpoint.wait)
        self._tasks = RemoteTasks(self.addresses, self._endpoint, self._requests)
        self.master = Master(self.task, self._tasks)
        self._handlers = self._make_handlers()
        in_process[self.address] = self
        self._endpoint.start()  # last: what others have sent already comes at once

    def join(self) -> None:
        """Blocks until the process ends (TF: Server.join)."""
        self._stopped.wait()

    def stop(self) -> None:
        """Frees the port; for tests and for processes that end in order."""
        in_process.pop(self.address, None)
        self._endpoint.close()
        self._stopped.set()

    # ---- going out

    def _push(self, task: str, step_id: int, key: Hashable, value: Any) -> None:
        self._endpoint.send(self.addresses[task], encode((0, m.Tensors(step_id, {key: value}))))

    # ---- coming in

    def _receive(
        self, identity: bytes, header: bytes, frames: Sequence[Any]
    ) -> Callable[[], None] | None:
        try:
            number, message = decode(header, frames)
            if not isinstance(number, int) or not isinstance(message, m.Message):
                raise DataLossError(None, None, "a message that is not one of minitf's")
            return self._take(identity, number, message)
        except DataLossError as e:
            self._ignore(identity, str(e))
        except Exception as e:  # whatever a stranger sends, this thread goes on
            self._ignore(identity, f"a message that makes no sense ({type(e).__name__})")
        return None

    def _take(self, identity: bytes, number: int, message: m.Message) -> Callable[[], None] | None:
        """Handles what is quick here; a request may wait, and is given back as work."""
        if isinstance(message, m.Tensors):
            for key, value in message.values.items():
                self.task.deliver(message.step, key, value)
        elif isinstance(message, m.Reply):
            self._requests.answer(message.number, message.value, message.error)
        elif isinstance(message, m.CancelStep):
            self.task.cancel(message.step, message.error)
        elif isinstance(message, m.CleanupStep):
            self._clean_up(message.step)
        elif type(message) in self._handlers:
            return partial(self._serve, identity, number, message)
        else:
            self._ignore(identity, f"a {type(message).__name__}, which is no request")
        return None

    def _ignore(self, identity: bytes, what: str) -> None:
        """Drops a message; says so once for each sender, so that nobody can fill the log."""
        if identity not in self._ignored and len(self._ignored) < MOST_IGNORED:
            self._ignored.add(identity)
            who = identity[:40].decode("ascii", "backslashreplace")
            log.warning("%s ignores a message from %r: %s", self.name, who, what)

    def _serve(self, identity: bytes, number: int, message: m.Message) -> None:
        value = error = None
        try:
            value = self._handlers[type(message)](message, identity)
        except OpError as e:
            error = e
        except Exception as e:  # a fault of ours: the other side must not wait for ever
            log.exception("%s failed to serve %s", self.name, type(message).__name__)
            error = InternalError(None, None, f"{type(message).__name__} failed: {e!r}")
        if number:
            self._reply(identity, number, value, error)

    def _reply(self, identity: bytes, number: int, value: Any, error: Any) -> None:
        try:
            frames = encode((0, m.Reply(number, value, error)))
        except TypeError as e:
            frames = encode((0, m.Reply(number, None, InternalError(None, None, str(e)))))
        address = identity.decode("latin-1")
        if address in self._by_address:
            self._endpoint.send(address, frames)
        else:
            self._endpoint.reply(identity, frames)

    def _make_handlers(self) -> dict[type, Callable[[Any, bytes], Any]]:
        master, task = self.master, self.task
        return {
            m.Describe: lambda q, who: task.describe(),
            m.OpenSession: lambda q, who: task.create_session(q.handle, q.isolate),
            m.DropSession: lambda q, who: task.delete_session(q.handle),
            m.RegisterGraph: lambda q, who: task.register(q.handle, q.part),
            m.RunGraph: self._run_graph,
            m.ResetTask: lambda q, who: task.reset(q.containers),
            m.CreateSession: lambda q, who: master.create_session(q.options, q.nodes),
            m.ExtendSession: lambda q, who: master.extend(q.handle, q.nodes),
            m.RunStep: lambda q, who: master.run(
                q.handle, q.feeds, q.fetches, q.targets, q.options
            ),
            m.CloseSession: lambda q, who: master.close(q.handle),
            m.ListDevices: lambda q, who: master.list_devices(q.handle),
            m.DescribeSessions: lambda q, who: master.describe(),
            m.DescribeLoad: lambda q, who: master.load(),
            m.DescribeWaits: lambda q, who: master.waits(),
            m.RecordSteps: lambda q, who: master.record(
                q.handle, q.feeds, q.fetches, q.targets, q.count, q.seconds
            ),
            m.ResetMaster: lambda q, who: master.reset(q.containers),
        }

    def _run_graph(self, q: m.RunGraph, who: bytes) -> Trace | None:
        self._started_by[q.step] = who.decode("latin-1")
        self.task.run(q.handle, q.graph, q.step, ())
        trace = self.task.trace(q.step)
        self._clean_up(q.step)
        return trace

    def _clean_up(self, step: int) -> None:
        self._started_by.pop(step, None)
        self.task.cleanup(step)

    def _lost(self, address: str) -> None:
        """A peer's process is gone: its requests fail, and so do the steps it was running here."""
        who = f"{self._by_address.get(address, 'a peer')} at {address}"
        log.debug("%s lost the connection to %s", self.name, who)  # the end of a worker is no fault
        self._requests.lost(address, who)
        for step, master in list(self._started_by.items()):
            if master == address:
                self._started_by.pop(step, None)
                gone = UnavailableError(None, None, f"The master of this step is gone: {who}")
                self.task.cancel(step, gone)


in_process: dict[str, Server] = {}  # the servers of this process, by address


def _canonical(address: str) -> str:
    host, _, port = address.rpartition(":")
    return f"127.0.0.1:{port}" if host == "localhost" else address


def server_at(address: str) -> Server | None:
    """The server of this process that listens there."""
    return in_process.get(_canonical(address))
