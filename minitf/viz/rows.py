"""The partitioned graph as plain rows. What is shown anywhere is computed here, once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from minitf_runtime.devices.name import short_device
from minitf_runtime.graph import CONTROL, Node
from minitf_runtime.passes.data import Edge, Partitioned
from minitf_runtime.types import Shape

CUT_OPS = ("_Send", "_Recv", "_HostSend", "_HostRecv", "_Arg", "_Retval")


@dataclass(frozen=True)
class OpRow:
    """An op of the step: where it is, what it is for, who wrote it, why it is there."""

    name: str
    op: str
    device: str
    role: str
    source: str
    why: tuple[str, ...]


@dataclass(frozen=True)
class EdgeRow:
    """A transfer. `bytes` is None where the shape depends on what is fed."""

    tensor: str
    kind: str
    src: str
    dst: str
    meaning: str
    dtype: str
    shape: str
    bytes: int | None
    consumers: tuple[str, ...]
    why: tuple[str, ...]


@dataclass(frozen=True)
class SumRow:
    """All transfers of one direction. `unknown` counts those whose size is not known."""

    src: str
    dst: str
    messages: int
    bytes: int
    unknown: int


@dataclass(frozen=True)
class LandingRow:
    """What one optimizer call put on one device."""

    optimizer: str
    device: str
    part: str  # "computes" or "applies"
    ops: tuple[str, ...]


def op_rows(cut: Partitioned) -> list[OpRow]:
    """The ops of the step, device by device in the order they run; transfers left out."""
    rows = []
    for device in sorted(cut.parts):
        for n in cut.parts[device]:
            if n.name not in cut.placement:
                continue
            why = tuple(_reason(r) for r in cut.placement[n.name].why)
            rows.append(OpRow(n.name, n.op, device, n.role, n.source, why))
    return rows


def _reason(reason: Any) -> str:
    return f"{reason.text} ({reason.at})" if reason.at else reason.text


def edge_rows(cut: Partitioned) -> list[EdgeRow]:
    """Every transfer: parameters, hyper-parameters, gradients, other values, then control."""
    order = ["parameter", "state", "hyper-parameter", "gradient", "value", "control"]
    ranked = []
    for i, e in enumerate(cut.edges):
        meaning = edge_meaning(cut, e)
        ranked.append((order.index(meaning), i, e, meaning))
    ranked.sort(key=lambda r: r[:2])
    return [_edge_row(e, meaning) for _, _, e, meaning in ranked]


def _edge_row(e: Edge, meaning: str) -> EdgeRow:
    return EdgeRow(
        e.src if e.slot in (0, CONTROL) else f"{e.src}:{e.slot}",
        e.kind,
        e.src_device,
        e.dst_device,
        meaning,
        e.dtype.base.name,
        "-" if e.kind == "control" else shape_text(e.shape),
        e.nbytes,
        e.consumers,
        tuple(_reason(r) for r in e.why),
    )


def shape_text(shape: Shape) -> str:
    """3x4, ?x4, scalar, or ? when not even the rank is known."""
    if shape is None:
        return "?"
    return "x".join("?" if n is None else str(n) for n in shape) or "scalar"


def edge_meaning(cut: Partitioned, e: Edge) -> str:
    """What a transfer carries, by what its source op is for."""
    if e.kind == "control":
        return "control"
    node = cut.whole.get(e.src)
    if node is None:
        return "value"
    if node.role == "variable":
        return "parameter"
    if node.role == "slot":
        return "state"
    if node.role == "apply" and node.op == "Const":
        return "hyper-parameter"
    return "gradient" if node.role == "gradient" else "value"


def sum_rows(edges: Iterable[EdgeRow]) -> list[SumRow]:
    """Messages and bytes for each pair of devices."""
    table: dict[tuple[str, str], list[EdgeRow]] = {}
    for e in edges:
        table.setdefault((e.src, e.dst), []).append(e)
    return [
        SumRow(
            src,
            dst,
            len(rows),
            sum(r.bytes or 0 for r in rows),
            sum(r.bytes is None for r in rows),
        )
        for (src, dst), rows in sorted(table.items())
    ]


def landing_rows(cut: Partitioned) -> list[LandingRow]:
    """For each optimizer call: which devices compute its gradients, which apply them."""
    applied: dict[tuple[str, str], list[str]] = {}
    computed: dict[str, list[str]] = {}
    for device, nodes in cut.parts.items():
        for n in nodes:
            if n.op in CUT_OPS or n.name not in cut.placement:
                continue
            if is_update(n):
                applied.setdefault((n.name.split("/update")[0], device), []).append(n.name)
            elif n.role == "gradient" and n.op != "Const":
                computed.setdefault(device, []).append(n.name)
    optimizers = sorted({o for o, _ in applied}) or ([""] if computed else [])
    rows = []
    for optimizer in optimizers:
        for device, names in sorted(computed.items()):
            rows.append(LandingRow(optimizer, device, "computes", tuple(names)))
        for (owner, device), names in sorted(applied.items()):
            if owner == optimizer:
                rows.append(LandingRow(optimizer, device, "applies", tuple(names)))
    return rows


def is_update(n: Node) -> bool:
    """Whether the op changes a variable on behalf of an optimizer."""
    return n.role == "apply" and bool(n.input_types) and _takes_state(n)


def _takes_state(n: Node) -> bool:
    reads = ("ReadVariableOp", "VarIsInitializedOp")
    return n.input_types[0].is_ref or (n.input_types[0].name == "resource" and n.op not in reads)


def device_roles(rows: Iterable[OpRow]) -> dict[str, dict[str, int]]:
    """device -> role -> number of ops."""
    table: dict[str, dict[str, int]] = {}
    for r in rows:
        roles = table.setdefault(r.device, {})
        roles[r.role] = roles.get(r.role, 0) + 1
    return table


def as_json(cut: Partitioned) -> dict[str, Any]:
    """All rows as plain values."""
    edges = edge_rows(cut)
    return {
        "devices": sorted(cut.parts),
        "ops": [asdict(r) for r in op_rows(cut)],
        "transfers": [asdict(r) for r in edges],
        "sums": [asdict(r) for r in sum_rows(edges)],
        "minimize": [asdict(r) for r in landing_rows(cut)],
        "feeds": [t for t, _ in cut.feeds],
        "fetches": [t for t, _ in cut.fetches],
        "targets": list(cut.targets),
    }


def short(device: str) -> str:
    return short_device(device)
