"""The CPU as a device: what a process sets up once before it computes."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
KEEP_BYTES = 1 << 30


@cache
def keep_freed_memory() -> bool:
    """Makes glibc keep freed memory for the next tensors; False on other C libraries.

    By default each array of 128 KiB or more is mapped afresh and its pages fault in one by one: on
    a chain of elementwise ops over 4 MB arrays more than half of the time (docs/performance.md).
    MINITF_MALLOC=default leaves the C library as it is.
    """
    if os.environ.get("MINITF_MALLOC") == "default":
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    return bool(mallopt(M_MMAP_THRESHOLD, KEEP_BYTES) and mallopt(M_TRIM_THRESHOLD, KEEP_BYTES))


class _Blas:
    """The number of threads of the BLAS in this process, while ops share their work themselves."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._before: list[tuple[Any, int]] = []

    def narrow(self) -> None:
        with self._lock:
            self._users += 1
            if self._users == 1:
                self._before = [(library, library.num_threads) for library in _blas_libraries()]
                for library, _ in self._before:
                    library.set_num_threads(1)

    def widen(self) -> None:
        with self._lock:
            self._users -= 1
            if not self._users:
                for library, threads in self._before:
                    library.set_num_threads(threads)


@cache
def _blas_libraries() -> list[Any]:
    from threadpoolctl import ThreadpoolController

    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


_blas = _Blas()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """BLAS calls of the block run in the thread that makes them."""
    _blas.narrow()
    try:
        yield
    finally:
        _blas.widen()


class _Workers:
    """The threads that share the work of one op: as many as the process may keep busy."""

    def __init__(self) -> None:
        self.threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
        self._pool: ThreadPoolExecutor | None = None
        self._lock = threading.Lock()

    def pool(self) -> ThreadPoolExecutor:
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(self.threads - 1, "minitf-block")
            return self._pool


_workers = _Workers()


def parallel(work: Callable[[int, int], None], size: int, step: int) -> None:
    """Calls work(start, stop) for shares of range(size), of whole steps, one for each thread."""
    steps = -(-size // step)
    shares = min(_workers.threads, steps)
    if shares < 2:
        work(0, size)
        return
    bounds = [min(size, steps * i // shares * step) for i in range(shares)] + [size]
    others = [_workers.pool().submit(work, a, b) for a, b in zip(bounds[1:], bounds[2:])]
    work(bounds[0], bounds[1])
    for other in others:
        other.result()


def use_threads(count: int) -> None:
    """How many threads one op may use in this process."""
    _workers.threads = count
