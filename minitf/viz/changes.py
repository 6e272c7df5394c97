"""The change of one op's request that would save most bytes: tried by placing the graph anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from minitf.viz.sizes import Total, edge_sizes, total
from minitf_runtime.graph import CONTROL, Graph, Node
from minitf_runtime.passes.data import Edge, Partitioned
from minitf_runtime.passes.pipeline import partition_graph

# Ops that give less than they take and compute little: where they run is a matter of bytes alone.
SELECTING = frozenset(
    "Gather GatherV2 GatherNd ResourceGather ResourceGatherNd Slice StridedSlice Mean Sum Max Min "
    "Prod ArgMax ArgMin L2Loss Unique SparseSegmentSum SparseSegmentMean Cast".split()
)
# Ops that give what they take, or are made of nothing: they may stand on either side.
PASSING = frozenset("Identity StopGradient Reshape".split())
MADE = frozenset("Const Fill Range RandomUniform RandomStandardNormal TruncatedNormal".split())
TRIED = 8  # transfers, from the largest on
LEAST_BYTES = 64 * 1024  # smaller transfers cost their message, not their bytes
LEAST_GAIN = 0.5  # of a transfer's bytes

Edit = Callable[[Node], Node]


@dataclass(frozen=True)
class ChangeRow:
    """A request that makes a tensor cross, and what the step would send with another one.

    bytes: of the tensor; instead: what would be sent in its place; step_before and step_after: of
    the whole step, all for one batch size. at: the line of the op; asked_at: that of its request.
    """

    tensor: str
    op: str
    op_type: str
    src: str
    dst: str
    at: str
    asked: str
    asked_at: str
    change: str  # "without the request", or "beside NAME"
    bytes: int
    instead: int
    step_before: int
    step_after: int


def cheapest_changes(graph: Graph, cut: Partitioned, batch: int, soft: bool) -> list[ChangeRow]:
    """For each large transfer the change that makes the step cheapest, if any halves it."""
    sizes = edge_sizes(cut, batch)
    before = total(sizes)
    large = [
        (size.fixed, e) for e, size in zip(cut.edges, sizes) if size and size.fixed >= LEAST_BYTES
    ]
    large.sort(key=lambda pair: -pair[0])
    found = (_cheapest(graph, cut, e, count, before, batch, soft) for count, e in large[:TRIED])
    return [row for row in found if row is not None]


def _cheapest(
    graph: Graph, cut: Partitioned, e: Edge, count: int, before: Total, batch: int, soft: bool
) -> ChangeRow | None:
    best: ChangeRow | None = None
    for moved, change, edit in _candidates(graph, cut, e):
        after = _sent(_edited(graph, moved, edit), cut, batch, soft)
        saved = before.known.fixed - after.known.fixed
        if after.unknown > before.unknown or saved < count * LEAST_GAIN:
            continue
        if best is None or after.known.fixed < best.step_after:
            op = moved[-1]
            why = op.asked[-1] if op.asked else None
            best = ChangeRow(
                _tensor(e), op.name, op.op, e.src_device, e.dst_device, op.source,
                why.text if why else op.device, why.at if why else op.source, change,
                count, max(count - saved, 0), before.known.fixed, after.known.fixed,
            )  # fmt: skip
    return best


def _candidates(graph: Graph, cut: Partitioned, e: Edge) -> Iterator[tuple[list[Node], str, Edit]]:
    """The ops that could move so that the tensor need not cross, how, and what that does."""
    source = graph.get(e.src)
    if source is None or e.slot == CONTROL:
        return
    takers = _takers(graph, cut, e)
    if takers and takers[-1].op in SELECTING and all(n.device or n.colocate for n in takers):
        yield takers, "without the request", lambda n: n.with_(device="", colocate=())
        yield takers, f"beside '{source.name}'", _beside(source)
    if source.op in MADE or source.op in PASSING:
        makers = _makers(graph, source)
        consumer = graph.get(e.consumers[0].removeprefix("^"))
        if makers and consumer is not None:
            yield makers, f"beside '{consumer.name}'", _beside(consumer)


def _edited(graph: Graph, nodes: list[Node], edit: Edit) -> Graph:
    names = {n.name for n in nodes}
    return graph.map(lambda n: edit(n) if n.name in names else n)


def _beside(other: Node) -> Edit:
    return lambda n: n.with_(device="", colocate=other.colocate or (other.name,))


def _takers(graph: Graph, cut: Partitioned, e: Edge) -> list[Node]:
    """All that takes the tensor over there, if they only select from it, those last; else []."""
    passing: dict[str, Node] = {}
    selecting: dict[str, Node] = {}
    stack = [c for c in e.consumers if not c.startswith("^")]
    while stack:
        n = graph.get(stack.pop())
        if n is None or not (n.op in PASSING or n.op in SELECTING):
            return []
        if n.op in SELECTING:
            selecting[n.name] = n
        elif n.name not in passing:
            passing[n.name] = n
            stack += [c.name for c, _, i in cut.step.consumers(n.name) if i != CONTROL]
    return [*passing.values(), *selecting.values()]


def _makers(graph: Graph, source: Node) -> list[Node]:
    """The op that makes a tensor of nothing, and those that only pass it on; else []."""
    chain = [source]
    while chain[-1].op in PASSING and chain[-1].inputs:
        chain.append(graph[chain[-1].inputs[0][0]])
    return chain[::-1] if chain[-1].op in MADE and not chain[-1].output_types[0].is_ref else []


def _sent(graph: Graph, cut: Partitioned, batch: int, soft: bool) -> Total:
    """What the same step of another graph sends."""
    other = partition_graph(
        graph,
        cut.devices,
        feeds=[tensor for tensor, _ in cut.feeds],
        fetches=[tensor for tensor, _ in cut.fetches],
        targets=cut.targets,
        soft=soft,
    )
    return total(edge_sizes(other, batch))


def _tensor(e: Edge) -> str:
    return e.src if e.slot == 0 else f"{e.src}:{e.slot}"
