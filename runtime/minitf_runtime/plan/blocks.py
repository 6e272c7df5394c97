"""Runs a fusion in blocks that stay in the cache, on the threads that the device lends.

The fusion's function is traced once for each kind of inputs: NumPy hands its ufuncs to the traced
arrays (NEP 13), which write them down. The record becomes a function that runs them on one block,
into buffers that are used again (the CSE and buffer assignment of an optimising compiler, on a
straight line of code). What cannot be traced, and small arrays, take the plain function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitf_runtime.devices.cpu import blocks, parallel
from minitf_runtime.plan.tape import Tape, trace

SMALLEST = 1 << 15  # elements: smaller arrays stay in the cache anyway
WORTH = 1 << 19  # elements times ops: with fewer, blocks save less than they cost
BLOCK = 1 << 17  # to wake another thread takes longer than the ops on one block


class Blocked:
    """A fusion's function: of arrays, and of rows or scalars that are the same for each block."""

    __slots__ = ("plain", "_tapes")

    def __init__(self, plain: Callable[..., tuple[Any, ...]]) -> None:
        self.plain = plain
        self._tapes: dict[Any, Tape | None] = {}

    def __call__(self, *args: Any) -> tuple[Any, ...]:
        full = max(args, key=_size)
        if _size(full) < SMALLEST:
            return self.plain(*args)
        kinds = [kind for a in args if (kind := _kind(a, full))]
        if len(kinds) < len(args):
            return self.plain(*args)
        key = tuple((kind, a.dtype) for kind, a in zip(kinds, args))
        if key not in self._tapes:
            self._tapes[key] = trace(self.plain, key)
        tape = self._tapes[key]
        if tape is None or tape.calls * full.size <= WORTH:
            return self.plain(*args)
        return _run(tape, kinds, args, full)


def _size(value: Any) -> int:
    return int(getattr(value, "size", 1))


def _kind(value: Any, full: Any) -> str | None:
    """How an input takes part: "full", "row", "one"; None if it cannot be cut."""
    shape = getattr(value, "shape", None)
    if shape is None:
        return None
    if shape == full.shape:
        return "full" if value.flags.c_contiguous else None
    if value.size == 1:
        return "one" if value.ndim <= full.ndim else None
    if shape == full.shape[full.ndim - len(shape) :] and value.flags.c_contiguous:
        return "row"
    return None


def _run(tape: Tape, kinds: Sequence[str], args: Sequence[Any], full: Any) -> tuple[Any, ...]:
    rows = [a.size for kind, a in zip(kinds, args) if kind == "row"]
    width = max(rows, default=1)
    if any(size != width for size in rows):
        return tape.plain(*args)
    grid = (full.size // width, width) if rows else (full.size,)
    flat = [
        a.reshape(grid) if kind == "full" else a.reshape(-1) if kind == "row" else a.reshape(())[()]
        for kind, a in zip(kinds, args)
    ]
    outs = [np.empty(full.shape, dtype) for dtype in tape.outputs]
    into = [out.reshape(grid) for out in outs]
    fixed = tape.prologue(*flat)
    step = max(1, BLOCK // width)

    def work(start: int, stop: int) -> None:
        parts = blocks(start, stop, step)
        size = max((part.stop - part.start for part in parts), default=0)
        buffers = [np.empty((size, width) if rows else size, dtype) for dtype in tape.buffers]
        with np.errstate(all="ignore"):
            for part in parts:
                mine = [b[: part.stop - part.start] for b in buffers]
                tape.block(fixed, flat, into, mine, part)

    parallel(work, grid[0], step)
    return tuple(outs)
