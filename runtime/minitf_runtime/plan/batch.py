"""Batches: products of small matrices that need nothing of each other become one product of stacks.

One call instead of many (horizontal fusion): the loop over the matrices is BLAS's own, and the
threads of the device share it. Matrices known beforehand are stacked when the part is compiled,
and a stack that the next batch takes as a whole is never taken apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from minitf_runtime.graph import Node
from minitf_runtime.plan.fuse import in_order, in_runs
from minitf_runtime.types import Shape, float16, is_full

Tensor = tuple[str, int]
FEWEST = 8  # products of a batch
LARGEST = 1 << 20  # multiplications of one: larger ones gain nothing


@dataclass(eq=False)
class Batch:
    """MatMul nodes, none of a level behind another; a level takes what the one before it gives.

    The nodes of a level have equal shapes and attributes.
    """

    levels: list[list[Node]]

    @property
    def nodes(self) -> list[Node]:
        return [n for level in self.levels for n in level]

    @property
    def outputs(self) -> tuple[Tensor, ...]:
        return tuple((n.name, 0) for n in self.levels[-1])


def batch(
    nodes: Sequence[Node], shapes: Mapping[Tensor, Shape], users: Mapping[Tensor, Sequence[str]]
) -> list[Node | Batch]:
    """Nodes in topological order, with those of a batch in one place.

    As with fusions, nothing moves across a node that sends, receives or touches state. `users`:
    the nodes that take a tensor.
    """
    if sum(n.op == "MatMul" for n in nodes) < FEWEST:
        return list(nodes)
    return in_runs(nodes, lambda run: _batch_run(run, shapes, users))


def _batch_run(
    nodes: Sequence[Node], shapes: Mapping[Tensor, Shape], users: Mapping[Tensor, Sequence[str]]
) -> Sequence[Node | Batch]:
    """Products with as many others before them on their longest path do not need each other."""
    alike: dict[Any, list[Node]] = {}
    depth: dict[str, int] = {}
    for n in nodes:
        before = max((depth.get(s, 0) for s, _ in n.inputs), default=0)
        kind = _kind(n, shapes)
        depth[n.name] = before + (kind is not None)
        if kind is not None:
            alike.setdefault((before, kind), []).append(n)
    levels = [members for members in alike.values() if len(members) >= FEWEST]
    if not levels:
        return nodes
    batches: dict[tuple[Tensor, ...], Batch] = {}  # by their outputs
    for level in levels:
        lefts = sources(level, 0)
        one = batches.pop(lefts, None) if all(len(users[t]) == 1 for t in lefts) else None
        one = one or Batch([])
        one.levels.append(level)
        batches[one.outputs] = one
    return in_order(nodes, {n.name: one for one in batches.values() for n in one.nodes})


def sources(level: Sequence[Node], slot: int) -> tuple[Tensor, ...]:
    """What the products of a level take at one side."""
    return tuple(n.inputs[slot] for n in level)


def _kind(n: Node, shapes: Mapping[Tensor, Shape]) -> Any:
    """What the products of a batch have in common; None for a node that takes part in none."""
    if n.op != "MatMul" or n.attrs["T"] == float16 or n.inputs[0] == n.inputs[1]:
        return None  # halves have a kernel of their own, and BLAS a way for x times x
    left, right = (shapes.get(source) for source in n.inputs)
    if not is_full(left) or not is_full(right):
        return None
    transposed = n.attrs["transpose_a"], n.attrs["transpose_b"]
    (rows, inner), (_, columns) = _sizes(left, transposed[0]), _sizes(right, transposed[1])
    if min(rows, inner, columns) < 2 or rows * inner * columns > LARGEST:
        return None
    return left, right, *transposed, n.attrs["T"]


def _sizes(matrix: Any, transposed: bool) -> tuple[int, int]:
    rows, columns = matrix
    return (columns, rows) if transposed else (rows, columns)
