"""Sorted tables of byte strings, in the format of LevelDB, as a checkpoint's index file is one.

Blocks of entries with shared key prefixes, each with a checksum; a block that finds the blocks; a
footer. Written uncompressed.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator

from minitf_runtime.errors import DataLossError
from minitf_runtime.storage.crc32c import masked_crc32c
from minitf_runtime.storage.protobuf import DecodeError, read_varint, varint

_MAGIC = struct.pack("<Q", 0xDB4775248B80FB57)
_FOOTER = 48  # two block handles, padded, and the magic number
_TRAILER = 5  # after each block: its compression and checksum
_BLOCK_BYTES = 1 << 18
_RESTART_INTERVAL = 16


def table_bytes(entries: Iterable[tuple[bytes, bytes]]) -> bytes:
    """A table of entries in ascending order of their keys."""
    out = bytearray()
    index = []
    block = _Block(_RESTART_INTERVAL)
    for key, value in entries:
        block.add(key, value)
        if len(block.data) >= _BLOCK_BYTES:
            index.append((key, _append(out, block)))
            block = _Block(_RESTART_INTERVAL)
    if block.count:
        index.append((block.last, _append(out, block)))
    meta = _append(out, _Block(1))
    finder = _Block(1)
    for key, handle in index:
        finder.add(key, handle)
    handles = meta + _append(out, finder)
    out += handles.ljust(_FOOTER - len(_MAGIC), b"\0") + _MAGIC
    return bytes(out)


def read_table(data: bytes, path: str) -> dict[bytes, bytes]:
    """All entries of a table. Raises DataLossError naming the file and the place."""
    if len(data) < _FOOTER:
        raise _loss(path, len(data), "file is too short to be a table")
    if data[-len(_MAGIC) :] != _MAGIC:
        raise _loss(path, len(data) - len(_MAGIC), "not a table (bad magic number)")
    footer = len(data) - _FOOTER
    try:
        _, _, at = _handle(data, footer)
        offset, size, _ = _handle(data, at)
    except DecodeError as e:
        raise _loss(path, footer, f"bad footer: {e}") from None
    entries: dict[bytes, bytes] = {}
    for _, handle in _block(data, offset, size, path):
        offset, size, _ = _handle(handle, 0)
        entries.update(_block(data, offset, size, path))
    return entries


class _Block:
    """Entries on their way into a table."""

    def __init__(self, interval: int) -> None:
        self.data = bytearray()
        self.count = 0
        self.last = b""
        self._interval = interval
        self._restarts = [0]

    def add(self, key: bytes, value: bytes) -> None:
        shared = 0
        if self.count and self.count % self._interval == 0:
            self._restarts.append(len(self.data))
        elif self.count:
            shared = _common_prefix(self.last, key)
        own = key[shared:]
        self.data += varint(shared) + varint(len(own)) + varint(len(value)) + own + value
        self.last = key
        self.count += 1

    def finish(self) -> bytes:
        restarts = self._restarts
        return bytes(self.data) + struct.pack(f"<{len(restarts) + 1}I", *restarts, len(restarts))


def _common_prefix(a: bytes, b: bytes) -> int:
    n = 0
    for x, y in zip(a, b):
        if x != y:
            break
        n += 1
    return n


def _append(out: bytearray, block: _Block) -> bytes:
    """Adds the block to the file; gives its handle."""
    contents = block.finish() + b"\0"  # not compressed
    handle = varint(len(out)) + varint(len(contents) - 1)
    out += contents + struct.pack("<I", masked_crc32c(contents))
    return handle


def _handle(data: bytes, at: int) -> tuple[int, int, int]:
    offset, at = read_varint(data, at)
    size, at = read_varint(data, at)
    return offset, size, at


def _block(data: bytes, offset: int, size: int, path: str) -> Iterator[tuple[bytes, bytes]]:
    end = offset + size
    if size < 4 or end + _TRAILER > len(data):
        raise _loss(path, offset, "a block is cut off")
    (checksum,) = struct.unpack_from("<I", data, end + 1)
    if masked_crc32c(data[offset : end + 1]) != checksum:
        raise _loss(path, offset, "block checksum mismatch")
    if data[end] != 0:
        raise _loss(path, offset, f"block compression {data[end]} is not supported")
    (restarts,) = struct.unpack_from("<I", data, end - 4)
    try:
        yield from _entries(data[offset : end - 4 - 4 * restarts])
    except DecodeError as e:
        raise _loss(path, offset, f"bad entry in block: {e}") from None


def _entries(block: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = 0
    key = b""
    while at < len(block):
        shared, at = read_varint(block, at)
        own, at = read_varint(block, at)
        size, at = read_varint(block, at)
        if shared > len(key) or at + own + size > len(block):
            raise DecodeError(f"an entry is cut off at byte {at}")
        key = key[:shared] + block[at : at + own]
        at += own
        yield key, block[at : at + size]
        at += size


def _loss(path: str, at: int, what: str) -> DataLossError:
    return DataLossError(None, None, f"{path}: {what} (at byte {at})")
