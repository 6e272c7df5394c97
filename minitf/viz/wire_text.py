"""Transfers, hazards and balance as text for the terminal."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from minitf.viz.changes import ChangeRow
from minitf.viz.loads import Balance, LinkRow
from minitf.viz.rows import short
from minitf.viz.sizes import NOMINAL_BATCH, Size, Total, total
from minitf.viz.subject import Hazard, size_text
from minitf.viz.text import Column, fold, show_table
from minitf.viz.transfers import Wire, WireRow
from minitf_runtime.devices.name import parse_full

BUSIEST = 12  # tasks and links that are shown where there are many
_PATH = re.compile(r"[^\s()'<>]*/([^\s()'<>/]+\.\w+:\d+)")


def show_wire(w: Wire, out: Console, every: bool = False) -> None:
    """The transfers, the largest first, their sum, and what would make them fewer bytes."""
    if not w.rows:
        out.print("No transfers: one device runs the whole step")
        return
    shown = [r for r in w.rows if every or r.kind == "data"]
    columns = (
        Column("from -> to"),
        Column("bytes", right=True),
        Column("share", right=True),
        Column("tensor, and who asks for it"),
    )
    lines = [(_direction(r), bytes_text(r.size), f"{r.share:.1%}", _about(r)) for r in shown]
    shares = f"; shares are for n = {NOMINAL_BATCH}"
    show_table(out, "One step on the wire", columns, lines, _units(w.batch, w.total.known, shares))
    rest = len(w.rows) - len(shown)
    control = f"; {rest} of them only order ops, without bytes (--all names them)" if rest else ""
    out.print(f"{counted(len(w.rows), 'transfer')}{control}")
    out.print(f"{_total_text(w.total)} a step")
    copies = [r.size for r in w.rows if r.kind == "data" and is_copy(r)]
    if copies:
        many = counted(len(copies), "copy").replace("copys", "copies")
        text = "between host and GPU memory, which no network sees"
        out.print(f"{_total_text(total(copies))} of them in {many} {text}")
    if w.changes:
        out.print()
        out.print(Text("What would make it cheaper", "bold"))
    for change in w.changes:
        for line in fold(short_lines(change_text(change)), out.width - 2):
            out.print(Text("  " + line))


def is_copy(r: WireRow) -> bool:
    """Whether the transfer stays within its task, and a GPU is at one end."""
    src, dst = parse_full(r.src), parse_full(r.dst)
    return (src.job, src.task) == (dst.job, dst.task) and "GPU" in (src.type, dst.type)


def change_text(c: ChangeRow) -> str:
    """A change as a sentence."""
    asked = f"{c.asked} at {c.asked_at}" if c.asked_at else f"asked for '{c.asked}'"
    return (
        f"'{c.tensor}' crosses whole because {c.op_type} '{c.op}' ({c.at}) is on {short(c.dst)} "
        f"({asked}): {size_text(c.bytes)} a step; {c.change} {size_text(c.instead)}"
    )


def bytes_text(size: Size | None) -> str:
    """12,345 or 528+260n, n being the batch size; ? where it is not known."""
    if size is None:
        return "?"
    if not size.per_example:
        return f"{size.fixed:,}"
    return f"{size.fixed:,}+{size.per_example:,}n" if size.fixed else f"{size.per_example:,}n"


def _short_bytes(size: Size) -> str:
    """25.6 MB, 264 B + 260 B n."""
    if not size.per_example:
        return size_text(size.fixed)
    each = f"{size_text(size.per_example)} n"
    return f"{size_text(size.fixed)} + {each}" if size.fixed else each


def short_lines(text: str) -> str:
    """The text with the users' files named without their folders."""
    return _PATH.sub(r"\1", text)


