"""Streams that are compressed by zlib or gzip, as record files may be."""

from __future__ import annotations

import io
import zlib
from dataclasses import dataclass
from typing import IO, Any

from minitf_runtime.errors import DataLossError

WINDOWS = {"ZLIB": zlib.MAX_WBITS, "GZIP": zlib.MAX_WBITS + 16}
_PIECE = 1 << 16  # bytes that are read at once


@dataclass(frozen=True)
class Options:
    """How a stream is written; the defaults are TensorFlow's."""

    window_bits: int
    level: int = zlib.Z_DEFAULT_COMPRESSION
    method: int = zlib.DEFLATED
    memory: int = 9
    strategy: int = zlib.Z_DEFAULT_STRATEGY
    flush_mode: int = zlib.Z_NO_FLUSH
    buffer: int = 256 << 10  # bytes of input after which `flush_mode` is obeyed


class Deflater:
    """Compresses the pieces of one stream."""

    def __init__(self, options: Options) -> None:
        self._options = o = options
        self._stream = zlib.compressobj(o.level, o.method, o.window_bits, o.memory, o.strategy)
        self._taken = 0  # bytes since the last flush

    def add(self, data: bytes) -> bytes:
        """What is ready to be written once `data` are in the stream."""
        out = b""
        if self._taken + len(data) > self._options.buffer:
            out = self._flush()
        out += self._stream.compress(data)
        self._taken += len(data)
        return out + self._flush() if self._taken > self._options.buffer else out

    def _flush(self) -> bytes:
        self._taken = 0
        return self._stream.flush(self._options.flush_mode)

    def flush(self) -> bytes:
        """All that is needed to read what was added so far."""
        return self._stream.flush(zlib.Z_PARTIAL_FLUSH)

    def finish(self) -> bytes:
        return self._stream.flush(zlib.Z_FINISH)


class _Inflated(io.RawIOBase):
    """What a compressed file holds. What follows the stream is ignored, as in TensorFlow."""

    def __init__(self, file: IO[bytes], window_bits: int) -> None:
        self._file = file
        self._stream = zlib.decompressobj(window_bits)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._stream.eof:
            data = self._stream.unconsumed_tail or self._file.read(_PIECE)
            if not data:
                break
            made = inflated(self._stream, data, len(buffer))
            if made:
                buffer[: len(made)] = made
                return len(made)
        return 0


def reader(file: IO[bytes], compression: str) -> IO[bytes]:
    """The contents of an open file, decompressed as they are read. Raises DataLossError."""
    if not compression:
        return file
    return io.BufferedReader(_Inflated(file, WINDOWS[compression]), _PIECE)


def inflated(stream: Any, data: bytes, most: int = 0) -> bytes:
    """The next bytes of a stream, at most so many (0: all). Raises DataLossError."""
    try:
        return stream.decompress(data, most)  # type: ignore[no-any-return]
    except zlib.error as e:
        number, _, text = str(e).removeprefix("Error ").partition(" ")
        reason = text.rpartition(": ")[2]
        raise DataLossError(None, None, f"inflate() failed with error {number}: {reason}") from None
