"""tf.train.Example and SequenceExample as bytes: the features that they hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from minitf_runtime.storage.protobuf import (
    LENGTH,
    VARINT,
    DecodeError,
    fields,
    varints,
)
from minitf_runtime.types import DType, float32, int64, string


class Feature(NamedTuple):
    """The values of a feature; `dtype` is None when it has none at all, not even an empty list."""

    dtype: DType | None
    values: np.ndarray


Features = dict[bytes, bytes]  # messages by key
FeatureLists = dict[bytes, list[bytes]]


def read_example(data: bytes) -> Features:
    """The features of an Example, or the context of a SequenceExample. Raises DecodeError."""
    return _map(_part(data, 1))


def read_feature_lists(data: bytes) -> FeatureLists:
    """The lists of a SequenceExample. Raises DecodeError."""
    lists = _map(_part(data, 2))
    return {key: [v for n, _, v in fields(of) if n == 1] for key, of in lists.items()}


def _part(data: bytes, number: int) -> bytes:
    """A message in a message; one that comes in pieces is their concatenation."""
    return b"".join(_message(kind, value) for n, kind, value in fields(data) if n == number)


def _message(kind: int, value: Any) -> bytes:
    if kind != LENGTH:
        raise DecodeError(f"wire type {kind} holds no message")
    return value  # type: ignore[no-any-return]


def _map(data: bytes) -> dict[bytes, bytes]:
    out = {}
    for number, kind, entry in fields(data):
        if number == 1:
            parts = {n: v for n, _, v in fields(_message(kind, entry))}
            out[parts.get(1, b"")] = parts.get(2, b"")
    return out


def read_feature(data: bytes) -> Feature:
    """Raises DecodeError."""
    found: Feature | None = None
    for number, kind, part in fields(data):
        if number in _KINDS:
            dtype, read = _KINDS[number]
            values = read([(k, v) for n, k, v in fields(_message(kind, part)) if n == 1])
            found = Feature(dtype, values)
    return found or Feature(None, np.empty(0))


def _strings(parts: list[tuple[int, Any]]) -> np.ndarray:
    return np.array([*(_message(kind, value) for kind, value in parts), None], object)[:-1]


def _floats(parts: list[tuple[int, Any]]) -> np.ndarray:
    if any(kind == VARINT for kind, _ in parts):
        raise DecodeError("an integer is no float")
    data = b"".join(value for _, value in parts)
    if len(data) % 4:
        raise DecodeError(f"{len(data)} bytes are no floats")
    return np.frombuffer(data, "<f4")


def _integers(parts: list[tuple[int, Any]]) -> np.ndarray:
    items = [item for kind, value in parts for item in varints(kind, value)]
    return np.array(items, np.uint64).view(np.int64)


_Reader = Callable[[list[tuple[int, Any]]], np.ndarray]
_KINDS: dict[int, tuple[DType, _Reader]] = {
    1: (string, _strings),
    2: (float32, _floats),
    3: (int64, _integers),
}
