"""tf.train.Coordinator: lets several threads stop together, and reports the first error."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from minitf import tf_logging
from minitf_runtime.errors import OutOfRangeError

POLL_SECONDS = 0.1  # how soon join() sees that all threads have ended by themselves


class Coordinator:
    """Threads ask `should_stop()`; any of them may `request_stop()`; one `join()`s the others.

    Exceptions of `clean_stop_exception_types` (default: OutOfRangeError) stop the threads without
    being an error.
    """

    def __init__(self, clean_stop_exception_types: Any = None) -> None:
        self._clean = tuple(clean_stop_exception_types or (OutOfRangeError,))
        self._lock = threading.Lock()
        self._stop_event = threading.Event()
        self._error: BaseException | None = None
        self._joined = False
        self._registered_threads: set[threading.Thread] = set()

    def request_stop(self, ex: Any = None) -> None:
        """Asks the threads to stop. `ex`, an exception or sys.exc_info(), is raised by join().

        Raises it at once if join() has been called already.
        """
        error = ex[1] if isinstance(ex, tuple) else ex
        if isinstance(error, self._clean):
            error = None
        if error is not None and not isinstance(error, BaseException):
            error = ValueError(f"ex must be an exception or sys.exc_info(), got {ex!r}")
        with self._lock:
            if self._joined and error is not None:
                raise error
            if self._stop_event.is_set():
                return
            if error is not None:
                tf_logging.info("Error reported to Coordinator: %s, %s", type(error), error)
                self._error = error
            self._stop_event.set()

    def clear_stop(self) -> None:
        """Makes the coordinator usable again after a join."""
        with self._lock:
            self._joined = False
            self._error = None
            self._stop_event.clear()

    def should_stop(self) -> bool:
        return self._stop_event.is_set()

    @contextmanager
    def stop_on_exception(self) -> Iterator[None]:
        """Turns an exception of the block into a request to stop."""
        try:
            yield
        except BaseException:
            self.request_stop(sys.exc_info())

    def wait_for_stop(self, timeout: float | None = None) -> bool:
        """Waits until a stop is requested; whether it was."""
        return self._stop_event.wait(timeout)

    def register_thread(self, thread: threading.Thread) -> None:
        """Adds a thread for join() to wait for."""
        with self._lock:
            self._registered_threads.add(thread)

    def join(
        self,
        threads: Iterable[threading.Thread] | None = None,
        stop_grace_period_secs: float = 120,
        ignore_live_threads: bool = False,
    ) -> None:
        """Waits for the threads, after a request to stop for at most the grace period.

        Raises the exception that was reported, RuntimeError for threads that still run.
        """
        with self._lock:
            waiting = list(self._registered_threads.union(threads or ()))
        while _alive(waiting) and not self.wait_for_stop(POLL_SECONDS):
            continue
        _wait_for(waiting, stop_grace_period_secs)
        with self._lock:
            self._joined = True
            self._registered_threads = set()
            if self._error is not None:
                raise self._error
            self._report_stragglers(_alive(waiting), ignore_live_threads)

    def _report_stragglers(self, threads: list[threading.Thread], ignore: bool) -> None:
        if not threads:
            return
        names = " ".join(t.name for t in threads)
        text = f"Coordinator stopped with threads still running: {names}"
        if not ignore:
            raise RuntimeError(text)
        tf_logging.info(text)

    @property
    def joined(self) -> bool:
        return self._joined

    def raise_requested_exception(self) -> None:
        """Raises the exception that was reported, if any."""
        with self._lock:
            if self._error is not None:
                raise self._error


def _alive(threads: list[threading.Thread]) -> list[threading.Thread]:
    return [t for t in threads if t.is_alive()]


def _wait_for(threads: list[threading.Thread], seconds: float) -> None:
    end = time.monotonic() + seconds
    for thread in threads:
        if thread.is_alive():
            thread.join(max(0.0, end - time.monotonic()))


class LooperThread(threading.Thread):
    """Calls `run_loop()` (or `target`) every `timer_interval_secs`, or without pause for None,
    until the coordinator says to stop.
    """

    def __init__(
        self,
        coord: Coordinator,
        timer_interval_secs: float | None,
        target: Callable[..., Any] | None = None,
        args: Any = None,
        kwargs: Any = None,
    ) -> None:
        if not isinstance(coord, Coordinator):
            raise ValueError(f"'coord' argument must be a Coordinator: {coord}")
        if target is None and (args or kwargs):
            raise ValueError("'args' and 'kwargs' argument require that you also pass 'target'")
        super().__init__(daemon=True)
        self._coord = coord
        self._timer_interval_secs = timer_interval_secs
        self._call = (target, args or (), kwargs or {})
        coord.register_thread(self)

    @staticmethod
    def loop(
        coord: Coordinator,
        timer_interval_secs: float | None,
        target: Callable[..., Any],
        args: Any = None,
        kwargs: Any = None,
    ) -> LooperThread:
        """A looper that is started at once."""
        looper = LooperThread(coord, timer_interval_secs, target=target, args=args, kwargs=kwargs)
        looper.start()
        return looper

    def run(self) -> None:
        with self._coord.stop_on_exception():
            self.start_loop()
            if self._timer_interval_secs is None:
                while not self._coord.should_stop():
                    self.run_loop()
            else:
                due = time.monotonic()
                while not self._coord.wait_for_stop(due - time.monotonic()):
                    due += self._timer_interval_secs
                    self.run_loop()
            self.stop_loop()

    def start_loop(self) -> None:
        """Called before the first turn."""

    def stop_loop(self) -> None:
        """Called after the last turn."""

    def run_loop(self) -> None:
        target, args, kwargs = self._call
        if target is not None:
            target(*args, **kwargs)
