"""The partitioned graph as plain rows. What is shown anywhere is computed here, once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from minitf_runtime.devices.name import short_device
from minitf_runtime.graph import CONTROL, Graph, Node, Reason
from minitf_runtime.passes.data import Edge, Partitioned
from minitf_runtime.types import Shape

ROLES = ("forward", "gradient", "apply", "variable", "slot", "init", "save")
MEANINGS = ("parameter", "state", "hyper-parameter", "gradient", "value", "control")
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
    """A transfer. `bytes` is None where the shape depends on what is fed.

    meaning: what it is for; of: the variables that a gradient is for, where it goes to the update.
    """

    tensor: str
    kind: str
    src: str
    dst: str
    meaning: str
    of: tuple[str, ...]
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
    """What one optimizer call put on one device, and which variables that changes."""

    optimizer: str
    device: str
    part: str  # "computes" or "applies"
    ops: tuple[str, ...]
    variables: tuple[str, ...]


def op_rows(cut: Partitioned) -> list[OpRow]:
    """The ops of the step, device by device in the order they run; transfers left out."""
    rows = []
    for device in sorted(cut.parts):
        for n in cut.parts[device]:
            if n.name not in cut.placement:
                continue
            why = reasons(cut.placement[n.name].why)
            rows.append(OpRow(n.name, n.op, device, n.role, n.source, why))
    return rows


def reasons(why: Iterable[Reason]) -> tuple[str, ...]:
    """Reasons in words, each with the user's line."""
    return tuple(f"{r.text} ({r.at})" if r.at else r.text for r in why)


def edge_rows(cut: Partitioned) -> list[EdgeRow]:
    """Every transfer: parameters, hyper-parameters, gradients, other values, then control."""
    return [row for _, row in edges_with_rows(cut)]


def edges_with_rows(cut: Partitioned) -> list[tuple[Edge, EdgeRow]]:
    """Every transfer and its row, in the order of `edge_rows`."""
    made = {n.name: i for i, n in enumerate(cut.whole)}

    def place(pair: tuple[Edge, EdgeRow]) -> tuple[int, ...]:
        row = pair[1]
        return MEANINGS.index(row.meaning), *(made[v] for v in row.of[:1])

    return sorted(((e, _edge_row(cut, e)) for e in cut.edges), key=place)


def _edge_row(cut: Partitioned, e: Edge) -> EdgeRow:
    meaning = edge_meaning(cut, e)
    updates = [n for c in e.consumers if (n := cut.step.get(c)) is not None and is_update(n)]
    source = {node: tensor.removesuffix(":0") for tensor, node in cut.feeds}.get(e.src, e.src)
    return EdgeRow(
        source if e.slot in (0, CONTROL) else f"{source}:{e.slot}",
        e.kind,
        e.src_device,
        e.dst_device,
        meaning,
        tuple(variable_of(n) for n in updates) if meaning == "gradient" else (),
        e.dtype.base.name,
        "-" if e.kind == "control" else shape_text(e.shape),
        e.nbytes,
        e.consumers,
        reasons(e.why),
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
    rows = []
    for optimizer, updates in _updates(cut).items():
        needed = _ancestors(cut.step, updates)
        gradients = [n for n in needed if n.role == "gradient" and n.op != "Const"]
        for part, nodes in (("computes", gradients), ("applies", updates)):
            by_device: dict[str, list[Node]] = {}
            for n in nodes:
                by_device.setdefault(n.device, []).append(n)
            for device, here in sorted(by_device.items()):
                changed = (variable_of(n) for n in here if part == "applies")
                names = tuple(n.name for n in here)
                rows.append(LandingRow(optimizer, device, part, names, tuple(changed)))
    return rows


def _updates(cut: Partitioned) -> dict[str, list[Node]]:
    """The updates of a step by the name of the optimizer call: what stands before `/update_W`."""
    updates = [n for n in cut.step if is_update(n)]
    names = {n.name.split("/update")[0] for n in updates if "/update" in n.name}
    found: dict[str, list[Node]] = {}
    for n in updates:
        owners = [name for name in names if f"{n.name}/".startswith(f"{name}/")]
        found.setdefault(max(owners, key=len, default=n.name), []).append(n)
    return found


def _ancestors(step: Graph, nodes: Iterable[Node]) -> list[Node]:
    """All that the nodes depend on, in the order of the step."""
    found: set[str] = set()
    stack = list(nodes)
    while stack:
        n = stack.pop()
        for name in (*(source for source, _ in n.inputs), *n.control):
            if name not in found:
                found.add(name)
                stack.append(step[name])
    return [n for n in step if n.name in found]


def is_update(n: Node) -> bool:
    """Whether the op changes a variable on behalf of an optimizer."""
    reads = ("ReadVariableOp", "VarIsInitializedOp")
    if n.role != "apply" or not n.input_types or n.op in reads:
        return False
    return n.input_types[0].is_ref or n.input_types[0].name == "resource"


def variable_of(update: Node) -> str:
    """The variable that an update changes."""
    return update.inputs[0][0]


def device_roles(rows: Iterable[OpRow]) -> dict[str, dict[str, int]]:
    """device -> role -> number of ops, in the order of ROLES."""
    table: dict[str, Counter[str]] = {}
    for r in rows:
        table.setdefault(r.device, Counter())[r.role] += 1
    return {d: {role: n[role] for role in ROLES if n[role]} for d, n in table.items()}


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
