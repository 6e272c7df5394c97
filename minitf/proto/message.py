"""Messages that behave as protobuf's do in Python: typed fields, parts made on access, text form.

    class SaverDef(Message):
        sharded = Scalar(BOOL, 5)

Fields stand in the order of their protobuf numbers, which is the order of the text form. A message
whose fields have numbers has a binary form (binary.py); the text form is read in text.py. The
messages themselves are in files of their own, those of sessions in `minitf/options.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, MutableMapping, MutableSequence
from typing import Any, ClassVar

from minitf.proto.kinds import Enum, Kind


class _SlotsOnly(type):
    """Keeps instances without `__dict__`, so that an unknown field cannot be set."""

    def __new__(mcs, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
        body.setdefault("__slots__", ())
        return super().__new__(mcs, name, bases, body)


class Message(metaclass=_SlotsOnly):
    """The base of all messages; see the methods of google.protobuf.message.Message."""

    __slots__ = ("_values", "_parent", "_present")
    fields: ClassVar[dict[str, Field]] = {}
    _values: dict[str, Any]  # what was set or looked into, by field
    _parent: Message | None
    _present: bool  # whether something was set in it, so that the parent has it

    def __init_subclass__(cls) -> None:
        cls.fields = {k: v for k, v in vars(cls).items() if isinstance(v, Field)}

    def __init__(self, **values: Any) -> None:
        self._values = {}
        self._parent = None
        self._present = False
        for name, value in values.items():
            if name not in self.fields:
                raise ValueError(f'Protocol message {type(self).__name__} has no "{name}" field.')
            if value is not None:
                self.fields[name].merge(self, value)

    def SetInParent(self) -> None:
        """Makes the message one that its parent has, though nothing is set in it."""
        is_new = not self._present
        self._present = True
        if self._parent is not None:
            if is_new:
                self._parent._settle_oneof(self)
            self._parent.SetInParent()

    def _settle_oneof(self, part: Message) -> None:
        """Unsets what cannot be set together with a part."""
        for name, field in self.fields.items():
            if field.oneof and self._values.get(name) is part:
                field.clear_others(self)

    def HasField(self, name: str) -> bool:
        """Whether something was set in a part. Raises ValueError for other fields (proto3)."""
        field = self.fields.get(name)
        if field is None:
            raise ValueError(f"Protocol message {type(self).__name__} has no field {name}.")
        if not isinstance(field, Nested) and not field.oneof:
            raise ValueError(
                f'Can\'t test field "{type(self).__name__}.{name}" for presence: only a single '
                "message can be absent."
            )
        return field.is_set(self)

    def ClearField(self, name: str) -> None:
        if name not in self.fields:
            raise ValueError(f'Protocol message has no "{name}" field.')
        old = self._values.pop(name, None)
        if isinstance(old, Message):
            old._parent = None
        self.SetInParent()

    def Clear(self) -> None:
        for name in self.fields:
            self.ClearField(name)

    def MergeFrom(self, other: Message) -> None:
        """Takes the set fields of `other`: scalars replace, lists grow, parts are merged."""
        self._same_class(other, "MergeFrom")
        for name, field in self.fields.items():
            if field.is_set(other):
                field.merge(self, getattr(other, name))
        self.SetInParent()

    def CopyFrom(self, other: Message) -> None:
        self._same_class(other, "CopyFrom")
        if other is not self:
            self.Clear()
            self.MergeFrom(other)

    def IsInitialized(self) -> bool:
        return True

    def WhichOneof(self, oneof_group: str) -> str | None:
        """The field of the group that is set. Raises ValueError for an unknown group."""
        names = [n for n, field in self.fields.items() if field.oneof == oneof_group]
        if not names:
            raise ValueError(f"Protocol message has no oneof {oneof_group!r} field.")
        return next((n for n in names if self.fields[n].is_set(self)), None)

    def SerializeToString(self, deterministic: bool = False) -> bytes:
        """The binary form. Raises TypeError for a message that has none."""
        from minitf.proto import binary

        return binary.encode(self)

    def ByteSize(self) -> int:
        return len(self.SerializeToString())

    def MergeFromString(self, serialized: bytes) -> int:
        """Raises DecodeError, a ValueError."""
        from minitf.proto import binary

        binary.merge(self, serialized)
        return len(serialized)

    def ParseFromString(self, serialized: bytes) -> int:
        self.Clear()
        return self.MergeFromString(serialized)

    @classmethod
    def FromString(cls, s: bytes) -> Any:
        message = cls()
        message.MergeFromString(s)
        return message

    def _same_class(self, other: Any, method: str) -> None:
        if type(other) is not type(self):
            raise TypeError(
                f"Parameter to {method}() must be instance of same class: expected "
                f"{type(self).__name__} got {type(other).__name__}."
            )

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._set_values() == other._set_values()

    def _set_values(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name, f in self.fields.items() if f.is_set(self)}

    def __deepcopy__(self, memo: Any) -> Any:
        copied = type(self)()
        copied.MergeFrom(self)
        return copied

    def __str__(self) -> str:
        set_fields = (field for field in self.fields.values() if field.is_set(self))
        return "".join(line + "\n" for field in set_fields for line in field.lines(self))

    __repr__ = __str__


class Field(ABC):
    """One field of a message class: how it is read, merged and written."""

    name = ""
    what = "field"
    number = 0
    oneof = ""  # the group of fields of which only one can be set

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, message: Message | None, owner: type | None = None) -> Any:
        return self if message is None else self.get(message)

    def __set__(self, message: Message, value: Any) -> None:
        raise AttributeError(
            f'Assignment not allowed to {self.what} "{self.name}" in protocol message object.'
        )

    def get(self, message: Message) -> Any:
        """The value, made and kept on the first look when it is a part, a list or a map."""
        if self.name not in message._values:
            message._values[self.name] = self.make(message)
        return message._values[self.name]

    def is_set(self, message: Message) -> bool:
        """Whether the text form shows the field."""
        return bool(message._values.get(self.name))

    @abstractmethod
    def make(self, message: Message) -> Any:
        """The value of a field that was never set."""

    @abstractmethod
    def merge(self, message: Message, value: Any) -> None:
        """Takes a constructor's argument, or the value of another message."""

    @abstractmethod
    def lines(self, message: Message) -> Iterator[str]:
        """The text form."""

    def clear_others(self, message: Message) -> None:
        """Unsets the other fields of the group."""
        for name, field in message.fields.items():
            if field.oneof == self.oneof and field is not self:
                message._values.pop(name, None)


