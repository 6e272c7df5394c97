"""What the threads of a running step do at this moment: receive, wait in an op, or compute.

A step takes down only which program each thread runs, and since when something waits. Which op that
is, and what its program still owes to others, is read off the line that the thread is at.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from types import FrameType

from minitf_runtime.graph import Node
from minitf_runtime.ops.registry import op_def
from minitf_runtime.passes.data import RECVS, SENDS
from minitf_runtime.plan.compile import Program
from minitf_runtime.plan.rendezvous import Rendezvous, transfer_of

RECEIVE, STRAND, BLOCKED, COMPUTE = "receive", "strand", "blocked", "compute"
_EDGE = re.compile(r"edge_\d+_")


@dataclass(frozen=True)
class Wait:
    """One thread of a step.

    kind:     RECEIVE: a tensor of another device; STRAND: a value of another strand of this
              device; BLOCKED: `node` waits for other steps; COMPUTE: `node` is at work
    seconds:  how long it waits; of COMPUTE how long the step has been running on this task
    node:     the op at that line, with its type and the user's line
    maker:    the op whose value is waited for, its device and the name of the tensor on the wire
    resource: what a BLOCKED op waits for: its kind, name and state
    owes:     what its program has still to do that others may wait for: tensors by their name on
              the wire, and nodes (ops on queues and accumulators, values for other strands)
    """

    kind: str
    device: str
    seconds: float
    node: str
    op: str
    source: str
    maker: str = ""
    maker_device: str = ""
    tensor: str = ""
    resource: tuple[str, ...] = ()
    owes: tuple[str, ...] = ()


def gives_or_takes(op: str) -> bool:
    """Whether other steps may wait for an op of this type."""
    return op_def(op).blocking or op.endswith("AccumulatorApplyGradient")


def waits_of(rdv: Rendezvous) -> list[Wait]:
    """What each thread of a step does on this task."""
    frames = sys._current_frames()
    keys = rdv.waiting()
    wanted = {key[0] for key in keys if isinstance(key, tuple) and transfer_of(key) is None}
    found = []
    for thread, program in list(rdv.step.programs.items()):
        line = _line(frames.get(thread), program)
        at = max((i for i in program.lines if i <= line), default=min(program.lines, default=0))
        if at:
            owes = tuple(dict.fromkeys(_owed(program, at, wanted)))
            found.append(_wait(rdv, thread, program, program.lines[at], keys, owes))
    return found


def _line(frame: FrameType | None, program: Program) -> int:
    """The line of the program that a thread is at; 0 if it is not in it."""
    line = 0
    while frame is not None:
        if frame.f_code.co_filename == program.filename:
            line = frame.f_lineno  # the outermost: the program, not a function that it calls
        frame = frame.f_back
    return line


def _wait(
    rdv: Rendezvous,
    thread: int,
    program: Program,
    n: Node,
    keys: Mapping[Hashable, float],
    owes: tuple[str, ...],
) -> Wait:
    head = program.device
    tail = (n.name, n.op, n.source)
    blocked = rdv.step.blocked.get(thread)
    if blocked is not None:
        since, tell = blocked
        resource = tell() if tell else ()
        return Wait(BLOCKED, head, _since(since), *tail, resource=resource, owes=owes)
    if n.op in RECVS:
        tensor, maker_device = n.attrs["tensor_name"], n.attrs["send_device"]
        maker = _EDGE.sub("", tensor, count=1)
        mine = [s for key, s in keys.items() if transfer_of(key) == program.recvs.get(n.name)]
        seconds = max(mine, default=0.0)
        return Wait(RECEIVE, head, seconds, *tail, maker, maker_device, tensor, owes=owes)
    inputs = {*(name for name, _ in n.inputs), *n.control}
    for key, seconds in keys.items():
        if isinstance(key, tuple) and key[0] in inputs and key[-1] == program.strand:
            return Wait(STRAND, head, seconds, *tail, key[0], program.device, owes=owes)
    return Wait(COMPUTE, head, _since(rdv.step.since), *tail, owes=owes)


def _since(start: float) -> float:
    return time.monotonic() - start


def _owed(program: Program, at: int, wanted: set[str]) -> Iterator[str]:
    first = _loop_around(program.source, at)
    for line, n in sorted(program.lines.items()):
        if line < first:
            continue
        if n.op in SENDS:
            yield n.attrs["tensor_name"]
        elif n.name in wanted or gives_or_takes(n.op):
            yield n.name


def _loop_around(text: str, at: int) -> int:
    """The first line that may run after line `at`: that of the outermost loop around it."""
    rows = text.splitlines()
    depth, first = _indent(rows[at - 1]), at
    for i in range(at - 1, 0, -1):
        if _indent(rows[i - 1]) < depth:
            depth = _indent(rows[i - 1])
            first = i if rows[i - 1].lstrip().startswith("while ") else first
    return first


def _indent(row: str) -> int:
    return len(row) - len(row.lstrip())
