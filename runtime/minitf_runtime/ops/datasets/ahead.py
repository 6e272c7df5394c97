"""A thread that makes elements ahead of those who take them."""

from __future__ import annotations

import threading
from collections import deque
from typing import Any

import numpy as np

from minitf_runtime.ops.datasets.base import Dataset, Pull, Run
from minitf_runtime.threads import Threads

_threads = Threads("minitf-prefetch")


class Ahead:
    """At most `size` elements of a pass, made ahead. It starts when the first one is asked for.

    The thread ends with the elements, or with the run. It holds nothing of who takes them, so that
    an iterator that nobody uses any more goes, and its thread with it.
    """

    def __init__(self, source: Dataset, size: int, run: Run) -> None:
        self._source = source
        self._size = size
        self._run = run
        self._buffer: _Buffer | None = None

    def take(self) -> Any:
        """The next element; waits for it. Raises what making it raised."""
        if self._buffer is None:
            self._start()
        return self._buffer.take(self._run.step)  # type: ignore[union-attr]

    def _start(self) -> None:
        self._buffer = buffer = _Buffer(self._size)
        inner, source = self._run.beside(), self._source

        def stop() -> None:
            buffer.stop()
            inner.step.cancel()
            inner.close()

        forget = self._run.on_close(stop)

        def work() -> None:
            with np.errstate(all="ignore"):
                buffer.fill(source.open(inner))
            inner.close()
            forget()

        _threads.start(work)


class _Buffer:
    """What lies between the two threads."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._made: deque[tuple[Any, BaseException | None]] = deque()
        self._stopped = False
        self._condition = threading.Condition()

    def fill(self, pull: Pull) -> None:
        """Makes elements until there are none, or nobody wants any."""
        while True:
            item, error = None, None
            try:
                item = pull()
            except BaseException as e:  # also the end: it is handed over like the rest
                error = e.with_traceback(None)
            with self._condition:
                while len(self._made) >= self._size and not self._stopped:
                    self._condition.wait()
                if self._stopped:
                    return
                self._made.append((item, error))
                self._condition.notify_all()
            if isinstance(error, StopIteration):
                return

    def take(self, step: Any) -> Any:
        made = self._made
        with self._condition:
            if not made:
                step.wait_for(self._condition, lambda: made, self._told)
            item, error = made[0]
            if not isinstance(error, StopIteration):  # the end stays
                made.popleft()
                self._condition.notify_all()
        if error is not None:
            raise error
        return item

    def stop(self) -> None:
        with self._condition:
            self._stopped = True
            self._made.clear()
            self._condition.notify_all()

    def _told(self) -> tuple[str, str, str]:
        return "dataset", "prefetch", "has no element yet"
