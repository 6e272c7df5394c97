"""What comes out of loop variables, stacks and TensorArrays is one of the values that went in.

shapes.py asks this: such a value has what the shapes of all of these have in common.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from minitf_runtime.graph import CONTROL, Graph, Node
from minitf_runtime.passes.frames import ENTERS
from minitf_runtime.passes.ids import MERGES, is_back_edge
from minitf_runtime.passes.strands import SWITCHES
from minitf_runtime.types import Shape, is_full

Tensor = tuple[str, int]
STACK = "StackV2"
ARRAY = "TensorArrayV3"
_HAND_ON = frozenset(("Enter", "Identity", "Switch", "TensorArrayGradV3"))  # a handle
_PUTS = {"StackPushV2": 1, "TensorArrayWriteV3": 2, "TensorArrayScatterV3": 2}  # op -> its value
_TAKES = frozenset(("StackPopV2", "TensorArrayReadV3", "TensorArrayGatherV3"))
_OTHERS = frozenset(("StackCloseV2", "TensorArrayCloseV3", "TensorArraySizeV3"))


@dataclass(eq=False)
class Place:
    """What holds values: `first` are there when one is taken, `later` come round a loop; of
    `rows` each row is a value. `zeros`: the shape of what an array holds at first."""

    first: list[Tensor] = field(default_factory=list)
    later: list[Tensor] = field(default_factory=list)
    rows: list[Tensor] = field(default_factory=list)
    zeros: Shape = None
    assumed: Shape = None
    used: bool = False

    def shape(self, shapes: Mapping[Tensor, Shape]) -> Shape:
        """The shape that its values are assumed to have."""
        if not self.used:
            self.used = True
            self.assumed = self._common(shapes, self.first)
        return self.assumed

    def agrees(self, shapes: Mapping[Tensor, Shape]) -> bool:
        """Whether all that goes in has the assumed shape; if not, less is assumed from now on."""
        before = self.assumed
        self.assumed = _common([before, self._common(shapes, [*self.first, *self.later])])
        return self.assumed == before

    def _common(self, shapes: Mapping[Tensor, Shape], whole: Sequence[Tensor]) -> Shape:
        elements = [shape[1:] if (shape := shapes[t]) else None for t in self.rows]
        zeros = [self.zeros] if is_full(self.zeros) else []
        return _common([*(shapes[t] for t in whole), *elements, *zeros])


def _common(shapes: Sequence[Shape]) -> Shape:
    """The sizes that all shapes agree on."""
    found = shapes[0] if shapes else None
    for other in shapes[1:]:
        if found is None or other is None or len(found) != len(other):
            return None
        found = tuple(m if m == n else None for m, n in zip(found, other))
    return found


def places(graph: Graph) -> dict[str, Place]:
    """Node -> the place that it takes a value from."""
    found: dict[str, Place] = {}
    for n in graph:
        if n.op in MERGES:
            later = [t for t in n.inputs if is_back_edge(graph.get(t[0]), n)]
            if later:
                found[n.name] = Place([t for t in n.inputs if t not in later], later)
        elif n.op in (STACK, ARRAY):
            users = handle_users(graph, n)
            place = _place(n, users)
            found.update((user.name, place) for user in users if user.op in _TAKES)
    return found


def _place(holder: Node, users: Sequence[Node]) -> Place:
    place = Place(zeros=holder.attrs.get("element_shape"))
    for n in users:
        if n.op in _PUTS:
            values = place.rows if n.op == "TensorArrayScatterV3" else place.first
            values.append(n.inputs[_PUTS[n.op]])
    return place


def handle_users(graph: Graph, holder: Node) -> list[Node]:
    """The ops that use a stack or array and its gradients; none if others may use it too."""
    users: dict[str, Node] = {}
    handles = [(holder.name, 0)]
    for name, output in handles:
        for n, slot, index in graph.consumers(name):
            if slot == CONTROL or index != output:
                continue
            if n.op in _HAND_ON:
                handles += [(n.name, i) for i in range(2 if n.op == "Switch" else 1)]
            elif slot == 0 and (n.op in _PUTS or n.op in _TAKES or n.op in _OTHERS):
                users[n.name] = n
            else:
                return []
    return list(users.values())


def pushed(graph: Graph) -> dict[str, Tensor]:
    """Pop -> the tensor that it gives back: that of the only push on its stack."""
    found: dict[str, Tensor] = {}
    for n in graph:
        if n.op == STACK:
            users = handle_users(graph, n)
            values = [u.inputs[1] for u in users if u.op == "StackPushV2"]
            if len(values) == 1:
                found.update((u.name, values[0]) for u in users if u.op == "StackPopV2")
    return found


def handed_on(n: Node, pushed: Mapping[str, Tensor]) -> Tensor | None:
    """The tensor whose value a node of control flow has whenever it has one."""
    if n.op in SWITCHES or (n.op in ENTERS and n.attrs["is_constant"]):
        return n.inputs[0]
    return pushed.get(n.name)
