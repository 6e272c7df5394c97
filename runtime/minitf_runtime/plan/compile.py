"""Compiles a part into Python programs: one function per device and strand. How: emit.py."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from minitf_runtime.graph import Node
from minitf_runtime.plan.blocks import Blocked
from minitf_runtime.plan.emit import Emitter
from minitf_runtime.plan.fold import Folded, fold
from minitf_runtime.plan.part import Part
from minitf_runtime.plan.trace import TracedEmitter

_numbers = count()


@dataclass(frozen=True)
class Program:
    """One generated function: `run(rdv, step, feeds, out)`."""

    run: Callable[[Any, Any, Sequence[Any], list[Any]], None]
    source: str
    filename: str
    device: str
    strand: int
    lines: dict[int, Node]  # line -> the node it runs
    recvs: Mapping[str, int] = field(default_factory=dict)  # of the part: receive node -> transfer
    heavy: bool = False  # convolutions share their work among threads: those of BLAS are in the way


def compile_part(part: Part, kernel_node: Callable[[Node], Any], xp_of: Any) -> list[Program]:
    """The programs of a part, the one that the caller's thread should run first.

    kernel_node(node) gives the KernelNode of a stateful op; xp_of(device) the array module.
    """
    kind = TracedEmitter if part.traced else Emitter
    programs = []
    for device, nodes in part.nodes.items():
        strands: dict[int, list[Node]] = {}
        where = {n.name: part.strands.get(n.name, 0) for n in nodes}
        shapes = {(n.name, i): s for n in nodes for i, s in enumerate(n.output_shapes)}
        folded = fold(nodes) if "fold" in part.passes else Folded(nodes, {})
        shapes.update({tensor: value.shape for tensor, value in folded.constants.items()})
        for n in folded.nodes:
            strands.setdefault(part.strands.get(n.name, 0), []).append(n)
        for strand, members in sorted(strands.items()):
            emitter = kind(
                part, device, strand, where, kernel_node, xp_of(device), shapes, folded.constants
            )
            made = _program(emitter, members, folded.nodes)
            programs.append(replace(made, heavy=any(n.op.startswith("Conv") for n in members)))
    client = set(part.feeds) | set(part.fetches)
    programs.sort(key=lambda p: (p.strand, not any(n.name in client for n in p.lines.values())))
    return programs


def _program(emitter: Emitter, members: list[Node], nodes: Sequence[Node]) -> Program:
    text, lines = emitter.source(members, nodes)
    filename = f"<minitf plan {next(_numbers)}>"
    exec(compile(text, filename, "exec"), emitter.names)  # noqa: S102  our own source
    names = emitter.names
    for fusion in emitter.fusions:
        names[fusion.name] = Blocked(names[fusion.name])
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    return Program(
        names["run"],
        text,
        filename,
        emitter.device,
        emitter.strand,
        lines,
        emitter.part.recvs,
    )
