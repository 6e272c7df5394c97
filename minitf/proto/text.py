"""Reads the text form of messages (.pbtxt, the file `checkpoint`). It is written by str()."""

from __future__ import annotations

import re
from typing import Any

from minitf.proto.kinds import Kind
from minitf.proto.message import Field, Map, Message, Nested, Repeated, Scalar

_TOKEN = re.compile(
    r"""(?:\s|\#[^\n]*)*(?:(?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')"""
    r"""|(?P<word>[-+.\w]+)|(?P<sign>[{}<>\[\]:;,]))"""
)
_BLANK = re.compile(r"(?:\s|#[^\n]*)*")
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{1,2})|([0-7]{1,3})|(.))", re.S)
_CONTROL = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_CLOSE = {"{": "}", "<": ">"}


class ParseError(ValueError):
    """Text that is no message of the kind; it tells line and column."""


def merge_text(text: str, message: Message) -> Any:
    """Adds what the text says to the message, and gives it. Raises ParseError."""
    tokens = _Tokens(text)
    try:
        while not tokens.at_end():
            _field(tokens, message)
    except RecursionError:
        raise tokens.error("messages inside messages without end") from None
    return message


class _Tokens:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._start = 0  # of the last token that was taken

    def at_end(self) -> bool:
        blank = _BLANK.match(self._text, self._at)
        return blank is not None and blank.end() == len(self._text)

    def take(self) -> re.Match[str]:
        found = _TOKEN.match(self._text, self._at)
        if found is None:
            what = "cannot read this" if not self.at_end() else "the text is cut off"
            raise self.error_at_next(what)
        self._at = found.end()
        self._start = found.start(found.lastgroup or 0)
        return found

    def accept(self, signs: str) -> str:
        """The next token if it is one of these signs, else ''."""
        found = _TOKEN.match(self._text, self._at)
        sign = (found["sign"] or "") if found else ""
        if not sign or sign not in signs:
            return ""
        self.take()
        return sign

    def value(self) -> str | bytes:
        """A word, or the bytes of adjacent quoted strings."""
        found = self.take()
        if found["word"]:
            return found["word"]
        if not found["string"]:
            raise self.error(f"expected a value, got '{found['sign']}'")
        data = _unquote(found["string"])
        while True:
            more = _TOKEN.match(self._text, self._at)
            if not more or not more["string"]:
                return data
            data += _unquote(self.take()["string"])

    def error_at_next(self, what: str) -> ParseError:
        blank = _BLANK.match(self._text, self._at)
        self._start = blank.end() if blank else self._at
        return self.error(what)

    def error(self, what: str) -> ParseError:
        line = self._text.count("\n", 0, self._start) + 1
        column = self._start - self._text.rfind("\n", 0, self._start)
        return ParseError(f"line {line}, column {column}: {what}")


def _unquote(literal: str) -> bytes:
    body = literal[1:-1].encode("utf-8").decode("latin-1")
    return _ESCAPE.sub(_unescape, body).encode("latin-1")


def _unescape(found: re.Match[str]) -> str:
    if found[1]:
        return chr(int(found[1], 16))
    if found[2]:
        return chr(int(found[2], 8) & 255)
    return _CONTROL.get(found[3], found[3])


def _field(tokens: _Tokens, message: Message) -> None:
    name = tokens.take()["word"] or ""
    field = message.fields.get(name)
    if field is None:
        kind = type(message).__name__
        raise tokens.error(f'message type "{kind}" has no field named "{name}"')
    colon = tokens.accept(":")
    if tokens.accept("["):
        while not tokens.accept("]"):
            _value(tokens, message, field, ":")
            tokens.accept(",")
    else:
        _value(tokens, message, field, colon)
    tokens.accept(";,")


def _value(tokens: _Tokens, message: Message, field: Field, colon: str) -> None:
    try:
        if isinstance(field, Map):
            _read_entry(tokens, message, field)
        elif isinstance(field, Nested):
            _body(tokens, field.get(message))
        elif isinstance(field, Repeated) and not isinstance(field.kind, Kind):
            _body(tokens, field.get(message).add())
        else:
            _scalar(tokens, message, field, colon)
    except ParseError:
        raise
    except (TypeError, ValueError) as e:
        raise tokens.error(f"{field.name}: {e}") from None


def _scalar(tokens: _Tokens, message: Message, field: Any, colon: str) -> None:
    if not colon:
        raise tokens.error(f"expected ':' after {field.name}")
    value = field.kind.read(tokens.value())
    if isinstance(field, Scalar):
        field.__set__(message, value)
    else:
        field.get(message).append(value)


def _body(tokens: _Tokens, message: Message) -> None:
    opened = tokens.accept("{<")
    if not opened:
        raise tokens.error_at_next(f"expected '{{' of a {type(message).__name__}")
    message.SetInParent()
    while not tokens.accept(_CLOSE[opened]):
        _field(tokens, message)


def _read_entry(tokens: _Tokens, message: Message, field: Map) -> None:
    entry = _entry_class(field)()
    _body(tokens, entry)
    field.get(message).update({entry.key: entry.value})


def _entry_class(field: Map) -> type[Message]:
    """A map's item as a message of its own."""
    value = Scalar(field.value) if isinstance(field.value, Kind) else Nested(field.value)
    return type(Message)("Entry", (Message,), {"key": Scalar(field.key), "value": value})
