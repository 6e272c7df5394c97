"""Every transfer of a step with its bytes, who asks for it, and the change that would save most."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from minitf.viz.capture import Captured
from minitf.viz.changes import ChangeRow, cheapest_changes
from minitf.viz.rows import EdgeRow, edges_with_rows, landing_rows
from minitf.viz.sizes import NOMINAL_BATCH, Size, Total, edge_sizes, total
from minitf.viz.source import read, step_asked
from minitf_runtime.graph import Graph
from minitf_runtime.passes.data import Edge, Partitioned


@dataclass(frozen=True)
class WireRow:
    """A transfer. `size` is None where only the fed values decide it.

    share: of all bytes whose size is known, at the batch size given or NOMINAL_BATCH.
    optimizer: the call that it serves, "" if none; source: the user's line that made the tensor;
    forced_by: the first of its consumers, and the line of that.
    """

    tensor: str
    kind: str
    src: str
    dst: str
    meaning: str
    of: tuple[str, ...]
    dtype: str
    shape: str
    size: Size | None
    share: float
    consumers: tuple[str, ...]
    forced_by: str
    optimizer: str
    source: str


@dataclass(frozen=True)
class Wire:
    """All transfers of a step, the largest first, and the changes that would make it cheaper."""

    rows: tuple[WireRow, ...]
    total: Total
    batch: int | None
    changes: tuple[ChangeRow, ...]

    @property
    def compared_at(self) -> int:
        """The batch size that shares and changes are given for."""
        return NOMINAL_BATCH if self.batch is None else self.batch


def wire(
    source: str | os.PathLike[str] | Captured | Any,
    *,
    fetches: Sequence[str] = (),
    batch: int | None = None,
    **options: Any,
) -> Wire:
    """The transfers of a step of a script, saved graph, running cluster or tf.Graph.

    fetches: what the step runs, default the train op; batch: see `read_wire`; options: those of
    minitf.viz.read. Raises Unreadable, or the placer's OpError.
    """
    captured = read(source, **options)
    return read_wire(captured, step_asked(captured, fetches), batch)


def read_wire(captured: Captured, cut: Partitioned, batch: int | None = None) -> Wire:
    """Reads the transfers of a step; batch: the batch size, for sizes that depend on it.

    Raises InvalidArgumentError for a batch size that does not fit the shapes of the graph.
    """
    sizes = edge_sizes(cut, batch)
    at = NOMINAL_BATCH if batch is None else batch
    graph = Graph(captured.graph.nodes())
    changes = cheapest_changes(graph, cut, at, captured.options.allow_soft_placement)
    return Wire(tuple(wire_rows(cut, sizes, at)), total(sizes), batch, tuple(changes))


def wire_rows(cut: Partitioned, sizes: Sequence[Size | None], batch: int) -> list[WireRow]:
    """The transfers with their sizes, those with most bytes at this batch size first."""
    known = {e.send: s for e, s in zip(cut.edges, sizes)}
    everything = total(list(sizes)).known.at(batch)
    applied = [r for r in landing_rows(cut) if r.part == "applies"]
    serves = {op: r.optimizer for r in applied for op in r.ops if r.ops != (r.optimizer,)}
    rows = [
        _wire_row(cut, e, row, known[e.send], everything, batch, serves)
        for e, row in edges_with_rows(cut)
    ]
    return sorted(rows, key=lambda r: -bytes_at(r, batch))


def bytes_at(row: WireRow, batch: int) -> int:
    """The bytes of a transfer, 0 if they are not known."""
    return row.size.at(batch) if row.size else 0


def _wire_row(
    cut: Partitioned,
    e: Edge,
    row: EdgeRow,
    size: Size | None,
    everything: int,
    batch: int,
    serves: dict[str, str],
) -> WireRow:
    share = size.at(batch) / everything if size and everything else 0.0
    made = cut.step.get(e.src)
    return WireRow(
        row.tensor, row.kind, row.src, row.dst, row.meaning, row.of, row.dtype, row.shape,
        size, share, row.consumers, row.why[0], _optimizer(cut, e, serves),
        made.source if made else "",
    )  # fmt: skip


def _optimizer(cut: Partitioned, e: Edge, serves: dict[str, str]) -> str:
    """The optimizer call whose update sends the tensor or takes it."""
    for name in (*(c.removeprefix("^") for c in e.consumers), e.src):
        owners = [o for op, o in serves.items() if name in (op, o) or name.startswith(f"{o}/")]
        if owners:
            return max(owners, key=len)
    return ""


def as_json(wire: Wire) -> dict[str, Any]:
    """The reading as plain values; a size is `bytes`, or `bytes` and `bytes_per_example`."""
    at = wire.compared_at
    return {
        "batch": wire.batch,
        "compared_at_batch": at,
        "transfers": [_row_as_json(r) for r in wire.rows],
        "bytes": wire.total.known.fixed,
        "bytes_per_example": wire.total.known.per_example,
        "unknown": wire.total.unknown,
        "changes": [asdict(c) for c in wire.changes],
    }


def _row_as_json(row: WireRow) -> dict[str, Any]:
    values = asdict(row)
    del values["size"]
    size = row.size
    return {
        **values,
        "bytes": size.fixed if size else None,
        "bytes_per_example": size.per_example if size else None,
        "consumers": list(row.consumers),
        "of": list(row.of),
    }