class Scalar(Field):
    def __init__(self, kind: Kind, number: int = 0, oneof: str = "") -> None:
        self.kind = kind
        self.number = number
        self.oneof = oneof

    def __set__(self, message: Message, value: Any) -> None:
        message._values[self.name] = self.kind.check(value)
        if self.oneof:
            self.clear_others(message)
        message.SetInParent()

    def get(self, message: Message) -> Any:
        return message._values.get(self.name, self.kind.default)

    def is_set(self, message: Message) -> bool:
        return self.name in message._values if self.oneof else super().is_set(message)

    def make(self, message: Message) -> Any:
        return self.kind.default

    def merge(self, message: Message, value: Any) -> None:
        if isinstance(self.kind, Enum) and isinstance(value, str):
            value = self.kind.Value(value)
        self.__set__(message, value)

    def lines(self, message: Message) -> Iterator[str]:
        return _element(self.name, self.kind, self.get(message))


class Nested(Field):
    """A part, made when it is first looked at; the message has it once something in it is set."""

    def __init__(self, kind: type[Message], number: int = 0, oneof: str = "") -> None:
        self.kind = kind
        self.number = number
        self.oneof = oneof

    def make(self, message: Message) -> Message:
        part = self.kind()
        part._parent = message
        return part

    def is_set(self, message: Message) -> bool:
        part = message._values.get(self.name)
        return part is not None and part._present

    def merge(self, message: Message, value: Any) -> None:
        self.get(message).MergeFrom(_as_message(self.kind, value))

    def lines(self, message: Message) -> Iterator[str]:
        return _element(self.name, self.kind, self.get(message))


