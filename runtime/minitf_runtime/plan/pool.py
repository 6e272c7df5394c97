"""Pooling before Relu: the largest element of a window is taken first, and cut at zero then.

They commute, and a pool of two by two leaves a quarter for the Relu. Its gradient changes places
with that of the pool likewise, and the sum for a bias is taken over what the pool hands back before
it is spread: a window that the Relu cuts gives nothing back, and in any other the first element
that is the largest is the same one. Only that sum is rounded otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from minitf_runtime.graph import Node
from minitf_runtime.plan.values import Tensor


class _Found(NamedTuple):
    """A Relu that only a pool takes, and the gradients of both, where there are."""

    relu: Node
    pool: Node
    pool_grad: Node | None = None
    relu_grad: Node | None = None


def pool(nodes: Sequence[Node], tested: Iterable[Tensor] = ()) -> tuple[Node, ...]:
    """The nodes, with each such Relu behind its pool. They keep their names.

    The nodes run one after the other as they stand. `tested`: what others look at, which stays.
    """
    if not any(n.op == "MaxPool" for n in nodes):
        return tuple(nodes)
    stays = {name for name, _ in tested}
    for name in [n.name for n in nodes if n.op == "Relu"]:
        found = _find(name, nodes)
        if found is not None and stays.isdisjoint(n.name for n in found if n is not None):
            nodes = _exchanged(nodes, found)
    return tuple(nodes)


def _find(name: str, nodes: Sequence[Node]) -> _Found | None:
    relu = next(n for n in nodes if n.name == name)
    users: dict[Tensor, list[Node]] = {}
    for n in nodes:
        for source in n.inputs:
            users.setdefault(source, []).append(n)
    result = name, 0
    takers = users.get(result, [])
    pools = [n for n in takers if n.op == "MaxPool"]
    if len(pools) != 1:
        return None
    if len(takers) == 1:
        return _Found(relu, pools[0])
    pool_grads = [n for n in takers if n.op == "MaxPoolGrad" and _undoes(n, result, pools[0])]
    relu_grads = [n for n in takers if n.op == "ReluGrad" and n.inputs[1] == result]
    if len(takers) != 3 or len(pool_grads) != 1 or len(relu_grads) != 1:
        return None
    spread = pool_grads[0].name, 0
    if relu_grads[0].inputs[0] != spread or len(users[spread]) != 1:
        return None
    return _Found(relu, pools[0], pool_grads[0], relu_grads[0])


def _undoes(pool_grad: Node, pooled: Tensor, pool: Node) -> bool:
    return pool_grad.inputs[:2] == (pooled, (pool.name, 0)) and pool_grad.attrs == pool.attrs


def _exchanged(nodes: Sequence[Node], found: _Found) -> list[Node]:
    """The nodes with Relu and pool, and their gradients, in each other's places."""
    relu, pool, pool_grad, relu_grad = found
    largest, cut = (pool.name, 0), (relu.name, 0)
    moved = {
        relu.name: [],
        pool.name: [
            pool.with_(inputs=relu.inputs),
            relu.with_(inputs=(largest,), output_shapes=pool.output_shapes),
        ],
    }
    renamed = {largest: cut}
    if pool_grad is not None and relu_grad is not None:
        back, spread = (relu_grad.name, 0), (pool_grad.name, 0)
        moved[pool_grad.name] = [
            relu_grad.with_(inputs=(pool_grad.inputs[2], cut), output_shapes=pool.output_shapes),
            pool_grad.with_(inputs=(*relu.inputs, largest, back)),
        ]
        moved[relu_grad.name] = []
        renamed[back] = spread
    out: list[Node] = []
    for n in nodes:
        if n.name in moved:
            out += moved[n.name]
            continue
        kept = {back} if n.op == "BiasAddGrad" and pool_grad is not None else ()
        inputs = tuple(s if s in kept else renamed.get(s, s) for s in n.inputs)
        out.append(n if inputs == n.inputs else n.with_(inputs=inputs))
    return out
