"""Shared memory for large messages between two tasks: the sender's segments, and their mappings.

A segment is anonymous memory that the kernel frees with its last user, however a process ends.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitf_runtime.errors import DataLossError

ALIGNMENT = 64
SMALLEST = 1 << 16
MOST_KEPT = 1 << 28  # bytes of segments that a sender keeps to use them again


def _seals() -> int:
    """What keeps the size of shared memory as it is."""
    return fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW


def aligned(nbytes: int) -> int:
    return -(-nbytes // ALIGNMENT) * ALIGNMENT


class Segment:
    """Memory that a sender writes; `kept` tells whether it is used again."""

    def __init__(self, number: int, nbytes: int, kept: bool) -> None:
        self.number = number
        self.nbytes = nbytes
        self.kept = kept
        self.fd = os.memfd_create("minitf", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.fd, nbytes)
        fcntl.fcntl(self.fd, fcntl.F_ADD_SEALS, _seals())
        shared = mmap.mmap(self.fd, nbytes, mmap.MAP_SHARED | mmap.MAP_POPULATE)
        self._memory = np.frombuffer(shared, np.uint8)

    def write(self, frames: Sequence[Any]) -> None:
        at = 0
        for frame in frames:
            n = len(frame)
            np.copyto(self._memory[at : at + n], np.frombuffer(frame, np.uint8))
            at += aligned(n)

    @property
    def is_new(self) -> bool:
        """Whether its receiver still needs the file."""
        return self.fd >= 0

    def close_file(self) -> None:
        """The memory stays as long as it is mapped."""
        os.close(self.fd)
        self.fd = -1


class Segments:
    """The segments of one sender. Free ones are used again: fresh pages cost more than a copy."""

    def __init__(self) -> None:
        self._made = 0
        self._bytes = 0
        self._free: list[Segment] = []
        self._used: dict[int, Segment] = {}

    def take(self, nbytes: int) -> Segment:
        """A segment for that many bytes."""
        fits = [s for s in self._free if s.nbytes >= nbytes]
        if fits:
            segment = min(fits, key=lambda s: s.nbytes)
            self._free.remove(segment)
        else:
            size = max(SMALLEST, 1 << (nbytes - 1).bit_length())
            kept = self._bytes + size <= MOST_KEPT
            self._made += 1
            segment = Segment(self._made, size if kept else nbytes, kept)
            self._bytes += size if kept else 0
        if segment.kept:
            self._used[segment.number] = segment
        return segment

    def give_back(self, number: int) -> None:
        """The receiver needs what a segment holds no more."""
        segment = self._used.pop(number, None)
        if segment is not None:
            self._free.append(segment)


class Mappings:
    """The segments of one sender, as its receiver sees them."""

    def __init__(self, give_back: Callable[[int], None]) -> None:
        self._give_back = give_back
        self._mapped: dict[int, mmap.mmap] = {}

    def add(self, number: int, fd: int, kept: bool) -> mmap.mmap:
        """Maps a new segment. Raises DataLossError for memory that could shrink under us."""
        try:
            if fcntl.fcntl(fd, fcntl.F_GET_SEALS) & _seals() != _seals():
                raise DataLossError(None, None, "shared memory that is not sealed")
            shared = mmap.mmap(fd, 0, mmap.MAP_SHARED | mmap.MAP_POPULATE, mmap.PROT_READ)
        finally:
            os.close(fd)
        if kept:
            self._mapped[number] = shared
        return shared

    def frames(self, number: int, shared: mmap.mmap | None, sizes: Sequence[int]) -> list[Any]:
        """Views of a message's frames. Once nobody holds one, the segment goes back."""
        block = np.frombuffer(shared or self._mapped[number], np.uint8)
        if number in self._mapped:
            weakref.finalize(block, self._give_back, number).atexit = False
        views, at = [], 0
        for n in sizes:
            if at + n > block.nbytes:
                raise DataLossError(None, None, "frames beyond the end of shared memory")
            views.append(block[at : at + n].data)
            at += aligned(n)
        return views
