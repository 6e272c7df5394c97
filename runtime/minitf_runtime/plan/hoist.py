"""Hoisting: what a loop would compute anew in each iteration is computed once before it.

Only transposed factors of products: with them BLAS is up to twice as slow as with such that lie as
they are needed, so a copy before the loop pays after a few iterations. Sums may be rounded
otherwise then.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import replace

from minitf_runtime.graph import Node
from minitf_runtime.plan.regions import Item, Loop
from minitf_runtime.types import Shape, num_elements

Tensor = tuple[str, int]
SMALLEST = 1 << 12  # elements: BLAS is as fast with smaller ones


def hoist(
    loop: Loop, fixed: Container[Tensor], shapes: Mapping[Tensor, Shape]
) -> tuple[Loop, dict[Tensor, Node]]:
    """The loop with products that take factors as they are, and for each such factor a product
    that takes it transposed. `fixed`: what is the same in all iterations."""
    factors: dict[Tensor, Node] = {}
    items: list[Item] = []
    for item in loop.items:
        if isinstance(item, Node) and _takes_transposed(item, fixed, shapes):
            factor = (f"{item.inputs[1][0]}:transposed", 0)
            factors[factor] = item
            attrs = {**item.attrs, "transpose_b": False}
            item = item.with_(inputs=(item.inputs[0], factor), attrs=attrs)
        items.append(item)
    return (replace(loop, items=items) if factors else loop), factors


def _takes_transposed(n: Node, fixed: Container[Tensor], shapes: Mapping[Tensor, Shape]) -> bool:
    if n.op != "MatMul" or not n.attrs["transpose_b"] or n.inputs[1] not in fixed:
        return False
    shape = shapes.get(n.inputs[1])
    return shape is not None and len(shape) == 2 and (num_elements(shape) or 0) >= SMALLEST
