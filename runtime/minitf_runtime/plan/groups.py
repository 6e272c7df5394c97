"""Items that are several nodes: a fusion becomes a call of a function, a batch one of products."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

from minitf_runtime.graph import CONTROL, Node
from minitf_runtime.ops.matmul import products
from minitf_runtime.plan.batch import Batch, batch, sources
from minitf_runtime.plan.calls import Calls
from minitf_runtime.plan.fuse import Fusion, fuse
from minitf_runtime.plan.fusion_text import FusionText
from minitf_runtime.plan.values import Tensor

Group = Fusion | Batch


class Groups(Calls):
    """The program of one device and strand, as far as ops and groups of them go."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.users: dict[Tensor, list[str]] = {}
        self.fusions: list[FusionText] = []
        self.stacks: dict[tuple[Tensor, ...], str] = {}  # outputs of a batch -> their stack
        self.batched: set[str] = set()  # nodes in batches
        self.whole: dict[tuple[Tensor, ...], set[str]] = {}  # the same -> nodes that take it whole

    def _grouped(self, members: list[Node]) -> Sequence[Node | Group]:
        groups: Sequence[Node | Group] = members
        if "batch" in self.part.passes:
            groups = batch(members, self.shapes, self.users)
            for level in (x for g in groups if isinstance(g, Batch) for x in g.levels):
                self.batched.update(n.name for n in level)
                for slot in (0, 1):
                    self.whole.setdefault(sources(level, slot), set()).update(n.name for n in level)
        if "fuse" in self.part.passes:
            groups = fuse(groups, self.shapes, self.device_type)
        stacks = {g.outputs for g in groups if isinstance(g, Batch)}
        for n in groups if stacks else ():
            if isinstance(n, Node) and n.op == "AddN" and n.inputs in stacks:
                self.whole.setdefault(n.inputs, set()).add(n.name)
        return groups

    def _group(self, group: Group) -> None:
        self._fusion(group) if isinstance(group, Fusion) else self._batch(group)

    def _fusion(self, fusion: Fusion) -> None:
        """The call of a fusion's function; what others use of it gets locals here."""
        for n in fusion.nodes:
            for source in (*n.inputs, *((c, CONTROL) for c in n.control)):
                if source[0] not in fusion:
                    self._await_other_strand(source, n)
        made = FusionText(f"fusion{len(self.fusions)}", fusion)
        args = [self._argument(n, slot) for n, slot in made.inputs]
        outputs = [n for n in fusion.nodes if self._leaves(n, fusion)]
        for n in fusion.nodes:
            made.add(n, self._expression)
        targets = ", ".join(self._local(n, 0) for n in outputs)
        made.end(outputs)
        self.fusions.append(made)
        self._line(f"{targets}, = {made.name}({', '.join(args)})", outputs[-1])
        for n in fusion.nodes:
            self._tell_other_strands(n)

    def _batch(self, batch: Batch) -> None:
        """The products of stacks; these are taken apart only for who does not take all of them."""
        first = batch.nodes[0]
        for n in batch.nodes:
            for source in (*n.inputs, *((c, CONTROL) for c in n.control)):
                self._await_other_strand(source, n)
        left = self._stack(batch.levels[0], 0)
        rights = []
        for level in batch.levels:
            flags = ", ".join(str(level[0].attrs[f"transpose_{side}"]) for side in "ab")
            rights.append(f"({self._stack(level, 1)}, {flags})")
        stack = self.stacks[batch.outputs] = self._new(f"stack{len(self.stacks)}")
        self.names["products"] = products
        self._line(f"{stack} = products(xp, {left}, [{', '.join(rights)}])", first)
        level = batch.levels[-1]
        if any(self._leaves(n, self.whole.get(batch.outputs, ())) for n in level):
            targets = ", ".join(self._local(n, 0) for n in level)
            self._line(f"{targets}, = {self._use(stack)}", first)
        for n in batch.nodes:
            self._tell_other_strands(n)

    def _stack(self, level: list[Node], slot: int) -> str:
        """What the products of a level take at that side: one matrix for all, or a stack."""
        taken = sources(level, slot)
        if len(set(taken)) == 1:
            return self._argument(level[0], slot)
        if taken in self.stacks:
            return self._use(self.stacks[taken])
        if all(self.values[source] in self.names for source in taken):
            known = [self.names[self.values[source]] for source in taken]
            return self._bind("c", self.names["xp"].stack(known))
        return f"xp.stack([{', '.join(self._argument(n, slot) for n in level)}])"

    def _call_of(self, n: Node) -> str:
        """The op as an expression; a sum of all that a batch gives is one of its stack."""
        if n.op == "AddN" and n.name in self.whole.get(n.inputs, ()):
            return f"xp.add.reduce({self._use(self.stacks[n.inputs])})"
        return self._expression(n, self._argument)

    def _leaves(self, n: Node, group: Container[str]) -> bool:
        """Whether something outside the group takes the node's value."""
        return (n.name, 0) in self.crossing or any(
            user not in group for user in self.users.get((n.name, 0), ())
        )
