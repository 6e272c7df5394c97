"""Attribute values as text that reads back: numbers, strings, types, shapes, arrays, lists."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np

from minitf_runtime.types import DType, Shape, as_dtype

_WORDS = {"none": None, "true": True, "false": False}
_TOKEN = re.compile(
    r'\s*(?:(?P<text>b?"(?:[^"\\]|\\.)*")'
    r"|(?P<number>-?(?:inf|nan|\d+(?:\.\d*)?(?:e[-+]?\d+)?)(?![\w]))"
    r"|(?P<word>\w+)"
    r"|(?P<mark>->|[^\s\w]))"
)


def show(value: Any) -> str:
    """A value as text. Raises ValueError for one that has no text, such as a function."""
    if isinstance(value, (np.ndarray, np.generic)):
        return _show_array(np.asarray(value))
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, bytes):
        return "b" + json.dumps(value.decode("latin-1"))
    if isinstance(value, DType):
        return value.name
    if isinstance(value, list):
        return f"[{', '.join(map(show, value))}]"
    if isinstance(value, tuple):
        comma = "," if len(value) == 1 else ""
        return f"({', '.join(map(show, value))}{comma})"
    raise ValueError(f"a {type(value).__name__} has no text form")


def _show_array(value: np.ndarray[Any, Any]) -> str:
    dtype = as_dtype(value.dtype)
    if dtype.is_complex:
        flat = [part for c in value.ravel().tolist() for part in (c.real, c.imag)]
    else:
        flat = value.ravel().tolist()
    return f"array({dtype.name}, {show(tuple(value.shape))}, {show(flat)})"


def show_tensor(dtype: DType, shape: Shape) -> str:
    """float32[2,?]; float32? where not even the rank is known."""
    if shape is None:
        return f"{dtype.name}?"
    return f"{dtype.name}[{','.join('?' if n is None else str(n) for n in shape)}]"


class Reader:
    """Reads one line, token by token."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def fail(self, wanted: str) -> ValueError:
        return ValueError(f"expected {wanted} at column {self.at + 1} of: {self.text}")

    def take(self, kind: str) -> str | None:
        """The next token if it is of this kind."""
        found = _TOKEN.match(self.text, self.at)
        if not found or found[kind] is None:
            return None
        self.at = found.end()
        return found[kind]

    def skip(self, mark: str) -> bool:
        """Passes over a mark if it comes next."""
        before = self.at
        if self.take("mark") == mark:
            return True
        self.at = before
        return False

    def expect(self, mark: str) -> None:
        if not self.skip(mark):
            raise self.fail(f"'{mark}'")

    def rest(self, pattern: str) -> str:
        """What matches the pattern from here on."""
        found = re.compile(r"\s*(" + pattern + ")").match(self.text, self.at)
        if not found:
            raise self.fail(f"/{pattern}/")
        self.at = found.end()
        return found[1]

    def value(self) -> Any:
        """Any value that `show` writes."""
        text = self.take("text")
        if text is not None:
            return json.loads(text[1:]).encode("latin-1") if text[0] == "b" else json.loads(text)
        number = self.take("number")
        if number is not None:
            return int(number) if re.fullmatch(r"-?\d+", number) else float(number)
        if self.skip("["):
            return self._items("]")
        if self.skip("("):
            return tuple(self._items(")"))
        word = self.take("word")
        if word == "array":
            self.expect("(")
            return self._array(*self._items(")"))
        if word in _WORDS:
            return _WORDS[word]
        try:
            return as_dtype(word or "")
        except TypeError:
            raise self.fail("a value") from None

    def _items(self, end: str) -> list[Any]:
        items: list[Any] = []
        while not self.skip(end):
            items.append(self.value())
            if not self.skip(","):
                self.expect(end)
                break
        return items

    def _array(self, dtype: DType, shape: tuple[int, ...], flat: list[Any]) -> Any:
        if dtype.is_complex:
            flat = [complex(*pair) for pair in zip(flat[::2], flat[1::2])]
        array = np.empty(len(flat), dtype.as_numpy_dtype)
        array[:] = flat
        return array.reshape(shape)

    def tensor(self) -> tuple[DType, Shape]:
        """A type with a shape, as `show_tensor` writes it."""
        dtype = as_dtype(self.take("word") or "")
        if self.skip("?"):
            return dtype, None
        self.expect("[")
        sizes: list[int | None] = []
        while not self.skip("]"):
            sizes.append(None if self.skip("?") else int(self.take("number") or -1))
            self.skip(",")
        return dtype, tuple(sizes)
