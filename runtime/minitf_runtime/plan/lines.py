"""The lines of a program as text, each with its node and the user's line as comment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from minitf_runtime.graph import Node

Use = tuple[int, int]  # the line that uses a local, and the block that the line is in


class Line(NamedTuple):
    code: str
    node: Node | None
    depth: int
    block: int


def program_text(
    lines: Sequence[Line], last_use: dict[str, Use], made_in: dict[str, int]
) -> tuple[str, dict[int, Node]]:
    """The text of `run`, and which node each line runs; a local is deleted after its last use."""
    rows = [
        "def run(rdv, step, feeds, out):",
        "    recv, send, send_to = rdv.recv, rdv.send, rdv.send_to",
    ]
    nodes: dict[int, Node] = {}
    dead = _dead_after(lines, last_use, made_in)
    for i, line in enumerate(lines):
        indent = "    " * line.depth
        if line.node is None:
            rows.append(indent + line.code)
        else:
            note = f"{_printable(line.node.name)}  {_printable(line.node.source)}"
            rows.append(f"{indent}{line.code}  # {note}".rstrip())
            nodes[len(rows)] = line.node
        if i in dead:
            rows.append(f"{indent}del {', '.join(dead[i])}")
    return "\n".join(rows) + "\n", nodes


def _dead_after(
    lines: Sequence[Line], last_use: dict[str, Use], made_in: dict[str, int]
) -> dict[int, list[str]]:
    """Line -> the locals that nobody needs after it: made and last used in the same block."""
    dead: dict[int, list[str]] = {}
    for name, (at, block) in last_use.items():
        if made_in.get(name) == block and at < len(lines):
            line = lines[at]
            if line.block == block and not line.code.endswith((":", "break")):
                dead.setdefault(at, []).append(name)
    return dead


def _printable(text: str) -> str:
    """Text that cannot leave its comment: names may come from a file or another process."""
    return "".join(c if c.isprintable() else "?" for c in text)
