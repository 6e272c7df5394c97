"""Copies between a GPU and the host, for the programs of that GPU.

Only here is the device waited for: a value that leaves it is handed on by another thread once its
copy is there, and the program goes on meanwhile.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from minitf_runtime.errors import InternalError
from minitf_runtime.plan.rendezvous import Rendezvous
from minitf_runtime.threads import Threads
from minitf_runtime.types import DEAD

_threads = Threads("minitf-copies")


class Copies:
    """Moves values to and from one device, and counts them. `name`: the device's full name."""

    def __init__(self, device: Any, name: str) -> None:
        self.device = device
        self.name = name
        self.bytes_up = 0
        self.bytes_down = 0
        self._leaving: deque[Callable[[], None]] = deque()  # in the order of the device's stream
        self._handing_on = False
        self._lock = threading.Lock()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Around a program: the device is current, and what leaves it has left at the end."""
        with self.device:
            yield
        self._flush()

    def to_device(self, value: Any) -> Any:
        """A value of the host on the device; DEAD stays what it is."""
        if value is DEAD:
            return value
        with self._lock:
            self.bytes_up += value.nbytes
        return self.device.to_device(value)

    def copy_and_send(self, rdv: Rendezvous, key: Hashable, value: Any) -> None:
        """Leaves a copy in host memory for a receiver on this task."""
        self._copy(rdv, value, lambda copy: rdv.send(key, copy))

    def copy_and_send_to(self, rdv: Rendezvous, task: str, key: Hashable, value: Any) -> None:
        """Sends a copy to a receiver on another task."""
        self._copy(rdv, value, lambda copy: rdv.send_to(task, key, copy))

    def _copy(self, rdv: Rendezvous, value: Any, send: Callable[[Any], None]) -> None:
        if value is DEAD:
            send(value)
            return
        if not value.size:
            send(np.empty(value.shape, value.dtype))
            return
        copy = self.device.to_host(value)
        arrival = self.device.record()
        with self._lock:
            self.bytes_down += copy.nbytes

        def when_there() -> None:
            try:
                arrival.synchronize()
                send(copy.view(np.ndarray))
            except Exception as e:
                text = f"a tensor could not leave {self.name}: {type(e).__name__}: {e}"
                rdv.step.cancel(InternalError(None, None, text))

        self._then(when_there)

    def _then(self, work: Callable[[], None]) -> None:
        with self._lock:
            self._leaving.append(work)
            idle, self._handing_on = not self._handing_on, True
        if idle:
            _threads.start(self._hand_on)

    def _hand_on(self) -> None:
        while True:
            with self._lock:
                if not self._leaving:
                    self._handing_on = False
                    return
                work = self._leaving.popleft()
            work()

    def _flush(self) -> None:
        """Waits until all that is leaving has left."""
        if self._handing_on:
            left = threading.Event()
            self._then(left.set)
            left.wait()
