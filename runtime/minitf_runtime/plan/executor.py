"""Runs the programs of a part, and turns what goes wrong into errors that name the node."""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any

import numpy as np

from minitf_runtime.errors import (
    InternalError,
    InvalidArgumentError,
    OpError,
    ResourceExhaustedError,
)
from minitf_runtime.graph import Node
from minitf_runtime.plan.compile import Program
from minitf_runtime.plan.rendezvous import Rendezvous
from minitf_runtime.plan.threads import Threads

_threads = Threads("minitf-strand")
_BROADCAST = re.compile(
    r"operands could not be broadcast together with (?:remapped )?shapes ([^\n]*)"
)


class Executable:
    """A compiled part: `run` takes the fed values and gives the fetched ones."""

    def __init__(self, programs: list[Program], fetches: int) -> None:
        self.programs = programs
        self._fetches = fetches

    def run(self, rdv: Rendezvous, feeds: Sequence[Any]) -> list[Any]:
        """Runs all programs, the first in this thread. Raises the step's first error."""
        out: list[Any] = [None] * self._fetches
        others = [_Beside(p, rdv, feeds, out) for p in self.programs[1:]]
        try:
            _run(self.programs[0], rdv, feeds, out)
        finally:
            for other in others:
                other.done.acquire()
        rdv.step.check()
        return out


class _Beside:
    """A program in a thread of its own."""

    def __init__(self, program: Program, rdv: Rendezvous, feeds: Sequence[Any], out: Any) -> None:
        self.done = threading.Lock()
        self.done.acquire()

        def work() -> None:
            with suppress(OpError):  # the step holds it: Executable.run raises it
                _run(program, rdv, feeds, out)
            self.done.release()

        _threads.start(work)


def _run(program: Program, rdv: Rendezvous, feeds: Sequence[Any], out: list[Any]) -> None:
    step = rdv.step
    try:
        with np.errstate(all="ignore"):
            program.run(rdv, step, feeds, out)
    except BaseException as e:
        if e is step.error:
            raise
        error = as_op_error(e, program)
        step.cancel(error)
        if isinstance(e, Exception) or program.strand:
            raise error from e
        raise


def as_op_error(e: BaseException, program: Program) -> OpError:
    """The error with class and text as TF gives them, and the node and device it came from."""
    node = _node_of(e.__traceback__, program)
    if isinstance(e, OpError):
        error = e
    elif isinstance(e, MemoryError):
        error = ResourceExhaustedError(None, None, f"OOM: {e}")
    elif isinstance(e, ValueError):
        error = InvalidArgumentError(None, None, _shapes_text(str(e)))
    else:
        error = InternalError(None, None, f"{type(e).__name__}: {e}")
    if error.node is None and node is not None:
        error.node = node.name
        error.device = program.device
        error.source = node.source
    return error


def _node_of(tb: TracebackType | None, program: Program) -> Node | None:
    while tb is not None:
        if tb.tb_frame.f_code.co_filename == program.filename:
            return program.lines.get(tb.tb_lineno)
        tb = tb.tb_next
    return None


def _shapes_text(text: str) -> str:
    """NumPy's text for shapes that do not broadcast, as TF says it."""
    found = _BROADCAST.search(text)
    if not found:
        return text
    shapes = re.findall(r"\(([^)]*)\)", found[1])
    shown = ["[" + s.replace(" ", "").rstrip(",") + "]" for s in shapes]
    return "Incompatible shapes: " + " vs. ".join(shown[:2])
