"""The cut of a step: by task, then inside each task by device; local ones by device alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from minitf_runtime.devices.name import task_of
from minitf_runtime.errors import InvalidArgumentError
from minitf_runtime.graph import CONTROL, Graph, Node, Reason
from minitf_runtime.passes.cut import Pair, cut
from minitf_runtime.passes.data import SENDS, Devices, Edge, Placed
from minitf_runtime.passes.frames import has_loops
from minitf_runtime.passes.ids import id_order
from minitf_runtime.passes.loops import Looped, NewName, add_control_loops, move_control_flow
from minitf_runtime.passes.recv_scheduling import schedule, start_times, time_pairs

Parts = dict[str, list[Node]]


class Names:
    """Names for the nodes that a cut adds; `count` goes on from step to step of a session.

    triggers: the counts of recv_scheduling, where receives are to be scheduled.
    """

    def __init__(self, count: int, taken: Graph, triggers: dict[str, int] | None = None) -> None:
        self.count = count
        self.taken = taken
        self.triggers = triggers

    def maker(self, mark: str) -> NewName:
        """A function that makes `NAME` into an unused `NAME<mark><n>`."""

        def new_name(name: str) -> str:
            while True:
                made = f"{name}{mark}{self.count}"
                self.count += 1
                if made not in self.taken:
                    return made

        return new_name


def partition(step: Graph, devices: Devices, names: Names) -> tuple[Parts, list[Pair]]:
    """The nodes of each device, and the pairs of Send and Recv in the order made.

    Raises InvalidArgumentError for an input that is missing and for malformed loops.
    """
    for n in step:
        if len(n.inputs) < len(n.input_types):
            missing = len(n.input_types) - len(n.inputs)
            raise InvalidArgumentError(
                None, None, f"Incomplete graph, missing {missing} inputs for {n.name}"
            )
    new_name = names.maker("/_" if devices.local else "_S")
    looped = _with_control_loops(step, new_name)
    first, pairs = cut(
        looped.nodes,
        str if devices.local else task_of,
        new_name,
        devices.incarnations,
        looped.crossings,
    )
    if devices.local:
        return first, pairs
    times = None
    if names.triggers is not None and not has_loops(looped.nodes):
        times = start_times(step)
        time_pairs(times, first, pairs)
    parts: Parts = {}
    for nodes in first.values():
        if len({n.device for n in nodes}) == 1:
            parts[nodes[0].device] = nodes if times is None else id_order(nodes)
            continue
        inner, more = cut(id_order(nodes), str, names.maker("_G"), devices.incarnations, {})
        parts.update(inner)
        pairs += more
        if times is not None:
            time_pairs(times, inner, more)
    if times is not None and names.triggers is not None:
        parts = schedule(parts, times, names.triggers)
    return parts, pairs


def _with_control_loops(step: Graph, new_name: NewName) -> Looped:
    if not any(n.op in ("Switch", "RefSwitch") for n in step):
        return Looped(list(step.nodes))
    nodes = move_control_flow(step.nodes)
    return add_control_loops(nodes, new_name) if has_loops(nodes) else Looped(nodes)


def edges_of(
    parts: Mapping[str, Sequence[Node]],
    pairs: Sequence[Pair],
    placement: Mapping[str, Placed],
) -> list[Edge]:
    """The pairs as edges: with consumers, reason, and the original tensor of a relay."""
    if not pairs:
        return []
    everything = Graph(n for nodes in parts.values() for n in nodes)
    origin: dict[str, Pair] = {}  # receiving end -> the pair that first carried the tensor
    edges = []
    for pair in pairs:
        first = origin.get(pair.src, pair)
        origin[pair.end] = first
        users = tuple(
            ("^" if slot == CONTROL else "") + n.name
            for n, slot, _ in everything.consumers(pair.end)
        )
        edges.append(
            Edge(
                "control" if pair.slot == CONTROL else "data",
                first.src,
                first.slot,
                pair.src_device,
                pair.dst_device,
                pair.dtype,
                pair.shape,
                pair.tensor_name,
                pair.send,
                pair.recv,
                tuple(dict.fromkeys(users)),
                first is not pair,
                _why(users, everything, placement),
            )
        )
    return edges


def _why(
    users: Sequence[str], everything: Graph, placement: Mapping[str, Placed]
) -> tuple[Reason, ...]:
    """Why the tensor goes there: its first consumer, and what put that on its device."""
    for user in users:
        n = everything[user.removeprefix("^")]
        if n.name in placement:
            does = "waits for it" if user.startswith("^") else "takes it"
            reason = Reason("consumer", f"'{n.name}' ({n.op}) {does} there", n.source)
            return (reason, *placement[n.name].why)
    n = everything[users[0].removeprefix("^")]
    if n.op == "_Retval" or n.attrs.get("client_terminated"):
        return (Reason("fetch", "the client fetches it", n.source),)
    if n.op in SENDS:
        return (Reason("relay", "another device of the task takes it from there", n.source),)
    return (Reason("loop", "the device takes part in a loop", n.source),)
