"""Requests and their replies over any sender of frames."""

from __future__ import annotations

import threading
from collections.abc import Callable
from itertools import count
from typing import Any

from minitf_runtime.errors import OpError, UnavailableError
from minitf_runtime.wire.codec import encode
from minitf_runtime.wire.messages import Message

Done = Callable[[Any, BaseException | None], None]


class Requests:
    """Requests of this process that wait for their Reply."""

    def __init__(self) -> None:
        self._waiting: dict[int, tuple[str, Done]] = {}
        self._numbers = count(1)
        self._lock = threading.Lock()

    def send(
        self, address: str, send: Callable[[list[Any]], None], message: Message, done: Done
    ) -> int:
        """Sends a request; `done(value, error)` is called once, by whichever thread knows."""
        number = next(self._numbers)
        with self._lock:
            self._waiting[number] = (address, done)
        try:
            send(encode((number, message)))
        except BaseException:
            self.forget(number)
            raise
        return number

    def forget(self, number: int) -> None:
        with self._lock:
            self._waiting.pop(number, None)

    def answer(self, number: int, value: Any, error: BaseException | None) -> None:
        with self._lock:
            found = self._waiting.pop(number, None)
        if found is not None:
            found[1](value, error)

    def lost(self, address: str, who: str) -> None:
        """Fails all requests to an address whose process is gone."""
        with self._lock:
            gone = [(n, d) for n, (a, d) in self._waiting.items() if a == address]
            for n, _ in gone:
                del self._waiting[n]
        for _, done in gone:
            done(None, UnavailableError(None, None, f"The connection to {who} was lost"))


class Waiter:
    """A `done` that a thread waits for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lock.acquire()
        self._value: Any = None
        self._error: BaseException | None = None

    def __call__(self, value: Any, error: BaseException | None) -> None:
        self._value, self._error = value, error
        self._lock.release()

    def wait(self, timeout: float | None = None) -> Any:
        """The value; raises the error, or TimeoutError."""
        if not self._lock.acquire(timeout=-1 if timeout is None else timeout):
            raise TimeoutError
        if self._error is not None:
            raise self._error if isinstance(self._error, OpError) else self._error
        return self._value
