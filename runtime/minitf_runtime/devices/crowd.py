"""Whether other programs want the cores too; ops then keep to one.

Threads of BLAS wait for each other without letting go of their core. Where another program runs on
one of these cores, each product waits until the slowest thread has had its turn: two programs on
two cores were ten times slower than one of them alone (docs/performance.md).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from minitf_runtime.devices.cpu import cores_of_ops, keep_to_one_core

PERIOD = 0.02  # seconds between looks
LEAST = 0.005  # seconds of wanting a core: less than that says nothing
CROWDED = 0.35  # the part of it without a core; one's own threads in the way cost up to 0.15
LOOKS = 2  # that must find it crowded: something always runs for a moment
PATIENCE = 1.0, 32.0  # seconds on one core until all are tried again: at first, at most

Reading = tuple[int, int]  # nanoseconds: on a core, and ready but without one


def thread_times() -> Reading | None:
    """Of the calling thread, since it began; None where the system does not tell."""
    try:
        with open("/proc/thread-self/schedstat", "rb") as f:
            ran, waited, _ = f.read().split()
    except (OSError, ValueError):
        return None
    return int(ran), int(waited)


class Crowd:
    """Looks at how long the thread that runs steps waits for a core, and acts on it."""

    def __init__(
        self,
        read: Callable[[], Reading | None] = thread_times,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._read, self._now = read, now
        self._lock = threading.Lock()
        self._next = 0.0
        self._before: tuple[int, Reading] | None = None
        self._found = 0
        self._patience = PATIENCE[0]
        self._quiet_since = 0.0
        self._spread: Callable[[], None] | None = None

    def look(self) -> None:
        """To be called at each step; most calls only look at the clock."""
        now = self._now()
        if now < self._next or not self._lock.acquire(blocking=False):
            return
        try:
            self._look(now)
        finally:
            self._lock.release()

    def leave(self) -> None:
        """Ops use again what they are allowed to."""
        with self._lock:
            self._stop_keeping()

    def _look(self, now: float) -> None:
        self._next = now + PERIOD
        if self._spread is not None:
            self._stop_keeping()
            self._quiet_since = now
        if cores_of_ops() < 2:
            return
        waited = self._part_waited()
        if waited is None:
            return
        self._found = self._found + 1 if waited > CROWDED else 0
        if self._found >= LOOKS:
            if now - self._quiet_since > self._patience:
                self._patience = PATIENCE[0]
            self._spread = keep_to_one_core()
            self._next = now + self._patience
            self._patience = min(2 * self._patience, PATIENCE[1])

    def _part_waited(self) -> float | None:
        """The part of the time since the look before in which this thread had no core."""
        reading, thread = self._read(), threading.get_ident()
        before = self._before
        if reading is None:
            self._next = float("inf")  # it will not tell later either
            return None
        if before is None or before[0] != thread:
            self._before = thread, reading
            return None
        ran, waited = (b - a for a, b in zip(before[1], reading))
        if ran + waited < LEAST * 1e9:
            return None
        self._before = thread, reading
        return waited / (ran + waited)

    def _stop_keeping(self) -> None:
        if self._spread is not None:
            self._spread()
            self._spread = None
        self._before, self._found = None, 0


crowd = Crowd()
