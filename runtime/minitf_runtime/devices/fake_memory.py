"""Memory of fake GPUs and of the host beside them: pools, and pinned memory that devices write to.

Memory that is given back is there for the next who asks. So it must not be in use any more: by
other streams than its own on a device, by any for pinned memory.
"""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np

from minitf_runtime.devices.fake_stream import (
    Clock,
    OutOfOrder,
    Stamp,
    Stream,
    Uses,
    host,
    is_over,
    over,
)

POISON = 0xA5  # each byte of memory that nothing was written to


class OutOfMemoryError(MemoryError):
    """No room on the device, in the words that cupy has for it."""

    def __init__(self, size: int, used: int, limit: int) -> None:
        super().__init__(
            f"Out of memory allocating {size:,} bytes (allocated so far: {used:,} bytes, "
            f"limit set to: {limit:,} bytes)."
        )


def empty(shape: Any, dtype: Any) -> np.ndarray[Any, Any]:
    """New memory, full of poison."""
    out = np.empty(shape, dtype)
    out.reshape(-1).view(np.uint8).fill(POISON)
    return out


class Early:
    """What was done last to memory that was given back while it was in use."""

    def __init__(self) -> None:
        self._stamps: list[Stamp] = []

    def add(self, stamps: list[Stamp]) -> None:
        self._stamps += stamps

    def must_be_over(self, by: str, clock: Clock) -> None:
        """`by`, who knows `clock`, gets new memory."""
        while self._stamps:
            stamp = self._stamps.pop()
            if not is_over(stamp, clock):
                text = f"{by} gets memory that was given back while it was in use by {stamp}"
                raise OutOfOrder(text)


# ---- of a device


class Memory(Uses):
    """A piece of a pool, of the stream that asked for it; goes back there with its last array."""

    __slots__ = ("size", "_pool", "_home")

    def __init__(self, pool: Pool, size: int, home: Stream) -> None:
        super().__init__()
        self.size = size
        self._pool = pool
        self._home = home

    def __del__(self) -> None:
        self._pool.given_back(self, self._home)


class Pool:
    """The memory that a device's arrays have together."""

    def __init__(self) -> None:
        self.used = 0
        self.peak = 0
        self._limit = 0
        self._early: dict[int, Early] = {}  # by the number of the stream
        self._lock = threading.RLock()  # memory is given back wherever an array goes

    def set_limit(self, size: int) -> None:
        self._limit = size

    def used_bytes(self) -> int:
        return self.used

    def malloc(self, size: int) -> Memory:
        """For the stream that is current."""
        stream = host.places[-1][1]
        assert stream is not None
        with self._lock:
            if self._limit and self.used + size > self._limit:
                raise OutOfMemoryError(size, self.used, self._limit)
            self.used += size
            self.peak = max(self.peak, self.used)
            if stream.number in self._early:
                self._early.pop(stream.number).must_be_over(stream.label, stream.clock)
        return Memory(self, size, stream)

    def given_back(self, memory: Memory, home: Stream) -> None:
        with self._lock:
            self.used -= memory.size
            left = memory.left(home.clock)
            if left:
                self._early.setdefault(home.number, Early()).add(left)


# ---- of the host


class PinnedMemory(Uses):
    """A piece of pinned memory. Who reads it keeps it; who writes there does not."""

    __slots__ = ("_early",)

    def __init__(self, early: Early) -> None:
        super().__init__()
        self._early = early

    def __del__(self) -> None:
        if self.written is not None and not is_over(self.written, over):
            self._early.add([self.written])


class PinnedArray(np.ndarray):
    """Host memory that devices read and write. Until one has written there, it holds poison.

    The host sees it as a plain array once the thread has waited for that: `view(np.ndarray)`.
    """

    uses: Any = None

    def __array_finalize__(self, source: Any) -> None:
        self.uses = getattr(source, "uses", None)

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        return getattr(ufunc, method)(*map(plain, args), **kwargs)

    def __getitem__(self, at: Any) -> Any:
        return plain(self)[at]

    def __setitem__(self, at: Any, value: Any) -> None:
        self.uses.writing("the host", host.clock)
        self._bare()[at] = value

    def view(self, *args: Any) -> Any:  # type: ignore[override]
        return plain(self).view(*args)

    def tolist(self) -> Any:
        return plain(self).tolist()

    def _bare(self) -> np.ndarray[Any, Any]:
        return np.ndarray.view(self, np.ndarray)

    def written_by(self, stream: Stream, values: np.ndarray[Any, Any]) -> None:
        """The stream copies the values there."""
        stamp = stream.begin("a copy to the host")
        self.uses.writing(stamp, stream.clock)
        memory = np.ndarray(self.shape, self.dtype, self.base)  # also when the array is gone
        stream.then(lambda: np.copyto(memory, values))

    def read_by(self, stream: Stream) -> np.ndarray[Any, Any]:
        """The values, which the stream has not copied before it comes there."""
        stamp = stream.begin("a copy from the host")
        self.uses.reading(stamp, stream.clock)
        kept = self._bare()
        stream.then(lambda: kept)
        return kept.copy()


def plain(x: Any) -> Any:
    """Pinned memory as the host reads it, in order; all else as it is."""
    if isinstance(x, PinnedArray):
        x.uses.reading("the host", host.clock)
        return x._bare()
    return x


def empty_pinned(shape: Any, dtype: Any, early: Early) -> PinnedArray:
    """New pinned memory; `early`: of the memory that it may be."""
    early.must_be_over("the host", over)
    size = math.prod(shape) * np.dtype(dtype).itemsize
    array = PinnedArray(shape, dtype, bytearray([POISON]) * size)
    array.uses = PinnedMemory(early)
    return array
