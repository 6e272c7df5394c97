"""Device names: both grammars of TF 1.15 (Python's and the runtime's), merging and matching."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from minitf_runtime.errors import InvalidArgumentError


@dataclass(frozen=True, slots=True)
class DeviceName:
    """A possibly partial name; None means the field is not set."""

    job: str | None = None
    replica: int | None = None
    task: int | None = None
    type: str | None = None
    index: int | None = None

    def __str__(self) -> str:
        text = ""
        if self.job is not None:
            text += f"/job:{self.job}"
        if self.replica is not None:
            text += f"/replica:{self.replica}"
        if self.task is not None:
            text += f"/task:{self.task}"
        if self.type is not None:
            text += f"/device:{self.type}:{'*' if self.index is None else self.index}"
        return text

    def __bool__(self) -> bool:
        return not (
            self.job is None
            and self.replica is None
            and self.task is None
            and self.type is None
            and self.index is None
        )

    def override(self, other: DeviceName) -> DeviceName:
        """Fields of `other` win where they are set."""
        if self is other or not self or not other:
            return other or self
        return DeviceName(
            self.job if other.job is None else other.job,
            self.replica if other.replica is None else other.replica,
            self.task if other.task is None else other.task,
            self.type if other.type is None else other.type,
            self.index if other.index is None else other.index,
        )

    def matches(self, full: DeviceName) -> bool:
        """Whether every field set here agrees with the full name."""
        return (
            self.job in (None, full.job)
            and self.replica in (None, full.replica)
            and self.task in (None, full.task)
            and self.type in (None, full.type)
            and self.index in (None, full.index)
        )

    def compatible(self, other: DeviceName) -> bool:
        """Whether no field is set differently in both."""
        return all(
            a is None or b is None or a == b for a, b in zip(self._fields(), other._fields())
        )

    def merge(self, other: DeviceName, soft: bool = False) -> DeviceName:
        """The fields of both. Raises ValueError where they differ.

        `soft` gives up a type (and its index) or an index instead; job, replica and task stay
        binding.
        """
        if self is other or not other:
            return self
        if not self:
            return other
        merged, theirs = list(self._fields()), other._fields()
        for i, (field, theirs_i) in enumerate(zip(_FIELDS, theirs)):
            if theirs_i is None or merged[i] == theirs_i:
                continue
            if merged[i] is None:
                merged[i] = theirs_i
            elif soft and field in ("type", "index"):
                return DeviceName(*merged[:i])
            else:
                what = "ids" if field == "index" else f"{field}s"
                raise ValueError(
                    f"Cannot merge devices with incompatible {what}: "
                    f"'{DeviceName(*merged)}' and '{other}'"
                )
        return DeviceName(*merged)

    def _fields(self) -> tuple[Any, ...]:
        return self.job, self.replica, self.task, self.type, self.index


_FIELDS = ("job", "replica", "task", "type", "index")
ANY = DeviceName()


@lru_cache(maxsize=4096)
def parse_requested(text: str) -> DeviceName:
    """Reads a name as Python's tf.device does. Raises ValueError."""
    job = type_ = None
    replica = task = index = None
    for piece in filter(None, text.split("/")):
        part = piece.split(":")
        if part[0] == "job" and len(part) == 2:
            job = part[1]
        elif part[0] == "replica" and len(part) == 2:
            replica = int(part[1])
        elif part[0] == "task" and len(part) == 2:
            task = int(part[1])
        elif part[0].upper() in ("CPU", "GPU") and len(part) in (1, 2):
            _one_type(type_, text)
            type_ = part[0].upper()
            index = None if len(part) == 1 or part[1] == "*" else int(part[1])
        elif part[0] == "device" and len(part) == 3:
            _one_type(type_, text)
            type_ = part[1].upper() if part[1] in ("cpu", "gpu") else part[1]
            index = None if part[2] == "*" else int(part[2])
        else:
            raise ValueError(f"Unknown attribute: '{part[0]}' in '{text}'")
    return DeviceName(job, replica, task, type_, index)


def _one_type(seen: str | None, text: str) -> None:
    if seen is not None:
        raise ValueError(f"Cannot specify multiple device types: {text}")


_PART = re.compile(
    r"/(?:job:(?P<job>[A-Za-z][A-Za-z0-9_]*|\*)"
    r"|replica:(?P<replica>[0-9]+|\*)"
    r"|task:(?P<task>[0-9]+|\*)"
    r"|device:(?P<type>[A-Za-z][A-Za-z0-9_]*|\*)(?::(?P<index>[0-9]+|\*))?"
    r"|(?P<old>cpu|gpu|CPU|GPU):(?P<old_index>[0-9]+|\*))(?=/|$)"
)


@lru_cache(maxsize=4096)
def parse_strict(text: str) -> DeviceName | None:
    """Reads a name as the runtime does; None if it is malformed."""
    if text in ("", "/"):
        return ANY
    name = ANY
    at = 0
    while at < len(text):
        found = _PART.match(text, at)
        if not found:
            return None
        at = found.end()
        if found["job"]:
            name = replace(name, job=None if found["job"] == "*" else found["job"])
        elif found["replica"]:
            name = replace(name, replica=_number(found["replica"]))
        elif found["task"]:
            name = replace(name, task=_number(found["task"]))
        elif found["old"]:
            name = replace(name, type=found["old"].upper(), index=_number(found["old_index"]))
        else:
            kind = None if found["type"] == "*" else found["type"]
            kind = kind.upper() if kind in ("cpu", "gpu") else kind
            name = replace(name, type=kind, index=_number(found["index"]))
    return name


def parse_full(text: str) -> DeviceName:
    """Reads a name made by the runtime itself. Raises InvalidArgumentError."""
    name = parse_strict(text)
    if name is None:
        raise InvalidArgumentError(None, None, f"Malformed device name '{text}'")
    return name


def _number(text: str | None) -> int | None:
    return None if text in (None, "*") else int(text)


@lru_cache(maxsize=65536)
def merge_requested(outer: str, inner: str) -> str:
    """The device of an op made in scope `outer` that asks for `inner` itself; inner fields win."""
    return str(parse_requested(outer).override(parse_requested(inner)))


def task_of(device: str) -> str:
    """/job:ps/replica:0/task:1/device:CPU:0 -> /job:ps/replica:0/task:1."""
    return device.split("/device:", 1)[0]


def short_device(device: str) -> str:
    """/job:ps/replica:0/task:1/device:CPU:0 -> ps:1 (with the device when it is not CPU:0)."""
    name = parse_strict(device)
    if name is None or name.job is None:
        return device
    text = f"{name.job}:{name.task or 0}"
    return (
        text
        if (name.type, name.index) in (("CPU", 0), (None, None))
        else (f"{text}/{name.type}:{name.index}")
    )
