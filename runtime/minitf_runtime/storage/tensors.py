"""TensorProto: a tensor as a message, in summaries and in strings made by SerializeTensor."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minitf_runtime.storage.protobuf import (
    DecodeError,
    bytes_field,
    fields,
    int_field,
    signed,
    varints,
)
from minitf_runtime.types import DType, as_dtype, string

# The field of the elements for each type, and the fixed form of an element (None: a varint).
_VALUES: dict[str, tuple[int, str | None]] = {
    "float32": (5, "<f4"),
    "float64": (6, "<f8"),
    "complex64": (9, "<f4"),
    "int64": (10, None),
    "bool": (11, None),
    "complex128": (12, "<f8"),
    "float16": (13, None),
    "uint32": (16, None),
    "uint64": (17, None),
}
_INTS = (7, None)  # of all other types


def tensor_bytes(array: np.ndarray, dtype: DType) -> bytes:
    """The message of a tensor: strings in their field, numbers as the bytes of the array."""
    dims = b"".join(bytes_field(2, int_field(1, n) if n else b"") for n in array.shape)
    head = int_field(1, dtype.number) + bytes_field(2, dims)
    if dtype is string:
        return head + b"".join(bytes_field(8, item) for item in array.ravel())
    return head + (bytes_field(4, array.tobytes()) if array.size else b"")


def read_tensor(data: bytes) -> tuple[DType, np.ndarray]:
    """The tensor of a message. Raises DecodeError."""
    found: dict[int, list[tuple[int, Any]]] = {}
    for number, kind, value in fields(data):
        found.setdefault(number, []).append((kind, value))
    try:
        dtype = as_dtype(_last(found, 1, 0))
        dims = [_size(v) for n, _, v in fields(_last(found, 2, b"")) if n == 2]
        return dtype, _array(found, dtype, dims)
    except (TypeError, ValueError) as e:
        raise DecodeError(str(e)) from None


def _last(found: dict[int, list[tuple[int, Any]]], number: int, default: Any) -> Any:
    return found[number][-1][1] if number in found else default


def _size(dim: bytes) -> int:
    return next((signed(v) for n, _, v in fields(dim) if n == 1), 0)


def _array(found: dict[int, list[tuple[int, Any]]], dtype: DType, dims: list[int]) -> np.ndarray:
    content = _last(found, 4, b"")
    if content:
        return np.frombuffer(content, dtype.as_numpy_dtype).reshape(dims)
    values = _strings(found) if dtype is string else _numbers(found, dtype)
    count = math.prod(dims)
    if not len(values):  # what is not said is zero
        values = np.full(1, b"" if dtype is string else 0, dtype.as_numpy_dtype)
    last = np.repeat(values[-1:], max(0, count - len(values)))
    return np.concatenate([values[:count], last]).reshape(dims)


def _strings(found: dict[int, list[tuple[int, Any]]]) -> np.ndarray:
    return np.array([*(value for _, value in found.get(8, ())), None], object)[:-1]


def _numbers(found: dict[int, list[tuple[int, Any]]], dtype: DType) -> np.ndarray:
    number, form = _VALUES.get(dtype.name, _INTS)
    parts = found.get(number, ())
    kind = np.dtype(dtype.as_numpy_dtype)
    if form is not None:
        return np.frombuffer(b"".join(value for _, value in parts), form).view(kind)
    items = [item for wire, value in parts for item in varints(wire, value)]
    whole = np.array(items, np.uint64).view(np.int64)
    return whole.astype(np.uint16).view(kind) if kind == np.float16 else whole.astype(kind)
