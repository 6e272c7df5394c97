"""The readers themselves: they take names of work from a queue and give its records one by one.

The ops are in readers.py.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import IO, Any

import numpy as np

from minitf_runtime.errors import OutOfRangeError, UnimplementedError, invalid
from minitf_runtime.ops.queue_state import Dequeue, Queue
from minitf_runtime.storage import compression
from minitf_runtime.storage.files import named, read_whole
from minitf_runtime.storage.protobuf import DecodeError, bytes_field, fields, int_field, signed
from minitf_runtime.storage.records import placed_records
from minitf_runtime.types import string

Record = tuple[bytes, bytes]  # key, value
Records = Callable[[bytes], Iterator[Record]]  # of one unit of work


@dataclass
class Progress:
    """What a reader has done, in the fields of TensorFlow's ReaderBaseState."""

    work_started: int = 0
    work_finished: int = 0
    num_records_produced: int = 0
    current_work: bytes = b""

    def to_bytes(self) -> bytes:
        numbers = self.work_started, self.work_finished, self.num_records_produced
        out = b"".join(int_field(n, value) for n, value in enumerate(numbers, 1) if value)
        return out + (bytes_field(4, self.current_work) if self.current_work else b"")

    def __str__(self) -> str:
        return "\n".join(f"{name}: {value!r}" for name, value in vars(self).items() if value)

    @classmethod
    def from_bytes(cls, data: bytes) -> Progress:
        """Raises DecodeError."""
        state = cls()
        for number, _, value in fields(data):
            if number == 4:
                state.current_work = value
            elif number <= 3:
                name = ("work_started", "work_finished", "num_records_produced")[number - 1]
                setattr(state, name, signed(value))
        return state


class Reader:
    """Gives the records of one unit of work after the other. Steps take turns.

    A unit that cannot be read is given up: the step fails, and the next one begins another unit.
    Only when a unit is a `single` record can the state be kept.
    """

    def __init__(self, name: str, kind: str, records: Records, single: bool) -> None:
        self.name = name
        self.kind = kind
        self._records = records
        self._single = single
        self._progress = Progress()
        self._current: Iterator[Record] | None = None
        self._condition = threading.Condition()
        self._taken = False

    @property
    def num_records_produced(self) -> int:
        return self._progress.num_records_produced

    @property
    def num_work_units_completed(self) -> int:
        return self._progress.work_finished

    def read(self, queue: Queue, step: Any) -> Record:
        """The next record; waits for work. Raises OutOfRangeError when the queue is closed."""
        return self.read_up_to(queue, 1, step)[0]

    def read_up_to(self, queue: Queue, most: int, step: Any) -> list[Record]:
        """Records of one unit of work: at least one, unless none are wanted."""
        with self._turn(step):
            while most:
                if self._current is None:
                    self._begin(_next_work(queue, step))
                found = self._take(most)
                self._progress.num_records_produced += len(found)
                if len(found) < most or self._single:
                    self._end()
                if found:
                    return found
            return []

    def _take(self, most: int) -> list[Record]:
        try:
            return list(islice(self._current or (), most))
        except Exception:
            self._end()
            raise

    def _begin(self, work: bytes) -> None:
        self._progress.work_started += 1
        self._progress.current_work = work
        self._current = self._records(work)

    def _end(self) -> None:
        self._current = None
        self._progress.work_finished = self._progress.work_started

    def reset(self, step: Any) -> None:
        with self._turn(step):
            self._progress = Progress()
            self._current = None

    def serialize(self, step: Any) -> bytes:
        if not self._single:
            raise UnimplementedError(None, None, "Reader SerializeState")
        with self._turn(step):
            return self._progress.to_bytes()

    def restore(self, data: bytes, step: Any) -> None:
        if not self._single:
            raise UnimplementedError(None, None, "Reader RestoreState")
        with self._turn(step):
            self._progress = self._parsed(data)
            self._current = None

    def _parsed(self, data: bytes) -> Progress:
        whose = f"{self.kind} '{self.name}'"
        try:
            state = Progress.from_bytes(data)
        except DecodeError:
            shown = data.decode("latin-1").encode("unicode_escape").decode()
            raise invalid(f"Could not parse state for {whose}: {shown}") from None
        numbers = state.work_started, state.work_finished, state.num_records_produced
        if min(numbers) < 0:
            raise invalid(f"Unexpected negative value when restoring in {whose}: {state}")
        if state.work_started != state.work_finished:
            raise invalid(
                f"Inconsistent work started vs. finished when restoring in {whose}: {state}"
            )
        return state

    @contextmanager
    def _turn(self, step: Any) -> Iterator[None]:
        """Keeps other steps away. Raises the step's error if it is cancelled meanwhile."""
        with self._condition:
            step.wait_for(
                self._condition,
                lambda: not self._taken,
                lambda: (self.kind, self.name, "is in use by another step"),
            )
            self._taken = True
        try:
            yield
        finally:
            with self._condition:
                self._taken = False
                self._condition.notify_all()


def _next_work(queue: Queue, step: Any) -> bytes:
    """One element of a queue of strings; waits for it."""
    if len(queue.types) != 1:
        raise invalid("Expected single component queue")
    if queue.types[0] is not string:
        raise invalid("Expected queue with single string component")
    attempt = Dequeue(1)
    queue.attempt(attempt, step)
    (work,) = attempt.taken[0]
    if np.size(work) != 1:
        raise invalid("Expected to dequeue a one-element string tensor")
    return np.asarray(work, object).item()  # type: ignore[no-any-return]


# ---- what a unit of work holds


def whole(work: bytes) -> Iterator[Record]:
    """The work itself."""
    yield work, work


def whole_file(work: bytes) -> Iterator[Record]:
    yield work, read_whole(work.decode())


def text_lines(work: bytes, skip: int) -> Iterator[Record]:
    """Lines without their ends, numbered from 1."""
    path = work.decode()
    with named(path), open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            if number > skip:
                text = line[:-1] if line.endswith(b"\n") else line
                yield b"%s:%d" % (work, number), text.removesuffix(b"\r")


def tf_records(work: bytes, compressed: str) -> Iterator[Record]:
    for at, record in placed_records(work.decode(), compressed):
        yield b"%s:%d" % (work, at), record


@dataclass(frozen=True)
class Layout:
    """Records of one length, between a header and a footer; `hop` bytes from one to the next."""

    header_bytes: int
    record_bytes: int
    footer_bytes: int
    hop_bytes: int

    def records(self, work: bytes, compressed: str) -> Iterator[Record]:
        path = work.decode()
        with named(path), open(path, "rb") as raw:
            for i, record in enumerate(self._cut(compression.reader(raw, compressed))):
                yield b"%s:%d" % (work, i), record

    def _cut(self, file: IO[bytes]) -> Iterator[bytes]:
        if len(file.read(self.header_bytes)) < self.header_bytes:
            raise OutOfRangeError(None, None, "reached end of file")
        size = self.record_bytes + self.footer_bytes  # what follows a record is at least the footer
        hop = self.hop_bytes or self.record_bytes
        window = file.read(size)
        while len(window) == size:
            yield window[: self.record_bytes]
            file.read(max(0, hop - size))
            window = window[hop:]
            window += file.read(size - len(window))
