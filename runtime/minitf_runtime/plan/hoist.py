"""Hoisting: what a loop would compute anew in each iteration is computed once before it.

Only transposed factors of products: with them BLAS is up to twice as slow as with such that lie as
they are needed, so a copy before the loop pays after a few iterations. Sums may be rounded
otherwise then. Where the loop takes only some columns of the product, as the gradient of a cell
that joins its input and its state does, the factor is only what makes them.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from minitf_runtime.graph import Node
from minitf_runtime.plan.regions import Item, Loop
from minitf_runtime.types import Shape, num_elements

Tensor = tuple[str, int]
SMALLEST = 1 << 12  # elements: BLAS is as fast with smaller ones


@dataclass(frozen=True)
class Factor:
    """The transpose of these rows of what `product` takes."""

    product: Node
    rows: range


def hoist(
    loop: Loop,
    fixed: Container[Tensor],
    shapes: Mapping[Tensor, Shape],
    users: Mapping[Tensor, Sequence[str]],
    known: Mapping[Tensor, Any],
) -> tuple[Loop, dict[Tensor, Factor]]:
    """The loop with products that take factors as they are, and how to make these.

    fixed: what is the same in all iterations; users: the nodes that take a tensor; known: values.
    """
    nodes = {item.name: item for item in loop.items if isinstance(item, Node)}
    factors: dict[Tensor, Factor] = {}
    whole: set[str] = set()  # slices of which the product is no more than them
    items: list[Item] = []
    for item in loop.items:
        if isinstance(item, Node) and _takes_transposed(item, fixed, shapes):
            rows = range(shapes[item.inputs[1]][0])  # type: ignore[index,arg-type]
            taker = _only_taker(item, nodes, users)
            columns = taker and _columns(taker, shapes, known)
            if taker is not None and columns is not None:
                whole.add(taker.name)
                rows = columns
            factor = (f"{item.inputs[1][0]}:transposed:{rows.start}:{rows.stop}", 0)
            factors[factor] = Factor(item, rows)
            attrs = {**item.attrs, "transpose_b": False}
            item = item.with_(inputs=(item.inputs[0], factor), attrs=attrs)
        elif isinstance(item, Node) and item.name in whole:
            item = item.with_(op="Identity", inputs=item.inputs[:1], attrs={})
        items.append(item)
    return (replace(loop, items=items) if factors else loop), factors


def _takes_transposed(n: Node, fixed: Container[Tensor], shapes: Mapping[Tensor, Shape]) -> bool:
    if n.op != "MatMul" or not n.attrs["transpose_b"] or n.inputs[1] not in fixed:
        return False
    shape = shapes.get(n.inputs[1])
    return shape is not None and len(shape) == 2 and (num_elements(shape) or 0) >= SMALLEST


def _only_taker(n: Node, nodes: Mapping[str, Node], users: Mapping[Tensor, Any]) -> Node | None:
    """The node of the loop that alone takes what a node makes, under whatever name."""
    found: Node | None = n
    while found is not None and (found is n or found.op == "Identity"):
        takers = users.get((found.name, 0), ())
        found = nodes.get(takers[0]) if len(takers) == 1 else None
    return found


def _columns(n: Node, shapes: Mapping[Tensor, Shape], known: Mapping[Tensor, Any]) -> range | None:
    """The columns of a matrix that a Slice takes, if it takes all rows and its place is known."""
    if n.op != "Slice":
        return None
    shape, begin, size = shapes.get(n.inputs[0]), known.get(n.inputs[1]), known.get(n.inputs[2])
    if begin is None or size is None or begin.shape != (2,) or size.shape != (2,):
        return None
    if not shape or shape[1] is None or begin[0] or size[0] not in (-1, shape[0]):
        return None
    start = int(begin[1])
    stop = shape[1] if size[1] == -1 else start + int(size[1])
    return range(start, stop) if 0 <= start < stop <= shape[1] else None