def counted(count: int, noun: str) -> str:
    """1 task, 2 tasks."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _units(batch: int | None, size: Size, more: str = "") -> list[str]:
    """What the sizes are given for, if they depend on the batch size."""
    if batch is not None:
        return [f"batch size {batch}"]
    return [f"n is the batch size (--batch N sets it){more}"] if size.per_example else []


def _total_text(t: Total) -> str:
    return f"{bytes_text(t.known)} bytes{', ' * bool(t.unknown)}{_unknown(t.unknown)}"


def _unknown(count: int) -> str:
    return f"and {counted(count, 'transfer')} of a size that the values decide" if count else ""


def _direction(r: WireRow | LinkRow) -> str:
    return f"{short(r.src)} -> {short(r.dst)}"


def _about(r: WireRow) -> str:
    """The tensor, what it is, and who forces it."""
    shape = "" if r.shape in ("-", "scalar") else r.shape
    name = r.tensor if r.kind == "control" else f"{r.tensor} {r.dtype}[{shape}]"
    what = f"{r.meaning} of {', '.join(r.of)}" if r.of else r.meaning
    by = f" of {r.optimizer}" if r.optimizer and r.optimizer not in r.consumers[0] else ""
    more = f" and {len(r.consumers) - 1} more" if r.consumers[1:] else ""
    return f"{name}\n{what}{by} for {r.consumers[0]}{more} ({short_lines(r.source)})"


def show_hazards(hazards: Sequence[Hazard], out: Console) -> None:
    """Each hazard with its line and its remedy."""
    if not hazards:
        out.print("No hazards found")
        return
    for h in hazards:
        out.print(Text.assemble((h.kind, "bold red"), f"  {short_lines(h.at)}" * bool(h.at)))
        for mark, text in (("", h.text), ("-> ", h.remedy)):
            for line in fold(mark + short_lines(text), out.width - 2):
                out.print(Text("  " + line))
        out.print()
    out.print(counted(len(hazards), "hazard"))


def show_balance(b: Balance, out: Console) -> None:
    """The tasks, the links, and how even the parameter servers are."""
    tasks = sorted(b.tasks, key=lambda t: -t.holds)[:BUSIEST] if len(b.tasks) > BUSIEST else b.tasks
    lines = [
        (
            short(t.task),
            str(t.variables),
            size_text(t.holds),
            _short_bytes(t.sends),
            _short_bytes(t.receives),
            t.largest,
        )
        for t in tasks
    ]
    columns = (
        Column("task"),
        Column("variables", right=True),
        Column("hold", right=True),
        Column("sends", right=True, most=16),
        Column("receives", right=True, most=16),
        Column("the largest"),
    )
    notes = [] if len(tasks) == len(b.tasks) else [f"the {BUSIEST} fullest of {len(b.tasks)}"]
    show_table(out, "What each task holds and sends in a step", columns, lines, notes)
    _show_links(b, out)
    if b.holds is not None:
        wire = f", sends and receives {b.wire:.2f}" if b.wire is not None else ""
        out.print(f"The fullest ps by the average (1 is even): holds {b.holds:.2f}{wire}")
    if b.replicas > 1:
        out.print(f"If all {b.replicas} workers run this step, each has links of this size")
    if b.idle:
        out.print(f"{counted(len(b.idle), 'task')} without a part in this step")


def _show_links(b: Balance, out: Console) -> None:
    at = NOMINAL_BATCH if b.batch is None else b.batch
    links = sorted(b.links, key=lambda k: -k.size.at(at))[:BUSIEST]
    lines = [
        (_direction(k), str(k.messages), bytes_text(k.size), _unknown(k.unknown)) for k in links
    ]
    columns = (
        Column("link"),
        Column("transfers", right=True),
        Column("bytes", right=True),
        Column(""),
    )
    notes = [f"the {BUSIEST} busiest of {len(b.links)}"] if len(b.links) > BUSIEST else []
    if links:
        sent = sum((k.size for k in b.links), Size())
        show_table(out, "Links", columns, lines, [*_units(b.batch, sent), *notes])
