"""Recorder: takes down the statistics of steps that a session's own program runs."""

from __future__ import annotations

import threading
from typing import Any

Stats = Any  # device -> what ran there


class Recorder:
    """Waits for a number of steps of one kind, of whoever runs them."""

    def __init__(self, step: Any, count: int) -> None:
        self.step = step
        self._left = count
        self._seen: list[Stats] = []
        self._changed = threading.Condition()

    def claim(self, step: Any) -> bool:
        """Whether a step that starts now is to be traced and added."""
        with self._changed:
            if step is not self.step or not self._left:
                return False
            self._left -= 1
            return True

    def add(self, stats: Stats | None) -> None:
        """What a claimed step has seen; None if it failed, and another one is taken instead."""
        with self._changed:
            if stats is None:
                self._left += 1
            else:
                self._seen.append(stats)
            self._changed.notify_all()

    def wait(self, count: int, seconds: float) -> list[Stats]:
        """The statistics of so many steps; of fewer when the time is up."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._seen) >= count, seconds)
            return list(self._seen)
