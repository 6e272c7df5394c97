"""Writes the source of one program: a line per node, `if` for guards, `while` for loops.

Each line carries its node and the user's line as comment; a local is deleted after its last use.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minitf_runtime.graph import CONTROL, Node
from minitf_runtime.ops.registry import op_def
from minitf_runtime.passes.ids import MERGES
from minitf_runtime.passes.strands import SWITCHES
from minitf_runtime.plan.batch import Batch
from minitf_runtime.plan.fuse import Fusion
from minitf_runtime.plan.groups import Group, Groups
from minitf_runtime.plan.hoist import hoist
from minitf_runtime.plan.lines import Block, program_text
from minitf_runtime.plan.regions import (
    RECVS,
    Guard,
    Item,
    Literal,
    Loop,
    Structure,
)

SENDS = ("_Send", "_HostSend")
SILENT = ("NoOp", "ControlTrigger")


class Emitter(Groups):
    """The program of one device and strand under construction."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.counters: list[str] = []  # iteration counters of the loops around
        self.structure = Structure([], {}, {})

    def source(
        self, members: list[Node], nodes: Sequence[Node], flow: Structure | None
    ) -> tuple[str, dict[int, Node]]:
        """The text of `run`, and which node each line runs. `flow`: the structure of members with
        control flow."""
        self._find_crossings(nodes)
        for n in nodes:
            for t in n.inputs:
                self.users.setdefault(t, []).append(n.name)
            if n.op == "Const":
                self.constants[n.name, 0] = n.attrs["value"]
        items: list[Item | Group] = list(flow.items if flow else self._grouped(members))
        self.structure = flow or self.structure
        self._items(items, frozenset())
        return program_text(self.lines, self.last_use, self.made_in, self.fusions)

    # ---- items, guards, loops

    def _items(self, items: Sequence[Item | Group], known: frozenset[Literal]) -> None:
        """Emits items; neighbours of one guard share an `if`."""
        at = 0
        while at < len(items):
            item = items[at]
            if isinstance(item, Loop):
                self._loop(item, known)
                at += 1
                continue
            if isinstance(item, (Fusion, Batch)):
                self._group(item)
                at += 1
                continue
            guard = self._open_guard(item, known)
            if not guard or item.op in SENDS or item.op == "_Retval":
                self._node(item, guard)
                at += 1
                continue
            end = at
            while end < len(items) and self._joins(items[end], guard, known):
                end += 1
            self._if(guard, items[at:end])
            at = end

    def _joins(self, item: Item | Group, guard: Guard, known: frozenset[Literal]) -> bool:
        if not isinstance(item, Node) or item.op in SENDS or item.op == "_Retval":
            return False
        return self._open_guard(item, known) == guard

    def _open_guard(self, n: Node, known: frozenset[Literal]) -> Guard:
        guard = self.structure.guards.get(n.name, ())
        return tuple(x for x in guard if x not in known) if guard else guard

    def _if(self, guard: Guard, items: Sequence[Item | Group]) -> None:
        self._line(f"if {self._condition(guard)}:", None)
        before = len(self.lines)
        with Block(self):
            for n in items:
                self._node(n, ())  # type: ignore[arg-type]
        if len(self.lines) == before:
            self.lines.pop()  # nothing to run: aliases only

    def _condition(self, guard: Guard) -> str:
        return " and ".join(self._literal_text(x) for x in guard)

    def _literal_text(self, literal: Literal) -> str:
        name = self._use(self.values[literal.tensor])
        if literal.kind == "alive":
            return f"{name} is not DEAD"
        return name if literal.kind == "true" else f"not {name}"

    def _loop(self, loop: Loop, known: frozenset[Literal]) -> None:
        guard = tuple(x for x in loop.guard if x not in known)
        if not guard:
            self._whole_loop(loop, known)
            return
        self._line(f"if {self._condition(guard)}:", None)
        with Block(self):
            self._whole_loop(loop, known | set(guard))
        if loop.transfers:
            self._line("else:", None)
            with Block(self):
                self._send_dead(loop, (*self.counters, "0"))

    def _send_dead(self, loop: Loop, counters: tuple[str, ...]) -> None:
        """A loop that does not run still answers those who wait for its first iteration."""
        before = len(self.lines)
        for item in loop.items:
            if isinstance(item, Loop):
                self._send_dead(item, (*counters, "0"))
            elif item.op in SENDS:
                self._line(self._send_code(item, "DEAD", counters), item)
        if len(self.lines) == before:
            self._line("pass", None)

    def _whole_loop(self, loop: Loop, known: frozenset[Literal]) -> None:
        counter = f"i{len(self.names)}_{len(self.counters)}"
        variables = self._enter(loop, known)
        if "hoist" in self.part.passes and self.device_type == "CPU":
            loop = self._hoisted(loop)
        if loop.transfers:
            self._line(f"{counter} = 0", None)
        self._line("while True:", None)
        self.counters.append(counter)
        with Block(self):
            self._iteration(loop, known, variables)
            if loop.transfers:
                self._line(f"{counter} += 1", None)
        self.counters.pop()
        for n in loop.exits:
            self.values[n.name, 0] = self._pin(self.values[n.inputs[0]])
            self.is_ref[n.name, 0] = self.is_ref.get(n.inputs[0], False)

    def _enter(self, loop: Loop, known: frozenset[Literal]) -> list[tuple[str, Node]]:
        """Before the loop: constants keep their name, each variable gets one of its own."""
        for n in loop.enters:
            for source in n.inputs:
                self._await_other_strand(source, n)
            if n.attrs.get("is_constant"):
                self.values[n.name, 0] = self._pin(self.values[n.inputs[0]])
                self.is_ref[n.name, 0] = self.is_ref.get(n.inputs[0], False)
        variables = []
        enters = {n.name: n for n in loop.enters}
        for m in loop.merges:
            start = enters[next(t[0] for t in m.inputs if t[0] in enters)]
            name = self._pin(self._local(m, 0))
            guard = self._open_guard(start, known)
            value = self._read(start, 0)
            if guard:
                value = f"{value} if {self._condition(guard)} else DEAD"
            self._line(f"{name} = {value}", m)
            variables.append((name, m))
        return variables

    def _hoisted(self, loop: Loop) -> Loop:
        """The loop without what is computed here once, before it."""
        fixed = {(n.name, 0) for n in loop.enters if n.attrs.get("is_constant")}
        fixed -= {tensor for tensor, is_ref in self.is_ref.items() if is_ref}
        loop, factors = hoist(loop, fixed, self.shapes, self.users, self.constants)
        for tensor, factor in factors.items():
            source, rows = factor.product.inputs[1], factor.rows
            self.shapes[tensor] = (self.shapes[source][1], len(rows))
            value = self._use(self.values[source])
            if len(rows) < self.shapes[source][0]:
                value += f"[{rows.start}:{rows.stop}]"
            name = self.values[tensor] = self._pin(self._new(f"v{len(self.values)}"))
            self._line(f"{name} = xp.ascontiguousarray({value}.T)", factor.product)
        return loop

    def _iteration(
        self, loop: Loop, known: frozenset[Literal], variables: list[tuple[str, Node]]
    ) -> None:
        going = Literal("true", loop.pred)
        if loop.transfers:  # keep the global order: others wait for what this part sends
            self._items(loop.items, known)
        else:
            early, late = self._before_and_after(loop, going)
            self._items(early, known)
        self._line(f"if not {self._use(self.values[loop.pred])}: break", None)
        if not loop.transfers:
            self._items(late, known | {going})
        nexts = [self._use(self.values[loop.following[m.name]]) for _, m in variables]
        if variables:
            names = ", ".join(name for name, _ in variables)
            self._line(f"{names} = {', '.join(nexts)}", variables[0][1])

    def _before_and_after(self, loop: Loop, going: Literal) -> tuple[list[Item], list[Item]]:
        """The items that run before the loop's condition is tested, and those after."""
        early: list[Item] = []
        late: list[Item] = []
        for item in loop.items:
            guard = item.guard if isinstance(item, Loop) else self.structure.guards[item.name]
            (late if going in guard else early).append(item)
        return early, late

    # ---- one node

    def _node(self, n: Node, guard: Guard) -> None:
        if self.crossing:
            for source in (*n.inputs, *((c, CONTROL) for c in n.control)):
                self._await_other_strand(source, n)
        if n.op in SILENT:
            self._tell_other_strands(n)
            return
        if n.op == "Const":
            self.values[n.name, 0] = self._constant(n)
        elif n.op in RECVS or n.op == "_Arg":
            self._receive(n)
        elif n.op in SENDS or n.op == "_Retval":
            self._send(n, guard)
        elif n.op in ("Identity", "LoopCond"):
            self._alias(n)
        elif n.op in SWITCHES:
            self._switch(n)
        elif n.op in MERGES:
            self._merge(n)
        else:
            self._call(n)
        self._tell_other_strands(n)

    def _receive(self, n: Node) -> None:
        target = self._local(n, 0)
        if n.name in self.part.recvs:
            key = self._key(self.part.recvs[n.name], tuple(self.counters))
            self._line(f"{target} = recv({key})", n)
            self.is_ref[n.name, 0] = n.name in self.part.late_reads
        else:
            self._line(f"{target} = feeds[{self.part.feeds.index(n.name)}]", n)

    def _send(self, n: Node, guard: Guard) -> None:
        guard = (*guard, *(x for x in self.structure.of(n.inputs[0]) if x.kind == "alive"))
        guard = tuple(dict.fromkeys(guard))
        late = n.name in self.part.late_reads
        value = self._use(self.live[n.inputs[0]]) if late else self._read(n, 0)
        if n.name in self.part.sends:
            if guard:
                value = f"{value} if {self._condition(guard)} else DEAD"
            self._line(self._send_code(n, value, tuple(self.counters)), n)
            return
        if guard:
            value = f"{value} if {self._condition(guard)} else dead_fetch()"
        self._line(f"out[{self.part.fetches.index(n.name)}] = {value}", n)

    def _send_code(self, n: Node, value: str, counters: tuple[str, ...]) -> str:
        transfer, task = self.part.sends[n.name]
        key = self._key(transfer, counters)
        if task == self.part.task:
            return f"send({key}, {value})"
        return f"send_to({task!r}, {key}, {value})"

    def _key(self, transfer: int, counters: tuple[str, ...]) -> str:
        """The name of a transfer on the wire; in a loop one for each iteration."""
        return f"({transfer}, {', '.join(counters)})" if counters else str(transfer)

    def _alias(self, n: Node) -> None:
        """Identity: the same value under another name, or a read of a variable."""
        source = self.values[n.inputs[0]]
        if self.is_ref.get(n.inputs[0]) and not n.output_types[0].is_ref:
            self._line(f"{self._local(n, 0)} = {self._use(source)}.read()", n)
            self.live[n.name, 0] = source
        else:
            self.values[n.name, 0] = source
            self.is_ref[n.name, 0] = self.is_ref.get(n.inputs[0], False)
            if n.inputs[0] in self.live:
                self.live[n.name, 0] = self.live[n.inputs[0]]

    def _switch(self, n: Node) -> None:
        """Both outputs are the input; their guards tell which is alive."""
        takes_ref = n.input_types[0].is_ref
        if takes_ref or not self.is_ref.get(n.inputs[0]):
            name = self.values[n.inputs[0]]
        else:
            name = self._local(n, 0)
            self._line(f"{name} = {self._use(self.values[n.inputs[0]])}.read()", n)
        for i in (0, 1):
            self.values[n.name, i] = name
            self.is_ref[n.name, i] = takes_ref

    def _merge(self, n: Node) -> None:
        """The first input that is alive, and its index."""
        value = self._first_alive(n, [self._read(n, i) for i in range(len(n.inputs))])
        self._line(f"{self._local(n, 0)} = {value}", n)
        self.is_ref[n.name, 0] = n.input_types[0].is_ref
        if (n.name, 1) not in self.users:
            return
        self.names.setdefault("int32", np.int32)
        index = self._first_alive(n, [str(i) for i in range(len(n.inputs))])
        self._line(f"{self._local(n, 1)} = int32({index} or 0)", n)

    def _first_alive(self, n: Node, choices: list[str]) -> str:
        known = self.structure.guards[n.name]
        text = "DEAD"
        for source, choice in reversed(list(zip(n.inputs, choices))):
            guard = tuple(x for x in self.structure.of(source) if x not in known)
            text = f"{choice} if {self._condition(guard)} else ({text})" if guard else choice
        return text

    def _call(self, n: Node) -> None:
        call = self._call_of(n)
        targets = [self._local(n, i) for i in range(len(n.output_types))]
        if not targets:
            self._line(call, n)
        elif len(targets) == 1 and not op_def(n.op).gives_list:
            self._line(f"{targets[0]} = {call}", n)
        else:
            self._line(f"{', '.join(targets)}, = {call}", n)
