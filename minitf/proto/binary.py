"""The binary form of messages: protobuf's wire format. Fields that are not known are skipped."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from minitf.proto.kinds import Kind
from minitf.proto.message import Field, Map, Message, Nested, Repeated, Scalar
from minitf_runtime.storage import protobuf as wire


def encode(message: Message) -> bytes:
    """Raises TypeError for a message whose fields have no numbers."""
    out = bytearray()
    for name, field in message.fields.items():
        if not field.is_set(message):
            continue
        if not field.number:
            raise TypeError(f"{type(message).__name__}.{name} has no binary form")
        for kind, data in _encoded(field, field.get(message)):
            out += wire.varint(field.number << 3 | kind)
            if kind == wire.LENGTH:
                out += wire.varint(len(data))
            out += data
    return bytes(out)


def _encoded(field: Field, value: Any) -> Iterator[tuple[int, bytes]]:
    """(wire type, bytes) of each occurrence of the field."""
    if isinstance(field, Map):
        for key in sorted(value):
            yield wire.LENGTH, _entry(field, key, value[key])
    elif isinstance(field, Repeated):
        kind = field.kind
        if isinstance(kind, Kind) and kind.wire != wire.LENGTH:
            yield wire.LENGTH, b"".join(map(kind.encode, value))
        else:
            for item in value:
                yield _element(kind, item)
    elif isinstance(field, (Scalar, Nested)):
        yield _element(field.kind, value)


def _element(kind: Kind | type[Message], value: Any) -> tuple[int, bytes]:
    if isinstance(kind, Kind):
        return kind.wire, kind.encode(value)
    return wire.LENGTH, encode(value)


def _entry(field: Map, key: Any, value: Any) -> bytes:
    out = b""
    for number, (kind, data) in enumerate(
        (_element(field.key, key), _element(field.value, value)), 1
    ):
        size = wire.varint(len(data)) if kind == wire.LENGTH else b""
        out += wire.varint(number << 3 | kind) + size + data
    return out


def merge(message: Message, data: bytes, start: int = 0) -> None:
    """Adds what the bytes say. Raises DecodeError naming message, field and place.

    The bytes are those from `start` on of a file.
    """
    by_number = _by_number(type(message))
    for number, kind, raw, at in wire.placed_fields(data, start):
        field = by_number.get(number)
        if field is None:
            continue
        try:
            _take(message, field, kind, raw, at)
        except wire.DecodeError as e:
            raise wire.DecodeError(f"{_where(message, field)}: {e}") from None
        except RecursionError:
            raise wire.DecodeError("messages inside messages without end") from None
        except (TypeError, ValueError, wire.struct.error) as e:
            raise wire.DecodeError(f"{_where(message, field)}: {e}, at byte {at}") from None
    message.SetInParent()


def _where(message: Message, field: Field) -> str:
    """The field being read: 'GraphDef.node[3]'."""
    item = f"[{len(field.get(message)) - 1}]" if _has_parts(field) else ""
    return f"{type(message).__name__}.{field.name}{item}"


def _has_parts(field: Field) -> bool:
    return isinstance(field, Repeated) and not isinstance(field.kind, Kind)


@cache
def _by_number(cls: type[Message]) -> dict[int, Field]:
    return {field.number: field for field in cls.fields.values() if field.number}


def _take(message: Message, field: Field, kind: int, raw: Any, at: int) -> None:
    if isinstance(field, Map):
        key, value = _read_entry(field, _expect(wire.LENGTH, kind, raw), at)
        field.get(message).update({key: value})
    elif isinstance(field, Repeated):
        items = field.get(message)
        if isinstance(field.kind, Kind):
            items.extend(_scalars(field.kind, kind, raw))
        else:
            merge(items.add(), _expect(wire.LENGTH, kind, raw), at)
    elif isinstance(field, Nested):
        merge(field.get(message), _expect(wire.LENGTH, kind, raw), at)
    elif isinstance(field, Scalar):
        field.__set__(message, field.kind.decode(_expect(field.kind.wire, kind, raw)))


def _expect(wanted: int, kind: int, raw: Any) -> Any:
    if kind != wanted:
        raise ValueError(f"wire type {kind} instead of {wanted}")
    return raw


def _read_entry(field: Map, data: bytes, start: int) -> tuple[Any, Any]:
    key = field.key.default
    value = field.value.default if isinstance(field.value, Kind) else field.value()
    for number, kind, part, at in wire.placed_fields(data, start):
        if number == 1:
            key = field.key.decode(_expect(field.key.wire, kind, part))
        elif number == 2 and isinstance(field.value, Kind):
            value = field.value.decode(_expect(field.value.wire, kind, part))
        elif number == 2:
            merge(value, _expect(wire.LENGTH, kind, part), at)
    return key, value


def _scalars(element: Kind, kind: int, raw: Any) -> Iterator[Any]:
    """The items of a repeated field, packed or not."""
    if kind == element.wire:
        yield element.decode(raw)
        return
    data = _expect(wire.LENGTH, kind, raw)
    size = {wire.FIXED32: 4, wire.FIXED64: 8}.get(element.wire)
    at = 0
    while at < len(data):
        if size:
            yield element.decode(data[at : at + size])
            at += size
        else:
            value, at = wire.read_varint(data, at)
            yield element.decode(value)
