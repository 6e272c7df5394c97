"""The CPU as a device: what a process sets up once before it computes."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from minitf_runtime.threads import Threads

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
KEEP_BYTES = 1 << 30
SPIN_VARIABLE = "OPENBLAS_THREAD_TIMEOUT"
SPIN = 21  # 2**21 ticks of the processor's clock, some 0.7 ms


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


@cache
def let_blas_rest() -> bool:
    """Makes threads of OpenBLAS sleep once they found no work for some 0.7 ms; False where it
    cannot.

    They would look for 0.1 s, without pause, on cores that the ops after a product need: an Adam
    update took 1.3 times as long (docs/performance.md). OpenBLAS reads this from the environment
    when it is loaded, which is when NumPy is; so it is made to read it again, which it survives
    only while nobody multiplies: where there are other threads it is left alone, as is a value that
    the user has set.
    """
    if SPIN_VARIABLE in os.environ or threading.active_count() > 1:
        return False
    done = False
    for library in _blas_libraries():
        if getattr(library, "threading_layer", "") != "pthreads":
            continue
        steps = [
            getattr(library.dynlib, name, None)
            for name in (
                "openblas_read_env",
                "blas_thread_shutdown_",
            )  # the next product starts them
        ]
        if all(steps):
            os.environ[SPIN_VARIABLE] = str(SPIN)
            for step in steps:
                step()  # type: ignore[misc]
            del os.environ[SPIN_VARIABLE]
            done = True
    return done


class _Blas:
    """The number of threads of the BLAS in this process, while ops share their work themselves."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.users = 0
        self._before: list[tuple[Any, int]] = []

    def narrow(self) -> None:
        with self._lock:
            self.users += 1
            if self.users == 1:
                self._before = [(library, library.num_threads) for library in _blas_libraries()]
                for library, _ in self._before:
                    library.set_num_threads(1)

    def widen(self) -> None:
        with self._lock:
            self.users -= 1
            if not self.users:
                for library, threads in self._before:
                    library.set_num_threads(threads)


@cache
def _blas_libraries() -> list[Any]:
    from threadpoolctl import ThreadpoolController

    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


_blas = _Blas()


def blas_is_narrow() -> bool:
    """Whether some block has turned the threads of BLAS off."""
    return _blas.users > 0


def blas_has_threads() -> bool:
    """Whether BLAS may use more than one."""
    return any(library.num_threads > 1 for library in _blas_libraries())


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """BLAS calls of the block run in the thread that makes them.

    Threads of BLAS spin for more work; they would take the cores from ops that share theirs.
    """
    _blas.narrow()
    try:
        yield
    finally:
        _blas.widen()


_threads = Threads("minitf-block")
_limit = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1


def use_threads(count: int) -> None:
    """How many threads one op may use in this process: all cores unless it is told otherwise."""
    global _limit
    _limit = count


def cores_of_ops() -> int:
    """How many threads one op may use."""
    return _limit


def keep_to_one_core() -> Callable[[], None]:
    """From now on an op and its BLAS calls stay in one thread. Gives what undoes it."""
    before = _limit
    use_threads(1)
    _blas.narrow()

    def undo() -> None:
        use_threads(before)
        _blas.widen()

    return undo


def parallel(work: Callable[[int, int], Any], size: int, step: int) -> None:
    """Calls work(start, stop) for equal shares of range(size), one for each thread.

    A share is worth a thread from `step` on. Raises what the first share that failed has raised,
    after all have ended.
    """
    shares = min(_limit, -(-size // step))
    if shares < 2:
        work(0, size)
        return
    bounds = [size * i // shares for i in range(shares + 1)]
    others = [_Share(work, a, b) for a, b in zip(bounds[1:], bounds[2:])]
    mine = _attempt(work, bounds[0], bounds[1])
    for other in others:
        other.done.acquire()
    for error in (mine, *(other.error for other in others)):
        if error is not None:
            raise error


def blocks(start: int, stop: int, largest: int) -> list[slice]:
    """The range as equal slices of at most that many."""
    size = stop - start
    count = -(-size // largest)
    bounds = [start + size * i // count for i in range(count)] + [stop]
    return [slice(a, b) for a, b in zip(bounds, bounds[1:])]


class _Share:
    """One share of the work, in a thread of its own."""

    def __init__(self, work: Callable[[int, int], Any], start: int, stop: int) -> None:
        self.error: BaseException | None = None
        self.done = threading.Lock()
        self.done.acquire()

        def run() -> None:
            self.error = _attempt(work, start, stop)
            self.done.release()

        _threads.start(run)


def _attempt(work: Callable[[int, int], Any], start: int, stop: int) -> BaseException | None:
    try:
        work(start, stop)
    except BaseException as e:  # noqa: BLE001  raised again by the thread that waits
        return e
    return None
