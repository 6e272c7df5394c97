"""Every message, on one screen. Frozen data; arrays inside travel as frames of their own.

A request carries the number under which its Reply comes back; the rest is one-way.
    client -> master   CreateSession ExtendSession RunStep CloseSession ListDevices ResetMaster
    reader -> master   DescribeSessions
    reader -> server   DescribeLoad DescribeWaits
    master -> task     Describe OpenSession DropSession RegisterGraph RunGraph | CancelStep
    CleanupStep ResetTask
    task   -> task     Tensors (pushed as soon as they are made)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Message:
    """Base of all messages."""


@dataclass(frozen=True, slots=True)
class Reply(Message):
    """The answer to request `number`: a value, or the error that ended it."""

    number: int
    value: Any = None
    error: Any = None


@dataclass(frozen=True, slots=True)
class CreateSession(Message):
    options: Any  # SessionOptions
    nodes: Sequence[Any]


@dataclass(frozen=True, slots=True)
class ExtendSession(Message):
    handle: str
    nodes: Sequence[Any]


@dataclass(frozen=True, slots=True)
class RunStep(Message):
    handle: str
    feeds: Mapping[str, Any]
    fetches: Sequence[str]
    targets: Sequence[str]
    options: Any  # RunOptions


@dataclass(frozen=True, slots=True)
class CloseSession(Message):
    handle: str


@dataclass(frozen=True, slots=True)
class ListDevices(Message):
    handle: str


@dataclass(frozen=True, slots=True)
class ResetMaster(Message):
    containers: Sequence[str]


@dataclass(frozen=True, slots=True)
class DescribeSessions(Message):
    """Asks a master for its sessions: their graphs, placements, and last steps as cut."""


@dataclass(frozen=True, slots=True)
class RecordSteps(Message):
    """Asks a master for the statistics of the next steps of one kind that the session runs."""

    handle: str
    feeds: Sequence[str]
    fetches: Sequence[str]
    targets: Sequence[str]
    count: int
    seconds: float


@dataclass(frozen=True, slots=True)
class DescribeLoad(Message):
    """Asks a server what its master and its task have counted of the steps."""


@dataclass(frozen=True, slots=True)
class DescribeWaits(Message):
    """Asks what the threads of each step do now, and which steps the master runs."""


@dataclass(frozen=True, slots=True)
class Describe(Message):
    """Asks for the devices of a task; also tells whether it is there."""


@dataclass(frozen=True, slots=True)
class OpenSession(Message):
    handle: str
    isolate: bool


@dataclass(frozen=True, slots=True)
class DropSession(Message):
    handle: str


@dataclass(frozen=True, slots=True)
class RegisterGraph(Message):
    handle: str
    part: Any  # Part


@dataclass(frozen=True, slots=True)
class RunGraph(Message):
    handle: str
    graph: int
    step: int


@dataclass(frozen=True, slots=True)
class CancelStep(Message):
    step: int
    error: Any


@dataclass(frozen=True, slots=True)
class CleanupStep(Message):
    step: int


@dataclass(frozen=True, slots=True)
class ResetTask(Message):
    containers: Sequence[str]


@dataclass(frozen=True, slots=True)
class Tensors(Message):
    """Values for the rendezvous of a step, by transfer key."""

    step: int
    values: Mapping[Any, Any]


MESSAGES: tuple[type[Message], ...] = (
    Reply, CreateSession, ExtendSession, RunStep, CloseSession, ListDevices, ResetMaster,
    DescribeSessions, RecordSteps, DescribeLoad, DescribeWaits, Describe,
    OpenSession, DropSession, RegisterGraph, RunGraph, CancelStep, CleanupStep, ResetTask, Tensors,
)  # fmt: skip
