"""StepRun: one step as its master drives it. The first error wins and ends the step everywhere."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from minitf_runtime.errors import OpError
from minitf_runtime.passes.data import Partitioned
from minitf_runtime.threads import Signal

GRACE_SECONDS = 5.0  # how long a failed step waits for the tasks it has cancelled


class StepRun:
    """Tracks which tasks still work on a step."""

    def __init__(self, step_id: int, own: Any, remote: Mapping[str, Any], cut: Partitioned) -> None:
        self.id = step_id
        self.cut = cut
        self.since = time.monotonic()
        self.error: BaseException | None = None
        self.traces: dict[str, Any] = {}  # task -> what it saw, of a traced step
        self._own = own
        self.remote = remote
        self._left = set(remote)
        self._lock = threading.Lock()
        self._answered = Signal()  # by all tasks
        self._over = Signal()  # or there is an error

    def expect(self, task: str) -> Callable[[Any, BaseException | None], None]:
        """The callback for the end of that task's part."""

        def done(trace: Any, error: BaseException | None) -> None:
            with self._lock:
                if trace is not None:
                    self.traces[task] = trace
                self._left.discard(task)
                last = not self._left
            if error is not None:
                self.fail(error)
            if last:
                self._over.set()
                self._answered.set()

        return done

    def fail(self, error: BaseException) -> None:
        """Ends the step with this error, unless another came first."""
        with self._lock:
            if self.error is not None:
                return
            self.error = error
            left = set(self._left)
        self._over.set()
        self._own.cancel(self.id, error)
        for task in left:
            self.remote[task].cancel(self.id, error)

    def left(self) -> tuple[str, ...]:
        """The other tasks that have not answered yet."""
        with self._lock:
            return tuple(sorted(self._left))

    def here(self, handle: str, graph: int, feeds: Sequence[Any]) -> list[Any]:
        """Runs this process's part in the calling thread, then waits for the others."""
        values: list[Any] = []
        try:
            values = self._own.run(handle, graph, self.id, feeds)
        except OpError as e:
            self.fail(e)
        except BaseException as e:  # Ctrl-C: the other tasks must not be left waiting
            self.fail(OpError(None, None, f"interrupted: {e!r}", 1))
            raise
        self.wait()
        trace = self._own.trace(self.id)
        if trace is not None:
            self.traces[self._own.name] = trace
        return values

    def wait(self) -> None:
        """Waits for all tasks; raises the step's error."""
        try:
            if self._left and self.error is None:
                self._own.wait(self._over)
        except BaseException as e:
            self.error = self.error or e
            raise
        if self._left and self.error is not None:
            self._own.wait(self._answered, GRACE_SECONDS)
        if self.error is not None:
            raise self.error

    def cleanup(self) -> None:
        """Drops what the step left on the tasks; where it went well they have done so already."""
        self._own.cleanup(self.id)
        if self.error is not None:
            for stub in self.remote.values():
                stub.cleanup(self.id)
