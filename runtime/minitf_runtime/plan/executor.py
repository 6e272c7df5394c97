"""Runs the programs of a part, and turns what goes wrong into errors that name the node."""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any

import numpy as np

from minitf_runtime.devices.crowd import crowd
from minitf_runtime.errors import (
    InternalError,
    InvalidArgumentError,
    OpError,
    ResourceExhaustedError,
)
from minitf_runtime.graph import Node
from minitf_runtime.plan.compile import Program
from minitf_runtime.plan.memory import memory_text
from minitf_runtime.plan.rendezvous import Rendezvous
from minitf_runtime.threads import Threads

_threads = Threads("minitf-strand")
_BROADCAST = re.compile(
    r"operands could not be broadcast together with (?:remapped )?shapes ([^\n]*)"
)


class Executable:
    """A compiled part: `run` takes the fed values and gives the fetched ones."""

    def __init__(self, programs: list[Program], fetches: int) -> None:
        self.programs = programs
        self._chains = _chains(programs)
        self._fetches = fetches

    def run(self, rdv: Rendezvous, feeds: Sequence[Any]) -> list[Any]:
        """Runs all programs, the first in this thread. Raises the step's first error."""
        crowd.look()
        out: list[Any] = [None] * self._fetches
        others = [_Beside(chain, rdv, feeds, out) for chain in self._chains[1:]]
        try:
            for program in self._chains[0]:
                _run(program, rdv, feeds, out)
        finally:
            for other in others:
                other.done.acquire()
        rdv.step.check()
        return out


def _chains(programs: list[Program]) -> list[list[Program]]:
    """What runs in one thread: strand 0 of a device, which waits for no other step, and then the
    first strand that does.

    So an op that follows strand 0 waits for other steps as soon as it can: with a thread of its
    own a worker's dequeue of a token could come after that of a worker one step ahead.
    """
    chains: list[list[Program]] = []
    on_device: dict[str, list[Program]] = {}
    for program in programs:
        chain = on_device.get(program.device)
        if chain is not None and len(chain) == 1 and not chain[0].strand:
            chain.append(program)
            continue
        chains.append([program])
        on_device.setdefault(program.device, chains[-1])
    return chains or [[]]  # nothing is left of a part that was known beforehand


class _Beside:
    """A chain of programs in a thread of its own."""

    def __init__(
        self, chain: list[Program], rdv: Rendezvous, feeds: Sequence[Any], out: Any
    ) -> None:
        self.done = threading.Lock()
        self.done.acquire()

        def work() -> None:
            with suppress(OpError):  # the step holds it: Executable.run raises it
                for program in chain:
                    _run(program, rdv, feeds, out)
            self.done.release()

        _threads.start(work)


def _run(program: Program, rdv: Rendezvous, feeds: Sequence[Any], out: list[Any]) -> None:
    step = rdv.step
    thread = threading.get_ident()
    step.programs[thread] = program
    try:
        with np.errstate(all="ignore"), program.around():
            program.run(rdv, step, feeds, out)
    except BaseException as e:
        if e is step.error:
            raise
        error = as_op_error(e, program)
        step.cancel(error)
        if isinstance(e, Exception) or program.strand:
            raise error from e
        raise
    finally:
        del step.programs[thread]


def as_op_error(e: BaseException, program: Program) -> OpError:
    """The error with class and text as TF gives them, and the node and device it came from."""
    node = _node_of(e.__traceback__, program)
    if isinstance(e, OpError):
        error = e
    elif isinstance(e, MemoryError):
        error = ResourceExhaustedError(None, None, f"OOM: {e}{_held(e.__traceback__, program)}")
    elif isinstance(e, ValueError):
        error = InvalidArgumentError(None, None, _shapes_text(str(e)))
    else:
        error = InternalError(None, None, f"{type(e).__name__}: {e}")
    if error.node is None and node is not None:
        error.node = node.name
        error.device = program.device
        error.source = node.source
    return error


def _held(tb: TracebackType | None, program: Program) -> str:
    """The memory of the program's device, and the largest tensors that the program holds."""
    while tb is not None and tb.tb_frame.f_code.co_filename != program.filename:
        tb = tb.tb_next
    if tb is None or program.gpu is None:
        return ""
    return memory_text(program.gpu, tb.tb_frame.f_locals, program.made)


def _node_of(tb: TracebackType | None, program: Program) -> Node | None:
    """The node of the innermost line of the program; a group of nodes has lines of its own."""
    node = None
    while tb is not None:
        if tb.tb_frame.f_code.co_filename == program.filename:
            node = program.lines.get(tb.tb_lineno)
        tb = tb.tb_next
    return node


def _shapes_text(text: str) -> str:
    """NumPy's text for shapes that do not broadcast, as TF says it."""
    found = _BROADCAST.search(text)
    if not found:
        return text
    shapes = re.findall(r"\(([^)]*)\)", found[1])
    shown = ["[" + s.replace(" ", "").rstrip(",") + "]" for s in shapes]
    return "Incompatible shapes: " + " vs. ".join(shown[:2])
