"""What legal graphs and legal partitioned graphs are: a table of rules, run between passes in tests
and under MINITF_VERIFY=1. InternalError tells what is broken first, and which pass broke it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from minitf_runtime.errors import InternalError
from minitf_runtime.graph import Graph, Node
from minitf_runtime.passes.data import RECVS, SENDS, Devices, Partitioned
from minitf_runtime.passes.ids import is_back_edge, sources


def verify_graph(graph: Graph, devices: Devices, after: str) -> None:
    """Checks a graph of placed nodes."""
    _run(_GRAPH_RULES, graph, devices, after)


def verify_partitioned(cut: Partitioned, after: str) -> None:
    """Checks everything that the parts of a step promise each other."""
    verify_graph(cut.step, cut.devices, after)
    for rule in _CUT_RULES:
        for problem in rule(cut):
            raise InternalError(None, None, f"broken after {after}: {problem}")


def _run(rules: tuple[GraphRule, ...], graph: Graph, devices: Devices, after: str) -> None:
    for rule in rules:
        for problem in rule(graph, devices):
            raise InternalError(None, None, f"broken after {after}: {problem}")


def _names_are_unique(graph: Graph, devices: Devices) -> Iterator[str]:
    for name, count in Counter(n.name for n in graph).items():
        if count > 1:
            yield f"{count} nodes are called '{name}'"


def _inputs_exist(graph: Graph, devices: Devices) -> Iterator[str]:
    for n in graph:
        for source in sources(n):
            if source not in graph:
                yield f"'{n.name}' takes '{source}', which is not in the graph"
        for source, index in n.inputs:
            if source in graph and not 0 <= index < len(graph[source].output_types):
                yield f"'{n.name}' takes output {index} of '{source}', which has none such"


def _types_agree(graph: Graph, devices: Devices) -> Iterator[str]:
    for n in graph:
        if len(n.inputs) != len(n.input_types):
            yield f"'{n.name}' has {len(n.inputs)} inputs and {len(n.input_types)} input types"
        for (source, index), taken in zip(n.inputs, n.input_types):
            given = graph[source].output_types[index]
            if given.base is not taken.base or (taken.is_ref and not given.is_ref):
                yield f"'{n.name}' takes {taken.name}, '{source}:{index}' is {given.name}"
        if len(n.output_types) != len(n.output_shapes):
            yield f"'{n.name}' has a shape for {len(n.output_shapes)} of its outputs"


def _devices_exist(graph: Graph, devices: Devices) -> Iterator[str]:
    for n in graph:
        if n.device not in devices.names:
            yield f"'{n.name}' is on '{n.device}', which is no device of the session"


def _references_stay(graph: Graph, devices: Devices) -> Iterator[str]:
    for n in graph:
        for (source, _), taken in zip(n.inputs, n.input_types):
            if taken.is_ref and graph[source].device != n.device:
                yield f"'{n.name}' takes '{source}' by reference from another device"


GraphRule = Callable[[Graph, Devices], Iterator[str]]
_GRAPH_RULES: tuple[GraphRule, ...] = (
    _names_are_unique,
    _inputs_exist,
    _types_agree,
    _devices_exist,
    _references_stay,
)


def _parts_are_whole(cut: Partitioned) -> Iterator[str]:
    """Each part is a legal graph of its own device, and no name is in two parts."""
    seen: dict[str, str] = {}
    for device, nodes in cut.parts.items():
        graph = Graph(nodes)
        for rule in _GRAPH_RULES:
            yield from (f"part {device}: {problem}" for problem in rule(graph, cut.devices))
        for n in nodes:
            if n.device != device:
                yield f"'{n.name}' on '{n.device}' is in the part of '{device}'"
            if n.name in seen and seen[n.name] != device:
                yield f"'{n.name}' is in two parts"
            seen[n.name] = device


def _step_is_kept(cut: Partitioned) -> Iterator[str]:
    """Nothing of the step is lost, and what was added is the cut's own."""
    kept = {n.name: n for nodes in cut.parts.values() for n in nodes}
    for n in cut.step:
        if n.name not in kept:
            yield f"'{n.name}' is in no part"
        elif kept[n.name].op != n.op:
            yield f"'{n.name}' became a {kept[n.name].op}"


