"""Fusion: elementwise ops of one shape become one item of a program, a fusion.

How a fusion runs: blocks.py. Which ops are elementwise: their kernels say so (ops/registry.py).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from minitf_runtime.graph import Node
from minitf_runtime.ops.registry import OPS, find_kernel
from minitf_runtime.types import Shape, num_elements

Tensor = tuple[str, int]
SMALLEST = 1 << 14  # elements: below that a fusion is not worth its call
ALONE = 1 << 20  # elements: from there on even one op gains by the threads


@dataclass(eq=False)
class Fusion:
    """Elementwise nodes in topological order, all of one shape."""

    nodes: list[Node] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    needs: set[Fusion] = field(default_factory=set)  # that it waits for, however indirectly

    def __contains__(self, name: object) -> bool:
        return name in self.names


def fuse(
    nodes: Sequence[Node | Any], shapes: Mapping[Tensor, Shape], device_type: str
) -> list[Any]:
    """Nodes and groups of them in topological order, with those of a fusion in one place.

    `shapes` tells those of all tensors, also of such that are no node's among these. No fusion
    reaches over a node that sends, receives or touches state: these keep their places. Control
    edges between the others order nothing that anybody could see, so they do not count.
    """
    return in_runs(nodes, lambda run: _fuse_run(run, shapes, device_type))


def in_runs(nodes: Sequence[Any], work: Callable[[list[Node]], Sequence[Any]]) -> list[Any]:
    """Does the work on each run of nodes between such as keep their place, or are groups."""
    out: list[Any] = []
    run: list[Node] = []
    for n in nodes:
        if isinstance(n, Node) and not _keeps_its_place(n):
            run.append(n)
            continue
        out += work(run)
        out.append(n)
        run = []
    return out + list(work(run))


def _keeps_its_place(n: Node) -> bool:
    known = OPS.get(n.op)
    if n.op in ("ReadVariableOp", "VarHandleOp"):
        return False
    return (
        n.op.startswith("_")  # made by the cut: what it waits for, or another part
        or known is None
        or not known.only_computes
    )


def _fuse_run(
    nodes: Sequence[Node], shapes: Mapping[Tensor, Shape], device_type: str
) -> list[Node | Fusion]:
    fusion_of: dict[str, Fusion] = {}
    needs: dict[str, set[Fusion]] = {}  # of nodes in no fusion
    open_fusions: dict[Shape, Fusion] = {}
    fusions: list[Fusion] = []
    for n in nodes:
        waits = [s for s, _ in n.inputs]
        shape = _fusion_shape(n, shapes, device_type)
        if shape is None:
            if fusions:
                needs[n.name] = _closure(waits, fusion_of, needs, None)
            continue
        fusion = open_fusions.get(shape)
        if fusion is None or fusion in _closure(waits, fusion_of, needs, fusion):
            fusion = open_fusions[shape] = Fusion()
            fusions.append(fusion)
        fusion.nodes.append(n)
        fusion.names.add(n.name)
        fusion_of[n.name] = fusion
        new = _closure(waits, fusion_of, needs, fusion) - fusion.needs
        for other in fusions if new else ():
            if other is fusion or fusion in other.needs:
                other.needs |= new
    for fusion in fusions:
        if sum(n.op != "Identity" for n in fusion.nodes) < _fewest(fusion):
            for n in fusion.nodes:
                del fusion_of[n.name]
    return in_order(nodes, fusion_of) if fusion_of else list(nodes)


def _fewest(fusion: Fusion) -> int:
    """How many ops make a fusion worth its call: one, where threads share it."""
    return 1 if (num_elements(fusion.nodes[0].output_shapes[0]) or 0) >= ALONE else 2


def _closure(
    names: Sequence[str],
    fusion_of: Mapping[str, Fusion],
    needs: Mapping[str, set[Fusion]],
    inside: Fusion | None,
) -> set[Fusion]:
    """The fusions that these nodes wait for; `inside` counts only when reached from outside it."""
    found: set[Fusion] = set()
    for name in names:
        fusion = fusion_of.get(name)
        if fusion is None:
            direct = needs.get(name, set())
        elif fusion is inside:
            continue
        else:
            direct = {fusion}
        for one in direct:
            found.add(one)
            found |= one.needs
    return found


def _fusion_shape(n: Node, shapes: Mapping[Tensor, Shape], device_type: str) -> Shape:
    """The shape of the fusion that the node may be in, or None."""
    if len(n.output_shapes) != 1:
        return None
    shape = n.output_shapes[0]
    size = num_elements(shape)
    if not shape or (size is not None and size < SMALLEST):
        return None
    if n.op != "Identity":
        kernel = find_kernel(n.op, n.attrs, device_type)
        if kernel is None or not kernel.elementwise:
            return None
    fits = [_fits(shapes.get(source), shape) for source in n.inputs]
    return shape if all(fits) else None


def _fits(shape: Shape, fusion: Shape) -> bool:
    """Whether an input can be cut into blocks with the fusion, or is the same for all of them."""
    return shape is not None and (
        shape == fusion or num_elements(shape) == 1 or _is_row(shape, fusion)
    )


def _is_row(shape: Shape, fusion: Shape) -> bool:
    """Whether it is the last axes of the fusion's shape, all known."""
    assert shape is not None and fusion is not None
    return None not in shape and 0 < len(shape) < len(fusion) and fusion[-len(shape) :] == shape


def in_order(nodes: Sequence[Node], group_of: Mapping[str, Any]) -> list[Any]:
    """A topological order of nodes and groups that keeps to that of the nodes where it can."""
    items: list[Any] = []
    place: dict[str, int] = {}
    of_item: dict[int, int] = {}
    for n in nodes:
        group = group_of.get(n.name)
        key = id(group) if group is not None else id(n)
        if key not in of_item:
            of_item[key] = len(items)
            items.append(n if group is None else group)
        place[n.name] = of_item[key]
    users: list[set[int]] = [set() for _ in items]
    waiting = [0] * len(items)
    for n in nodes:
        at = place[n.name]
        for source, _ in n.inputs:
            before = place.get(source, at)
            if before != at and at not in users[before]:
                users[before].add(at)
                waiting[at] += 1
    ready = [i for i, count in enumerate(waiting) if not count]
    heapq.heapify(ready)
    out = []
    while ready:
        at = heapq.heappop(ready)
        out.append(items[at])
        for user in users[at]:
            waiting[user] -= 1
            if not waiting[user]:
                heapq.heappush(ready, user)
    return out
