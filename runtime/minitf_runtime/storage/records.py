"""Record files (TFRecord), as event files are: each record with its length and two checksums."""

from __future__ import annotations

import io
import struct
import weakref
from collections.abc import Iterator

from minitf_runtime.errors import DataLossError
from minitf_runtime.storage.crc32c import masked_crc32c
from minitf_runtime.storage.files import named


def record_bytes(data: bytes) -> bytes:
    length = struct.pack("<Q", len(data))
    sums = (struct.pack("<I", masked_crc32c(part)) for part in (length, data))
    return length + next(sums) + data + next(sums)


def read_records(path: str) -> Iterator[bytes]:
    """The records of a file. Raises DataLossError naming the file and the place.

    A file of another kind is one whose first record is damaged.
    """
    with named(path), open(path, "rb") as file:
        while True:
            at = file.tell()
            head = file.read(12)
            if not head:
                return
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
            yield body[:-4]


class RecordWriter:
    """Appends records to a new file: a record is there whole or not at all.

    Records wait until flush(), close() or the end of the process. If they cannot be written, as
    on a full disk, the file stays as it was and they go on waiting.
    """

    def __init__(self, path: str) -> None:
        """Raises FileExistsError."""
        self._path = path
        self._file = open(path, "xb", buffering=0)  # noqa: SIM115  (it stays open)
        self._waiting = bytearray()
        self._finish = weakref.finalize(self, _finish, path, self._file, self._waiting)

    @property
    def waiting(self) -> int:
        """The number of bytes that are not yet in the file."""
        return len(self._waiting)

    def write(self, data: bytes) -> None:
        self._waiting += record_bytes(data)

    def flush(self) -> None:
        """Raises OpError naming the file."""
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


def _finish(path: str, file: io.FileIO, waiting: bytearray) -> None:
    with file:
        _append(path, file, waiting)


def _loss(path: str, at: int, what: str) -> DataLossError:
    return DataLossError(None, None, f"{what} at {at} of {path}")
