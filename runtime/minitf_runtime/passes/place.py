"""The placer: gives every node a device by TF 1.15's rules, and says why (docs/placement.md)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from minitf_runtime.devices.name import parse_full, parse_strict
from minitf_runtime.errors import FailedPreconditionError, OpError
from minitf_runtime.graph import Graph, Node, Reason
from minitf_runtime.passes import placement_errors as errors
from minitf_runtime.passes.candidates import Candidates, Finder
from minitf_runtime.passes.colocation import Groups
from minitf_runtime.passes.data import Devices, Fit, Placed
from minitf_runtime.passes.ids import id_order, is_back_edge
from minitf_runtime.passes.kernels import KernelTypes, TypeList, by_preference, registered_types
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
    fits nowhere; its `placement` says what was known by then.
    """
    if not devices.names:
        raise FailedPreconditionError(None, None, "No devices are registered")
    placer = _Placer(graph, devices, soft, assigned or {}, kernel_types)
    try:
        placer.add_members()
        placer.join_references()
        placer.join_classes()
        return placer.assign()
    except OpError as e:
        e.placement = placer.known()
        raise


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
        self.finder = Finder(self.parsed, soft)
        self.present = {d.type for d in self.parsed.values()}
        self.kinds: dict[TypeList, tuple[TypeList, set[str], list[str]]] = {}
        self.before = assigned
        self.kernel_types = kernel_types
        self.groups = Groups(len(self.nodes))
        self.pulled: dict[int, list[Reason]] = {}
        self.placed: dict[str, Placed] = {}
        self.users: dict[str, list[str]] = {}  # of generators
        self.conflicts: dict[int, Reason] = {}
        self.fits: dict[int, Fit] = {}  # of nodes in conflict

    # ---- what each node asks for

    def add_members(self) -> None:
        groups = self.groups
        for i, n in enumerate(self.nodes):
            groups.types[i], usable, missing = self._kinds(tuple(self.kernel_types(n)))
            if missing:
                groups.lacks[i] = dict.fromkeys(missing, i)
            if n.name in self.before:
                self._stay(i, n, usable)
            elif not usable:
                error = errors.no_kernel(n, self.present)
                raise self._conflict(error, f"no device has a kernel for {n.op}", i)
            elif n.device:
                self._request(i, n)

    def _stay(self, i: int, n: Node, usable: set[str]) -> None:
        """Binds a node to the device that it already has."""
        device = self.parsed.get(self.before[n.name])
        if device is None:
            raise errors.lost_device(self.before[n.name], self.parsed)
        if device.type not in usable:
            error = errors.assigned_without_kernel(n, self.before[n.name])
            raise self._conflict(error, "it has no kernel where it was placed before", i)
        self.groups.assigned[i] = self.groups.requested[i] = device
        self.groups.placed_by[i] = i

    def _request(self, i: int, n: Node) -> None:
        """Notes the device that a node asks for."""
        asked = parse_strict(n.device)
        if asked is None:
            text = f"'{n.device}' is no device name"
            raise self._conflict(errors.malformed(n), text, i)
        self.groups.requested[i] = asked
        self.groups.asked_by[i] = (i,)
        if _makes_handle(n):
            self.groups.resource[i] = asked

    def _kinds(self, types: TypeList) -> tuple[TypeList, set[str], list[str]]:
        """Of the types with kernels: those that are here, by preference; and what else is here."""
        found = self.kinds.get(types)
        if found is None:
            here = by_preference([t for t in types if t[0] in self.present])
            usable = {t for t, _ in here}
            found = here, usable, sorted(str(t) for t in self.present - usable)
            self.kinds[types] = found
        return found

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
                error = errors.two_devices(what, field[s], field[u], source, user)
                text = f"takes '{source.name}' of '{field[s]}', its group is bound to '{field[u]}'"
                raise self._conflict(error, text, j, i)
        how = "by reference" if taken.is_ref else "by its handle"
        rule = "reference" if taken.is_ref else "resource"
        text = f"takes '{source.name}' {how}"
        self._note(j, Reason(rule, text, source.source, source.name))
        if not groups.requested[s].compatible(groups.requested[u]):
            lost = str(groups.requested[u])
            text = f"its request '{lost}' gives way to that of '{source.name}'"
            for k in dict.fromkeys((j, *groups.asked_by[u])):
                self._note(k, Reason("override", text, user.source, source.name, lost))
            groups.follow(i, j)
        try:
            groups.join(s, u, self.soft)
        except ValueError as e:
            error = errors.not_together(
                source, user, self._members(s), self._members(u), e, self.kernel_types, True
            )
            raise self._conflict(error, _apart(source, e), j, i) from None

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
                error = errors.not_together(
                    n, leader, self._members(s), self._members(u), e, self.kernel_types, False
                )
                raise self._conflict(error, _apart(leader, e), i, other) from None
            text = f"soft placement: not with '{leader.name}' in group 'loc:@{group}' ({e})"
            self._note(i, Reason("ignored", text, n.source, leader.name))
        else:
            text = f"in group 'loc:@{group}' with '{leader.name}'"
            self._note(i, Reason("class", text, leader.source, leader.name))

    def _members(self, i: int) -> list[Node]:
        root = self.groups.root(i)
        return [n for j, n in enumerate(self.nodes) if self.groups.root(j) == root]

    def _note(self, i: int, why: Reason) -> None:
        self.pulled.setdefault(i, []).append(why)

    def _conflict(self, error: OpError, text: str, i: int, other: int = -1) -> OpError:
        """The error, after a note of it at the node, and at the one that it cannot be with."""
        n = self.nodes[i]
        name = self.nodes[other].name if other >= 0 else ""
        self.conflicts[i] = Reason("conflict", text, n.source, name)
        if name:
            self.conflicts[other] = Reason("conflict", f"'{n.name}' {text}", n.source, n.name)
        return error

    # ---- choosing

    def assign(self) -> dict[str, Placed]:
        """Pass 1 places all but the generators, pass 2 these, with their consumers."""
        later = []
        for i, n in enumerate(self.nodes):
            if n.name in self.before:
                why = Reason("assigned", "stays where it was placed before", n.source)
                self._put(i, n, self.before[n.name], [*self._asked(i, n), why])
            elif _is_generator(n):
                later.append((i, n))
            elif n.op in _METADATA:
                self._choose(i, n, self._beside_input(n), _metadata)
            else:
                self._choose(i, n)
        self._find_users([n.name for _, n in later])
        for i, n in later:
            self._choose(i, n, self._beside_consumers(n), self._generator)
        return self.placed

    def known(self) -> dict[str, Placed]:
        """What is known of every node, for the error that ends the placing."""
        nodes = enumerate(self.nodes)
        return {n.name: self.placed.get(n.name) or self._open(i, n) for i, n in nodes}

    def _open(self, i: int, n: Node) -> Placed:
        """A node without a device."""
        why = self._asked(i, n)
        if i in self.conflicts:
            why.append(self.conflicts[i])
        lacks = self._lacks(self.groups.root(i))
        return Placed("", tuple(dict.fromkeys(why)), n.device, self.fits.get(i), lacks)

    def _find_users(self, generators: list[str]) -> None:
        """For each generator the nodes that take it, in the order of the graph."""
        users = self.users = {name: [] for name in generators}
        for n in self.graph:
            for source, _ in n.inputs:
                if source in users:
                    users[source].append(n.name)
            for source in n.control:
                if source in users:
                    users[source].append(n.name)

    def _generator(self, n: Node) -> Reason:
        users = list(dict.fromkeys(self.users[n.name]))
        many = f"all {len(users)} consumers are there, first of them '{users[0]}'"
        text = f"generator of one consumer, '{users[0]}'" if len(users) == 1 else many
        return Reason("generator", text, self.graph[users[0]].source, users[0])

    def _beside_input(self, n: Node) -> str:
        source = self.placed.get(n.inputs[0][0])
        return source.device if source else ""

    def _beside_consumers(self, n: Node) -> str:
        """The one device of all consumers, '' if there is none."""
        seen = set()
        for name in self.users[n.name]:
            placed = self.placed.get(name)
            seen.add(placed.device if placed else "")
        return seen.pop() if len(seen) == 1 else ""

    def _choose(
        self, i: int, n: Node, near: str = "", why_near: Callable[[Node], Reason] | None = None
    ) -> None:
        """Puts a node where its group is, else `near` another node if it may be there."""
        allowed = self._candidates(i, n)
        last = why_near(n) if why_near is not None and near in allowed.allowed else None
        device = allowed.default if last is None else near
        why = self._asked(i, n)
        why += self._choice(self.groups.root(i), allowed, last)
        self._put(i, n, device, why, allowed.fit)

    def _candidates(self, i: int, n: Node) -> Candidates:
        groups, root = self.groups, self.groups.root(i)
        asked, types = groups.requested[root], groups.types[root]
        found = self.finder.find(asked, types, groups.assigned[root], groups.resource[root])
        if found.default:
            return found
        self.fits[i] = found.fit
        members = self._members(i)
        error = errors.nowhere(n, asked, self.parsed, members, self.kernel_types)
        raise self._conflict(error, f"no device is left for '{asked}'", i)

    def _put(self, i: int, n: Node, device: str, why: list[Reason], fit: Fit | None = None) -> None:
        root = self.groups.root(i)
        reasons = tuple(dict.fromkeys(why)) if len(why) > 1 else tuple(why)
        self.placed[n.name] = Placed(device, reasons, n.device, fit, self._lacks(root))
        self.groups.pin(root, self.parsed[device])
        if self.groups.placed_by[root] < 0:
            self.groups.placed_by[root] = i

    def _asked(self, i: int, n: Node) -> list[Reason]:
        """Its own request, what pulls it, and what the others of its group ask for."""
        why = [*n.asked] or _plain_request(n)
        why += self.pulled.get(i, ())
        for speaker in self.groups.asked_by[self.groups.root(i)]:
            if speaker != i:
                asker = self.nodes[speaker]
                text = f"its group is asked to '{asker.device}' by '{asker.name}'"
                why += [Reason("group", text, asker.source, asker.name, asker.device), *asker.asked]
        return why

    def _lacks(self, root: int) -> tuple[tuple[str, str], ...]:
        lacking = self.groups.lacks[root]
        if not lacking:
            return ()
        return tuple((t, self.nodes[j].name) for t, j in sorted(lacking.items()))

    def _choice(self, root: int, allowed: Candidates, last: Reason | None) -> list[Reason]:
        first = self.groups.placed_by[root]
        if first >= 0:
            name = self.nodes[first].name
            return [Reason("pinned", f"where '{name}' of its group is", node=name)]
        why = []
        if allowed.softened:
            asked = str(self.groups.requested[root])
            text = f"soft placement: no device fits '{asked}'"
            why.append(Reason("soft", text, device=asked))
        if last is not None:
            why.append(last)
        elif allowed.fit.equals > 1:
            text = f"the first by name of {allowed.fit.equals} devices that it may use"
            text = text if allowed.fit.asked else f"default device of the session: {text}"
            why.append(Reason("default", text))
        return why


def _plain_request(n: Node) -> list[Reason]:
    if not n.device:
        return []
    return [Reason("request", f"asks for '{n.device}'", n.source, device=n.device)]


def _metadata(n: Node) -> Reason:
    source = n.inputs[0][0]
    return Reason("metadata", f"asks only about the shape of '{source}'", node=source)


def _apart(other: Node, cause: ValueError) -> str:
    why = str(cause) or "no device type has kernels for both groups"
    return f"cannot be with '{other.name}': {why}"


def _is_handle(dtype: DType) -> bool:
    return dtype.is_ref or dtype is resource


def _makes_handle(n: Node) -> bool:
    """Whether it makes a variable, queue, ... from nothing: its request is then binding."""
    return not n.inputs and len(n.output_types) == 1 and _is_handle(n.output_types[0])


def _is_generator(n: Node) -> bool:
    return not n.inputs and len(n.output_types) == 1 and not n.output_types[0].is_ref
