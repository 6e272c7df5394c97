"""The placer: gives every node a device by TF 1.15's rules, and says why (docs/placement.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from minitf_runtime.devices.name import DeviceName, parse_full, parse_strict
from minitf_runtime.errors import FailedPreconditionError
from minitf_runtime.graph import Graph, Node, Reason
from minitf_runtime.passes import placement_errors as errors
from minitf_runtime.passes.colocation import Groups
from minitf_runtime.passes.data import Devices, Placed
from minitf_runtime.passes.ids import id_order, is_back_edge
from minitf_runtime.passes.kernels import (
    TYPE_PRIORITY,
    KernelTypes,
    TypeList,
    by_preference,
    registered_types,
)
from minitf_runtime.types import DType, resource

# Ops that pass handles on to ops of their own: they need not be where the handle is.
_EXEMPT = frozenset(("PartitionedCall", "StatefulPartitionedCall", "IdentityN"))
_METADATA = frozenset(("Shape", "Size", "Rank"))


def place(
    graph: Graph,
    devices: Devices,
    *,
    soft: bool = False,
    assigned: Mapping[str, str] | None = None,
    kernel_types: KernelTypes = registered_types,
) -> dict[str, Placed]:
    """Where each node goes, in the order of placing.

    assigned: devices that nodes already have and keep. kernel_types(node): the device types with
    a kernel for it and their priorities. Raises InvalidArgumentError if any node, needed or not,
    fits nowhere.
    """
    if not devices.names:
        raise FailedPreconditionError(None, None, "No devices are registered")
    placer = _Placer(graph, devices, soft, assigned or {}, kernel_types)
    placer.join_references()
    placer.join_classes()
    return placer.assign()


class _Candidates(NamedTuple):
    """Devices that a group may use, the preferred one first."""

    names: tuple[str, ...]
    allowed: frozenset[str]
    equals: int  # how many are of the preferred type
    softened: bool = False


class _Placer:
    def __init__(
        self,
        graph: Graph,
        devices: Devices,
        soft: bool,
        assigned: Mapping[str, str],
        kernel_types: KernelTypes,
    ) -> None:
        self.graph = graph
        self.soft = soft
        self.nodes = id_order(graph.nodes)
        self.id = {n.name: i for i, n in enumerate(self.nodes)}
        self.parsed = {d: parse_full(d) for d in devices.names}
        self.present = {d.type for d in self.parsed.values()}
        self.before = assigned
        self.kernel_types = kernel_types
        self.groups = Groups(len(self.nodes))
        self.pulled: dict[int, list[Reason]] = {}
        self.placed: dict[str, Placed] = {}
        self.known: dict[tuple[DeviceName, TypeList], _Candidates] = {}
        for i, n in enumerate(self.nodes):
            self._add_member(i, n)

    # ---- what each node asks for

    def _add_member(self, i: int, n: Node) -> None:
        groups = self.groups
        groups.types[i] = by_preference([t for t in self.kernel_types(n) if t[0] in self.present])
        if n.name in self.before:
            device = self.parsed.get(self.before[n.name])
            if device is None:
                raise errors.lost_device(self.before[n.name], self.parsed)
            if not any(t == device.type for t, _ in groups.types[i]):
                raise errors.assigned_without_kernel(n, self.before[n.name])
            groups.assigned[i] = groups.requested[i] = device
            return
        if not groups.types[i]:
            raise errors.no_kernel(n, self.present)
        if n.device:
            asked = parse_strict(n.device)
            if asked is None:
                raise errors.malformed(n)
            groups.requested[i] = asked
            groups.asked_by[i] = i
            if _makes_handle(n):
                groups.resource[i] = asked

    # ---- who must be together

    def join_references(self) -> None:
        """A ref or resource input binds its op to the device of whatever made it."""
        back_edges = []
        for n in self.nodes:
            for (name, _), taken in zip(n.inputs, n.input_types):
                if not _is_handle(taken) or n.op in _EXEMPT:
                    continue
                source = self.graph[name]
                if is_back_edge(source, n):
                    back_edges.append((source, n, taken))
                else:
                    self._join_reference(source, n, taken)
        for source, n, taken in back_edges:
            self._join_reference(source, n, taken)

    def _join_reference(self, source: Node, user: Node, taken: DType) -> None:
        groups = self.groups
        i, j = self.id[source.name], self.id[user.name]
        s, u = groups.root(i), groups.root(j)
        for what, field in (("assigned", groups.assigned), ("resource", groups.resource)):
            if not field[s].compatible(field[u]):
                raise errors.two_devices(what, field[s], field[u], source, user)
        how = "by reference" if taken.is_ref else "by its handle"
        rule = "reference" if taken.is_ref else "resource"
        self._note(j, Reason(rule, f"takes '{source.name}' {how}", source.source))
        if not groups.requested[s].compatible(groups.requested[u]):
            text = f"its request '{groups.requested[u]}' gives way to that of '{source.name}'"
            self._note(j, Reason("override", text, user.source))
            groups.follow(i, j)
        try:
            groups.join(s, u, self.soft)
        except ValueError as e:
            raise errors.not_together(
                source, user, self._members(s), self._members(u), e, self.kernel_types, True
            ) from None

    def join_classes(self) -> None:
        """Nodes that name the same `loc:@` group are together; one without names is in its own."""
        first: dict[str, int] = {}
        for i, n in enumerate(self.nodes):
            for group in n.colocate or (n.name,):
                other = first.setdefault(group, i)
                if other != i:
                    self._join_class(i, other, group)

    def _join_class(self, i: int, other: int, group: str) -> None:
        groups = self.groups
        n, leader = self.nodes[i], self.nodes[other]
        s, u = groups.root(i), groups.root(other)
        try:
            groups.join(s, u, self.soft)
        except ValueError as e:
            if not self.soft:
                raise errors.not_together(
                    n, leader, self._members(s), self._members(u), e, self.kernel_types, False
                ) from None
            text = f"soft placement: not with '{leader.name}' in group 'loc:@{group}' ({e})"
            self._note(i, Reason("ignored", text, n.source))
        else:
            text = f"in group 'loc:@{group}' with '{leader.name}'"
            self._note(i, Reason("class", text, leader.source))

    def _members(self, i: int) -> list[Node]:
        root = self.groups.root(i)
        return [n for j, n in enumerate(self.nodes) if self.groups.root(j) == root]

    def _note(self, i: int, why: Reason) -> None:
        self.pulled.setdefault(i, []).append(why)

    # ---- choosing

    def assign(self) -> dict[str, Placed]:
        """Pass 1 places all but the generators, pass 2 these, with their consumers."""
        later = []
        for i, n in enumerate(self.nodes):
            if n.name in self.before:
                why = Reason("assigned", "stays where it was placed before", n.source)
                self._put(i, n, self.before[n.name], why)
            elif _is_generator(n):
                later.append((i, n))
            else:
                allowed = self._candidates(i, n)
                near = self._beside_input(n)
                if near in allowed.allowed:
                    why = Reason("metadata", f"asks only about the shape of '{n.inputs[0][0]}'")
                    self._put(i, n, near, why, allowed)
                else:
                    self._put(i, n, allowed.names[0], None, allowed)
        for i, n in later:
            allowed = self._candidates(i, n)
            near = self._beside_consumers(n)
            if near in allowed.allowed:
                self._put(i, n, near, Reason("generator", "all its consumers are there"), allowed)
            else:
                self._put(i, n, allowed.names[0], None, allowed)
        return self.placed

    def _beside_input(self, n: Node) -> str:
        if n.op not in _METADATA:
            return ""
        source = self.placed.get(n.inputs[0][0])
        return source.device if source else ""

    def _beside_consumers(self, n: Node) -> str:
        """The one device of all consumers, '' if there is none."""
        seen = set()
        for consumer, _, _ in self.graph.consumers(n.name):
            placed = self.placed.get(consumer.name)
            seen.add(placed.device if placed else "")
        return seen.pop() if len(seen) == 1 else ""

    def _candidates(self, i: int, n: Node) -> _Candidates:
        groups, root = self.groups, self.groups.root(i)
        asked, types = groups.requested[root], groups.types[root]
        found = self._matching(asked, types)
        if not found.names and asked and self.soft:
            bound, made = groups.assigned[root], groups.resource[root]
            found = self._matching(_soften(asked, bound.override(made)), types)
            if not found.names:
                found = self._matching(_soften(asked, bound), types)
            found = found._replace(softened=True)
        if not found.names:
            raise errors.nowhere(n, asked, self.parsed, self._members(i), self.kernel_types)
        return found

    def _matching(self, asked: DeviceName, types: TypeList) -> _Candidates:
        """Devices of these types that fit the request, the preferred first."""
        key = (asked, types)
        if key not in self.known:
            rank = {t: (-priority, -TYPE_PRIORITY.get(t, 0)) for t, priority in types}
            fits = [d for d, p in self.parsed.items() if p.type in rank and asked.matches(p)]
            fits.sort(key=lambda d: (rank[str(self.parsed[d].type)], d))
            equals = sum(self.parsed[d].type == self.parsed[fits[0]].type for d in fits)
            self.known[key] = _Candidates(tuple(fits), frozenset(fits), equals)
        return self.known[key]

    def _put(
        self,
        i: int,
        n: Node,
        device: str,
        last: Reason | None,
        allowed: _Candidates | None = None,
    ) -> None:
        root = self.groups.root(i)
        why = [*n.asked] or _plain_request(n)
        why += self.pulled.get(i, ())
        why += self._group_request(i, root)
        if allowed is not None:
            why += self._choice(root, allowed, last)
        elif last is not None:
            why.append(last)
        self.placed[n.name] = Placed(device, tuple(dict.fromkeys(why)))
        self.groups.pin(i, self.parsed[device])
        if self.groups.placed_by[root] < 0:
            self.groups.placed_by[root] = i

    def _group_request(self, i: int, root: int) -> list[Reason]:
        """The request that another member brought into the group."""
        speaker = self.groups.asked_by[root]
        if speaker in (-1, i):
            return []
        asker = self.nodes[speaker]
        text = f"its group is asked to '{asker.device}' by '{asker.name}'"
        return [Reason("group", text, asker.source), *asker.asked]

    def _choice(self, root: int, allowed: _Candidates, last: Reason | None) -> list[Reason]:
        first = self.groups.placed_by[root]
        if first >= 0:
            return [Reason("pinned", f"where '{self.nodes[first].name}' of its group is")]
        why = []
        if allowed.softened:
            text = f"soft placement: no device fits '{self.groups.requested[root]}'"
            why.append(Reason("soft", text))
        if last is not None:
            why.append(last)
        elif allowed.equals > 1:
            text = f"the first by name of {allowed.equals} devices that it may use"
            why.append(Reason("default", text))
        return why


def _plain_request(n: Node) -> list[Reason]:
    return [Reason("request", f"asks for '{n.device}'", n.source)] if n.device else []


def _soften(asked: DeviceName, bound: DeviceName) -> DeviceName:
    """The request without type and index, except what the group is bound to."""
    return DeviceName(
        asked.job,
        asked.replica,
        asked.task,
        None if bound.type is None else asked.type,
        None if bound.index is None else asked.index,
    )


def _is_handle(dtype: DType) -> bool:
    return dtype.is_ref or dtype is resource


def _makes_handle(n: Node) -> bool:
    """Whether it makes a variable, queue, ... from nothing: its request is then binding."""
    return not n.inputs and len(n.output_types) == 1 and _is_handle(n.output_types[0])


def _is_generator(n: Node) -> bool:
    return not n.inputs and len(n.output_types) == 1 and not n.output_types[0].is_ref
