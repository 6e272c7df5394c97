"""One GPU as programs use it, on cupy or on what stands in for it (gpu.py opens it)."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import numpy as np

from minitf_runtime.errors import InternalError, ResourceExhaustedError

log = logging.getLogger("minitf")


class GpuDevice:
    """One GPU: a stream, a memory pool, and the array module whose work goes there.

    `with device:` makes it current in the thread that says so. empty_pinned: cupyx's.
    """

    def __init__(
        self, index: int, xp: Any, empty_pinned: Callable[..., Any], fraction: float = 0.0
    ) -> None:
        self.index = index
        self.xp = xp
        self._empty_pinned = empty_pinned
        self._pool = xp.cuda.MemoryPool()
        self._entered = threading.local()
        try:
            with xp.cuda.Device(index):
                total = xp.cuda.runtime.memGetInfo()[1]
                self._stream = xp.cuda.Stream(non_blocking=True)
                self.limit = int(total * fraction) if fraction else total
                self._pool.set_limit(size=self.limit)
        except xp.cuda.runtime.CUDARuntimeError as e:
            raise InternalError(None, None, f"GPU {index} cannot be opened: {e}") from e

    def __enter__(self) -> GpuDevice:
        stack = ExitStack()
        stack.enter_context(self.xp.cuda.Device(self.index))
        stack.enter_context(self.xp.cuda.using_allocator(self._pool.malloc))
        stack.enter_context(self._stream)
        self._entered.__dict__.setdefault("stacks", []).append(stack)
        return self

    def __exit__(self, *error: Any) -> None:
        self._entered.stacks.pop().close()

    def to_device(self, array: Any) -> Any:
        """A copy on the device; the host's array is free again at once.

        So the device reads a copy of it in pinned memory that nobody else has: of an array that is
        itself in pinned memory, as one that came from a GPU, cupy makes none.
        """
        with self:
            if array.ndim and array.size:
                pinned = self._pinned(array)
                pinned[...] = array
                array = pinned
            return self.xp.array(array)

    def to_host(self, array: Any) -> np.ndarray[Any, Any]:
        """A copy in pinned memory, which is there when an event recorded now has passed."""
        with self:
            pinned = self._pinned(array)
            self.xp.asnumpy(array, out=pinned, blocking=False)
        return pinned

    def _pinned(self, like: Any) -> np.ndarray[Any, Any]:
        try:
            return self._empty_pinned(like.shape, like.dtype)  # type: ignore[no-any-return]
        except MemoryError as e:
            text = f"no pinned host memory for a tensor of {like.nbytes:,} bytes: {e}"
            raise ResourceExhaustedError(None, None, text) from e

    def record(self) -> Any:
        """An event that passes when all that was begun so far is done: `synchronize()` waits."""
        with self:
            event = self.xp.cuda.Event(disable_timing=True)
            event.record(self._stream)
        return event

    def synchronize(self) -> None:
        self._stream.synchronize()

    def memory(self) -> tuple[int, int]:
        """The bytes in use, and how many may be."""
        return self._pool.used_bytes(), self.limit

    def fuse(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """The function of elementwise ops as one kernel; op by op where cupy cannot make one."""
        return _Fused(self.xp.fuse(fn), fn)


class _Fused:
    def __init__(self, fused: Callable[..., Any], plain: Callable[..., Any]) -> None:
        self._fused = fused
        self._plain = plain
        self._works = True

    def __call__(self, *args: Any) -> Any:
        if self._works:
            try:
                return self._fused(*args)
            except (TypeError, NotImplementedError, ValueError, AttributeError) as e:
                log.info("a fusion runs op by op: %s", e)
                self._works = False
        return self._plain(*args)
