"""Streams and events of fake GPUs, and the order of what touches their memory.

Each stream and each thread of the host knows how far it has waited for every stream: a vector
clock, which events hand on. Who touches memory and has not waited for what was done to it before
gets an OutOfOrder, however the delays fall.
"""

from __future__ import annotations

import queue
import random
import sys
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any, NamedTuple

LONGEST_DELAY = 0.001  # of one piece of work on a stream, in seconds

Clock = dict[int, int]  # the number of a stream -> the last of its tickets that is known to be over


class OutOfOrder(RuntimeError):
    """Memory is touched before what was done to it is known to be over."""


class Stamp(NamedTuple):
    """One piece of work on a stream."""

    stream: int
    ticket: int
    work: str
    where: str

    def __str__(self) -> str:
        return f"{self.work} on {self.where}"


class _Host(threading.local):
    """What a thread of the host knows, and what is current in it, the innermost last."""

    def __init__(self) -> None:
        self.clock: Clock = {}
        self.places: list[tuple[Any, Stream | None]] = []  # device and stream
        self.allocators: list[Callable[[int], Any]] = []


host = _Host()
over: Clock = {}  # what is known to any thread of the host
_numbers = count(1)
_merging = threading.Lock()


def learn(clock: Clock, of: Mapping[int, int]) -> None:
    for stream, ticket in of.items():
        if clock.get(stream, 0) < ticket:
            clock[stream] = ticket


def is_over(stamp: Stamp | None, clock: Mapping[int, int]) -> bool:
    """Whether who knows `clock` need not wait for that work."""
    return stamp is None or clock.get(stamp.stream, 0) >= stamp.ticket


class Uses:
    """Who wrote to some memory last, and who has read it since."""

    __slots__ = ("written", "read")

    def __init__(self, written: Stamp | None = None) -> None:
        self.written = written
        self.read: dict[int, Stamp] = {}

    def reading(self, by: Stamp | str, clock: Clock) -> None:
        """Work on a stream reads it, or the host, who know `clock`."""
        _must_be_over(self.written, "written", by, clock)
        if isinstance(by, Stamp):
            self.read[by.stream] = by

    def writing(self, by: Stamp | str, clock: Clock) -> None:
        _must_be_over(self.written, "written", by, clock)
        for reader in self.read.values():
            _must_be_over(reader, "read", by, clock)
        self.read = {}
        self.written = by if isinstance(by, Stamp) else None

    def left(self, clock: Mapping[int, int]) -> list[Stamp]:
        """The uses that are not known to be over."""
        return [s for s in (self.written, *self.read.values()) if s and not is_over(s, clock)]


def _must_be_over(stamp: Stamp | None, done: str, by: Stamp | str, clock: Clock) -> None:
    if not is_over(stamp, clock):
        text = f"{by} touches memory that is {done} by {stamp}, and has not waited for it"
        raise OutOfOrder(text)


class Event:
    """A point on a stream, with what is known to who has waited for it."""

    def __init__(self) -> None:
        self._passed = threading.Event()
        self.clock: Clock = {}

    @property
    def done(self) -> bool:
        return self._passed.is_set()

    def record(self, stream: Stream) -> None:
        self.clock = stream.now()
        stream.then(self._passed.set)

    def synchronize(self) -> None:
        """Returns once the stream has come here. Of an event that was never recorded, at once."""
        if self.clock:
            self._passed.wait()
        learn(host.clock, self.clock)
        with _merging:
            learn(over, self.clock)


class Stream:
    """Does what it is told in order, each after a random delay, in a thread that ends with it.

    `with stream:` makes it current in the thread that says so.
    """

    def __init__(self, gpu: Any, seed: int) -> None:
        self.gpu = gpu
        self.number = next(_numbers)
        self.label = f"stream {self.number} of {gpu}"
        self.clock: Clock = {self.number: sys.maxsize}
        self.delays = random.Random(seed)
        self._last = 0
        self._lock = threading.Lock()
        self._work: queue.SimpleQueue[Callable[[], Any] | None] = queue.SimpleQueue()
        work = (self._work, self.delays)
        self.thread = threading.Thread(target=_follow, args=work, daemon=True)
        self.thread.start()
        weakref.finalize(self, self._work.put, None)

    def __enter__(self) -> Stream:
        host.places.append((self.gpu, self))
        return self

    def __exit__(self, *error: Any) -> None:
        host.places.pop()

    def begin(self, work: str) -> Stamp:
        """The next piece of work, after all that the thread that asks for it knows."""
        with self._lock:
            learn(self.clock, host.clock)
            self._last += 1
            return Stamp(self.number, self._last, work, self.label)

    def now(self) -> Clock:
        """What is known to who waits for all that was begun so far."""
        with self._lock:
            return {**self.clock, self.number: self._last}

    def then(self, work: Callable[[], Any]) -> None:
        self._work.put(work)

    def record(self) -> Event:
        event = Event()
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """What comes later here comes after the event."""
        with self._lock:
            learn(self.clock, event.clock)

    def synchronize(self) -> None:
        self.record().synchronize()


def _follow(work: queue.SimpleQueue[Callable[[], Any] | None], delays: random.Random) -> None:
    while (do := work.get()) is not None:
        time.sleep(delays.random() * LONGEST_DELAY)
        do()