def _edges_are_pairs(cut: Partitioned) -> Iterator[str]:
    """Every edge has its Send and its Recv, and every transfer node its edge."""
    kept = {n.name: n for nodes in cut.parts.values() for n in nodes}
    used: set[str] = set()
    keys: set[tuple[str, str, str]] = set()
    for e in cut.edges:
        for name, ops, device in ((e.send, SENDS, e.src_device), (e.recv, RECVS, e.dst_device)):
            n = kept.get(name)
            if n is None or n.op not in ops or n.device != device:
                yield f"edge {e.tensor_name} has no {ops[0]} '{name}' on '{device}'"
            elif n.attrs["tensor_name"] != e.tensor_name:
                yield f"'{name}' is called {n.attrs['tensor_name']}, its edge {e.tensor_name}"
            used.add(name)
        key = (e.src_device, e.dst_device, e.tensor_name)
        if key in keys:
            yield f"two edges have the key {key}"
        keys.add(key)
    for n in kept.values():
        is_transfer = n.op in SENDS + RECVS and not n.attrs["client_terminated"]
        if is_transfer and n.name not in used:
            yield f"'{n.name}' ({n.op}) is without twin"


def _consumers_are_named(cut: Partitioned) -> Iterator[str]:
    kept = {n.name: n for nodes in cut.parts.values() for n in nodes}
    for e in cut.edges:
        for consumer in e.consumers:
            n = kept.get(consumer.removeprefix("^"))
            if n is None or n.device != e.dst_device:
                yield f"edge {e.tensor_name} names a consumer '{consumer}' not on its device"


def _order_holds(cut: Partitioned) -> Iterator[str]:
    """In every part a node comes after its inputs, and all parts agree on one order."""
    twin = {e.recv: e.send for e in cut.edges}
    kept = {n.name: n for nodes in cut.parts.values() for n in nodes}
    before: dict[str, list[str]] = {name: [] for name in kept}
    for nodes in cut.parts.values():
        position = {n.name: i for i, n in enumerate(nodes)}
        for earlier, n in zip(nodes, nodes[1:]):
            before[n.name].append(earlier.name)
        for n in nodes:
            for source in sources(n):
                late = position.get(source, -1) > position[n.name]
                if late and not is_back_edge(kept[source], n):
                    yield f"'{n.name}' runs before its input '{source}'"
            if n.name in twin:
                before[n.name].append(twin[n.name])
    stuck = _stuck(before)
    if stuck:
        yield f"the parts would wait for each other, first '{stuck}'"


def _stuck(before: Mapping[str, list[str]]) -> str:
    """A node that never comes to run when each part runs in its order; '' if all do."""
    after: dict[str, list[str]] = {}
    pending = {name: len(sources_) for name, sources_ in before.items()}
    for name, sources_ in before.items():
        for source in sources_:
            after.setdefault(source, []).append(name)
    ready = [name for name, count in pending.items() if not count]
    done = 0
    while ready:
        done += 1
        for name in after.get(ready.pop(), ()):
            pending[name] -= 1
            if not pending[name]:
                ready.append(name)
    return "" if done == len(before) else next(name for name, count in pending.items() if count)


def _strands_follow(cut: Partitioned) -> Iterator[str]:
    """A node of strand 0 follows no node of another strand."""
    for nodes in cut.parts.values():
        by_name: dict[str, Node] = {n.name: n for n in nodes}
        for n in nodes:
            for source in sources(n):
                if is_back_edge(by_name[source], n):
                    continue
                if cut.strands.get(source, 0) and not cut.strands.get(n.name, 0):
                    yield f"'{n.name}' of strand 0 follows '{source}', which may wait"


_CUT_RULES: tuple[Callable[[Partitioned], Iterator[str]], ...] = (
    _parts_are_whole,
    _step_is_kept,
    _edges_are_pairs,
    _consumers_are_named,
    _order_holds,
    _strands_follow,
)
