"""The lines of a program as text, each with its node and the user's line as comment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from minitf_runtime.graph import Node
from minitf_runtime.plan.fusion_text import FusionText

Use = tuple[int, int]  # the line that uses a local, and the block that the line is in


class Line(NamedTuple):
    code: str
    node: Node | None
    depth: int
    block: int


class Block:
    """The lines of a `with` body are indented and form a block of their own."""

    def __init__(self, emitter: Any) -> None:
        self.emitter = emitter

    def __enter__(self) -> None:
        e = self.emitter
        self.outer = e.block
        e.blocks += 1
        e.block = e.blocks
        e.depth += 1

    def __exit__(self, *exc: object) -> None:
        self.emitter.block = self.outer
        self.emitter.depth -= 1


def program_text(
    lines: Sequence[Line],
    last_use: dict[str, Use],
    made_in: dict[str, int],
    fusions: Sequence[FusionText] = (),
) -> tuple[str, dict[int, Node]]:
    """The text of `run` after that of the fusions that it calls, and which node each line runs; a
    local is deleted after its last use."""
    rows: list[str] = []
    nodes: dict[int, Node] = {}
    for fusion in fusions:
        for code, node in fusion.lines:
            rows.append(_commented("    " if node else "", code, node))
            if node is not None:
                nodes[len(rows)] = node
    rows += [
        "def run(rdv, step, feeds, out):",
        "    recv, send, send_to = rdv.recv, rdv.send, rdv.send_to",
    ]
    dead = _dead_after(lines, last_use, made_in)
    for i, line in enumerate(lines):
        indent = "    " * line.depth
        rows.append(_commented(indent, line.code, line.node))
        if line.node is not None:
            nodes[len(rows)] = line.node
        if i in dead:
            rows.append(f"{indent}del {', '.join(dead[i])}")
    return "\n".join(rows) + "\n", nodes


def _commented(indent: str, code: str, node: Node | None) -> str:
    if node is None:
        return indent + code
    return f"{indent}{code}  # {_printable(node.name)}  {_printable(node.source)}".rstrip()


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
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else "?" for c in text)
