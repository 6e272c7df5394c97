"""Daemon threads for work that may block without limit; idle ones are used again."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
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
