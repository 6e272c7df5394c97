"""Whether threads of BLAS hinder each other, as they do while they share a core.

What a virtual machine takes for two cores may be two hardware threads of one, for seconds at a
time. A thread of BLAS that waits for the other looks without pause, and takes what the other
needs: small products are then faster in one thread (docs/performance.md). Large ones never are.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from minitf_runtime.devices.cpu import (
    blas_has_threads,
    blas_is_narrow,
    cores_of_ops,
    one_blas_thread,
)

PERIOD = 0.5  # seconds between looks: one takes half a millisecond
SIZE = 136  # of the matrices: 2.5 million multiplications
CALLS = 4  # the fastest counts
SMALL = 1 << 23  # multiplications of a product: from there on two threads are faster all the same


def product_time() -> float:
    """Seconds that a small product takes now."""
    a = np.ones((SIZE, SIZE), np.float32)
    out = np.empty_like(a)
    np.dot(a, a, out=out)  # BLAS wakes its threads
    seconds = []
    for _ in range(CALLS):
        start = time.perf_counter()
        np.dot(a, a, out=out)
        seconds.append(time.perf_counter() - start)
    return min(seconds)


class Siblings:
    """Looks now and then which is faster, and keeps small products to that."""

    def __init__(
        self,
        measure: Callable[[], float] = product_time,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._measure, self._now = measure, now
        self._lock = threading.Lock()
        self._next: float | None = None
        self._hinder = False

    @contextmanager
    def small_products(self) -> Iterator[None]:
        """The block's products are small; they use as many threads as are good for them."""
        if self._hinder_now():
            with one_blas_thread():
                yield
        else:
            yield

    def _hinder_now(self) -> bool:
        now = self._now()
        if self._next is None:
            self._next = now + PERIOD  # who takes only a few steps need not know
        elif now >= self._next and self._lock.acquire(blocking=False):
            try:
                self._next = now + PERIOD
                self._look()
            finally:
                self._lock.release()
        return self._hinder

    def _look(self) -> None:
        if cores_of_ops() < 2 or blas_is_narrow() or not blas_has_threads():
            self._hinder = False
            return
        together = self._measure()
        with one_blas_thread():
            alone = self._measure()
        self._hinder = alone < together


siblings = Siblings()
