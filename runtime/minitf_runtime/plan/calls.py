"""One op as an expression of its inputs, and what crosses between the strands of a device."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from minitf_runtime.devices.name import parse_full
from minitf_runtime.errors import UnimplementedError, invalid
from minitf_runtime.graph import CONTROL, Node
from minitf_runtime.ops.registry import Kernel, arity, find_kernel, op_def
from minitf_runtime.plan.part import Part
from minitf_runtime.plan.values import Tensor, Values
from minitf_runtime.types import DEAD


class Calls(Values):
    """The program of one device and strand, as far as single ops go.

    `where`: the strand of each node; `shapes`: of each tensor; `constants`: known values;
    kernel_node(node): the KernelNode of a stateful op.
    """

    def __init__(
        self,
        part: Part,
        device: str,
        strand: int,
        where: dict[str, int],
        kernel_node: Callable[[Node], Any],
        shapes: dict[Tensor, Any],
        constants: Mapping[Tensor, Any],
    ) -> None:
        super().__init__({"xp": np, "DEAD": DEAD, "dead_fetch": dead_fetch})
        self.part = part
        self.device = device
        self.device_type = parse_full(device).type or "CPU"
        self.strand = strand
        self.where = where
        self.kernel_node = kernel_node
        self.shapes = shapes
        self.constants = dict(constants)
        self.crossing: dict[Tensor, set[int]] = {}
        self.variables: set[Tensor] = set()  # references and reads: the variable itself crosses
        for tensor, value in constants.items():
            self.values[tensor] = self._bind_constant(value)

    def _expression(self, n: Node, of: Callable[[Node, int], str]) -> str:
        """The op as an expression of its inputs, as `of` names them."""
        kernel = find_kernel(n.op, n.attrs, self.device_type)
        if kernel is None:
            raise UnimplementedError(
                None, None, f"{n.op} has no kernel for {self.device_type} devices (op '{n.name}')"
            )
        form = kernel.inline
        if callable(form):
            form = form(n.attrs, [self.shapes.get(source) for source in n.inputs])
        if form:
            return form.format(*self._arguments(n, of))
        module = "np" if kernel.on_host else "xp"
        args = [module, *self._arguments(n, of), *self._keywords(n, kernel)]
        return f"{self._bind_kernel(n, kernel)}({', '.join(args)})"

    def _arguments(self, n: Node, of: Callable[[Node, int], str]) -> list[str]:
        args = []
        slot = 0
        for arg in op_def(n.op).inputs:
            if not arg.is_list:
                args.append(of(n, slot))
                slot += 1
                continue
            size = arity(arg, n.attrs)
            args.append("[" + ", ".join(of(n, slot + i) for i in range(size)) + "]")
            slot += size
        return args

    def _argument(self, n: Node, slot: int) -> str:
        """An input; a read of a variable of this device sees updates that n was ordered after."""
        live = self.live.get(n.inputs[slot])
        return f"{self._use(live)}.read()" if live else self._read(n, slot)

    def _keywords(self, n: Node, kernel: Kernel) -> list[str]:
        words = []
        for key in kernel.keywords:
            if key == "node":
                words.append(f"node={self._bind('n', self.kernel_node(n))}")
            elif key == "step":
                words.append("step=step")
            else:
                words.append(f"{key}={self._literal(n.attrs.get(key))}")
        return words

    # ---- other strands

    def _find_crossings(self, nodes: Sequence[Node]) -> None:
        """Tensors (and control edges) that another strand of this device needs."""
        if not self.part.strands:
            return
        for n in nodes:
            here = self.where[n.name]
            for source in (*n.inputs, *((c, CONTROL) for c in n.control)):
                if self.where.get(source[0], here) != here:
                    self.crossing.setdefault(source, set()).add(here)
            refs = {(n.name, i) for i, t in enumerate(n.output_types) if t.is_ref}
            is_read = n.op == "Identity" and n.inputs[0] in self.variables
            if is_read or n.name in self.part.late_reads:
                refs.add((n.name, 0))
            self.variables |= refs

    def _await_other_strand(self, source: Tensor, n: Node) -> None:
        if self.where.get(source[0], self.strand) == self.strand or source in self.values:
            return
        name = f"v{len(self.values)}"
        self.values[source] = name
        self.is_ref[source] = source in self.variables
        self.made_in[name] = self.block
        self._line(f"{name} = recv({(*source, self.strand)!r})", n)

    def _tell_other_strands(self, n: Node) -> None:
        if not self.crossing:
            return
        for index in (CONTROL, *range(len(n.output_types))):
            for strand in sorted(self.crossing.get((n.name, index), ())):
                source = (n.name, index)
                value = "None"
                if index != CONTROL:
                    value = self._use(self.live.get(source) or self.values[source])
                self._line(f"send({(*source, strand)!r}, {value})", n)


def dead_fetch() -> None:
    raise invalid("Retval[0] does not have value")
