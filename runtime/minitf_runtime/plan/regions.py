"""Finds the structure of control flow in a part: loops as items of their own, and guards.

A guard is what must hold for a node to run: each Switch between it and the outside adds a literal.
The plan compiler turns guards into `if` and loops into `while`. A value that did not come to be is
DEAD.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from minitf_runtime.errors import InvalidArgumentError
from minitf_runtime.graph import Graph, Node
from minitf_runtime.passes.frames import ENTERS, EXITS, ROOT, Frame, frames_of
from minitf_runtime.passes.ids import MERGES, NEXT_ITERATIONS, is_back_edge
from minitf_runtime.passes.strands import SWITCHES

RECVS = ("_Recv", "_HostRecv")
TRANSFERS = (*RECVS, "_Send", "_HostSend")
CONTROL_FLOW = frozenset((*SWITCHES, *MERGES, *ENTERS, *EXITS, *NEXT_ITERATIONS))

Tensor = tuple[str, int]


@dataclass(frozen=True)
class Literal:
    """One condition: the tensor is true, is false, or is alive (not DEAD)."""

    kind: str
    tensor: Tensor


Guard = tuple[Literal, ...]


@dataclass
class Loop:
    """A loop of a part. `merges` are its variables; `items` run in each iteration."""

    frame: Frame
    enters: list[Node] = field(default_factory=list)
    merges: list[Node] = field(default_factory=list)
    following: dict[str, Tensor] = field(default_factory=dict)  # merge -> its next value
    exits: list[Node] = field(default_factory=list)
    items: list[Node | Loop] = field(default_factory=list)
    pred: Tensor = ("", 0)
    guard: Guard = ()

    @property
    def transfers(self) -> bool:
        """Whether values cross to or from this part in an iteration."""
        return any(
            item.transfers if isinstance(item, Loop) else item.op in TRANSFERS
            for item in self.items
        )


Item = Node | Loop


@dataclass(frozen=True)
class Structure:
    """The items of a program in order, and the guard of every node and tensor."""

    items: list[Item]
    guards: Mapping[str, Guard]
    outputs: Mapping[Tensor, Guard]

    def of(self, tensor: Tensor) -> Guard:
        return self.outputs.get(tensor, self.guards.get(tensor[0], ()))

    @property
    def tested(self) -> set[Tensor]:
        """What guards test."""
        guards = (*self.guards.values(), *self.outputs.values())
        return {x.tensor for guard in guards for x in guard}

    def keeping(self, nodes: Iterable[Node]) -> Structure:
        """The same with these nodes in place of those of their names, and no others."""
        kept = {n.name: n for n in nodes}
        return replace(self, items=_keeping(self.items, kept))


def _keeping(items: Iterable[Item], kept: Mapping[str, Node]) -> list[Item]:
    out: list[Item] = []
    for item in items:
        if isinstance(item, Loop):
            out.append(replace(item, items=_keeping(item.items, kept)))
        elif item.name in kept:
            out.append(kept[item.name])
    return out


def has_control_flow(nodes: Iterable[Node]) -> bool:
    return any(n.op in CONTROL_FLOW for n in nodes)


def structure(nodes: Sequence[Node], maybe_dead: frozenset[str]) -> Structure:
    """The structure of nodes in topological order. `maybe_dead`: receives that may bring DEAD."""
    frames = frames_of(Graph(nodes))
    by_name = {n.name: n for n in nodes}
    guards = _Guards(by_name, frames, maybe_dead)
    for n in nodes:
        guards.visit(n)
    loops: dict[Frame, Loop] = {}
    members: dict[Frame, list[Node]] = {}
    for n in nodes:
        frame = frames.get(n.name, ROOT)
        members.setdefault(frame, []).append(n)
        while frame is not ROOT and frame not in loops:
            loops[frame] = Loop(frame)
            frame = frame.outer
    position = {n.name: i for i, n in enumerate(nodes)}
    for frame, loop in loops.items():
        _fill(loop, members.get(frame, []), by_name, guards)
    top = _arrange(ROOT, members, loops, frames, by_name, position)
    return Structure(top, guards.nodes, guards.outputs)


def maybe_dead(nodes: Sequence[Node]) -> frozenset[str]:
    """Of a step in topological order: the nodes of which an output may be DEAD."""
    if not has_control_flow(nodes):
        return frozenset()
    guards = _Guards({n.name: n for n in nodes}, frames_of(Graph(nodes)), frozenset())
    for n in nodes:
        guards.visit(n)
    switches = {n.name for n in nodes if n.op in SWITCHES}
    return frozenset(name for name, guard in guards.nodes.items() if guard or name in switches)


class _Guards:
    """Computes guards, node by node in order."""

    def __init__(
        self, nodes: Mapping[str, Node], frames: Mapping[str, Frame], dead: frozenset[str]
    ) -> None:
        self.by_name = nodes
        self.frames = frames
        self.dead = dead
        self.nodes: dict[str, Guard] = {}
        self.outputs: dict[Tensor, Guard] = {}
        self._same: dict[Tensor, Tensor] = {}  # tensor -> the one whose value it hands on

    def of(self, tensor: Tensor) -> Guard:
        return self.outputs.get(tensor, self.nodes.get(tensor[0], ()))

    def visit(self, n: Node) -> None:
        if n.op in MERGES:
            self.nodes[n.name] = self._merge(n)
            return
        guard = _union([*(self.of(t) for t in n.inputs), *(self._control(c) for c in n.control)])
        if n.op in RECVS:
            guard = ()  # a receive runs whatever its control inputs are, and may bring DEAD
        if n.op in EXITS:
            guard = self.outside(guard, self.frames.get(n.name, ROOT))
        self.nodes[n.name] = guard
        if (n.op in SWITCHES or n.op == "Identity") and not self._reads_a_variable(n):
            for i in range(len(n.output_types)):
                self._same[n.name, i] = self._same.get(n.inputs[0], n.inputs[0])
        if n.op in SWITCHES:
            pred = self._same.get(n.inputs[1], n.inputs[1])
            self.outputs[n.name, 0] = _union([guard, (Literal("false", pred),)])
            self.outputs[n.name, 1] = _union([guard, (Literal("true", pred),)])
        elif n.name in self.dead:
            self.outputs[n.name, 0] = _union([guard, (Literal("alive", (n.name, 0)),)])

    def _reads_a_variable(self, n: Node) -> bool:
        """Whether it hands on the value that a reference has now: an update changes it."""
        source, output = n.inputs[0]
        made = self.by_name.get(source)
        is_ref = made is not None and made.output_types[output].is_ref
        return is_ref and not n.output_types[0].is_ref

    def _control(self, name: str) -> Guard:
        """What a control edge waits for: the node having run, with a live value if it received."""
        return self.of((name, 0)) if name in self.dead else self.nodes.get(name, ())

    def _merge(self, n: Node) -> Guard:
        inputs = [t for t in n.inputs if not self._closes(t, n)]
        controls = _union([self._control(c) for c in n.control])
        guards = [self.of(t) for t in inputs]
        if len(inputs) < len(n.inputs):
            return _union([guards[0], controls])
        common = tuple(x for x in guards[0] if all(x in g for g in guards[1:]))
        if not _complementary(guards, common):
            self.outputs[n.name, 0] = (*common, *controls, Literal("alive", (n.name, 0)))
            self.outputs[n.name, 1] = self.outputs[n.name, 0]
        return _union([common, controls])

    def _closes(self, tensor: Tensor, merge: Node) -> bool:
        return is_back_edge(self.by_name.get(tensor[0]), merge)

    def outside(self, guard: Guard, frame: Frame) -> Guard:
        """A guard without the literals of tensors of this frame."""
        return tuple(x for x in guard if not _inside(self.frames.get(x.tensor[0], ROOT), frame))


def _inside(frame: Frame, outer: Frame) -> bool:
    at: Frame | None = frame
    while at is not None and at is not outer:
        at = at.parent
    return at is outer


def _union(guards: Iterable[Iterable[Literal]]) -> Guard:
    return tuple(dict.fromkeys(x for g in guards for x in g))


def _complementary(guards: list[Guard], common: Guard) -> bool:
    """Whether exactly one of two inputs is alive whenever the common part holds."""
    if any(len(g) == len(common) for g in guards):
        return True
    if len(guards) != 2:
        return False
    rest = [[x for x in g if x not in common] for g in guards]
    if any(len(r) != 1 for r in rest):
        return False
    a, b = rest[0][0], rest[1][0]
    return a.tensor == b.tensor and {a.kind, b.kind} == {"true", "false"}


def _fill(loop: Loop, members: list[Node], by_name: Mapping[str, Node], guards: _Guards) -> None:
    """Sorts the nodes of a frame by what they are to the loop."""
    merges = {}
    for n in members:
        if n.op in ENTERS:
            loop.enters.append(n)
        elif n.op in EXITS:
            loop.exits.append(n)
        elif n.op in MERGES:
            back = [by_name[t[0]] for t in n.inputs if is_back_edge(by_name.get(t[0]), n)]
            if back:
                loop.merges.append(n)
                loop.following[n.name] = back[0].inputs[0]
                merges[n.name, 0] = n
    for n in members:
        if n.op in SWITCHES and n.inputs[0] in merges:
            loop.pred = guards.outputs[n.name, 1][-1].tensor
    if not loop.pred[0]:
        raise InvalidArgumentError(
            None, None, f"The loop '{loop.frame.name}' has no Switch that ends it"
        )
    entering = [guards.nodes[n.name] for n in loop.enters if not n.attrs.get("is_constant")]
    common = tuple(x for x in entering[0] if all(x in g for g in entering[1:])) if entering else ()
    # a counter may enter although what it counts does not: no condition, no iteration
    loop.guard = _union([common, guards.outside(guards.of(loop.pred), loop.frame)])


def _arrange(
    frame: Frame,
    members: Mapping[Frame, list[Node]],
    loops: Mapping[Frame, Loop],
    frames: Mapping[str, Frame],
    by_name: Mapping[str, Node],
    position: Mapping[str, int],
) -> list[Item]:
    """The items of a frame in an order in which each loop is one item."""
    inner = [loop for f, loop in loops.items() if f.outer is frame and f is not frame]
    for loop in inner:
        loop.items = _arrange(loop.frame, members, loops, frames, by_name, position)
    own = [n for n in members.get(frame, []) if frame is ROOT or not _is_frame_op(n, loops[frame])]
    items: list[Item] = [*own, *inner]
    holder: dict[str, int] = {}
    for i, item in enumerate(items):
        for n in _nodes(item):
            holder[n.name] = i
    waits: list[set[int]] = [set() for _ in items]
    for i, item in enumerate(items):
        for n in _nodes(item):
            for source in (*(t[0] for t in n.inputs), *n.control):
                at = holder.get(source)
                if at is not None and at != i and not is_back_edge(by_name.get(source), n):
                    waits[i].add(at)
    # as late as its last node: what other tasks need to enter the loop is sent before
    last = [max(position[n.name] for n in _nodes(item)) for item in items]
    return [items[i] for i in _sorted(waits, last)]


def _is_frame_op(n: Node, loop: Loop) -> bool:
    return n.op in ENTERS or n.op in EXITS or n.op in NEXT_ITERATIONS or n.name in loop.following


def _nodes(item: Item) -> Iterable[Node]:
    if isinstance(item, Node):
        yield item
        return
    yield from (*item.enters, *item.merges, *item.exits)
    for inner in item.items:
        yield from _nodes(inner)


def _sorted(waits: list[set[int]], priority: list[int]) -> list[int]:
    followers: list[list[int]] = [[] for _ in waits]
    for i, before in enumerate(waits):
        for b in before:
            followers[b].append(i)
    left = [len(w) for w in waits]
    ready = [(priority[i], i) for i in range(len(waits)) if not left[i]]
    heapq.heapify(ready)
    out = []
    while ready:
        _, i = heapq.heappop(ready)
        out.append(i)
        for f in followers[i]:
            left[f] -= 1
            if not left[f]:
                heapq.heappush(ready, (priority[f], f))
    return out
