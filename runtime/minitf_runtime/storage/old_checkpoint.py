"""Checkpoints in TensorFlow's old format V1: tables that hold the tensors themselves. Read only."""

from __future__ import annotations

import glob
import os
import struct
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from minitf_runtime.errors import DataLossError
from minitf_runtime.storage import slices
from minitf_runtime.storage.bundle import BundleReader, Entry, index_path, shape_of
from minitf_runtime.storage.files import read_whole
from minitf_runtime.storage.protobuf import FIXED32, FIXED64, LENGTH, fields, read_varint, signed
from minitf_runtime.storage.table import read_table
from minitf_runtime.types import DType, as_dtype, string

# Where a TensorProto has the elements; all other types are in field 7.
_FIELDS = dict(
    float32=5, float64=6, string=8, complex64=9, int64=10, bool=11, complex128=12, float16=13,
    uint32=16, uint64=17,
)  # fmt: skip
_RAW = 4  # the field of the bytes as they are


def open_checkpoint(prefix: str) -> BundleReader:
    """The reader of a checkpoint of either format. Raises NotFoundError, DataLossError."""
    files = [] if os.path.exists(index_path(prefix)) else glob.glob(prefix)
    files = sorted(path for path in files if os.path.isfile(path))
    return OldReader(prefix, files) if files else BundleReader(prefix)


class OldReader(BundleReader):
    """A checkpoint of one file, or of one for each shard, with all its data in memory."""

    def __init__(self, prefix: str, files: list[str]) -> None:
        """Raises DataLossError naming the file."""
        self.prefix = prefix
        self.entries: dict[bytes, Entry] = {}
        self._data: dict[tuple[bytes, slices.Box], tuple[str, bytes]] = {}
        for path in files:
            try:
                self._add(path)
            except (ValueError, TypeError, KeyError, struct.error) as e:
                raise DataLossError(None, None, f"{path}: not a checkpoint: {e}") from None

    def _add(self, path: str) -> None:
        rows = read_table(read_whole(path), path)
        (header,) = _parts(rows.pop(b""), 1)
        for row in _parts(header, 1):
            values = {number: value for number, _, value in fields(row)}
            boxes = tuple(slices.decode(box) for box in _parts(row, 4))
            known = self.entries.get(values[1])
            entry = known or Entry(as_dtype(values[3]), shape_of(values[2]))
            self.entries[values[1]] = replace(entry, parts=(*entry.parts, *boxes))
        for row in rows.values():
            (saved,) = _parts(row, 2)
            values = {number: value for number, _, value in fields(saved)}
            key = values[1], slices.decode(values.get(2, b""))
            self._data[key] = path, values.get(3, b"")

    def _part(self, name: str, box: slices.Box) -> Entry:
        whole = self.entry(name)
        return replace(whole, shape=box.within(whole.shape).lengths, parts=(box,))

    def _read_entry(self, name: str, entry: Entry) -> np.ndarray:
        found = self._data.get((name.encode(), entry.parts[0]))
        if found is None:
            box = slices.show(entry.parts[0])
            raise DataLossError(None, None, f"{self.prefix}: slice {box} of {name} is missing")
        path, data = found
        try:
            return _array(data, entry.dtype).reshape(entry.shape)
        except (ValueError, TypeError, struct.error) as e:
            raise DataLossError(None, None, f"{path}: tensor {name}: {e}") from None


def _parts(data: bytes, wanted: int) -> list[Any]:
    return [value for number, _, value in fields(data) if number == wanted]


def _array(tensor: bytes, dtype: DType) -> np.ndarray:
    """The elements of a TensorProto that tells neither its type nor its shape."""
    if dtype is string:
        return np.array([*_parts(tensor, _FIELDS["string"]), None], object)[:-1]
    kind = np.dtype(dtype.as_numpy_dtype)
    number = _FIELDS.get(dtype.name, 7)
    values = [(form, v) for n, form, v in fields(tensor) if n == number]
    raw = b"".join(_parts(tensor, _RAW))
    if raw or kind.kind in "fc" and kind != np.float16:
        joined = raw or b"".join(v for form, v in values if form in (FIXED32, FIXED64, LENGTH))
        return np.frombuffer(joined, kind)
    numbers = [signed(v) for form, value in values for v in _varints(form, value)]
    if kind == np.float16:
        return np.array(numbers, np.uint16).view(np.float16)
    return np.array(numbers, np.int64).astype(kind)


def _varints(form: int, value: Any) -> Iterator[int]:
    if form != LENGTH:
        yield value
        return
    at = 0
    while at < len(value):
        number, at = read_varint(value, at)
        yield number
