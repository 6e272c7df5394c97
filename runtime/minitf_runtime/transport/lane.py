"""A lane: packets from one task to another of the same machine, over a Unix socket; both ends.

A large message lies in shared memory, and its packet says where. Only Linux has what it takes, and
both ends must belong to one user; else all goes by ZeroMQ. Who reads: lanes.py.
"""

from __future__ import annotations

import os
import select
import socket
import struct
import threading
from array import array
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from minitf_runtime.threads import Threads
from minitf_runtime.transport.segments import Mappings, Segment, Segments, aligned

VARIABLE = "MINITF_LANES"  # 0: everything goes by ZeroMQ
LARGEST_PACKET = 32768
_HEAD = struct.Struct("<qqI")  # segment (0: none), whether it is kept, number of frames
_NUMBER = struct.Struct("<q")
_UCRED = struct.Struct("3i")
_FD_SPACE = 32


def possible() -> bool:
    names = (socket, "SO_PEERCRED"), (os, "memfd_create"), (os, "eventfd"), (select, "epoll")
    return os.environ.get(VARIABLE) != "0" and all(hasattr(*name) for name in names)


def listener(address: str) -> socket.socket:
    """Where lanes to that address arrive. Raises OSError if the name is in use."""
    made = _packets()
    try:
        made.bind(_name(address))
    except OSError:
        made.close()
        raise
    made.listen()
    return made


def _packets() -> socket.socket:
    return socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_CLOEXEC)


def _name(address: str) -> str:
    """An abstract name: no file, and as private to the network namespace as the port is."""
    return f"\0minitf/{address}"


def check_user(s: socket.socket) -> None:
    """Raises PermissionError if the other end belongs to somebody else."""
    _, user, _ = _UCRED.unpack(s.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED.size))
    if user != os.getuid():
        raise PermissionError(f"a lane of user {user}")


class Lane:
    """The sending side. Raises OSError if there is none to that address, or none any more."""

    def __init__(self, address: str, identity: bytes) -> None:
        self.name = b"%s %s" % (identity, os.urandom(8).hex().encode())
        self._lock = threading.Lock()
        self._segments = Segments()
        self._backlog: deque[tuple[bytes, Segment | None]] = deque()  # for a reader that is slow
        self._threads = Threads("minitf-lane")
        self._socket = _packets()
        try:
            self._socket.connect(_name(address))
            check_user(self._socket)
            self._socket.send(self.name)
        except OSError:
            self._socket.close()
            raise

    def send(self, frames: Sequence[Any]) -> None:
        """Sends a message, without waiting for the other side."""
        sizes = [len(frame) for frame in frames]
        with self._lock:
            if sum(map(aligned, sizes)) <= LARGEST_PACKET:
                self._send(_inline(frames, sizes), None)
            else:
                self._send_large(frames, sizes)

    def close(self) -> None:
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        for _, new in self._backlog:
            if new is not None and new.is_new:
                new.close_file()

    # ---- with the lock held

    def _send_large(self, frames: Sequence[Any], sizes: Sequence[int]) -> None:
        self._take_back()
        segment = self._segments.take(sum(map(aligned, sizes)))
        segment.write(frames)
        head = _HEAD.pack(segment.number, segment.kept, len(sizes))
        packet = [head + struct.pack(f"<{len(sizes)}Q", *sizes)]
        self._send(packet, segment if segment.is_new else None)

    def _take_back(self) -> None:
        with suppress(BlockingIOError):
            while number := self._socket.recv(_NUMBER.size, socket.MSG_DONTWAIT):
                self._segments.give_back(*_NUMBER.unpack(number))

    def _send(self, packet: list[Any], new: Segment | None) -> None:
        if not self._backlog:
            with suppress(BlockingIOError):
                return self._transmit(packet, new, socket.MSG_DONTWAIT)
        self._backlog.append((b"".join(packet), new))
        if len(self._backlog) == 1:
            self._threads.start(self._send_backlog)

    # ---- any thread

    def _send_backlog(self) -> None:
        while True:
            packet, new = self._backlog[0]
            try:
                self._transmit([packet], new, 0)
            except OSError:
                return self.close()
            with self._lock:
                self._backlog.popleft()
                if not self._backlog:
                    return

    def _transmit(self, packet: list[Any], new: Segment | None, flags: int) -> None:
        if new is None:
            self._socket.sendmsg(packet, [], flags)
            return
        rights = array("i", [new.fd])
        self._socket.sendmsg(packet, [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)], flags)
        new.close_file()


def _inline(frames: Sequence[Any], sizes: Sequence[int]) -> list[Any]:
    head = _HEAD.pack(0, 0, len(sizes)) + struct.pack(f"<{len(sizes)}Q", *sizes)
    packet = [head, bytes(aligned(len(head)) - len(head))]
    for frame, n in zip(frames, sizes):
        packet += frame, bytes(aligned(n) - n)
    return packet


class Connection:
    """The receiving end of a lane."""

    def __init__(self, s: socket.socket) -> None:
        self.socket = s
        self.name = b""
        self._mappings = Mappings(self._give_back)
        self._owed: deque[int] = deque()  # segments that the sender is not told of yet

    def read(self) -> tuple[bytes, list[Any]] | None:
        """The next message, as header and frames; None once the sender is gone."""
        try:
            packet, rights, _, _ = self.socket.recvmsg(2 * LARGEST_PACKET, _FD_SPACE)
        except ConnectionResetError:  # told once; what was sent before can still be read
            return b"", []
        fds = array("i")
        for _, _, content in rights:
            fds.frombytes(content)
        if not packet:
            return None
        if not self.name:
            self.name = packet
            return b"", []
        number, kept, count = _HEAD.unpack_from(packet)
        sizes = struct.unpack_from(f"<{count}Q", packet, _HEAD.size)
        if number:
            shared = self._mappings.add(number, fds[0], kept) if fds else None
            header, *frames = self._mappings.frames(number, shared, sizes)
            return header, frames
        header, *frames = _views(packet, aligned(_HEAD.size + 8 * count), sizes)
        return header, frames

    def close(self) -> None:
        self.socket.close()

    def _give_back(self, number: int) -> None:
        """Called by the garbage collector, at any moment: takes no lock."""
        self._owed.append(number)
        with suppress(IndexError, OSError):
            while True:
                owed = self._owed.popleft()
                try:
                    self.socket.send(_NUMBER.pack(owed), socket.MSG_DONTWAIT)
                except BlockingIOError:
                    return self._owed.appendleft(owed)


def _views(packet: bytes, at: int, sizes: Sequence[int]) -> list[Any]:
    views, whole = [], memoryview(packet)
    for n in sizes:
        views.append(whole[at : at + n])
        at += aligned(n)
    return views