class Repeated(Field):
    what = "repeated field"

    def __init__(self, kind: Kind | type[Message], number: int = 0) -> None:
        self.kind = kind
        self.number = number

    def make(self, message: Message) -> RepeatedField:
        return RepeatedField(self.kind, message)

    def merge(self, message: Message, value: Any) -> None:
        self.get(message).extend(value)

    def lines(self, message: Message) -> Iterator[str]:
        for item in self.get(message):
            yield from _element(self.name, self.kind, item)


class Map(Field):
    what = "repeated field"

    def __init__(self, key: Kind, value: Kind | type[Message], number: int = 0) -> None:
        self.key = key
        self.value = value
        self.number = number

    def make(self, message: Message) -> MapField:
        return MapField(self.key, self.value, message)

    def merge(self, message: Message, value: Any) -> None:
        self.get(message).update(value)

    def lines(self, message: Message) -> Iterator[str]:
        for key, value in sorted(self.get(message).items()):
            yield f"{self.name} {{"
            yield f"  key: {self.key.show(key)}"
            yield from ("  " + line for line in _element("value", self.value, value))
            yield "}"


class RepeatedField(MutableSequence[Any]):
    """The list of a repeated field: what goes in is checked; a message is copied."""

    def __init__(self, kind: Kind | type[Message], owner: Message) -> None:
        self._kind = kind
        self._owner = owner
        self._items: list[Any] = []

    def _take(self, value: Any) -> Any:
        self._owner.SetInParent()
        if isinstance(self._kind, Kind):
            return self._kind.check(value)
        item = self._kind()
        item.MergeFrom(_as_message(self._kind, value))
        item._parent = self._owner
        return item

    def add(self, **values: Any) -> Any:
        """Appends a new message and gives it."""
        self.append(values)
        return self._items[-1]

    def insert(self, index: int, value: Any) -> None:
        self._items.insert(index, self._take(value))

    def __getitem__(self, index: Any) -> Any:
        return self._items[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        many = isinstance(index, slice)
        self._items[index] = [self._take(v) for v in value] if many else self._take(value)

    def __delitem__(self, index: Any) -> None:
        del self._items[index]

    def __len__(self) -> int:
        return len(self._items)

    def __eq__(self, other: object) -> bool:
        return self._items == (other._items if isinstance(other, RepeatedField) else other)

    def __repr__(self) -> str:
        return repr(self._items)


class MapField(MutableMapping[Any, Any]):
    """The dict of a map field; a missing key reads as the default and is then there."""

    def __init__(self, key: Kind, value: Kind | type[Message], owner: Message) -> None:
        self._key = key
        self._value = value
        self._owner = owner
        self._items: dict[Any, Any] = {}

    def __getitem__(self, key: Any) -> Any:
        key = self._key.check(key)
        if key not in self._items:
            kind = self._value
            self._items[key] = kind.default if isinstance(kind, Kind) else kind()
            self._owner.SetInParent()
        return self._items[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        if not isinstance(self._value, Kind):
            raise ValueError("May not set values directly, call my_map[key].foo = 5")
        self._items[self._key.check(key)] = self._value.check(value)
        self._owner.SetInParent()

    def update(self, other: Any = (), /, **more: Any) -> None:
        """Takes the items of a mapping; messages are copied."""
        if isinstance(self._value, Kind):
            super().update(other, **more)
            return
        for key, value in dict(other, **more).items():
            self[key].CopyFrom(_as_message(self._value, value))

    def __delitem__(self, key: Any) -> None:
        del self._items[key]

    def __contains__(self, key: object) -> bool:
        return key in self._items

    def get(self, key: Any, default: Any = None) -> Any:
        return self._items.get(key, default)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return repr(self._items)


def _as_message(kind: type[Message], value: Any) -> Any:
    return kind(**value) if isinstance(value, dict) else value


def _element(name: str, kind: Kind | type[Message], value: Any) -> Iterator[str]:
    if isinstance(kind, Kind):
        yield f"{name}: {kind.show(value)}"
        return
    yield f"{name} {{"
    yield from ("  " + line for line in str(value).splitlines())
    yield "}"
