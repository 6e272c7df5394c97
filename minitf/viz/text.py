"""Rows as tables that fit the terminal: in colour there, plain text without padding when piped."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rich.console import Console
from rich.text import Text

from minitf.viz.rows import (
    EdgeRow,
    LandingRow,
    device_roles,
    edge_rows,
    landing_rows,
    op_rows,
    short,
    sum_rows,
)
from minitf_runtime.passes.data import Partitioned

STYLE = {
    "forward": "cyan",
    "gradient": "magenta",
    "apply": "red",
    "variable": "green",
    "slot": "green",
    "init": "dim",
    "save": "dim",
    "computes": "magenta",
    "applies": "red",
    "parameter": "green",
    "state": "green",
    "hyper-parameter": "yellow",
    "value": "cyan",
    "control": "dim",
}
FEW = 6  # ops of a role that the overview names
WIDTH = 80  # of what is piped
GAP = "  "


class Column(NamedTuple):
    """A column of a table; the last one gets the width that is left.

    styled: the first word of a cell is a key of STYLE.
    """

    name: str
    right: bool = False
    styled: bool = False
    most: int = 24


def console() -> Console:
    """Standard output; 80 columns (or COLUMNS) when it is not a terminal."""
    out = Console(highlight=False, soft_wrap=True)
    if out.is_terminal:
        return out
    columns = os.environ.get("COLUMNS", "")
    width = int(columns) if columns.isdecimal() else WIDTH
    return Console(highlight=False, soft_wrap=True, width=max(width, WIDTH // 2))


def show_step(cut: Partitioned, out: Console, every_op: bool = False) -> None:
    """The whole reading of a step: devices, where minimize() landed, transfers, sums."""
    show_devices(cut, out, every_op)
    show_landing(cut, out)
    show_transfers(cut, out)


def show_devices(cut: Partitioned, out: Console, every_op: bool = False) -> None:
    """Each device with its ops by role."""
    rows = op_rows(cut)
    lines = []
    for device, roles in device_roles(rows).items():
        for role, count in roles.items():
            names = [r.name for r in rows if r.device == device and r.role == role]
            shown = names if every_op or len(names) <= FEW + 1 else names[:FEW]
            more = f" ... {len(names) - len(shown)} more" if len(shown) < len(names) else ""
            lines.append((short(device), role, str(count), " ".join(grouped(shown)) + more))
    columns = (Column("device"), Column("role", styled=True), Column("ops", True), Column("names"))
    show_table(out, "Devices and their ops", columns, lines)


def show_landing(cut: Partitioned, out: Console) -> None:
    """What minimize() does where: in words, then op by op."""
    rows = landing_rows(cut)
    if not rows:
        out.print("No optimizer in this step\n")
        return
    columns = (Column("device"), Column("does", styled=True), Column("ops"))
    for optimizer in dict.fromkeys(r.optimizer for r in rows):
        mine = [r for r in rows if r.optimizer == optimizer]
        lines = [(short(r.device), r.part, "\n".join(_ops(r))) for r in mine]
        title = f"Where minimize() landed: {optimizer}"
        show_table(out, title, columns, lines, [in_words(r) for r in mine])


def _ops(row: LandingRow) -> list[str]:
    if row.part == "computes":
        return grouped(row.ops)
    return [f"{op} -> {variable}" for op, variable in zip(row.ops, row.variables)]


def in_words(row: LandingRow) -> str:
    """A row as a sentence."""
    if row.part == "computes":
        return f"{short(row.device)} computes gradients, in {len(row.ops)} ops"
    names = list(dict.fromkeys(row.variables))
    return f"{short(row.device)} applies them: it updates {', '.join(names)}"


def show_transfers(cut: Partitioned, out: Console) -> None:
    """Every transfer of the step, and sums per direction."""
    rows = edge_rows(cut)
    if not rows:
        out.print("No transfers: one device runs the whole step")
        return
    lines = [
        (str(i), _direction(r.src, r.dst), what(r), size(r.bytes), tensor(r))
        for i, r in enumerate(rows, 1)
    ]
    columns = (
        Column("#", right=True),
        Column("from -> to"),
        Column("what", styled=True),
        Column("bytes", right=True),
        Column("tensor"),
    )
    show_table(out, "One step on the wire", columns, lines)
    sums = [
        (_direction(s.src, s.dst), str(s.messages), size(s.bytes), _unknown(s.unknown))
        for s in sum_rows(rows)
    ]
    columns = (
        Column("from -> to"),
        Column("messages", right=True),
        Column("bytes", right=True),
        Column(""),
    )
    show_table(out, "Per direction", columns, sums)
    total = sum(r.bytes or 0 for r in rows)
    unknown = _unknown(sum(r.bytes is None for r in rows))
    out.print(f"{len(rows)} messages, {size(total)} bytes a step {unknown}".rstrip())


def what(row: EdgeRow) -> str:
    return f"{row.meaning} of {', '.join(row.of)}" if row.of else row.meaning


def tensor(row: EdgeRow) -> str:
    """W/read float32[4x1]; a scalar has nothing between the brackets."""
    if row.kind == "control":
        return row.tensor
    return f"{row.tensor} {row.dtype}[{'' if row.shape == 'scalar' else row.shape}]"


def size(count: int | None) -> str:
    return "?" if count is None else f"{count:,}"


def _unknown(count: int) -> str:
    return f"and {count} of a size that the feeds decide" if count else ""


def _direction(src: str, dst: str) -> str:
    return f"{short(src)} -> {short(dst)}"


def show_partition(cut: Partitioned, device: str, out: Console) -> None:
    """The nodes of one device, in the order they run."""
    for n in cut.parts[device]:
        inputs = [f"{name}:{i}" for name, i in n.inputs] + [f"^{c}" for c in n.control]
        out.print(Text(f"{n.name} = {n.op}({', '.join(inputs)})"))


def grouped(names: Iterable[str]) -> list[str]:
    """Names of ops; those of one gradient, or else of one scope, together: `scope/{a b c}`."""
    groups: dict[str, list[str]] = {}
    for name in names:
        scope, mark, rest = name.rpartition("_grad/")
        if not mark:
            scope, mark, rest = name.rpartition("/")
        groups.setdefault(scope + mark, []).append(rest)
    return [
        f"{scope}{{{' '.join(rest)}}}" if scope and rest[1:] else scope + " ".join(rest)
        for scope, rest in groups.items()
    ]


def show_table(
    out: Console,
    title: str,
    columns: Sequence[Column],
    rows: Sequence[Sequence[str]],
    notes: Sequence[str] = (),
) -> None:
    """A title, notes below it, the rows, and an empty line."""
    out.print(Text(title, "bold"))
    for note in notes:
        for line in fold(note, out.width - 2):
            out.print(Text("  " + line))
    widths = _widths(columns, rows, out.width)
    out.print(Text(_line([c.name for c in columns], columns, widths), "dim"))
    before = ""
    for first, *rest in rows:
        _show_row(out, ["" if first == before else first, *rest], columns, widths)
        before = first
    out.print()


def _show_row(
    out: Console, row: Sequence[str], columns: Sequence[Column], widths: Sequence[int]
) -> None:
    cells = [
        [line for text in cell.split("\n") for line in fold(text, width)]
        for cell, width in zip(row, widths)
    ]
    styled = {cell[0].split(" ")[0] for cell, column in zip(cells, columns) if column.styled}
    for i in range(max(map(len, cells))):
        line = Text(_line([c[i] if i < len(c) else "" for c in cells], columns, widths))
        for word in styled & STYLE.keys():
            line.highlight_words([f" {word} "], STYLE[word])
        out.print(line)


def _line(cells: Sequence[str], columns: Sequence[Column], widths: Sequence[int]) -> str:
    texts = [
        cell.rjust(width) if column.right else cell.ljust(width)
        for cell, column, width in zip(cells, columns, widths)
    ]
    return ("  " + GAP.join(texts)).rstrip()


def _widths(columns: Sequence[Column], rows: Sequence[Sequence[str]], total: int) -> list[int]:
    """The widest cell of each column, up to its limit; the last one gets what is left."""
    widths = [
        min(max(len(c.name), *(len(r[i]) for r in rows)), c.most) for i, c in enumerate(columns)
    ]
    left = total - 2 - sum(widths[:-1]) - len(GAP) * (len(widths) - 1)
    return [*widths[:-1], max(left, 20)]


def fold(text: str, width: int) -> list[str]:
    """Lines of at most `width`, broken after a space, or else a slash, where there is one."""
    lines = []
    while len(text) > width:
        space, slash = text.rfind(" ", 0, width + 1) + 1, text.rfind("/", 0, width) + 1
        at = space if space > width // 2 else max(space, slash)
        at = at if at > width // 3 else width
        lines.append(text[:at].rstrip())
        text = text[at:].lstrip()
    return [*lines, text]
