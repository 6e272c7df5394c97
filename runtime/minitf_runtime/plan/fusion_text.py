"""The function of one fusion as source: a line for each op, as in the program that calls it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from minitf_runtime.graph import Node
from minitf_runtime.plan.fuse import Fusion

Expression = Callable[[Node, Callable[[Node, int], str]], str]


class FusionText:
    """`inputs`: (node, slot) for each argument; `lines`: the text, each with its node."""

    def __init__(self, name: str, fusion: Fusion) -> None:
        self.name = name
        taken: dict[tuple[str, int], tuple[Node, int]] = {}
        for n in fusion.nodes:
            for slot, source in enumerate(n.inputs):
                if source[0] not in fusion:
                    taken.setdefault(source, (n, slot))
        self.inputs = list(taken.values())
        self._locals = {source: f"x{i}" for i, source in enumerate(taken)}
        head = ", ".join(self._locals.values())
        self.lines: list[tuple[str, Node | None]] = [(f"def {name}({head}):", None)]

    def add(self, n: Node, expression: Expression) -> None:
        if n.op == "Identity":
            self._locals[n.name, 0] = self._operand(n, 0)
            return
        target = self._locals[n.name, 0] = f"t{len(self.lines)}"
        self.lines.append((f"{target} = {expression(n, self._operand)}", n))

    def end(self, outputs: Sequence[Node]) -> None:
        results = ", ".join(self._locals[n.name, 0] for n in outputs)
        self.lines.append((f"    return {results},", None))

    def _operand(self, n: Node, slot: int) -> str:
        return self._locals[n.inputs[slot]]
