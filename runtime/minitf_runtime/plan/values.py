"""What a program under construction holds: names of tensors, globals, and its lines."""

from __future__ import annotations

from typing import Any

from minitf_runtime.graph import Node
from minitf_runtime.ops.registry import Kernel
from minitf_runtime.plan.lines import Line

Tensor = tuple[str, int]


class Values:
    """What a program holds so far; `names` are its globals."""

    def __init__(self, names: dict[str, Any]) -> None:
        self.names = names
        self.values: dict[Tensor, str] = {}  # tensor -> the local or global that holds it
        self.is_ref: dict[Tensor, bool] = {}
        self.live: dict[Tensor, str] = {}  # read of a variable -> the variable, read at each use
        self.lines: list[Line] = []
        self.made_in: dict[str, int] = {}  # local -> the block that makes it
        self.last_use: dict[str, tuple[int, int]] = {}  # local -> (line, block)
        self.depth = 1
        self.block = 0
        self.blocks = 0

    def _read(self, n: Node, slot: int) -> str:
        """An input as the op takes it: a variable is read unless taken by reference."""
        source = n.inputs[slot]
        text = self._use(self.values[source])
        takes_ref = slot < len(n.input_types) and n.input_types[slot].is_ref
        return text if takes_ref or not self.is_ref.get(source) else text + ".read()"

    def _use(self, name: str) -> str:
        self.last_use[name] = (len(self.lines), self.block)
        return name

    def _pin(self, name: str) -> str:
        """Keeps a local until the end: it is used again in a way that lines do not show."""
        self.made_in[name] = -1
        return name

    def _local(self, n: Node, index: int) -> str:
        """A new local for an output of a node."""
        name = self.values[n.name, index] = self._new(f"v{len(self.values)}")
        self.is_ref[n.name, index] = n.output_types[index].is_ref if n.output_types else False
        return name

    def _new(self, name: str) -> str:
        self.made_in[name] = self.block
        return self._use(name)

    def _bind(self, prefix: str, value: Any) -> str:
        name = f"{prefix}{len(self.names)}"
        self.names[name] = value
        return name

    def _bind_kernel(self, n: Node, kernel: Kernel) -> str:
        name = f"k_{n.op}"
        if self.names.setdefault(name, kernel.fn) is not kernel.fn:
            name = self._bind("k", kernel.fn)
        return name

    def _literal(self, value: Any) -> str:
        if value is None or isinstance(value, (bool, int, str)):
            return repr(value)
        return self._bind("a", value)

    def _line(self, code: str, node: Node | None) -> None:
        self.lines.append(Line(code, node, self.depth, self.block))

    def _constant(self, n: Node) -> str:
        return self._bind_constant(n.attrs["value"])

    def _bind_constant(self, value: Any) -> str:
        if value.ndim == 0 and value.dtype != object:
            value = value[()]  # a NumPy scalar: cheaper to compute with than a 0-d array
        return self._bind("c", value)
