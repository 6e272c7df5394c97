"""The rows of a trace as text for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from minitf.viz.rows import short
from minitf.viz.subject import size_text
from minitf.viz.text import Column, show_table
from minitf.viz.trace import Hop, OpTime, StepTrace, TransferTime

LONGEST = 10  # ops, and pieces of the path, that the overview names


def show_trace(trace: StepTrace, out: Console, notes: Sequence[str], every: bool = False) -> None:
    """Who waits, what is on the critical path, which ops and transfers take longest."""
    _show_tasks(trace, out, notes)
    _show_path(trace.path, out, every)
    _show_ops(trace.ops, out, every)
    _show_transfers(trace.transfers, out)


def _show_tasks(trace: StepTrace, out: Console, notes: Sequence[str]) -> None:
    columns = (
        Column("task"),
        Column("computes", right=True),
        Column("waits", right=True),
        Column("share of the step in which it computes"),
    )
    whole = trace.duration or 1
    lines = [
        (
            short(t.task),
            time_text(t.computing),
            time_text(t.waiting),
            f"{'#' * round(20 * t.computing / whole):20} {t.computing / whole:.0%}",
        )
        for t in trace.tasks
    ]
    show_table(out, f"One step of {time_text(trace.duration)}", columns, lines, notes)


def _show_path(path: Sequence[Hop], out: Console, every: bool) -> None:
    kept = set(sorted(path, key=lambda h: -(h.after + h.duration))[:LONGEST])
    shown = [h for h in path if every or h in kept]
    columns = (
        Column("at", right=True),
        Column("gap", right=True),
        Column("takes", right=True),
        Column("device"),
        Column("op or transfer"),
    )
    lines = [
        (
            time_text(h.start),
            time_text(h.after),
            time_text(h.duration),
            short(h.device),
            h.name if h.kind == "op" else f"-> {h.name}",
        )
        for h in shown
    ]
    kinds = ("op", "transfer")
    spent = {kind: sum(h.duration for h in path if h.kind == kind) for kind in kinds}
    gaps = sum(h.after for h in path)
    notes = [
        f"{time_text(spent['op'])} in ops, {time_text(spent['transfer'])} in transfers, "
        f"{time_text(gaps)} between them: sends, and threads that wake up"
    ]
    if len(shown) < len(path):
        notes.append(f"the {len(shown)} longest of {len(path)} pieces (--all names them)")
    show_table(out, "Critical path", columns, lines, notes)


def _show_ops(ops: Sequence[OpTime], out: Console, every: bool) -> None:
    longest = sorted(ops, key=lambda o: -o.duration)
    shown = longest if every else longest[:LONGEST]
    columns = (
        Column("takes", right=True),
        Column("makes", right=True),
        Column("device"),
        Column("kind", most=22),
        Column("op"),
    )
    lines = [
        (
            time_text(o.duration),
            size_text(o.bytes),
            short(o.device),
            o.op,
            f"{o.name} (may wait)" if o.blocks else o.name,
        )
        for o in shown
    ]
    more = [f"the {len(shown)} longest of {len(ops)} runs"] if len(shown) < len(ops) else []
    show_table(out, "Ops", columns, lines, more)


def _show_transfers(transfers: Sequence[TransferTime], out: Console) -> None:
    if not transfers:
        out.print("No transfers: one device runs the whole step")
        return
    columns = (
        Column("from -> to"),
        Column("bytes", right=True),
        Column("takes", right=True),
        Column("waited", right=True),
        Column("tensor"),
    )
    lines = [
        (
            f"{short(t.src)} -> {short(t.dst)}",
            size_text(t.bytes),
            time_text(t.duration),
            time_text(t.waited),
            t.tensor,
        )
        for t in sorted(transfers, key=lambda t: (t.src, t.dst, t.start))
    ]
    show_table(out, "Transfers", columns, lines)


def time_text(micros: float) -> str:
    """812 us, 25.6 ms, 3.2 s."""
    if not micros:
        return "0"
    if micros < 999.5:
        return f"{micros:.0f} us" if micros >= 9.95 else f"{micros:.1f} us"
    return f"{micros / 1000:.3g} ms" if micros < 999500 else f"{micros / 1e6:.3g} s"
