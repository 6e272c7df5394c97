"""TFRecord files outside of graphs: tf.python_io, without its list of names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from minitf_runtime.errors import FailedPreconditionError
from minitf_runtime.storage.compression import WINDOWS, Options
from minitf_runtime.storage.files import named
from minitf_runtime.storage.records import RecordWriter, read_records

__all__ = [
    "TFRecordCompressionType",
    "TFRecordOptions",
    "TFRecordWriter",
    "tf_record_iterator",
]

_MOST_WAITING = 1 << 18  # bytes that a writer keeps in memory


class TFRecordCompressionType:
    """How a record file is compressed."""

    NONE = 0
    ZLIB = 1
    GZIP = 2


class TFRecordOptions:
    """Compression of a record file, and zlib's settings for writing one (None: the default)."""

    compression_type_map = {
        TFRecordCompressionType.ZLIB: "ZLIB",
        TFRecordCompressionType.GZIP: "GZIP",
        TFRecordCompressionType.NONE: "",
    }

    def __init__(
        self, compression_type: Any = None, flush_mode: int | None = None,
        input_buffer_size: int | None = None, output_buffer_size: int | None = None,
        window_bits: int | None = None, compression_level: int | None = None,
        compression_method: int | None = None, mem_level: int | None = None,
        compression_strategy: int | None = None,
    ) -> None:  # fmt: skip
        self.get_compression_type_string(compression_type)
        self.compression_type = compression_type
        self.flush_mode = flush_mode
        self.input_buffer_size = input_buffer_size
        self.output_buffer_size = output_buffer_size
        self.window_bits = window_bits
        self.compression_level = compression_level
        self.compression_method = compression_method
        self.mem_level = mem_level
        self.compression_strategy = compression_strategy

    @classmethod
    def get_compression_type_string(cls, options: Any) -> str:
        """ "ZLIB", "GZIP" or "" of options, a TFRecordCompressionType or a string.

        Raises ValueError.
        """
        if not options:
            return ""
        if isinstance(options, TFRecordOptions):
            return cls.get_compression_type_string(options.compression_type)
        name = cls.compression_type_map.get(options, options)
        if name not in cls.compression_type_map.values():
            raise ValueError(f'Not a valid compression_type: "{options}"')
        return name  # type: ignore[no-any-return]

    def _zlib(self) -> Options | None:
        """What the engine's writer takes."""
        kind = self.get_compression_type_string(self)
        if not kind:
            return None
        given = dict(
            window_bits=self.window_bits or WINDOWS[kind],
            level=self.compression_level,
            method=self.compression_method,
            memory=self.mem_level,
            strategy=self.compression_strategy,
            flush_mode=self.flush_mode,
            buffer=self.input_buffer_size,
        )
        return Options(**{name: v for name, v in given.items() if v is not None})


def tf_record_iterator(path: Any, options: Any = None) -> Iterator[bytes]:
    """The records of a file. Raises OpError naming the file; DataLossError for a damaged one."""
    compressed = TFRecordOptions.get_compression_type_string(options)
    return read_records(os.fspath(path), compressed)


class TFRecordWriter:
    """Writes records to a file, which it begins anew."""

    def __init__(self, path: Any, options: Any = None) -> None:
        """Raises OpError naming the file."""
        if not isinstance(options, TFRecordOptions):
            options = TFRecordOptions(compression_type=options)
        path = os.fspath(path)
        with named(path):
            self._writer = RecordWriter(path, "wb", options._zlib())

    def write(self, record: bytes) -> None:
        if not isinstance(record, bytes):
            raise TypeError(f"expected bytes, {type(record).__name__} found")
        self._check_open()
        self._writer.write(record)
        if self._writer.waiting > _MOST_WAITING:
            self._writer.write_out()

    def flush(self) -> None:
        """Makes all records readable that were written so far. Raises OpError."""
        self._check_open()
        self._writer.flush()

    def close(self) -> None:
        self._writer.close()

    def _check_open(self) -> None:
        if self._writer.closed:
            raise FailedPreconditionError(None, None, "Writer not initialized or previously closed")

    def __enter__(self) -> TFRecordWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
