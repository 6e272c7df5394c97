"""The scalar types of message fields: what each takes, its default, how it is written."""

from __future__ import annotations

import operator
import struct
from collections.abc import Callable
from typing import Any


class Kind:
    """A scalar type. `check` gives the value as stored, or raises TypeError or ValueError."""

    def __init__(
        self, default: Any, check: Callable[[Any], Any], show: Callable[[Any], str]
    ) -> None:
        self.default = default
        self.check = check
        self.show = show


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


_ESCAPES = {ord('"'): '\\"', ord("'"): "\\'", ord("\\"): "\\\\", 9: "\\t", 10: "\\n", 13: "\\r"}


def _quote(value: str) -> str:
    octets = (
        _ESCAPES.get(c) or (chr(c) if 32 <= c < 127 else f"\\{c:03o}") for c in value.encode()
    )
    return f'"{"".join(octets)}"'


BOOL = Kind(False, _bool, lambda value: "true" if value else "false")
INT32 = Kind(0, _integer(32), str)
INT64 = Kind(0, _integer(64), str)
FLOAT = Kind(0.0, _single, repr)
DOUBLE = Kind(0.0, _double, repr)
STRING = Kind("", _text, _quote)
OBJECT = Kind(None, lambda value: value, str)  # another message, kept as it is


class Enum(Kind):
    """A type of named numbers; `Name`, `Value`, `keys`, `values` and `items` as protobuf has."""

    def __init__(self, **numbers: int) -> None:
        self._numbers = numbers
        self._names = {number: name for name, number in numbers.items()}
        super().__init__(0, _integer(32), lambda value: self._names.get(value, str(value)))

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
