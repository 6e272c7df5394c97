"""All passes in their order: from a client's graph to one partitioned graph. No sockets."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from minitf_runtime.graph import Graph
from minitf_runtime.passes.data import Devices, Partitioned, Placed
from minitf_runtime.passes.kernels import KernelTypes, registered_types
from minitf_runtime.passes.order import arrange, step_order
from minitf_runtime.passes.partition import Names, edges_of, partition
from minitf_runtime.passes.place import place
from minitf_runtime.passes.prune import prune
from minitf_runtime.passes.rewrite import rewrite
from minitf_runtime.passes.shapes import infer
from minitf_runtime.passes.verify import verify_graph, verify_partitioned
from minitf_runtime.types import Shape


def place_graph(
    graph: Graph,
    devices: Devices,
    *,
    soft: bool = False,
    assigned: Mapping[str, str] | None = None,
    kernel_types: KernelTypes = registered_types,
) -> dict[str, Placed]:
    """Where every node of a graph goes and why, in placing order; `rewrite` must have seen it."""
    return place(graph, devices, soft=soft, assigned=assigned, kernel_types=kernel_types)


def with_devices(graph: Graph, placement: Mapping[str, Placed]) -> Graph:
    """The graph with every node's device the one it was given."""
    return graph.map(lambda n: n.on(placement[n.name].device))


def partition_placed(
    whole: Graph,
    placement: Mapping[str, Placed],
    devices: Devices,
    *,
    feeds: Iterable[str] = (),
    fetches: Iterable[str] = (),
    targets: Iterable[str] = (),
    feed_shapes: Mapping[str, Shape] | None = None,
    counter: int = 0,
    triggers: dict[str, int] | None = None,
) -> tuple[Partitioned, int]:
    """A step of a placed graph, cut into parts; and the counter of names for the next step.

    whole: see `with_devices`; steps of one session share it. placement: for the reasons alone.
    feed_shapes: what is known of the values fed; without it the shapes are those of construction.
    triggers: {} at a session's first step to have receives scheduled; see recv_scheduling.py.
    Raises InvalidArgumentError or NotFoundError for bad names.
    """
    step = prune(whole, devices, feeds, fetches, targets)
    pruned = step.graph
    checked = os.environ.get("MINITF_VERIFY") == "1"
    if checked:
        verify_graph(pruned, devices, "prune")
    if feed_shapes is not None:
        nodes = dict(step.feeds)
        known = {nodes[f]: shape for f, shape in feed_shapes.items() if f in nodes}
        pruned = infer(pruned, known)
        if checked:
            verify_graph(pruned, devices, "shapes")
    names = Names(counter, whole, triggers)
    parts, pairs = partition(pruned, devices, names)
    order = arrange(parts, pairs, step_order(pruned))
    position = {name: i for i, name in enumerate(order.names)}
    edges = edges_of(order.parts, pairs, placement)
    result = Partitioned(
        whole,
        placement,
        pruned,
        order.parts,
        tuple(sorted(edges, key=lambda e: position[e.send])),
        step.feeds,
        step.fetches,
        step.targets,
        order.strands,
        devices,
    )
    if checked:
        verify_partitioned(result, "partition")
    return result, names.count


def partition_graph(
    graph: Graph,
    devices: Devices,
    *,
    feeds: Iterable[str] = (),
    fetches: Iterable[str] = (),
    targets: Iterable[str] = (),
    soft: bool = False,
    assigned: Mapping[str, str] | None = None,
    kernel_types: KernelTypes = registered_types,
    feed_shapes: Mapping[str, Shape] | None = None,
    recv_scheduling: bool = False,
) -> Partitioned:
    """Places a client's graph and cuts one step of it: all passes, from first to last."""
    graph = rewrite(graph)
    placement = place_graph(graph, devices, soft=soft, assigned=assigned, kernel_types=kernel_types)
    return partition_placed(
        with_devices(graph, placement),
        placement,
        devices,
        feeds=feeds,
        fetches=fetches,
        targets=targets,
        feed_shapes=feed_shapes,
        triggers={} if recv_scheduling else None,
    )[0]
