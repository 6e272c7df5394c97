"""Datasets of what files hold: lines, records of TensorFlow's files, records of one length."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from minitf_runtime.errors import OpError, invalid
from minitf_runtime.ops.datasets.base import Dataset, Element, Pull, Run, dataset_op, number
from minitf_runtime.ops.registry import kernel
from minitf_runtime.ops.strings import string_scalar
from minitf_runtime.storage import compression
from minitf_runtime.storage.compression import WINDOWS
from minitf_runtime.storage.files import named
from minitf_runtime.storage.records import read_records

Read = Callable[[str], Iterator[bytes]]  # the records of a file


class Files(Dataset):
    """The records of files, one file after the other. A file that fails is left."""

    def __init__(self, names: Any, read: Read) -> None:
        self.names = [name.decode() for name in np.ravel(names).tolist()]
        self.read = read

    def open(self, run: Run) -> Pull:
        names = iter(self.names)
        records: Iterator[bytes] | None = None

        def following() -> Element:
            nonlocal records
            while True:
                if records is None:
                    records = self.read(next(names))
                    run.check()
                try:
                    record = next(records, None)
                except OpError:
                    records = None
                    raise
                if record is not None:
                    return (string_scalar(record),)
                records = None

        return following


def lines(path: str, compressed: str) -> Iterator[bytes]:
    """The lines of a file, without their ends."""
    with named(path), open(path, "rb") as raw:
        rest = b""
        file = compression.reader(raw, compressed)
        while block := file.read(1 << 16):
            *whole, rest = (rest + block).split(b"\n")
            for line in whole:
                yield line.removesuffix(b"\r")
        if rest:
            yield rest.removesuffix(b"\r")


def fixed(
    path: str, compressed: str, header_bytes: int, record_bytes: int, footer_bytes: int
) -> Iterator[bytes]:
    """Records of one length between a header and a footer. Raises InvalidArgumentError if the
    length of the file does not fit."""
    with named(path), open(path, "rb") as raw:
        data = compression.reader(raw, compressed).read()
    body = len(data) - header_bytes - footer_bytes
    if body < 0 or body % record_bytes:
        raise invalid(
            f"Excluding the header ({header_bytes} bytes) and footer ({footer_bytes} bytes), "
            f'input file "{path}" has body length {body} bytes, which is not an exact multiple of '
            f"the record length ({record_bytes} bytes)."
        )
    for at in range(header_bytes, header_bytes + body, record_bytes):
        yield data[at : at + record_bytes]


_NAMES = "filenames: string, compression_type: string, buffer_size: int64"
_SIZES = "filenames: string, header_bytes: int64, record_bytes: int64, footer_bytes: int64"
dataset_op("TextLineDataset", _NAMES, stateful=True)
dataset_op("TFRecordDataset", _NAMES, stateful=True)
dataset_op("FixedLengthRecordDataset", f"{_SIZES}, buffer_size: int64", stateful=True)
dataset_op(
    "FixedLengthRecordDatasetV2",
    f"{_SIZES}, buffer_size: int64, compression_type: string",
    stateful=True,
)


def _compression(value: Any) -> str:
    name: str = value[()].decode()
    if name and name not in WINDOWS:
        raise invalid("Unsupported compression_type.")
    return name


def _checked(names: Any, buffer_size: Any) -> Any:
    if np.ndim(names) > 1:
        raise invalid("`filenames` must be a scalar or a vector.")
    number(buffer_size, "`buffer_size`", 0)
    return names


@kernel("TextLineDataset", device="CPU")
def text_line_dataset(xp: Any, names: Any, compression_type: Any, buffer_size: Any) -> Dataset:
    read = partial(lines, compressed=_compression(compression_type))
    return Files(_checked(names, buffer_size), read)


@kernel("TFRecordDataset", device="CPU")
def tf_record_dataset(xp: Any, names: Any, compression_type: Any, buffer_size: Any) -> Dataset:
    read = partial(read_records, compressed=_compression(compression_type))
    return Files(_checked(names, buffer_size), read)


@kernel("FixedLengthRecordDataset", "FixedLengthRecordDatasetV2", device="CPU")
def fixed_length_record_dataset(
    xp: Any, names: Any, header_bytes: Any, record_bytes: Any, footer_bytes: Any,
    buffer_size: Any, compression_type: Any = None,
) -> Dataset:  # fmt: skip
    read = partial(
        fixed,
        compressed="" if compression_type is None else _compression(compression_type),
        header_bytes=number(header_bytes, "`header_bytes`", 0),
        record_bytes=number(record_bytes, "`record_bytes`", 1),
        footer_bytes=number(footer_bytes, "`footer_bytes`", 0),
    )
    return Files(_checked(names, buffer_size), read)
