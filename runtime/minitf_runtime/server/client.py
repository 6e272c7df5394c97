"""A master in another process, as a session sees it; and how a session finds its master."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from minitf_runtime.errors import DeadlineExceededError, OpError
from minitf_runtime.graph import Node
from minitf_runtime.plan.trace import NodeStats
from minitf_runtime.server.master import Master
from minitf_runtime.server.options import RunOptions, RunResult, SessionOptions
from minitf_runtime.server.rpc import Requests, Waiter
from minitf_runtime.server.service import server_at
from minitf_runtime.server.view import Load, MasterView
from minitf_runtime.server.waits import TaskWaits
from minitf_runtime.transport.zeromq import Caller
from minitf_runtime.wire import messages as m
from minitf_runtime.wire.codec import decode

GRACE_SECONDS = 2.0  # what a master gets to report a time-out itself
WAITS_SECONDS = 1.0  # of a task that is asked what waits there, beside the grace
DESCRIBE_SECONDS = 8.0  # the sessions of a large model take a while to tell


def master_at(address: str, timeout: float = 0.0) -> Master | RemoteMaster:
    """The master behind an address: the object itself when its server is in this process.

    timeout: the seconds that a call of another process's master may take; 0 is for ever.
    """
    server = server_at(address)
    return server.master if server is not None else RemoteMaster(address, timeout)


class RemoteMaster:
    """The calls of Master, over the wire."""

    def __init__(self, address: str, timeout: float = 0.0) -> None:
        self._address = address
        self._requests = Requests()
        self._caller = Caller(address, self._receive, self._lost)
        self._timeout = timeout

    def create_session(self, options: SessionOptions, nodes: Sequence[Node]) -> str:
        return self._call(m.CreateSession(options, list(nodes)))  # type: ignore[no-any-return]

    def extend(self, handle: str, nodes: Sequence[Node]) -> None:
        self._call(m.ExtendSession(handle, list(nodes)))

    def run(
        self,
        handle: str,
        feeds: Mapping[str, Any],
        fetches: Sequence[str],
        targets: Sequence[str],
        options: RunOptions,
    ) -> RunResult:
        message = m.RunStep(handle, dict(feeds), list(fetches), list(targets), options)
        return self._call(message, options.timeout)  # type: ignore

    def list_devices(self, handle: str) -> dict[str, int]:
        return self._call(m.ListDevices(handle))  # type: ignore[no-any-return]

    def describe(self) -> MasterView:
        """Raises DeadlineExceededError, UnavailableError if nobody answers there."""
        try:
            self._call(m.Describe(), GRACE_SECONDS)  # whether it is there is soon known
            return self._call(m.DescribeSessions(), DESCRIBE_SECONDS)  # type: ignore
        finally:
            self._caller.close()

    def record(
        self,
        handle: str,
        feeds: Sequence[str],
        fetches: Sequence[str],
        targets: Sequence[str],
        count: int,
        seconds: float,
    ) -> list[Mapping[str, Sequence[NodeStats]]]:
        """As Master.record. Also raises DeadlineExceededError, UnavailableError."""
        try:
            message = m.RecordSteps(handle, feeds, fetches, targets, count, seconds)
            return self._call(message, seconds)  # type: ignore[no-any-return]
        finally:
            self._caller.close()

    def waits(self) -> TaskWaits:
        """Raises DeadlineExceededError, UnavailableError if nobody answers there."""
        try:
            return self._call(m.DescribeWaits(), WAITS_SECONDS)  # type: ignore
        finally:
            self._caller.close()

    def ask_load(self) -> Callable[[float], Load]:
        """Asks for what the server has counted. The function given waits so many seconds for the
        answer; raises TimeoutError, UnavailableError."""
        waiter = Waiter()
        number = self._requests.send(self._address, self._caller.send, m.DescribeLoad(), waiter)

        def answer(seconds: float) -> Load:
            try:
                return waiter.wait(seconds)  # type: ignore[no-any-return]
            finally:
                self._requests.forget(number)

        return answer

    def hang_up(self) -> None:
        """Ends the connection; a session that was made stays."""
        self._caller.close()

    def close(self, handle: str) -> None:
        try:
            self._call(m.CloseSession(handle), GRACE_SECONDS)
        except DeadlineExceededError:
            return  # the master is gone; there is nothing left to close
        finally:
            self._caller.close()

    def reset(self, containers: Sequence[str]) -> None:
        try:
            self._call(m.ResetMaster(list(containers)))
        finally:
            self._caller.close()

    def _call(self, message: m.Message, timeout: float = 0.0) -> Any:
        timeout = timeout or self._timeout
        waiter = Waiter()
        number = self._requests.send(self._address, self._caller.send, message, waiter)
        try:
            return waiter.wait(timeout + GRACE_SECONDS if timeout else None)
        except TimeoutError:
            raise DeadlineExceededError(
                None, None, f"Deadline Exceeded: no answer from the master at {self._address}"
            ) from None
        finally:
            self._requests.forget(number)

    def _receive(self, identity: bytes, header: bytes, frames: Sequence[Any]) -> None:
        _, reply = decode(header, frames)
        error = reply.error if isinstance(reply.error, OpError) else None
        self._requests.answer(reply.number, reply.value, error)

    def _lost(self, address: str) -> None:
        self._requests.lost(address, f"the master at {address}")
