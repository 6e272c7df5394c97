"""Rows as tables in a terminal of 80 columns, or plain when piped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from minitf.viz.rows import (
    EdgeRow,
    device_roles,
    edge_rows,
    landing_rows,
    op_rows,
    short,
    sum_rows,
)
from minitf_runtime.passes.data import Partitioned

ROLE_STYLE = {
    "forward": "cyan",
    "gradient": "magenta",
    "apply": "red",
    "variable": "green",
    "slot": "green",
    "init": "dim",
    "save": "dim",
}
MAX_OPS = 12  # ops of a device that the overview names


def console() -> Console:
    """Standard output; 80 columns when it is not a terminal."""
    probe = Console(highlight=False, soft_wrap=False)
    return probe if probe.is_terminal else Console(highlight=False, width=80)


def show_step(cut: Partitioned, out: Console, every_op: bool = False) -> None:
    """The whole reading of a step: devices, where minimize() landed, transfers, sums."""
    show_devices(cut, out, every_op)
    show_landing(cut, out)
    show_transfers(cut, out)


def show_devices(cut: Partitioned, out: Console, every_op: bool = False) -> None:
    """Each device with its ops by role."""
    rows = op_rows(cut)
    table = _table("Devices and their ops", "device", "role", "ops", "names")
    for device, roles in device_roles(rows).items():
        for role, count in sorted(roles.items()):
            names = [r.name for r in rows if r.device == device and r.role == role]
            shown = names if every_op else names[:MAX_OPS]
            more = f" ... {len(names) - len(shown)} more" if len(shown) < len(names) else ""
            table.add_row(
                Text(short(device)),
                Text(role, ROLE_STYLE.get(role, "")),
                Text(str(count)),
                Text(" ".join(shown) + more),
            )
    out.print(table)


def show_landing(cut: Partitioned, out: Console) -> None:
    """What minimize() does where."""
    rows = landing_rows(cut)
    if not rows:
        out.print("minimize(): no optimizer in this step")
        return
    table = _table("Where minimize() landed", "optimizer", "device", "does", "ops")
    for r in rows:
        verb = "computes gradients" if r.part == "computes" else "applies updates"
        style = ROLE_STYLE["gradient" if r.part == "computes" else "apply"]
        table.add_row(
            Text(r.optimizer), Text(short(r.device)), Text(verb, style), Text("\n".join(r.ops))
        )
    out.print(table)


def show_transfers(cut: Partitioned, out: Console) -> None:
    """Every transfer of the step, and sums per direction."""
    rows = edge_rows(cut)
    if not rows:
        out.print("No transfers: one device runs the whole step")
        return
    table = _table("One step on the wire", "#", "from -> to", "what", "tensor", "shape", "bytes")
    for i, r in enumerate(rows, 1):
        table.add_row(
            Text(str(i)),
            Text(f"{short(r.src)} -> {short(r.dst)}"),
            Text(r.meaning),
            Text(r.tensor),
            Text(r.shape),
            Text("?" if r.bytes is None else str(r.bytes)),
        )
    out.print(table)
    sums = _table("Per direction", "from", "to", "messages", "bytes")
    for s in sum_rows(rows):
        unknown = f" + {s.unknown} of unknown size" if s.unknown else ""
        sums.add_row(
            Text(short(s.src)),
            Text(short(s.dst)),
            Text(str(s.messages)),
            Text(f"{s.bytes}{unknown}"),
        )
    out.print(sums)
    out.print(total(rows))


def total(rows: Sequence[EdgeRow]) -> str:
    unknown = sum(r.bytes is None for r in rows)
    text = f"{len(rows)} messages, {sum(r.bytes or 0 for r in rows)} bytes a step"
    return text + (f" and {unknown} of a size that the feeds decide" if unknown else "")


def show_partition(cut: Partitioned, device: str, out: Console) -> None:
    """The nodes of one device, in the order they run."""
    for n in cut.parts[device]:
        inputs = [f"{name}:{i}" for name, i in n.inputs] + [f"^{c}" for c in n.control]
        out.print(Text(f"{n.name} = {n.op}({', '.join(inputs)})"), soft_wrap=True)


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for c in columns:
        right: Any = (
            "right" if c in ("bytes", "messages", "#", "ops") and c != columns[-1] else "left"
        )
        table.add_column(c, justify=right, overflow="fold")
    return table
