"""Compiles a part into Python programs: one function per device and strand. How: emit.py."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from minitf_runtime.devices.cpu import one_blas_thread
from minitf_runtime.devices.siblings import SMALL, siblings
from minitf_runtime.graph import Node
from minitf_runtime.ops.matmul import multiplications
from minitf_runtime.plan.blocks import Blocked
from minitf_runtime.plan.copies import Copies
from minitf_runtime.plan.emit import Emitter
from minitf_runtime.plan.emit_gpu import GpuEmitter, TracedGpuEmitter
from minitf_runtime.plan.fold import Folded, fold, without_unused
from minitf_runtime.plan.part import Part
from minitf_runtime.plan.pool import pool
from minitf_runtime.plan.regions import Structure, has_control_flow, structure
from minitf_runtime.plan.trace import TracedEmitter
from minitf_runtime.plan.values import Tensor

_numbers = count()


@dataclass(frozen=True)
class Program:
    """One generated function: `run(rdv, step, feeds, out)`, to be called within `around()`."""

    run: Callable[[Any, Any, Sequence[Any], list[Any]], None]
    source: str
    filename: str
    device: str
    strand: int
    lines: dict[int, Node]  # line -> the node it runs
    recvs: Mapping[str, int] = field(default_factory=dict)  # of the part: receive node -> transfer
    around: Callable[[], AbstractContextManager[Any]] = nullcontext
    made: Mapping[str, str] = field(default_factory=dict)  # local -> the tensor that it holds
    gpu: Any = None  # the device that it runs on


def compile_part(
    part: Part,
    kernel_node: Callable[[Node], Any],
    copies_of: Callable[[str], Copies | None],
) -> list[Program]:
    """The programs of a part, the one that the caller's thread should run first.

    kernel_node(node) gives the KernelNode of a stateful op; copies_of(device) what brings values to
    a GPU and back, None for a CPU.
    """
    programs = []
    for device, nodes in part.nodes.items():
        where = {n.name: part.strands.get(n.name, 0) for n in nodes}
        shapes = {(n.name, i): s for n in nodes for i, s in enumerate(n.output_shapes)}
        copies = copies_of(device)
        flows = _control_flow(part, _by_strand(nodes, where))
        tested = {tensor for flow in flows.values() for tensor in flow.tested}
        one_strand = len(set(where.values())) == 1
        folded = Folded(tuple(nodes), {})
        if "fold" in part.passes:
            folded = _folded(nodes, tested, copies, one_strand)
        if "pool" in part.passes and copies is None and one_strand and not flows:
            folded = folded._replace(nodes=pool(folded.nodes, tested))
        shapes.update({tensor: value.shape for tensor, value in folded.constants.items()})
        for strand, members in sorted(_by_strand(folded.nodes, where).items()):
            flow = flows[strand].keeping(members) if strand in flows else None
            args = part, device, strand, where, kernel_node, shapes, folded.constants
            if copies is None:
                emitter = (TracedEmitter if part.traced else Emitter)(*args)
            else:
                kind = TracedGpuEmitter if part.traced else GpuEmitter
                emitter = kind(*args, copies=copies)
            with nullcontext() if copies is None else copies.device:
                programs.append(_program(emitter, members, folded.nodes, flow, copies))
    client = set(part.feeds) | set(part.fetches)
    programs.sort(key=lambda p: (p.strand, not any(n.name in client for n in p.lines.values())))
    return programs


def _by_strand(nodes: Sequence[Node], where: Mapping[str, int]) -> dict[int, list[Node]]:
    strands: dict[int, list[Node]] = {}
    for n in nodes:
        strands.setdefault(where[n.name], []).append(n)
    return strands


def _control_flow(part: Part, strands: Mapping[int, list[Node]]) -> dict[int, Structure]:
    """The structure of strands that have one. It is found before anything is taken out: a node that
    loses its inputs runs where and when it did."""
    return {
        strand: structure(nodes, part.maybe_dead)
        for strand, nodes in strands.items()
        if part.maybe_dead or has_control_flow(nodes)
    }


def _folded(
    nodes: Sequence[Node], tested: set[Tensor], copies: Copies | None, one_strand: bool
) -> Folded:
    """What a known value is good for on a GPU is not known: there only the unused goes."""
    if copies is None:
        return fold(nodes, tested, one_strand)
    unused_goes = not has_control_flow(nodes)
    return Folded(without_unused(nodes, tested) if unused_goes else tuple(nodes), {})


def _program(
    emitter: Emitter,
    members: list[Node],
    nodes: Sequence[Node],
    flow: Structure | None,
    copies: Copies | None,
) -> Program:
    text, lines = emitter.source(members, nodes, flow)
    filename = f"<minitf plan {next(_numbers)}>"
    exec(compile(text, filename, "exec"), emitter.names)  # noqa: S102  our own source
    names = emitter.names
    fused = Blocked if copies is None else copies.device.fuse
    for fusion in emitter.fusions:
        names[fusion.name] = fused(names[fusion.name])
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    return Program(
        names["run"],
        text,
        filename,
        emitter.device,
        emitter.strand,
        lines,
        emitter.part.recvs,
        _around(members, emitter, copies),
        {} if copies is None else {local: name for (name, _), local in emitter.values.items()},
        None if copies is None else copies.device,
    )


def _around(members: Sequence[Node], emitter: Emitter, copies: Copies | None) -> Any:
    if copies is not None:
        return copies.running
    if any(n.op.startswith("Conv") for n in members):
        # Convolutions share their work among threads: those of BLAS are in the way.
        return one_blas_thread
    products = [n for n in members if n.op == "MatMul" and n.name not in emitter.batched]
    shapes = [[emitter.shapes.get(source) for source in n.inputs] for n in products]
    sizes = [multiplications(n.attrs, pair) for n, pair in zip(products, shapes)]
    if sizes and all(size is not None and size < SMALL for size in sizes):
        return siblings.small_products
    return nullcontext
