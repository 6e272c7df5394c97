"""A running step: its id and its cancellation. Kernels that wait do so through it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from minitf_runtime.errors import CancelledError

Tell = Callable[[], tuple[str, str, str]]  # what a kernel waits for: kind, name, its state now


class Step:
    """One step on one task. `cancel` ends all that waits in it with the given error.

    It counts the seconds that its kernels wait.
    """

    __slots__ = (
        "id",
        "error",
        "since",
        "programs",
        "blocked",
        "waited",
        "_lock",
        "_callbacks",
        "__weakref__",
    )

    def __init__(self, step_id: int) -> None:
        self.id = step_id
        self.error: BaseException | None = None
        self.since = time.monotonic()
        self.programs: dict[int, Any] = {}  # thread -> the program that it runs
        self.blocked: dict[int, tuple[float, Tell | None]] = {}  # thread -> since when, for what
        self._lock = threading.Lock()
        self._callbacks: dict[int, Callable[[], None]] = {}
        self.waited = 0.0  # seconds, summed over threads

    def check(self) -> None:
        """Raises the error that the step was cancelled with, if it was."""
        if self.error is not None:
            raise self.error

    def cancel(self, error: BaseException | None = None) -> None:
        """Ends the step; the first error stays. Wakes every waiter."""
        with self._lock:
            if self.error is not None:
                return
            self.error = error or CancelledError(None, None, "Step was cancelled")
            callbacks = list(self._callbacks.values())
        for wake in callbacks:
            wake()

    def on_cancel(self, wake: Callable[[], None]) -> int:
        """Calls `wake` when the step is cancelled (at once if it is already)."""
        with self._lock:
            if self.error is None:
                token = id(wake) ^ len(self._callbacks)
                while token in self._callbacks:
                    token += 1
                self._callbacks[token] = wake
                return token
        wake()
        return -1

    def forget(self, token: int) -> None:
        with self._lock:
            self._callbacks.pop(token, None)

    def wait_for(
        self,
        condition: threading.Condition,
        ready: Callable[[], bool],
        tell: Tell | None = None,
    ) -> None:
        """Waits (the condition held) until `ready()`; raises the step's error if it is
        cancelled. `tell` says what for, to whoever asks meanwhile."""
        if ready():
            return

        def wake() -> None:
            with condition:
                condition.notify_all()

        token = self.on_cancel(wake)
        self._begin_wait(tell)
        try:
            while not ready():
                self.check()
                condition.wait()
        finally:
            self._end_wait()
            self.forget(token)

    def waiting(self) -> list[float]:
        """How many seconds those kernels have waited that wait now."""
        with self._lock:
            now = time.monotonic()
            return [now - since for since, _ in self.blocked.values()]

    def _begin_wait(self, tell: Tell | None) -> None:
        with self._lock:
            self.blocked[threading.get_ident()] = time.monotonic(), tell

    def _end_wait(self) -> None:
        with self._lock:
            self.waited += time.monotonic() - self.blocked.pop(threading.get_ident())[0]
