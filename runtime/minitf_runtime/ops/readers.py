"""Ops of readers. What a reader does is in reader_state.py."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from minitf_runtime.errors import UnimplementedError, invalid
from minitf_runtime.ops.queue import resource, shared
from minitf_runtime.ops.queue_state import Queue
from minitf_runtime.ops.reader_state import (
    Layout,
    Reader,
    Records,
    text_lines,
    tf_records,
    whole,
    whole_file,
)
from minitf_runtime.ops.registry import Attr, ShapeContext, kernel, no_outputs, op, scalar
from minitf_runtime.ops.strings import string_scalar, string_vector
from minitf_runtime.storage.compression import WINDOWS
from minitf_runtime.types import Shape

_SHARED: dict[str, Any] = dict(container="", shared_name="")
_LAYOUT: dict[str, Any] = dict(
    header_bytes=0, record_bytes=Attr("int"), footer_bytes=0, hop_bytes=0, **_SHARED
)
_KINDS: dict[str, dict[str, Any]] = {
    "IdentityReader": _SHARED,
    "WholeFileReader": _SHARED,
    "TextLineReader": dict(skip_header_lines=0, **_SHARED),
    "TFRecordReader": dict(**_SHARED, compression_type=""),
    "FixedLengthRecordReader": _LAYOUT,
    "LMDBReader": _SHARED,
}
_SINGLE = {"IdentityReader", "WholeFileReader"}

# A handle is a resource, or for the old form a string ref.
for _kind, _attrs in _KINDS.items():
    op(_kind, "-> reader_handle: Ref(string)", lambda c: [(2,)], stateful=True, **_attrs)
    if _kind != "LMDBReader":
        _more = dict(encoding="") if _kind == "FixedLengthRecordReader" else {}
        op(f"{_kind}V2", "-> reader_handle: resource", scalar, stateful=True, **_attrs, **_more)


@kernel(*(f"{_kind}{_v}" for _kind in _KINDS if _kind != "LMDBReader" for _v in ("", "V2")))
def reader_handle(xp: Any, *, node: Any) -> Reader:
    kind = node.op.removesuffix("V2")

    def make(_name: str) -> Reader:
        return Reader(node.name, kind, _records(kind, node.attrs), kind in _SINGLE)

    return node.keep(lambda: shared(node, "reader", make))  # type: ignore[no-any-return]


@kernel("LMDBReader")
def lmdb_reader(xp: Any) -> Reader:
    raise UnimplementedError(None, None, "LMDBReader: databases of LMDB are not read")


def _records(kind: str, attrs: Any) -> Records:
    """How a kind of reader reads a unit of work."""
    if kind == "TextLineReader":
        return partial(text_lines, skip=attrs["skip_header_lines"])
    if kind == "TFRecordReader":
        return partial(tf_records, compressed=_compression(attrs["compression_type"]))
    if kind == "FixedLengthRecordReader":
        sizes = {name: attrs[name] for name in Layout.__dataclass_fields__}
        for name, size in sizes.items():
            if size < 0:
                raise invalid(f"{name} must be >= 0 not {size}")
        encoding = attrs.get("encoding", "")
        return partial(Layout(**sizes).records, compressed=encoding if encoding in WINDOWS else "")
    return whole if kind == "IdentityReader" else whole_file


def _compression(name: str) -> str:
    if name and name not in WINDOWS:
        raise invalid(f"Unsupported compression_type:{name}. Defaulting to no compression.")
    return name


def _reader(handle: Any) -> Reader:
    return resource(handle, Reader, "a reader")  # type: ignore[no-any-return]


# ---- ops on it: each for both forms of handle


def _both(name: str, signature: str, shape: Any, **options: Any) -> None:
    for version, handle in (("V2", "resource"), ("", "Ref(string)")):
        text = signature.replace("HANDLE", handle)
        op(f"{name}{version}", f"reader_handle: {text}", shape, stateful=bool(version), **options)


def _read_shape(c: ShapeContext) -> list[Shape]:
    """The key and the value of a record."""
    return [(), ()]


def _read_up_to_shape(c: ShapeContext) -> list[Shape]:
    """Keys and values of the records that one unit of work still has, up to a number."""
    c.rank(2, 0)
    return [(None,), (None,)]


def _restore_shape(c: ShapeContext) -> list[Shape]:
    c.rank(1, 0)
    return []


_both("ReaderRead", "HANDLE, queue_handle: HANDLE -> key: string, value: string",
      _read_shape, blocking=True)  # fmt: skip
_both("ReaderReadUpTo", "HANDLE, queue_handle: HANDLE, num_records: int64 -> "
      "keys: string, values: string", _read_up_to_shape, blocking=True)  # fmt: skip
_both("ReaderNumRecordsProduced", "HANDLE -> records_produced: int64", scalar)
_both("ReaderNumWorkUnitsCompleted", "HANDLE -> units_completed: int64", scalar)
_both("ReaderSerializeState", "HANDLE -> state: string", scalar, blocking=True)
_both("ReaderRestoreState", "HANDLE, state: string ->", _restore_shape, blocking=True)
_both("ReaderReset", "HANDLE ->", no_outputs, blocking=True)


@kernel("ReaderRead", "ReaderReadV2")
def reader_read(xp: Any, handle: Any, queue: Any, *, step: Any) -> Any:
    key, value = _reader(handle).read(resource(queue, Queue, "a queue"), step)
    return string_scalar(key), string_scalar(value)


@kernel("ReaderReadUpTo", "ReaderReadUpToV2")
def reader_read_up_to(xp: Any, handle: Any, queue: Any, num_records: Any, *, step: Any) -> Any:
    if num_records < 0:
        raise invalid(f"num_records must be >= 0 not {num_records}")
    reader, source = _reader(handle), resource(queue, Queue, "a queue")
    records = reader.read_up_to(source, int(num_records), step)
    return string_vector(key for key, _ in records), string_vector(value for _, value in records)


@kernel("ReaderNumRecordsProduced", "ReaderNumRecordsProducedV2")
def num_records_produced(xp: Any, handle: Any) -> Any:
    return np.int64(_reader(handle).num_records_produced)


@kernel("ReaderNumWorkUnitsCompleted", "ReaderNumWorkUnitsCompletedV2")
def num_work_units_completed(xp: Any, handle: Any) -> Any:
    return np.int64(_reader(handle).num_work_units_completed)


@kernel("ReaderSerializeState", "ReaderSerializeStateV2")
def serialize_state(xp: Any, handle: Any, *, step: Any) -> Any:
    return string_scalar(_reader(handle).serialize(step))


@kernel("ReaderRestoreState", "ReaderRestoreStateV2")
def restore_state(xp: Any, handle: Any, state: Any, *, step: Any) -> None:
    _reader(handle).restore(np.asarray(state, object).item(), step)


@kernel("ReaderReset", "ReaderResetV2")
def reset(xp: Any, handle: Any, *, step: Any) -> None:
    _reader(handle).reset(step)
