"""Loops over several devices, made ready for the cut: control-flow nodes move to their data, and
each device that takes part in a loop gets a control loop (docs/placement.md, "Loops").
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from minitf_runtime.errors import InvalidArgumentError
from minitf_runtime.graph import CONTROL, Graph, Node
from minitf_runtime.passes.frames import EXITS, ROOT, Frame, frames_of, input_frame, output_frame
from minitf_runtime.passes.ids import MERGES, NEXT_ITERATIONS
from minitf_runtime.types import DType, bool_, float32, int32

_SWITCHES = ("Switch", "RefSwitch")
_MARK = "_cloop"

NewName = Callable[[str], str]


def is_control_merge(n: Node) -> bool:
    """Whether it is the Merge of a control loop, which starts the receives of an iteration."""
    return n.op in MERGES and n.name.startswith(_MARK)


def move_control_flow(nodes: Sequence[Node]) -> list[Node]:
    """Puts Switch and Exit where their data is, Enter and NextIteration where it goes, whatever the
    placer said; in the order of one depth-first walk, so that moves may follow each other.
    """
    graph = Graph(nodes)
    device = {n.name: n.device for n in nodes}
    for n in _depth_first(graph):
        if n.op in _SWITCHES or n.op in EXITS:
            device[n.name] = device[n.inputs[0][0]]
        elif n.op in NEXT_ITERATIONS or n.op == "Enter":
            goes_to = (c for c, slot, _ in graph.consumers(n.name) if slot != CONTROL)
            first = next(goes_to, n)
            device[n.name] = device[first.name]
    return [n if n.device == device[n.name] else n.with_(device=device[n.name]) for n in nodes]


def _depth_first(graph: Graph) -> Iterator[Node]:
    """All nodes, each when it is first reached from the nodes without inputs."""
    stack = [n for n in graph if not n.inputs and not n.control]
    seen: set[str] = set()
    while stack:
        n = stack.pop()
        if n.name in seen:
            continue
        seen.add(n.name)
        yield n
        stack += [c for c, _, _ in graph.consumers(n.name) if c.name not in seen]


@dataclass
class Looped:
    """A graph ready for the cut.

    crossings: node -> (the control Merge of its device and frame, how many of the node's inputs
    cross to it inside that frame)
    """

    nodes: list[Node]
    crossings: dict[str, tuple[str, int]] = field(default_factory=dict)


def add_control_loops(nodes: Sequence[Node], new_name: NewName) -> Looped:
    """Adds, for each device that receives inside a frame, a loop that turns with the frame.

    Raises InvalidArgumentError for malformed frames and for a frame without LoopCond.
    """
    graph = Graph(nodes)
    frame_of = frames_of(graph)
    loops = _ControlLoops(graph, frame_of, new_name)
    for source, node in _edges(graph):
        if _crosses_inside(source, node, frame_of):
            loops.take_part(input_frame(node, frame_of), node)
    whole = Graph([*nodes, *loops.nodes])
    frame_of = frame_of | loops.frame_of
    crossings: dict[str, tuple[str, int]] = {}
    for source, node in _edges(whole):
        if _crosses_inside(source, node, frame_of):
            merge = loops.merges[input_frame(node, frame_of), node.device]
            count = crossings[node.name][1] if node.name in crossings else 0
            crossings[node.name] = (merge, count + 1)
    return Looped(list(whole.nodes), crossings)


def _edges(graph: Graph) -> Iterator[tuple[Node, Node]]:
    for n in graph:
        for source, _ in n.inputs:
            yield graph[source], n
        for source in n.control:
            yield graph[source], n


def _crosses_inside(source: Node, node: Node, frame_of: dict[str, Frame]) -> bool:
    """Whether an edge goes to another device while both its ends are in one loop."""
    if source.device == node.device:
        return False
    frame = output_frame(source, frame_of)
    return bool(frame.name) and frame is input_frame(node, frame_of)


class _ControlLoops:
    """The control loops of all (frame, device), each
    [Const or the outer loop's Merge] -> Enter -> Merge -> Switch(Merge, LoopCond) -> NextIteration.
    """

    def __init__(self, graph: Graph, frame_of: dict[str, Frame], new_name: NewName) -> None:
        self.pivots = {frame_of[n.name]: n.name for n in graph if n.op == "LoopCond"}
        self.new_name = new_name
        self.merges: dict[tuple[Frame, str], str] = {}
        self.nodes: list[Node] = []
        self.frame_of: dict[str, Frame] = {}

    def take_part(self, frame: Frame, node: Node) -> str:
        """The control Merge of a frame on the node's device; makes it and those of outer frames."""
        key = (frame, node.device)
        if key not in self.merges:
            if frame not in self.pivots:
                raise InvalidArgumentError(
                    None, None, f"A cross-device loop must have a pivot predicate: {frame.name}"
                )
            outer = frame.outer
            start = self.take_part(outer, node) if outer.name else self._const(node)
            self.merges[key] = self._loop(frame, node, start)
        return self.merges[key]

    def _const(self, near: Node) -> str:
        attrs = {"value": np.zeros(0, np.float32), "dtype": float32}
        name = self.new_name(near.name)
        return self._add(ROOT, name, "Const", near, (), (float32,), attrs)

    def _loop(self, frame: Frame, near: Node, start: str) -> str:
        enter, merge, switch, following = (_MARK + self.new_name(near.name) for _ in range(4))
        opened = frame.enter.attrs if frame.enter is not None else {}
        attrs = {
            "frame_name": frame.name,
            "is_constant": False,
            "parallel_iterations": opened.get("parallel_iterations", 10),
        }
        flow, two = (float32,), (float32, float32)
        pivot = self.pivots[frame]
        self._add(frame, enter, "Enter", near, ((start, 0),), flow, {"T": float32, **attrs})
        both = ((enter, 0), (following, 0))
        self._add(frame, merge, "Merge", near, both, (float32, int32), {"T": float32, "N": 2})
        self._add(frame, switch, "Switch", near, ((merge, 0), (pivot, 0)), two, {"T": float32})
        self._add(frame, following, "NextIteration", near, ((switch, 1),), flow, {"T": float32})
        return merge

    def _add(
        self,
        frame: Frame,
        name: str,
        op: str,
        near: Node,
        inputs: tuple[tuple[str, int], ...],
        outputs: tuple[DType, ...],
        attrs: dict[str, Any],
    ) -> str:
        takes = (float32, bool_) if op == "Switch" else (float32,) * len(inputs)
        self.nodes.append(
            Node(
                name,
                op,
                inputs,
                device=near.device,
                attrs=attrs,
                input_types=takes,
                output_types=outputs,
                output_shapes=tuple((0,) if t is float32 else () for t in outputs),
                source=near.source,
                role=near.role,
            )
        )
        self.frame_of[name] = frame
        return name
