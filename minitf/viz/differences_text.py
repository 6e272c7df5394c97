"""Differences as text for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from minitf.viz.differences import Differences, Transfer
from minitf.viz.rows import short
from minitf.viz.text import Column, fold, grouped, show_table, size

FEW = 12  # rows of a table, names of a list


def show_diff(found: Differences, names: Sequence[str], out: Console, every: bool = False) -> None:
    """From the first of the two named to the second."""
    if not found.differs:
        out.print(Text(f"No difference: the same placement and transfers, {_sizes(found, 0)}"))
        return
    for mark, name, which in zip("AB", names, (0, 1)):
        for text in fold(f"{mark}: {name}: {_sizes(found, which)}", out.width):
            out.print(Text(text))
    out.print()
    _show_moved(found, out, every)
    for title, ops in (("Ops only in A", found.gone), ("Ops only in B", found.new)):
        if ops:
            shown = ops if every else ops[:FEW]
            more = f" ... {len(ops) - len(shown)} more" if len(shown) < len(ops) else ""
            out.print(Text(f"{title}: {len(ops)}", "bold"))
            for text in fold(" ".join(shown) + more, out.width - 2):
                out.print(Text("  " + text))
            out.print()
    _show_transfers(found.transfers, out, every)


def _sizes(found: Differences, which: int) -> str:
    unknown = found.unknown[which]
    more = f" and {unknown} of a size that the feeds decide" if unknown else ""
    return f"{found.messages[which]} messages, {size(found.bytes[which])} bytes a step{more}"


def _show_moved(found: Differences, out: Console, every: bool) -> None:
    if not found.moved:
        return
    together: dict[tuple[str, str], list[str]] = {}
    for m in found.moved:
        key = f"{short(m.was)} -> {short(m.now)}", "; ".join(m.why)
        together.setdefault(key, []).append(m.name)
    rows = [("\n".join(grouped(names)), *key) for key, names in together.items()]
    shown = rows if every else rows[:FEW]
    columns = (Column("ops", most=30), Column("A -> B", most=22), Column("because, in B"))
    show_table(out, f"Ops that moved: {len(found.moved)}", columns, shown, _more(rows, shown))


def _show_transfers(transfers: Sequence[Transfer], out: Console, every: bool) -> None:
    if not transfers:
        return
    order = ("new", "gone", "grown", "shrunk", "other")
    shown = sorted(transfers, key=lambda t: order.index(t.change))
    shown = shown if every else shown[:FEW]
    columns = (
        Column("what"),
        Column("from -> to"),
        Column("bytes", right=True),
        Column("tensor"),
    )
    rows = [(t.change, f"{short(t.src)} -> {short(t.dst)}", _bytes(t), _tensor(t)) for t in shown]
    title = f"Transfers that differ: {len(transfers)}"
    show_table(out, title, columns, rows, _more(transfers, shown))


def _tensor(t: Transfer) -> str:
    return f"^{t.tensor}" if t.kind == "control" else t.tensor


def _bytes(t: Transfer) -> str:
    if t.change in ("new", "gone"):
        return size(t.now if t.change == "new" else t.was)
    return f"{size(t.was)} -> {size(t.now)}"


def _more(rows: Sequence[object], shown: Sequence[object]) -> list[str]:
    left = len(rows) - len(shown)
    return [f"the first {len(shown)}; --all shows all"] if left else []
