"""Lanes: what other tasks of this machine send is read by a thread that waits for something.

So nothing stands between a packet and the thread that needs it. What a packet is: lane.py.
"""

from __future__ import annotations

import os
import select
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from minitf_runtime.threads import Signal, Threads
from minitf_runtime.transport.lane import Connection, check_user, listener

SPIN_SECONDS = 0.0003  # how long a leader looks before it sleeps, where that usually helps
TICK_SECONDS = 0.005  # how long what nobody waits for may lie unread
TICKS_AWAKE = 100  # without a message, until a deputy sleeps

Receive = Callable[[bytes, bytes, Sequence[Any]], Callable[[], None] | None]


class Lanes:
    """The receiving side of all lanes to one task. Raises OSError if its name is in use.

    One thread at a time reads: the leader. A thread that waits for a signal leads if nobody else
    does, so that usually no thread stands between a packet and the one that waits for it. While
    nobody waits for anything one of our own leads, a deputy. It goes on with the request that it
    receives, and keeps out of the way as long as others lead now and then.
    """

    def __init__(self, address: str, receive: Receive) -> None:
        self._receive = receive
        self._leading = threading.Lock()
        self._read = 0  # messages
        self._usual_wait = 1.0  # seconds
        self._followers: deque[Signal] = deque()
        self._threads = Threads("minitf-lanes")
        self._deputies = 2  # those that do not work on a request
        self._asleep: deque[Signal] = deque()  # of these
        self._lock = threading.Lock()
        self._closed = False
        self._connections: dict[int, Connection] = {}
        self._open: set[bytes] = set()  # names of lanes that are not read before that
        self._held: dict[bytes, Connection] = {}
        self._listener = listener(address)
        self._event = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._poll = select.epoll()
        self._poll.register(self._event, select.EPOLLIN)
        self._poll.register(self._listener, select.EPOLLIN)

    def start(self) -> None:
        """Begins to receive; what has come before is kept until then."""
        for _ in range(self._deputies):
            self._threads.start(self._stand_in)

    def wait(self, signal: Signal, timeout: float | None = None) -> None:
        """Waits until the signal is set, at most that many seconds, and reads what comes."""
        until = None if timeout is None else time.monotonic() + timeout
        try:
            while not signal.is_set and not self._closed:
                left = None if until is None else until - time.monotonic()
                if left is not None and left <= 0:
                    return
                if self._leading.acquire(blocking=False):
                    self._lead(signal, left)
                else:
                    self._follow(signal, left)
        finally:
            self._pass_on()

    def open(self, name: bytes) -> None:
        """Begins to read a lane: all that its sender has sent before has come."""
        with self._lock:
            self._open.add(name)
            held = self._held.pop(name, None)
            if held is not None and not self._closed:
                self._poll.register(held.socket, select.EPOLLIN)

    def close(self) -> None:
        """Stops to receive; frees the name."""
        self._closed = True
        self._interrupt()
        with suppress(IndexError):
            while True:
                self._asleep.popleft().wake()
        with self._leading, self._lock:  # another thread may be opening a lane
            for c in self._connections.values():
                c.close()
            self._listener.close()
            self._poll.close()
            os.close(self._event)

    # ---- who reads

    def _lead(self, signal: Signal, timeout: float | None) -> None:
        try:
            work = self._take(signal, timeout)
        finally:
            self._leading.release()
        if work is not None:
            self._threads.start(partial(self._stand_in, work))

    def _follow(self, signal: Signal, timeout: float | None) -> None:
        self._followers.append(signal)
        try:
            if self._leading.locked():
                signal.pause(timeout)
        finally:
            self._followers.remove(signal)

    def _pass_on(self) -> None:
        """Lets the next thread lead, if there is no leader."""
        if self._leading.locked():
            return
        with suppress(IndexError):
            if self._followers:
                self._followers[0].wake()
            elif len(self._asleep) >= self._deputies:
                self._asleep.popleft().wake()

    def _stand_in(self, work: Callable[[], None] | None = None) -> None:
        """The life of a deputy, which may begin with a request to work on."""
        signal = Signal()
        while not self._closed:
            if work is not None:
                work()
                with self._lock:
                    self._deputies += 1
            work = self._lead_alone(signal)
            if work is not None:
                self._leave()
            self._pass_on()
            if work is None and self._is_one_too_many():
                return
            if work is None:
                self._rest(signal)

    def _lead_alone(self, signal: Signal) -> Callable[[], None] | None:
        """Leads while nobody waits for anything; gives back a request."""
        if not self._leading.acquire(blocking=False):
            return None
        try:
            while not self._closed:
                work = self._take(signal, None)
                if work is not None or self._followers:
                    return work
            return None
        finally:
            self._leading.release()

    def _rest(self, signal: Signal) -> None:
        """Until messages lie unread, or might."""
        quiet = 0
        while not self._closed:
            seen = self._read
            signal.pause(TICK_SECONDS)
            quiet = 0 if self._read != seen else quiet + 1
            if quiet and not self._leading.locked():
                return
            if quiet > TICKS_AWAKE:
                self._sleep(signal)
                return

    def _sleep(self, signal: Signal) -> None:
        """Until there is no leader any more."""
        self._asleep.append(signal)
        if self._leading.locked() and not self._closed:
            signal.pause()
        with suppress(ValueError):
            self._asleep.remove(signal)

    def _is_one_too_many(self) -> bool:
        with self._lock:
            surplus = self._deputies > 2
            self._deputies -= surplus
            return surplus

    def _leave(self) -> None:
        """A deputy turns to a request; another one must stay."""
        with self._lock:
            self._deputies -= 1
            alone = not self._deputies
            self._deputies += alone
        if alone:
            self._threads.start(self._stand_in)

    # ---- the leader

    def _interrupt(self) -> None:
        with suppress(OSError):
            os.eventfd_write(self._event, 1)

    def _take(self, signal: Signal, timeout: float | None) -> Callable[[], None] | None:
        """Waits for one event, which the setting of the signal is too."""
        signal.rouse = self._interrupt
        try:
            if signal.is_set or self._closed:
                return None
            events = self._await_event(timeout)
        finally:
            signal.rouse = None
        for fd, _ in events:
            if fd == self._event:
                os.eventfd_read(fd)
            elif fd == self._listener.fileno():
                self._accept()
            else:
                return self._message(self._connections[fd])
        return None

    def _await_event(self, timeout: float | None) -> list[tuple[int, int]]:
        """Where events usually come soon, the thread does not sleep at once: a core that sleeps
        takes longer to wake up than a small message on its way."""
        start = now = time.perf_counter()
        events: list[tuple[int, int]] = []
        if self._usual_wait < SPIN_SECONDS:
            while not events and now - start < SPIN_SECONDS:
                events = self._poll.poll(0, 1)
                if not events:
                    os.sched_yield()  # the sender may need this core
                now = time.perf_counter()
        if not events:
            events = self._poll.poll(timeout, 1)
            now = time.perf_counter()
        self._usual_wait += (min(now - start, 4 * SPIN_SECONDS) - self._usual_wait) / 16
        return events

    def _accept(self) -> None:
        s, _ = self._listener.accept()
        try:
            check_user(s)
        except PermissionError:
            s.close()
            return
        self._connections[s.fileno()] = Connection(s)
        self._poll.register(s, select.EPOLLIN)

    def _message(self, c: Connection) -> Callable[[], None] | None:
        try:
            message = c.read()
        except Exception:  # not the packets of a lane
            message = None
        if message is None:
            self._poll.unregister(c.socket)
            del self._connections[c.socket.fileno()]
            self._open.discard(c.name)
            c.close()
            return None
        header, frames = message
        if not header:
            self._hold(c)
            return None
        self._read += 1
        return self._receive(c.name.split()[0], header, frames)

    def _hold(self, c: Connection) -> None:
        with self._lock:
            if c.name not in self._open:
                self._held[c.name] = c
                self._poll.unregister(c.socket)
