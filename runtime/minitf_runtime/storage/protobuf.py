"""The protobuf wire form: varints, tags, and the fields of a message as (number, value) pairs."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5  # wire types
_SIGNED = 1 << 64


class DecodeError(ValueError):
    """Bytes that are no message."""


def varint(value: int) -> bytes:
    """An integer in 7-bit groups, the lowest first; negative ones as 64-bit two's complement."""
    if value < 0:
        value += _SIGNED
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def read_varint(data: bytes | memoryview, at: int) -> tuple[int, int]:
    """The unsigned integer at a position, and the position after it. Raises DecodeError."""
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise DecodeError(f"a varint is cut off or too long at byte {at}")
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7


def signed(value: int, bits: int = 64) -> int:
    """A varint's value as a signed integer."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def int_field(number: int, value: int) -> bytes:
    return varint(number << 3 | VARINT) + varint(value)


def bytes_field(number: int, value: bytes) -> bytes:
    return varint(number << 3 | LENGTH) + varint(len(value)) + value


def float_field(number: int, value: float) -> bytes:
    return varint(number << 3 | FIXED32) + struct.pack("<f", value)


def double_field(number: int, value: float) -> bytes:
    return varint(number << 3 | FIXED64) + struct.pack("<d", value)


def fixed32_field(number: int, value: int) -> bytes:
    return varint(number << 3 | FIXED32) + struct.pack("<I", value)


def packed_doubles_field(number: int, values: list[float]) -> bytes:
    return bytes_field(number, struct.pack(f"<{len(values)}d", *values))


def varints(kind: int, value: Any) -> list[int]:
    """The unsigned integers of one field: a single one, or several packed. Raises DecodeError."""
    if kind == VARINT:
        return [value]
    if kind != LENGTH:
        raise DecodeError(f"wire type {kind} holds no integers")
    out = []
    at = 0
    while at < len(value):
        one, at = read_varint(value, at)
        out.append(one)
    return out


def fields(data: bytes | memoryview) -> Iterator[tuple[int, int, Any]]:
    """(number, wire type, value) of each field: an int for a varint, else bytes.

    Raises DecodeError.
    """
    return ((number, kind, value) for number, kind, value, _ in placed_fields(data))


def placed_fields(data: bytes | memoryview, start: int = 0) -> Iterator[tuple[int, int, Any, int]]:
    """The fields, each with the place of its value in a file where the data begin at `start`."""
    at = 0
    view = memoryview(data)
    while at < len(view):
        tag, at = _placed_varint(view, at, start)
        number, kind = tag >> 3, tag & 7
        place = start + at
        if not number:
            raise DecodeError(f"there is no field 0 at byte {place}")
        if kind == VARINT:
            value, at = _placed_varint(view, at, start)
            yield number, kind, value, place
            continue
        if kind == LENGTH:
            size, at = _placed_varint(view, at, start)
        elif kind in (FIXED32, FIXED64):
            size = 4 if kind == FIXED32 else 8
        else:
            raise DecodeError(f"wire type {kind} at byte {place} is not known")
        if at + size > len(view):
            raise DecodeError(f"field {number} at byte {place} is cut off")
        yield number, kind, bytes(view[at : at + size]), start + at
        at += size


def _placed_varint(view: memoryview, at: int, start: int) -> tuple[int, int]:
    try:
        return read_varint(view, at)
    except DecodeError:
        place = start + at
        raise DecodeError(f"a varint is cut off or too long at byte {place}") from None
