"""Cuts a placed graph down to one step: feeds and fetches become nodes, the rest goes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from minitf_runtime.errors import InvalidArgumentError, NotFoundError, OpError
from minitf_runtime.graph import Graph, Node, parse_tensor_name
from minitf_runtime.passes.data import Devices
from minitf_runtime.passes.ids import id_order

_PLACEHOLDERS = ("Placeholder", "PlaceholderV2")
Names = tuple[tuple[str, str], ...]  # (tensor name, node)


class Step(NamedTuple):
    """What a step runs, in id order; `feeds` that nothing needs are left out."""

    graph: Graph
    feeds: Names
    fetches: Names
    targets: tuple[str, ...]


def prune(
    graph: Graph,
    devices: Devices,
    feeds: Iterable[str],
    fetches: Iterable[str],
    targets: Iterable[str],
) -> Step:
    """Adds a feed node for each feed and a fetch node for each fetch on the client device, prunes.

    Names may come in any order. Raises NotFoundError for an unknown name, InvalidArgumentError for
    one that is fed twice, fed and fetched, or has no such output.
    """
    fed, wanted = sorted(feeds), sorted(dict.fromkeys(fetches))
    goals = sorted(dict.fromkeys(targets))
    _check_names(graph, fed, wanted, goals)
    nodes = id_order(graph.nodes)
    feed_nodes = [_feed_node(graph, devices, k, name) for k, name in enumerate(fed)]
    feed_pairs = [(name, n.name) for name, n in zip(fed, feed_nodes)]
    if fed:
        nodes = _feed(graph, nodes, feed_pairs)
    fetch_nodes = [_fetch_node(graph, devices, k, name) for k, name in enumerate(wanted)]
    everything = Graph([*nodes, *feed_nodes, *fetch_nodes])
    kept = _needed(everything, [n.name for n in fetch_nodes] + goals)
    return Step(
        everything.only(kept),
        tuple(pair for pair in feed_pairs if pair[1] in kept),
        tuple((name, n.name) for name, n in zip(wanted, fetch_nodes)),
        tuple(goals),
    )


def _check_names(
    graph: Graph, feeds: Sequence[str], fetches: Sequence[str], targets: Sequence[str]
) -> None:
    if not fetches and not targets:
        raise _invalid("Must specify at least one target to fetch or execute.")
    for name, following in zip(feeds, feeds[1:]):
        if name == following:
            raise _invalid(f'Endpoint "{name}" fed more than once.')
    for name in fetches:
        if name in feeds:
            raise _invalid(f"{name} is both fed and fetched.")
    for name in feeds:
        source, index = parse_tensor_name(name)
        if source not in graph:
            raise _not_found(f"FeedInputs: unable to find feed output {name}")
        if not 0 <= index < len(graph[source].output_types):
            count = len(graph[source].output_types)
            raise _invalid(f"FeedInputs: {name} should have output index < {count}")
    for name in fetches:
        _check_fetch(graph, name)
    missing = [t for t in targets if t not in graph]
    if missing:
        raise _not_found(f"PruneForTargets: Some target nodes not found: {' '.join(missing)} ")


def _check_fetch(graph: Graph, name: str) -> None:
    source, index = parse_tensor_name(name)
    if source not in graph:
        raise _not_found(f"FetchOutputs node {name}: not found")
    count = len(graph[source].output_types)
    if not count:
        raise _invalid(
            f"Tried to fetch data for '{name}', which produces no output.  To run to a node but "
            f"not fetch any data, pass '{name}' as an argument to the 'target_node_names' argument "
            "of the Session::Run API."
        )
    if not 0 <= index < count:
        raise _invalid(f"FetchOutputs {name}: output index too large, must be < {count}")


def _feed_node(graph: Graph, devices: Devices, position: int, name: str) -> Node:
    source, index = parse_tensor_name(name)
    fed = graph[source]
    dtype = fed.output_types[index].base
    if devices.local:
        own, op = f"_arg_{source}_{index}_{position}", "_Arg"
        attrs = {"T": dtype, "index": position}
    else:
        own, op = f"_recv_{source}_{index}", "_Recv"
        attrs = {"tensor_type": dtype, **_at_client(devices, name)}
    return Node(
        own,
        op,
        device=devices.client,
        attrs=attrs,
        output_types=(dtype,),
        output_shapes=(fed.output_shapes[index],),
        source=fed.source,
    )


def _fetch_node(graph: Graph, devices: Devices, position: int, name: str) -> Node:
    source, index = parse_tensor_name(name)
    fetched = graph[source]
    dtype = fetched.output_types[index].base
    if devices.local:
        own, op = f"_retval_{source}_{index}_{position}", "_Retval"
        attrs = {"T": dtype, "index": position}
    else:
        own, op = f"_send_{source}_{index}", "_Send"
        attrs = {"T": dtype, **_at_client(devices, name)}
    return Node(
        own,
        op,
        ((source, index),),
        device=devices.client,
        attrs=attrs,
        input_types=(dtype,),
        source=fetched.source,
    )


def _at_client(devices: Devices, name: str) -> dict[str, object]:
    """The attributes of a transfer between the client and its device."""
    return {
        "tensor_name": name,
        "send_device": devices.client,
        "recv_device": devices.client,
        "send_device_incarnation": devices.incarnations.get(devices.client, 0),
        "client_terminated": True,
    }


def _feed(graph: Graph, nodes: Sequence[Node], feeds: Sequence[tuple[str, str]]) -> list[Node]:
    """Moves the edges of fed tensors to the feed nodes; of a placeholder its control edges too."""
    data: dict[tuple[str, int], str] = {}
    control: dict[str, str] = {}
    for name, feed in feeds:
        source, index = parse_tensor_name(name)
        data[source, index] = feed
        if graph[source].op in _PLACEHOLDERS:
            control[source] = feed
    touched = {n.name for source, _ in data for n, _, _ in graph.consumers(source)}
    return [
        n.with_(
            inputs=tuple((data[i], 0) if i in data else i for i in n.inputs),
            control=tuple(control.get(c, c) for c in n.control),
        )
        if n.name in touched
        else n
        for n in nodes
    ]


def _needed(graph: Graph, roots: Sequence[str]) -> set[str]:
    """All that the roots depend on, themselves included."""
    needed = set(roots)
    stack = list(roots)
    while stack:
        n = graph[stack.pop()]
        for source, _ in n.inputs:
            if source not in needed:
                needed.add(source)
                stack.append(source)
        for source in n.control:
            if source not in needed:
                needed.add(source)
                stack.append(source)
    return needed


def _invalid(text: str) -> OpError:
    return InvalidArgumentError(None, None, text)


def _not_found(text: str) -> OpError:
    return NotFoundError(None, None, text)
