"""Where values of one step meet on one task. Sending never blocks; receiving waits.

Values for another task go to `push`, which the server hands in; this file knows no sockets.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any

from minitf_runtime.plan.step import Step
from minitf_runtime.threads import Signal

Push = Callable[[str, int, Hashable, Any], None]  # (task, step id, key, value)
Wait = Callable[..., None]  # (signal, seconds at most): as Signal.wait
REMEMBERED = 4096  # finished steps whose late values are dropped on arrival


class Rendezvous:
    """The table of one step: a key is used once, by one sender and one receiver.

    It counts by transfer: the bytes taken, and the seconds that receivers have waited.
    """

    __slots__ = ("step", "_push", "_wait", "_values", "_waiting", "_lock", "_counts")
    trace: Any = None  # what was taken down of the step, if it is a traced one

    def __init__(self, step: Step, push: Push | None = None, wait: Wait = Signal.wait) -> None:
        self.step = step
        self._push = push
        self._wait = wait
        self._values: dict[Hashable, Any] = {}
        self._waiting: dict[Hashable, tuple[Signal, float]] = {}  # since when
        self._lock = threading.Lock()
        self._counts: dict[int | None, Any] = {}  # transfer -> [bytes taken, seconds waited]
        step.on_cancel(self._wake_all)

    def send(self, key: Hashable, value: Any) -> None:
        """Leaves a value for a receiver on this task."""
        with self._lock:
            self._values[key] = value
            waiter = self._end_wait(key) if key in self._waiting else None
        if waiter is not None:
            waiter.set()

    def send_to(self, task: str, key: Hashable, value: Any) -> None:
        """Sends a value to a receiver on another task."""
        if self._push is None:
            raise RuntimeError(f"a value for {task} in a session of one task")
        self._push(task, self.step.id, key, value)

    def recv(self, key: Hashable) -> Any:
        """Takes the value of that key, waiting for it; raises the step's error if it is
        cancelled."""
        values = self._values
        with self._lock:
            if key in values:
                return self._take(key)
            if self.step.error is None:
                waiter = Signal()
                self._waiting[key] = waiter, time.monotonic()
        self.step.check()
        self._wait(waiter)
        with self._lock:
            if key in values:
                return self._take(key)
        self.step.check()
        raise RuntimeError(f"woken without a value for {key}")

    def waiting(self) -> dict[Hashable, float]:
        """The keys that somebody waits for now, and for how many seconds."""
        with self._lock:
            now = time.monotonic()
            return {key: now - since for key, (_, since) in self._waiting.items()}

    def counted(self) -> list[tuple[int, int, float]]:
        """Transfers with bytes taken and seconds waited, without the waiting that goes on."""
        if not self._counts:
            return []
        with self._lock:
            return [(t, *count) for t, count in self._counts.items() if t is not None]

    # ---- with the lock held

    def _take(self, key: Hashable) -> Any:
        value = self._values.pop(key)
        self._count_of(key)[0] += size_of(value)
        return value

    def _end_wait(self, key: Hashable) -> Signal:
        waiter, since = self._waiting.pop(key)
        self._count_of(key)[1] += time.monotonic() - since
        return waiter

    def _count_of(self, key: Hashable) -> Any:
        transfer = transfer_of(key)
        if transfer not in self._counts:
            self._counts[transfer] = [0, 0.0]
        return self._counts[transfer]

    def _wake_all(self) -> None:
        with self._lock:
            waiters = [self._end_wait(key) for key in list(self._waiting)]
        for waiter in waiters:
            waiter.set()


def transfer_of(key: Hashable) -> int | None:
    """The number of a transfer, which in a loop has a key for each iteration; None for what
    another strand hands over."""
    first = key[0] if isinstance(key, tuple) else key
    return first if isinstance(first, int) else None


def size_of(value: Any) -> int:
    """The bytes of a value; of strings those that they hold."""
    if not hasattr(value, "nbytes"):
        return 0
    if value.dtype.hasobject:
        return sum(len(v) for v in value.ravel().tolist() if isinstance(v, bytes))
    return int(value.nbytes)


Make = Callable[[Step, "Push | None", Wait], Rendezvous]


class StepTable:
    """All steps of a task. A value may arrive before its step starts, or after it has failed."""

    def __init__(
        self, push: Push | None = None, make: Make = Rendezvous, wait: Wait = Signal.wait
    ) -> None:
        self._push = push
        self._wait = wait
        self._make = make
        self._steps: dict[int, Rendezvous] = {}
        self._done: OrderedDict[int, None] = OrderedDict()
        self._lock = threading.Lock()

    def open(self, step_id: int) -> Rendezvous:
        """The rendezvous of a step, made by whoever comes first."""
        with self._lock:
            found = self._steps.get(step_id)
            if found is None:
                found = self._steps[step_id] = self._make(Step(step_id), self._push, self._wait)
            return found

    def deliver(self, step_id: int, key: Hashable, value: Any) -> None:
        """Takes in a value from another task; one of a finished step is dropped."""
        with self._lock:
            if step_id in self._done:
                return
        self.open(step_id).send(key, value)

    def close(self, step_id: int) -> None:
        """Forgets a step and all values left in it."""
        with self._lock:
            self._steps.pop(step_id, None)
            self._done[step_id] = None
            if len(self._done) > REMEMBERED:
                self._done.popitem(last=False)

    def cancel(self, step_id: int, error: BaseException | None = None) -> None:
        """Cancels a step, also one that has not started here yet."""
        with self._lock:
            if step_id in self._done:
                return
        self.open(step_id).step.cancel(error)

    def running(self) -> list[Rendezvous]:
        with self._lock:
            return list(self._steps.values())
