"""Record files (TFRecord), as event files are: each record with its length and two checksums."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from minitf_runtime.errors import DataLossError
from minitf_runtime.storage.crc32c import masked_crc32c
from minitf_runtime.storage.files import named


def record_bytes(data: bytes) -> bytes:
    length = struct.pack("<Q", len(data))
    sums = (struct.pack("<I", masked_crc32c(part)) for part in (length, data))
    return length + next(sums) + data + next(sums)


def read_records(path: str) -> Iterator[bytes]:
    """The records of a file. Raises DataLossError naming the file and the place."""
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


def _loss(path: str, at: int, what: str) -> DataLossError:
    return DataLossError(None, None, f"{what} at {at} of {path}")
