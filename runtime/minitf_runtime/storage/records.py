"""Record files (TFRecord), as event files are: each record with its length and two checksums.

A file may be compressed as a whole.
"""

from __future__ import annotations

import io
import struct
import weakref
from collections.abc import Iterator
from typing import Literal

from minitf_runtime.errors import DataLossError
from minitf_runtime.storage import compression
from minitf_runtime.storage.crc32c import masked_crc32c
from minitf_runtime.storage.files import named


def record_bytes(data: bytes) -> bytes:
    length = struct.pack("<Q", len(data))
    sums = (struct.pack("<I", masked_crc32c(part)) for part in (length, data))
    return length + next(sums) + data + next(sums)


def read_records(path: str, compressed: str = "") -> Iterator[bytes]:
    """The records of a file. Raises DataLossError naming the file and the place.

    A file of another kind is one whose first record is damaged.
    """
    return (record for _, record in placed_records(path, compressed))


def placed_records(path: str, compressed: str = "") -> Iterator[tuple[int, bytes]]:
    """The records, each with its place in the file (before compression)."""
    with named(path), open(path, "rb") as raw:
        file = compression.reader(raw, compressed)
        at = 0
        while head := file.read(12):
            if len(head) < 12:
                raise _loss(path, at, "truncated record")
            length, checksum = struct.unpack("<QI", head)
            if masked_crc32c(head[:8]) != checksum:
                raise _loss(path, at, "corrupted record")
            body = file.read(length + 4)
            if len(body) < length + 4:
                raise _loss(path, at, "truncated record")
            if masked_crc32c(body[:-4]) != struct.unpack("<I", body[-4:])[0]:
                raise _loss(path, at, "corrupted record")
            yield at, body[:-4]
            at += 12 + len(body)


class RecordWriter:
    """Appends records to a new file: a record is there whole or not at all.

    Records wait until flush(), close() or the end of the process. If they cannot be written, as
    on a full disk, the file stays as it was and they go on waiting.
    """

    def __init__(
        self,
        path: str,
        mode: Literal["xb", "wb"] = "xb",
        options: compression.Options | None = None,
    ) -> None:
        """Raises OSError, among them FileExistsError unless the mode is "wb"."""
        self._path = path
        self._file = open(path, mode, buffering=0)  # noqa: SIM115  (it stays open)
        self._waiting = bytearray()
        self._deflater = None if options is None else compression.Deflater(options)
        self._finish = weakref.finalize(
            self, _finish, path, self._file, self._waiting, self._deflater
        )

    @property
    def waiting(self) -> int:
        """The number of bytes that are not yet in the file."""
        return len(self._waiting)

    @property
    def closed(self) -> bool:
        return not self._finish.alive

    def write(self, data: bytes) -> None:
        record = record_bytes(data)
        self._waiting += record if self._deflater is None else self._deflater.add(record)

    def flush(self) -> None:
        """Raises OpError naming the file."""
        if self._deflater is not None:
            self._waiting += self._deflater.flush()
        self.write_out()

    def write_out(self) -> None:
        """Empties the memory, without making all readable. Raises OpError naming the file."""
        _append(self._path, self._file, self._waiting)

    def close(self) -> None:
        """Raises OpError naming the file, which is closed even so."""
        self._finish()


def _append(path: str, file: io.FileIO, waiting: bytearray) -> None:
    start = file.tell()
    with named(path):
        try:
            at = 0
            while at < len(waiting):
                at += file.write(waiting[at:])
        except OSError:
            file.seek(start)
            file.truncate()
            raise
    waiting.clear()


def _finish(
    path: str, file: io.FileIO, waiting: bytearray, deflater: compression.Deflater | None
) -> None:
    if deflater is not None:
        waiting += deflater.finish()
    with file:
        _append(path, file, waiting)


def _loss(path: str, at: int, what: str) -> DataLossError:
    return DataLossError(None, None, f"{what} at {at} of {path}")
