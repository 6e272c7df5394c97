"""A GPU for tests: a GpuDevice on an array module that is NumPy in disguise (fake_module.py).

Kernels compute at once; what may come late are copies to the host, after random delays (of
MINITF_FAKE_GPU_SEED). That nobody relies on the order in which things happen to be done is checked
for each piece of memory (fake_stream.py).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from minitf_runtime.devices.fake_array import FakeArray
from minitf_runtime.devices.fake_memory import Early, Memory
from minitf_runtime.devices.fake_module import FakeModule
from minitf_runtime.devices.fake_stream import Stream, host
from minitf_runtime.devices.gpu_device import GpuDevice

TOTAL_MEMORY = 16 << 30


class HiddenSynchronisation(RuntimeError):
    """The host would have waited for the device in a place that does not say so."""


class FakeGpu(GpuDevice):
    """The device, and what its arrays and its array module ask of one.

    It counts copies: `uploads` and `downloads` by to_device and to_host, `kernel_uploads` and
    `kernel_downloads` of others, `synchronisations` of code that was allowed to.
    """

    def __init__(self, index: int, fraction: float = 0.0, total: int = TOTAL_MEMORY) -> None:
        self.total = total
        self.uploads = self.downloads = 0
        self.brought_up = self.brought_down = 0
        self.synchronisations = 0
        self.early = Early()  # of pinned memory
        self._allowed = threading.local()  # .depth: of the blocks that may wait for the device
        self._counting = threading.Lock()
        super().__init__(index, xp := FakeModule(self), xp.empty_pinned, fraction)

    @property
    def kernel_uploads(self) -> int:
        return self.brought_up - self.uploads

    @property
    def kernel_downloads(self) -> int:
        return self.brought_down - self.downloads

    @property
    def peak(self) -> int:
        """The most memory that was in use."""
        return self._pool.peak  # type: ignore[no-any-return]

    @property
    def delays(self) -> Any:
        """What the delays of the stream are drawn from."""
        return self._stream.delays

    def to_device(self, array: Any) -> Any:
        if not isinstance(array, (np.ndarray, np.generic)):
            raise TypeError(f"to_device takes a numpy array, got {type(array).__name__}")
        self.count("uploads")
        return super().to_device(array)

    def to_host(self, array: Any) -> np.ndarray[Any, Any]:
        if not isinstance(array, FakeArray) or array.gpu is not self:
            raise TypeError(f"{self} cannot read {type(array).__name__}")
        self.count("downloads")
        return super().to_host(array)

    # ---- for the arrays and their module

    def make_stream(self) -> Stream:
        seed = int(os.environ.get("MINITF_FAKE_GPU_SEED", "0"))
        return Stream(self, seed * 1000 + self.index)

    def current_stream(self, work: str) -> Stream:
        """Where work goes that this thread asks for. Raises RuntimeError if that is not said."""
        gpu, stream = host.places[-1] if host.places else (None, None)
        if gpu is not self:
            raise RuntimeError(f"{work}: {self} is not current in this thread")
        if stream is None:
            raise RuntimeError(f"{work}: no stream of {self} is current in this thread")
        return stream

    def allocate(self, size: int) -> Memory:
        if not host.allocators:
            raise RuntimeError(f"memory of {self} that is in no pool")
        return host.allocators[-1](size)  # type: ignore[no-any-return]

    def count(self, what: str) -> None:
        with self._counting:
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

    def __repr__(self) -> str:
        return f"<fake GPU {self.index}>"
