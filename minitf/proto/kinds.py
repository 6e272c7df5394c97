"""The scalar types of message fields: what each takes, its default, how it is written and read."""

from __future__ import annotations

import operator
import struct
from collections.abc import Callable
from typing import Any

from minitf_runtime.storage import protobuf as wire


class Kind:
    """A scalar type.

    `check` gives the value as stored, or raises TypeError or ValueError; `show` and `read` are its
    text form (`read` takes bytes for a quoted string, else the word); `encode` and `decode` its
    bytes, as the wire type says (a varint is decoded from its unsigned value).
    """

    def __init__(
        self,
        default: Any,
        check: Callable[[Any], Any],
        show: Callable[[Any], str],
        read: Callable[[str | bytes], Any],
        wire: int = wire.VARINT,
        encode: Callable[[Any], bytes] = wire.varint,
        decode: Callable[[Any], Any] = wire.signed,
    ) -> None:
        self.default = default
        self.check = check
        self.show = show
        self.read = read
        self.wire = wire
        self.encode = encode
        self.decode = decode


def _refuse(value: Any, expected: str) -> TypeError:
    kind = type(value).__name__
    return TypeError(f"{value!r} has type {kind}, but expected one of: {expected}")


def _integer(bits: int) -> Callable[[Any], int]:
    def check(value: Any) -> int:
        try:
            number = operator.index(value)
        except TypeError:
            raise _refuse(value, "int") from None
        if not -(2 ** (bits - 1)) <= number < 2 ** (bits - 1):
            raise ValueError(f"Value out of range: {number}")
        return number

    return check


def _bool(value: Any) -> bool:
    try:
        return bool(operator.index(value))
    except TypeError:
        raise _refuse(value, "int, bool") from None


def _double(value: Any) -> float:
    if isinstance(value, (str, bytes)) or not hasattr(value, "__float__"):
        raise _refuse(value, "int, float")
    return float(value)


def _single(value: Any) -> float:
    return float(struct.unpack("f", struct.pack("f", _double(value)))[0])


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode()
    if not isinstance(value, str):
        raise _refuse(value, "bytes, unicode")
    return value


def _octets(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if not isinstance(value, bytes):
        raise _refuse(value, "bytes")
    return value


_ESCAPES = {ord('"'): '\\"', ord("'"): "\\'", ord("\\"): "\\\\", 9: "\\t", 10: "\\n", 13: "\\r"}


def _quote(value: bytes) -> str:
    octets = (_ESCAPES.get(c) or (chr(c) if 32 <= c < 127 else f"\\{c:03o}") for c in value)
    return f'"{"".join(octets)}"'


def _read_bool(word: str | bytes) -> bool:
    if word not in ("true", "false", "True", "False", "t", "f", "1", "0"):
        raise ValueError(f"expected true or false, got {word!r}")
    return word in ("true", "True", "t", "1")


def _read_int(word: str | bytes) -> int:
    return int(_word(word), 0)


def _read_float(word: str | bytes) -> float:
    text = _word(word).lower()
    return float(text if text.endswith("inf") else text.removesuffix("f"))


def _word(word: str | bytes) -> str:
    if isinstance(word, bytes):
        raise ValueError(f"expected a number, got {word!r}")
    return word


def _read_octets(word: str | bytes) -> bytes:
    if isinstance(word, str):
        raise ValueError(f"expected a quoted string, got {word}")
    return word


def _packing(form: str) -> dict[str, Callable[[Any], Any]]:
    packer = struct.Struct(form)
    return {"encode": packer.pack, "decode": lambda data: packer.unpack(data)[0]}


BOOL = Kind(False, _bool, lambda value: "true" if value else "false", _read_bool, decode=bool)
INT32 = Kind(0, _integer(32), str, _read_int, decode=lambda value: wire.signed(value, 32))
INT64 = Kind(0, _integer(64), str, _read_int)
UINT64 = Kind(0, _integer(65), str, _read_int, decode=int)
FLOAT = Kind(0.0, _single, repr, _read_float, wire.FIXED32, **_packing("<f"))
DOUBLE = Kind(0.0, _double, repr, _read_float, wire.FIXED64, **_packing("<d"))
STRING = Kind(
    "",
    _text,
    lambda value: _quote(value.encode()),
    lambda word: _read_octets(word).decode(),
    wire.LENGTH,
    str.encode,
    bytes.decode,
)
BYTES = Kind(b"", _octets, _quote, _read_octets, wire.LENGTH, bytes, bytes)


class Enum(Kind):
    """A type of named numbers; `Name`, `Value`, `keys`, `values` and `items` as protobuf has."""

    def __init__(self, **numbers: int) -> None:
        self._numbers = numbers
        self._names = {number: name for name, number in numbers.items()}
        super().__init__(
            0,
            _integer(32),
            lambda value: self._names.get(value, str(value)),
            self._read,
            decode=lambda value: wire.signed(value, 32),
        )

    def _read(self, word: str | bytes) -> int:
        if isinstance(word, str) and word.isidentifier():
            return self.Value(word)
        return _read_int(word)

    def Value(self, name: str) -> int:
        if name not in self._numbers:
            raise ValueError(f'unknown enum label "{name}"')
        return self._numbers[name]

    def Name(self, number: int) -> str:
        if number not in self._names:
            raise ValueError(f"no enum label for {number}")
        return self._names[number]

    def keys(self) -> list[str]:
        return list(self._numbers)

    def values(self) -> list[int]:
        return list(self._numbers.values())

    def items(self) -> list[tuple[str, int]]:
        return list(self._numbers.items())
