"""The other tasks of a cluster, as a master sees them."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from minitf_runtime.errors import DeadlineExceededError, InvalidArgumentError, UnavailableError
from minitf_runtime.plan.part import Part
from minitf_runtime.server.rpc import Done, Requests, Waiter
from minitf_runtime.transport.zeromq import Endpoint
from minitf_runtime.wire import messages as m
from minitf_runtime.wire.codec import encode

log = logging.getLogger("minitf")
REPORT_SECONDS = 10.0


class RemoteTask:
    """A task of another process (TaskStub)."""

    def __init__(self, name: str, address: str, endpoint: Endpoint, requests: Requests) -> None:
        self.name = name
        self.address = address
        self._peer = endpoint.peer(address)
        self._requests = requests
        self._was_up = False

    def request(self, message: m.Message, done: Done) -> int:
        """Sends a request; one to a task that was there and is gone fails at once."""
        if self._peer.up:
            self._was_up = True
        elif self._was_up:
            lost = time.strftime("%H:%M:%S", time.localtime(self._peer.since))
            text = f"Task {self.name} at {self.address} is gone since {lost}"
            done(None, UnavailableError(None, None, text))
            return 0
        return self._requests.send(self.address, self._peer.send, message, done)

    def _call(self, message: m.Message) -> Any:
        waiter = Waiter()
        self.request(message, waiter)
        return waiter.wait()

    def _tell(self, message: m.Message) -> None:
        self._peer.send(encode((0, message)))

    def describe(self) -> dict[str, int]:
        return self._call(m.Describe())  # type: ignore[no-any-return]

    def create_session(self, handle: str, isolate: bool) -> None:
        self._call(m.OpenSession(handle, isolate))

    def delete_session(self, handle: str) -> None:
        self._tell(m.DropSession(handle))

    def register(self, handle: str, part: Part) -> int:
        return self._call(m.RegisterGraph(handle, part))  # type: ignore[no-any-return]

    def start(
        self, handle: str, graph: int, step_id: int, feeds: Sequence[Any], done: Done
    ) -> None:
        self.request(m.RunGraph(handle, graph, step_id), done)

    def cancel(self, step_id: int, error: BaseException | None) -> None:
        self._tell(m.CancelStep(step_id, error))

    def cleanup(self, step_id: int) -> None:
        self._tell(m.CleanupStep(step_id))

    def ask_waits(self, done: Done) -> None:
        self.request(m.DescribeWaits(), done)

    def reset(self, containers: Sequence[str]) -> None:
        self._call(m.ResetTask(list(containers)))


class RemoteTasks:
    """Finds the tasks of a cluster by their addresses (Cluster)."""

    def __init__(
        self, addresses: Mapping[str, str], endpoint: Endpoint, requests: Requests
    ) -> None:
        self.addresses = dict(addresses)  # task name -> HOST:PORT
        self._endpoint = endpoint
        self._requests = requests
        self._stubs: dict[str, RemoteTask] = {}
        self._lock = threading.Lock()

    def tasks(self) -> list[str]:
        return sorted(self.addresses)

    def stub(self, task: str) -> RemoteTask:
        with self._lock:
            if task not in self._stubs:
                if task not in self.addresses:
                    raise InvalidArgumentError(None, None, f"No task {task} in this cluster")
                self._stubs[task] = RemoteTask(
                    task, self.addresses[task], self._endpoint, self._requests
                )
            return self._stubs[task]

    def wait_for(self, tasks: list[str], timeout: float | None) -> dict[str, dict[str, int]]:
        """The devices of these tasks; waits for each, and says every 10 s which are missing.

        Raises DeadlineExceededError naming the missing ones after `timeout` seconds.
        """
        gathering = _Gathering(self, tasks)
        started = time.time()
        while True:
            left = None if timeout is None else started + timeout - time.time()
            if left is not None and left <= 0:
                raise DeadlineExceededError(
                    None, None, f"Deadline Exceeded: still no answer from {gathering.missing()}"
                )
            if gathering.wait(REPORT_SECONDS if left is None else min(left, REPORT_SECONDS)):
                return gathering.found
            for task in gathering.absent():
                since = time.strftime("%H:%M:%S", time.localtime(started))
                log.warning(
                    "CreateSession still waiting for response from worker: %s (%s), since %s",
                    task, self.addresses[task], since,
                )  # fmt: skip


class _Gathering:
    """Asks tasks for their devices, again and again those that go away before they answer."""

    def __init__(self, cluster: RemoteTasks, tasks: list[str]) -> None:
        self.found: dict[str, dict[str, int]] = {}
        self._cluster = cluster
        self._tasks = tasks
        self._changed = threading.Condition()
        for task in tasks:
            self._ask(task)

    def _ask(self, task: str) -> None:
        stub = self._cluster.stub(task)

        def done(value: Any, error: BaseException | None) -> None:
            with self._changed:
                if error is None:
                    self.found[task] = value
                    self._changed.notify_all()
            if error is not None:
                threading.Timer(0.2, self._ask, [task]).start()

        stub._requests.send(stub.address, stub._peer.send, m.Describe(), done)

    def wait(self, timeout: float) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: len(self.found) == len(self._tasks), timeout)

    def absent(self) -> list[str]:
        with self._changed:
            return [t for t in self._tasks if t not in self.found]

    def missing(self) -> str:
        return ", ".join(f"{t} ({self._cluster.addresses[t]})" for t in self.absent())
