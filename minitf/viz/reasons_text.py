"""A chain of reasons as text for the terminal."""

from __future__ import annotations

import os
from itertools import groupby

from rich.console import Console
from rich.text import Text

from minitf.viz.reasons import Why, in_words
from minitf.viz.rows import short
from minitf.viz.text import Column, fold, show_table

FEW = 4  # devices that a line names


def show_why(why: Why, out: Console, every: bool = False) -> None:
    """Where an op is, the rules that led there, and the devices that were ruled out."""
    made = f", made at {line(why.at)}" if why.at else ""
    out.print(Text(f"{why.name} ({why.op}){made}", "bold"))
    out.print(Text(f"  {_where(why)}"))
    out.print()
    columns = (Column("because", most=out.width - 34), Column("line"))
    for op, links in groupby(why.links, lambda link: link.op):
        rows = [(in_words(link), line(link.at)) for link in links]
        show_table(out, "Why" if op == why.name else f"Why {op}", columns, rows)
    if why.ruled_out:
        lines = [(devices(r.devices, every), r.text) for r in why.ruled_out]
        show_table(out, "Ruled out", (Column("devices", most=34), Column("by")), lines)
    if why.error and why.links[-1].rule != "conflict":
        for text in fold(why.error.partition("\n")[0], out.width):
            out.print(Text(text, "red"))


def _where(why: Why) -> str:
    if why.device:
        return f"is on {why.device}"
    stopped = any(link.rule == "stopped" for link in why.links)
    return "was not placed" if stopped else "could not be placed"


def devices(names: tuple[str, ...], every: bool) -> str:
    """ps:1, worker:0 and 5 more."""
    shown = names if every or len(names) <= FEW + 1 else names[:FEW]
    more = f" and {len(names) - len(shown)} more" if len(shown) < len(names) else ""
    return ", ".join(map(short, shown)) + more


def line(at: str) -> str:
    """A user's line with its file as it is called from here."""
    file, colon, number = at.rpartition(":")
    if not os.path.isabs(file):
        return at
    near = os.path.relpath(file)
    return f"{file if near.startswith('..') else near}{colon}{number}"
