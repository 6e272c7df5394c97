"""Ops that decode strings as whole files or rows hold them: compressed, tensors, CSV.

Raw bytes and base 64 are in string_convert.py, examples in examples.py, pictures in codecs.py.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from minitf_runtime.errors import invalid
from minitf_runtime.ops.registry import (
    Attr,
    ShapeContext,
    Type,
    Types,
    kernel,
    op,
    scalar,
    unchanged,
    unknown,
)
from minitf_runtime.ops.strings import mapped, string_scalar
from minitf_runtime.storage.compression import WINDOWS, inflated
from minitf_runtime.storage.protobuf import DecodeError
from minitf_runtime.storage.tensors import read_tensor, tensor_bytes
from minitf_runtime.types import (
    DType,
    Shape,
    c_name,
    float32,
    float64,
    int32,
    int64,
    show_shape,
    string,
)

# ---- compressed strings

op("DecodeCompressed", "bytes: string -> output: string", unchanged, compression_type="")


@kernel("DecodeCompressed", device="CPU")
def decode_compressed(xp: Any, x: Any, *, compression_type: str) -> Any:
    if not compression_type:
        return x
    if compression_type not in WINDOWS:
        raise invalid("Only ZLIB, GZIP or NONE are supported compressions")
    window = WINDOWS[compression_type]
    return mapped(lambda text: inflated(zlib.decompressobj(window), text), x)


# ---- tensors as strings

op("SerializeTensor", "tensor: T -> serialized: string", scalar, T=Type())
op("ParseTensor", "serialized: string -> output: out_type", unknown, out_type=Type())


@kernel("SerializeTensor", device="CPU")
def serialize_tensor(xp: Any, tensor: Any, *, T: DType) -> Any:  # noqa: N803
    return string_scalar(tensor_bytes(np.asarray(tensor), T))


@kernel("ParseTensor", device="CPU")
def parse_tensor(xp: Any, serialized: Any, *, out_type: DType) -> Any:
    if serialized.ndim:
        raise invalid(
            f"Expected `serialized` to be a scalar, got shape: {show_shape(serialized.shape)}"
        )
    try:
        dtype, array = read_tensor(serialized.item())
    except DecodeError as e:
        raise invalid(f"Cannot parse tensor from proto: {e}") from None
    if dtype is not out_type:
        raise invalid(
            f"Type mismatch between parsed tensor ({c_name(dtype)}) and dtype ({c_name(out_type)})"
        )
    return array


# ---- rows of comma-separated values


@op(
    "DecodeCSV",
    "records: string, record_defaults: OUT_TYPE -> output: OUT_TYPE",
    OUT_TYPE=Types(minimum=1, allowed=(float32, float64, int32, int64, string)),
    field_delim=",",
    use_quote_delim=True,
    na_value="",
    select_cols=Attr("list(int)", []),
)
def decode_csv_shape(c: ShapeContext) -> list[Shape]:
    """One tensor for each column, of the shape of the records."""
    for shape in c.shapes[1:]:
        if shape is not None and (len(shape) > 1 or (shape and (shape[0] or 0) > 1)):
            raise ValueError(
                "Shape of a default must be a length-0 or length-1 vector, or a scalar."
            )
    return [c.shape(0)] * len(c["OUT_TYPE"])


@kernel("DecodeCSV", device="CPU")
def decode_csv(
    xp: Any, records: Any, defaults: Any,
    *, OUT_TYPE: Any, field_delim: str, use_quote_delim: bool, na_value: str, select_cols: Any,  # noqa: N803
) -> Any:  # fmt: skip
    if len(field_delim) != 1:
        raise invalid("field_delim should be only 1 char")
    between, missing = field_delim.encode("latin-1"), (b"", na_value.encode("latin-1"))
    columns = [_Column(i, t, d) for i, (t, d) in enumerate(zip(OUT_TYPE, defaults))]
    outputs = [np.empty(records.shape, t.as_numpy_dtype) for t in OUT_TYPE]
    flat = [out.reshape(-1) for out in outputs]
    for row, text in enumerate(records.reshape(-1)):
        found = list(_fields(text, between, use_quote_delim))
        if select_cols:
            found = [found[i] for i in select_cols if i < len(found)]
        if len(found) != len(columns):
            raise invalid(f"Expect {len(columns)} fields but have {len(found)} in record {row}")
        for out, column, value in zip(flat, columns, found):
            out[row] = column.default(row) if value in missing else column.value(value, row)
    return tuple(outputs)


class _Column:
    """How the fields of a column become values."""

    def __init__(self, place: int, dtype: DType, default: Any) -> None:
        if np.size(default) > 1:
            raise invalid(
                f"There should only be 1 default per field but field {place} has {np.size(default)}"
            )
        self._place = place
        self._dtype = dtype
        self._default = np.ravel(default)
        self._convert: Callable[[bytes], Any] = float if dtype.is_floating else int

    def default(self, row: int) -> Any:
        if not len(self._default):
            raise invalid(f"Field {self._place} is required but missing in record {row}!")
        return self._default[0]

    def value(self, text: bytes, row: int) -> Any:
        if self._dtype is string:
            return text
        try:
            if b"_" in text:
                raise ValueError("Python alone allows underscores in numbers")
            return np.array(self._convert(text), self._dtype.as_numpy_dtype)
        except (ValueError, OverflowError):
            shown = text.decode("utf-8", "backslashreplace")
            raise invalid(
                f"Field {self._place} in record {row} is not a valid {c_name(self._dtype)}: {shown}"
            ) from None


def _fields(text: bytes, between: bytes, quotes: bool) -> Iterator[bytes]:
    """The fields of a row; one in quotes may hold separators, and quotes that are doubled."""
    at = 0
    while at < len(text):
        if text[at] in b"\r\n":
            at += 1
        elif quotes and text[at : at + 1] == b'"':
            end, parts = _quoted(text, at + 1, between)
            yield b"".join(parts)
            at = end + 2
        else:
            end = text.find(between, at)
            end = len(text) if end < 0 else end
            field = text[at:end]
            if b"\n" in field or b"\r" in field or (quotes and b'"' in field):
                raise invalid("Unquoted fields cannot have quotes/CRLFs inside")
            yield field
            at = end + 1
    if text.endswith(between):
        yield b""


def _quoted(text: bytes, at: int, between: bytes) -> tuple[int, list[bytes]]:
    """Where the closing quote is, and the parts of the field that begins at `at`."""
    parts = []
    while True:
        end = text.find(b'"', at)
        if end < 0:
            raise invalid("Quoted field has to end with quote followed by delim or end")
        parts.append(text[at:end])
        after = text[end + 1 : end + 2]
        if after in (b"", between):
            return end, parts
        if after != b'"':
            raise invalid("Quote inside a string has to be escaped by another quote")
        parts.append(b'"')
        at = end + 2
