"""What a fake GPU has of `cupy.cuda`: devices, streams, events and memory pools."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from minitf_runtime.devices import fake_stream
from minitf_runtime.devices.fake_memory import Pool
from minitf_runtime.devices.fake_stream import Stream, host


class CUDARuntimeError(RuntimeError):
    """What the driver says is wrong."""


class FakeCuda:
    """`cupy.cuda` of one fake GPU."""

    MemoryPool = Pool

    def __init__(self, gpu: Any) -> None:
        self._gpu = gpu
        self.runtime = _Runtime(gpu)

    @contextmanager
    def Device(self, index: int) -> Iterator[None]:
        """Makes the device current, and none of its streams."""
        if index != self._gpu.index:
            raise CUDARuntimeError("cudaErrorInvalidDevice: invalid device ordinal")
        host.places.append((self._gpu, None))
        try:
            yield
        finally:
            host.places.pop()

    def Stream(self, *, non_blocking: bool) -> Stream:
        if not non_blocking:
            raise ValueError("a stream that waits for the null stream, and that for it")
        return self._gpu.make_stream()  # type: ignore[no-any-return]

    def Event(self, *, disable_timing: bool) -> fake_stream.Event:
        if not disable_timing:
            raise ValueError("an event that takes down the time is slow")
        return fake_stream.Event()

    @contextmanager
    def using_allocator(self, malloc: Callable[[int], Any]) -> Iterator[None]:
        host.allocators.append(malloc)
        try:
            yield
        finally:
            host.allocators.pop()


class _Runtime:
    CUDARuntimeError = CUDARuntimeError

    def __init__(self, gpu: Any) -> None:
        self._gpu = gpu

    def memGetInfo(self) -> tuple[int, int]:
        """The bytes that are free, and how many there are."""
        return self._gpu.total, self._gpu.total
