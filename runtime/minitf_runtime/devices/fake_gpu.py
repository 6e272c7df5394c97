"""A GPU for tests: its arrays are NumPy's in disguise, its stream is a thread that dawdles.

Ops of one stream see each other's results in order, so they are computed at once. What a host can
get wrong is to look at memory that a copy has not reached yet: pinned memory holds poison until
the stream has come that far, after random delays (of MINITF_FAKE_GPU_SEED). Arrays: fake_array.py.
"""

from __future__ import annotations

import os
import queue
import random
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from minitf_runtime.devices.fake_array import FakeArray, empty, root_of
from minitf_runtime.devices.fake_module import FakeModule

LONGEST_DELAY = 0.001  # of one piece of work on a stream, in seconds
DEFAULT_LIMIT = 16 << 30

_current = threading.local()  # the devices that are current in each thread, the innermost last


class OutOfMemoryError(MemoryError):
    """No room on the device, in the words that cupy has for it."""

    def __init__(self, size: int, used: int, limit: int) -> None:
        super().__init__(
            f"Out of memory allocating {size:,} bytes (allocated so far: {used:,} bytes, "
            f"limit set to: {limit:,} bytes)."
        )


class HiddenSynchronisation(RuntimeError):
    """The host would have waited for the device in a place that does not say so."""


class Event:
    """A point on a stream."""

    def __init__(self) -> None:
        self._passed = threading.Event()

    def done(self) -> bool:
        return self._passed.is_set()

    def wait(self) -> None:
        """Returns once the stream has come here."""
        self._passed.wait()

    def record(self) -> None:
        self._passed.set()


class PinnedArray(np.ndarray):
    """Host memory that a device writes to. `event`: when it has. Until then it holds poison."""

    event: Any = None

    def __array_finalize__(self, source: Any) -> None:
        self.event = getattr(source, "event", None)


class _Stream:
    """Does what it is told in order, each after a random delay, in a thread that ends with it."""

    def __init__(self, seed: int) -> None:
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        work = (self._work, random.Random(seed))
        self.thread = threading.Thread(target=_follow, args=work, daemon=True)
        self.thread.start()
        weakref.finalize(self, self._work.put, None)

    def then(self, work: Callable[[], None]) -> None:
        self._work.put(work)


def _follow(work: queue.SimpleQueue[Callable[[], None] | None], delays: random.Random) -> None:
    while (do := work.get()) is not None:
        time.sleep(delays.random() * LONGEST_DELAY)
        do()


class FakeGpu:
    """A device with the methods of devices/gpu.py's GpuDevice.

    It counts copies: `uploads` and `downloads` by to_device and to_host, `kernel_uploads` and
    `kernel_downloads` by xp.asarray and xp.asnumpy, `synchronisations` of code that was allowed to.
    """

    def __init__(self, index: int, limit: int = DEFAULT_LIMIT) -> None:
        self.index = index
        self.limit = limit
        self.used = 0
        self.peak = 0
        self.uploads = self.downloads = 0
        self.kernel_uploads = self.kernel_downloads = 0
        self.synchronisations = 0
        self._allowed = threading.local()  # .depth: of the blocks that may wait for the device
        self.xp = FakeModule(self)
        self._lock = threading.RLock()  # memory is given back wherever an array goes
        seed = int(os.environ.get("MINITF_FAKE_GPU_SEED", "0"))
        self._stream = _Stream(seed * 1000 + index)

    def __enter__(self) -> FakeGpu:
        _current.__dict__.setdefault("devices", []).append(self)
        return self

    def __exit__(self, *error: Any) -> None:
        _current.devices.pop()

    @property
    def is_current(self) -> bool:
        devices: list[FakeGpu] = getattr(_current, "devices", [])
        return bool(devices) and devices[-1] is self

    def to_device(self, array: np.ndarray[Any, Any]) -> FakeArray:
        """A copy on the device; the host's array is free again at once."""
        if not isinstance(array, (np.ndarray, np.generic)):
            raise TypeError(f"to_device takes a numpy array, got {type(array).__name__}")
        self.count("uploads")
        return self.hold(np.array(array, subok=False))

    def to_host(self, array: FakeArray) -> PinnedArray:
        """A copy in pinned memory, which is there once its `event` has passed."""
        self.count("downloads")
        return self.read_later(array)

    def record(self) -> Event:
        """An event that passes when all that was begun so far is done."""
        event = Event()
        self._stream.then(event.record)
        return event

    def synchronize(self) -> None:
        self.record().wait()

    def memory(self) -> tuple[int, int]:
        """The bytes in use, and how many there are."""
        return self.used, self.limit

    def fuse(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function of elementwise ops, as it is: there is nothing to gain here."""
        return function

    # ---- for the arrays

    def hold(self, values: np.ndarray[Any, Any]) -> FakeArray:
        """Values that are the device's from now on."""
        size = root_of(values).nbytes
        self._take(size)
        array = FakeArray(self, values, None)
        weakref.finalize(array, self._give_back, size).atexit = False
        return array

    def read_later(self, array: FakeArray) -> PinnedArray:
        if not isinstance(array, FakeArray) or array.gpu is not self:
            raise TypeError(f"{self} cannot read {type(array).__name__}")
        now = array.values.copy()
        pinned = empty(now.shape, now.dtype).view(PinnedArray)
        self._stream.then(lambda: np.copyto(pinned, now))
        pinned.event = self.record()
        return pinned

    def count(self, what: str) -> None:
        with self._lock:
            setattr(self, what, getattr(self, what) + 1)

    @contextmanager
    def allowing(self) -> Iterator[None]:
        depth = getattr(self._allowed, "depth", 0)
        self._allowed.depth = depth + 1
        self.count("synchronisations")
        try:
            yield
        finally:
            self._allowed.depth = depth

    def must_be_allowed(self, what: str) -> None:
        if not getattr(self._allowed, "depth", 0):
            raise HiddenSynchronisation(f"{what} makes the host wait for {self}")

    def _take(self, size: int) -> None:
        with self._lock:
            if self.used + size > self.limit:
                raise OutOfMemoryError(size, self.used, self.limit)
            self.used += size
            self.peak = max(self.peak, self.used)

    def _give_back(self, size: int) -> None:
        with self._lock:
            self.used -= size

    def __repr__(self) -> str:
        return f"<fake GPU {self.index}>"
