"""Daemon threads for work that may block without limit, idle ones are used again; and Signal."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

IDLE_SECONDS = 30.0


class Threads:
    """Runs functions, each at once in a thread of its own (unlike a bounded pool)."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._work: queue.SimpleQueue[Callable[[], Any]] = queue.SimpleQueue()
        self._idle = 0
        self._lock = threading.Lock()

    def start(self, work: Callable[[], Any]) -> None:
        """Runs `work()`; it must not raise."""
        with self._lock:
            spare = self._idle > 0
            if spare:
                self._idle -= 1
        self._work.put(work)
        if not spare:
            threading.Thread(target=self._loop, name=self._name, daemon=True).start()

    def _loop(self) -> None:
        while True:
            try:
                work = self._work.get(timeout=IDLE_SECONDS)
            except queue.Empty:
                with self._lock:
                    if self._work.empty() and self._idle > 0:
                        self._idle -= 1
                        return
                continue
            work()
            with self._lock:
                self._idle += 1


class Signal:
    """Set once, by any thread; one thread waits for it."""

    __slots__ = ("is_set", "rouse", "_lock")

    def __init__(self) -> None:
        self.is_set = False
        self.rouse: Callable[[], None] | None = None  # wakes a thread that does not pause here
        self._lock = threading.Lock()
        self._lock.acquire()

    def set(self) -> None:
        self.is_set = True
        self.wake()

    def wake(self) -> None:
        """Ends the pause that goes on, or else the next one."""
        rouse = self.rouse
        if rouse is not None:
            rouse()
        with suppress(RuntimeError):  # it is awake already
            self._lock.release()

    def pause(self, timeout: float | None = None) -> None:
        """Waits until somebody wakes this thread, at most that many seconds."""
        self._lock.acquire(timeout=-1 if timeout is None else timeout)

    def wait(self, timeout: float | None = None) -> None:
        """Waits until it is set, at most that many seconds."""
        until = None if timeout is None else time.monotonic() + timeout
        while not self.is_set:
            left = None if until is None else until - time.monotonic()
            if left is not None and left <= 0:
                return
            self.pause(left)
