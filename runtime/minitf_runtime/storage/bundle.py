"""Checkpoints in TensorFlow's V2 format: PREFIX.index, a table of entries that say where in the
files PREFIX.data-00000-of-00001 ... the bytes of each tensor lie."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from minitf_runtime.errors import DataLossError, NotFoundError, UnimplementedError, invalid
from minitf_runtime.storage import slices
from minitf_runtime.storage.crc32c import masked_crc32c
from minitf_runtime.storage.files import Pending, named, read_whole
from minitf_runtime.storage.protobuf import (
    DecodeError,
    bytes_field,
    fields,
    fixed32_field,
    int_field,
    read_varint,
    signed,
    varint,
)
from minitf_runtime.storage.slices import Box
from minitf_runtime.storage.table import read_table, table_bytes
from minitf_runtime.types import DType, as_dtype, string

_HEADER_KEY = b""
_VERSION = int_field(1, 1)  # VersionDef: producer 1


def index_path(prefix: str) -> str:
    return f"{prefix}.index"


def data_path(prefix: str, shard: int, shards: int) -> str:
    return f"{prefix}.data-{shard:05d}-of-{shards:05d}"


@dataclass(frozen=True)
class Entry:
    """What the index says of a tensor, or of a part of one (TF: BundleEntryProto)."""

    dtype: DType
    shape: tuple[int, ...]
    shard: int = 0
    offset: int = 0
    size: int = 0
    checksum: int = 0
    parts: tuple[Box, ...] = field(default=())  # the boxes of a tensor that is kept in parts

    def encode(self) -> bytes:
        dims = b"".join(bytes_field(2, int_field(1, n) if n else b"") for n in self.shape)
        out = int_field(1, self.dtype.number) + bytes_field(2, dims)
        for number, value in ((3, self.shard), (4, self.offset), (5, self.size)):
            out += int_field(number, value) if value else b""
        out += fixed32_field(6, self.checksum) if self.checksum else b""
        return out + b"".join(bytes_field(7, slices.encode(box)) for box in self.parts)

    @staticmethod
    def decode(data: bytes) -> Entry:
        """Raises ValueError or TypeError for bytes that are no entry."""
        values: dict[int, Any] = {1: 0, 2: b"", 3: 0, 4: 0, 5: 0, 6: b"\0" * 4}
        parts = []
        for number, _, value in fields(data):
            if number == 7:
                parts.append(slices.decode(value))
            values[number] = value
        (checksum,) = struct.unpack("<I", values[6])
        shard, offset, size = (signed(values[n]) for n in (3, 4, 5))
        dtype, shape = as_dtype(values[1]), shape_of(values[2])
        return Entry(dtype, shape, shard, offset, size, checksum, tuple(parts))


def shape_of(data: bytes) -> tuple[int, ...]:
    dims = [value for number, _, value in fields(data) if number == 2]
    return tuple(
        next((signed(size) for number, _, size in fields(dim) if number == 1), 0) for dim in dims
    )


@dataclass(frozen=True)
class Piece:
    """A tensor to be written, or, with `full_shape`, a box of one."""

    name: bytes
    array: Any
    dtype: DType
    full_shape: tuple[int, ...] = ()
    box: Box | None = None


def write_bundle(prefix: str, pieces: Iterable[Piece]) -> None:
    """Writes a checkpoint of one data file; the one that was there stays until it is complete.

    Raises OpError naming the file, InvalidArgumentError for pieces of one name that clash.
    """
    entries: dict[bytes, Entry] = {}
    with Pending() as files:
        with files.open(data_path(prefix, 0, 1)) as file:
            offset = 0
            for piece in sorted(pieces, key=lambda p: p.name):
                data, checksum = _encoded(piece)
                entry = Entry(piece.dtype, np.shape(piece.array), 0, offset, len(data), checksum)
                _add(entries, piece, entry)
                file.write(data)
                offset += len(data)
        with files.open(index_path(prefix)) as file:
            file.write(_index_bytes(entries, 1))
        files.commit()


def _add(entries: dict[bytes, Entry], piece: Piece, entry: Entry) -> None:
    key = piece.name
    if piece.box is not None:
        known = entries.get(piece.name, Entry(piece.dtype, piece.full_shape))
        if (known.dtype, known.shape) != (piece.dtype, piece.full_shape):
            raise invalid(f"the slices of {_text(piece.name)} differ in type or in full shape")
        entries[piece.name] = replace(known, parts=(*known.parts, piece.box))
        key = slices.slice_key(piece.name, piece.box)
    if key in entries:
        raise invalid(f"Adding duplicate key: {_text(piece.name)}")
    entries[key] = entry


def _index_bytes(entries: dict[bytes, Entry], shards: int) -> bytes:
    header = int_field(1, shards) + bytes_field(3, _VERSION)
    rows = [(key, entries[key].encode()) for key in sorted(entries)]
    return table_bytes([(_HEADER_KEY, header), *rows])


def _encoded(piece: Piece) -> tuple[Any, int]:
    """The bytes of a tensor and their masked checksum."""
    if piece.dtype is string:
        return _encoded_strings(np.asarray(piece.array, object).ravel().tolist())
    if piece.dtype.as_numpy_dtype is None:
        raise UnimplementedError(None, None, f"{piece.dtype.name} tensors cannot be saved")
    array = np.ascontiguousarray(piece.array)
    data = array.reshape(-1).view(np.uint8).data if array.size else b""
    return data, masked_crc32c(data)


def _encoded_strings(items: list[bytes]) -> tuple[bytes, int]:
    """Lengths, their checksum, contents. The checksums take lengths as fixed-size integers."""
    lengths = b"".join(struct.pack("<I" if len(s) < 1 << 32 else "<Q", len(s)) for s in items)
    tail = struct.pack("<I", masked_crc32c(lengths)) + b"".join(items)
    return b"".join(varint(len(s)) for s in items) + tail, masked_crc32c(lengths + tail)


def merge_bundles(prefixes: list[str], destination: str, delete_old_dirs: bool) -> None:
    """Makes the checkpoints at `prefixes` one: moves their data files, writes one index."""
    readers = [BundleReader(p) for p in prefixes]
    shards = sum(r.shards for r in readers)
    merged: dict[bytes, Entry] = {}
    moves: list[Any] = []
    for reader in readers:
        first = len(moves)
        for key, entry in reader.entries.items():
            known = merged.get(key)
            if known is not None and not (known.parts and entry.parts):
                raise invalid(f"Duplicate tensor keyed by {_text(key)} encountered, when merging "
                              f"{reader.prefix}")  # fmt: skip
            parts = (*known.parts, *entry.parts) if known else entry.parts
            shard = entry.shard if entry.parts else entry.shard + first
            merged[key] = replace(entry, shard=shard, parts=parts)
        moves += [data_path(reader.prefix, i, reader.shards) for i in range(reader.shards)]
    with Pending() as files:
        with files.open(index_path(destination)) as file:
            file.write(_index_bytes(merged, shards))
        for i, path in enumerate(moves):
            with named(path):
                os.replace(path, data_path(destination, i, shards))
        files.commit()
    _remove_merged(prefixes, delete_old_dirs)


def _remove_merged(prefixes: list[str], directories: bool) -> None:
    for prefix in prefixes:
        with named(prefix):
            os.remove(index_path(prefix))
    for directory in {os.path.dirname(p) for p in prefixes} if directories else ():
        if not os.listdir(directory):
            os.rmdir(directory)


class BundleReader:
    """A checkpoint on disk: its index in memory, its tensors read when they are asked for."""

    def __init__(self, prefix: str) -> None:
        """Raises NotFoundError if there is none, DataLossError for a damaged index."""
        self.prefix = prefix
        path = index_path(prefix)
        if not os.path.exists(path):
            raise NotFoundError(
                None, None,
                "Unsuccessful TensorSliceReader constructor: Failed to find any matching files for "
                f"{prefix}",
            )  # fmt: skip
        rows = read_table(read_whole(path), path)
        try:
            self.shards = self._read_header(rows.pop(_HEADER_KEY, b""))
            self.entries = {key: Entry.decode(value) for key, value in rows.items()}
        except (ValueError, TypeError, struct.error) as e:
            raise DataLossError(None, None, f"{path}: bad entry in the index: {e}") from None

    def _read_header(self, data: bytes) -> int:
        values: dict[int, Any] = {number: value for number, _, value in fields(data)}
        if values.get(2, 0) != 0:
            raise UnimplementedError(None, None, f"{self.prefix} was saved as big-endian")
        return int(values.get(1, 0))

    def tensors(self) -> dict[str, Entry]:
        """The whole tensors by name."""
        return {k.decode(): e for k, e in self.entries.items() if not k.startswith(b"\0")}

    def entry(self, name: str) -> Entry:
        """Raises NotFoundError."""
        found = self.entries.get(name.encode())
        if found is None:
            raise NotFoundError(None, None, f"Key {name} not found in checkpoint {self.prefix}")
        return found

    def read(self, name: str, box: Box | None = None) -> np.ndarray:
        """A tensor, or a box of it. Raises NotFoundError, DataLossError, InvalidArgumentError."""
        entry = self.entry(name)
        if not entry.parts:
            whole = self._read_entry(name, entry)
            return whole if box is None else whole[box.within(entry.shape).as_slices()]
        return self._assembled(name, entry, (box or slices.whole(entry.shape)).within(entry.shape))

    def _assembled(self, name: str, entry: Entry, wanted: Box) -> np.ndarray:
        out = np.zeros(wanted.lengths, entry.dtype.as_numpy_dtype)
        filled = 0
        for part in entry.parts:
            have = part.within(entry.shape)
            common = wanted.overlap(have)
            if common is None:
                continue
            piece = self._read_entry(name, self._part(name, part))
            values = piece[common.relative_to(have).as_slices()]
            out[common.relative_to(wanted).as_slices()] = values
            filled += values.size
        if filled != out.size:
            raise DataLossError(
                None, None,
                f"{index_path(self.prefix)}: the slices of {name} do not fill "
                f"{slices.show(wanted)}",
            )  # fmt: skip
        return out

    def _part(self, name: str, box: Box) -> Entry:
        entry = self.entries.get(slices.slice_key(name.encode(), box))
        if entry is None:
            raise DataLossError(
                None, None,
                f"{index_path(self.prefix)}: slice {slices.show(box)} of {name} is missing",
            )  # fmt: skip
        return entry

    def _read_entry(self, name: str, entry: Entry) -> np.ndarray:
        path = data_path(self.prefix, entry.shard, self.shards)
        with named(path), open(path, "rb") as file:
            file.seek(entry.offset)
            data = file.read(entry.size)
        at = f"{path}: tensor {name} at byte {entry.offset}"
        if len(data) != entry.size:
            raise DataLossError(None, None, f"{at} is cut off: {len(data)} of {entry.size} bytes")
        try:
            return _decoded(data, entry)
        except (ValueError, DecodeError) as e:
            raise DataLossError(None, None, f"{at}: {e}") from None


def _decoded(data: bytes, entry: Entry) -> np.ndarray:
    """Raises ValueError for damaged bytes."""
    if entry.dtype is string:
        return _decoded_strings(data, entry)
    if masked_crc32c(data) != entry.checksum:
        raise ValueError("checksum does not match")
    return np.frombuffer(data, entry.dtype.as_numpy_dtype).reshape(entry.shape)


def _decoded_strings(data: bytes, entry: Entry) -> np.ndarray:
    sizes = []
    at = 0
    for _ in range(int(np.prod(entry.shape))):
        size, at = read_varint(data, at)
        sizes.append(size)
    at += 4  # the checksum of the lengths: the one of the entry covers it
    out = np.empty(len(sizes), object)
    for i, size in enumerate(sizes):
        out[i] = data[at : at + size]
        at += size
    if _encoded_strings(out.tolist()) != (data, entry.checksum):
        raise ValueError("checksum does not match")
    return out.reshape(entry.shape)


def _text(name: bytes) -> str:
    return name.decode("utf-8", "replace")
