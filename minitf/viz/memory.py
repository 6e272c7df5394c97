"""The memory of the GPUs of a running cluster, as its tasks tell it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console

from minitf.viz.capture import Captured
from minitf.viz.rows import short
from minitf.viz.serve_live import Watch
from minitf.viz.subject import size_text
from minitf.viz.text import Column, show_table


@dataclass(frozen=True)
class MemoryRow:
    """Bytes in use on a GPU that something was placed on, and the bytes that may be."""

    device: str
    used: int
    limit: int


def memory_rows(captured: Captured) -> list[MemoryRow]:
    """The GPUs of all tasks that answer, by name."""
    if captured.cluster is None:
        return []
    watch = Watch(
        {
            f"/job:{job}/replica:0/task:{i}": captured.cluster.task_address(job, i)
            for job in captured.cluster.jobs
            for i in captured.cluster.task_indices(job)
        }
    )
    try:
        loads = watch.loads()
    finally:
        watch.close()
    found = {device: m for load in loads.values() for device, m in load.memory.items()}
    return [MemoryRow(device, used, limit) for device, (used, limit) in sorted(found.items())]


def show_memory(rows: Sequence[MemoryRow], out: Console) -> None:
    """A table of the GPUs; nothing where there are none."""
    lines = [
        (short(r.device), size_text(r.used), size_text(r.limit), f"{r.used / r.limit:.1%}")
        for r in rows
    ]
    columns = (
        Column("GPU"),
        Column("in use", right=True),
        Column("of", right=True),
        Column("share", right=True),
    )
    if rows:
        out.print()
        show_table(out, "Memory of the GPUs", columns, lines)
