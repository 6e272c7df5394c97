"""Bytes of transfers as a function of the batch size, from the engine's own shape inference.

The batch size is the first dimension of a fed placeholder where that is open. The shapes are
inferred for some sizes of it, and a transfer whose bytes lie on one line is known for all.
"""

from __future__ import annotations

from dataclasses import dataclass

from minitf_runtime.errors import InvalidArgumentError
from minitf_runtime.graph import Graph
from minitf_runtime.passes.data import Edge, Partitioned
from minitf_runtime.passes.shapes import infer
from minitf_runtime.types import Shape, nbytes, string

# Multiples of all small numbers, so that a batch can be split and reshaped.
PROBES = (5040, 10080, 15120)
NOMINAL_BATCH = 128  # what sizes are compared at where no batch size is given


@dataclass(frozen=True)
class Size:
    """fixed + per_example * batch size, in bytes."""

    fixed: int = 0
    per_example: int = 0

    def at(self, batch: int) -> int:
        return self.fixed + self.per_example * batch

    def __add__(self, other: Size) -> Size:
        return Size(self.fixed + other.fixed, self.per_example + other.per_example)


@dataclass(frozen=True)
class Total:
    """The sum of transfers; `unknown` counts those whose bytes only the fed values decide."""

    known: Size = Size()
    unknown: int = 0


def edge_sizes(cut: Partitioned, batch: int | None = None) -> list[Size | None]:
    """The size of each transfer of the step; None where more than the batch size is open.

    batch: the batch size where it is known. Raises InvalidArgumentError if it does not fit.
    """
    fed = _batch_shapes(cut)
    if not fed:
        return [_fixed(e.nbytes) for e in cut.edges]
    if batch is not None:
        return [_fixed(n) for n in _bytes_at(cut, fed, batch)]
    try:
        probes = [_bytes_at(cut, fed, n) for n in PROBES]
    except InvalidArgumentError:  # the placeholders' first dimensions are not one batch size
        return [_fixed(e.nbytes) for e in cut.edges]
    return [_line(*sizes) for sizes in zip(*probes)]


def total(sizes: list[Size | None]) -> Total:
    known = sum((s for s in sizes if s is not None), Size())
    return Total(known, sum(s is None for s in sizes))


def _batch_shapes(cut: Partitioned) -> dict[str, Shape]:
    """Feed node -> its shape, for those whose first dimension is open."""
    shapes = {node: cut.step[node].output_shapes[0] for _, node in cut.feeds}
    return {node: shape for node, shape in shapes.items() if shape and shape[0] is None}


def _bytes_at(cut: Partitioned, fed: dict[str, Shape], batch: int) -> list[int | None]:
    known = {node: (batch, *(shape or ())[1:]) for node, shape in fed.items()}
    step = infer(cut.step, known)
    return [_edge_bytes(e, step) for e in cut.edges]


def _edge_bytes(e: Edge, step: Graph) -> int | None:
    if e.kind == "control" or e.src not in step:
        return e.nbytes
    shape = step[e.src].output_shapes[e.slot]
    return None if e.dtype.base is string else nbytes(e.dtype, shape)


def _fixed(count: int | None) -> Size | None:
    return None if count is None else Size(count)


def _line(first: int | None, second: int | None, third: int | None) -> Size | None:
    """The line through three sizes at PROBES; None where there is none."""
    if first is None or second is None or third is None:
        return None
    per_example, rest = divmod(second - first, PROBES[1] - PROBES[0])
    size = Size(first - per_example * PROBES[0], per_example)
    return size if not rest and size.at(PROBES[2]) == third else None
