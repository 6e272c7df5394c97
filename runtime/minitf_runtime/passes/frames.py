"""Loop frames: which loop each node runs in. Enter opens a frame, Exit leaves it."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from minitf_runtime.errors import InvalidArgumentError
from minitf_runtime.graph import Graph, Node
from minitf_runtime.passes.ids import sources

ENTERS = ("Enter", "RefEnter")
EXITS = ("Exit", "RefExit")


@dataclass(frozen=True, eq=False)
class Frame:
    """A loop; the root frame has no name and no parent."""

    name: str = ""
    parent: Frame | None = None
    enter: Node | None = None  # one of the Enter nodes that open it

    @property
    def outer(self) -> Frame:
        return self.parent or ROOT


ROOT = Frame()


def has_loops(nodes: Sequence[Node]) -> bool:
    return any(n.op in ENTERS for n in nodes)


def frames_of(graph: Graph) -> dict[str, Frame]:
    """The frame of each node; inputs from elsewhere are in no loop.

    Raises InvalidArgumentError where the inputs of a node disagree.
    """
    frame_of: dict[str, Frame] = {}
    cause: dict[str, str] = {}  # the input that told a node's frame
    opened: dict[tuple[Frame, str], Frame] = {}
    ready: deque[Node] = deque()
    names = {n.name for n in graph}
    for n in graph:
        if names.isdisjoint(sources(n)):
            frame_of[n.name] = _enter(n, ROOT, opened)
            ready.append(n)
    while ready:
        n = ready.popleft()
        inside = output_frame(n, frame_of)
        for consumer, _, _ in graph.consumers(n.name):
            known = frame_of.get(consumer.name)
            if known is None:
                frame_of[consumer.name] = _enter(consumer, inside, opened)
                cause[consumer.name] = n.name
                ready.append(consumer)
            elif (known.outer if consumer.op in ENTERS else known) is not inside:
                first = graph[cause[consumer.name]]
                raise InvalidArgumentError(
                    None,
                    None,
                    f"node {consumer.name} has inputs from different frames. The input node "
                    f"{n.name} is in frame '{inside.name}'. The input node {first.name} is in "
                    f"frame '{output_frame(first, frame_of).name}'.",
                )
    return frame_of


def _enter(n: Node, inside: Frame, opened: dict[tuple[Frame, str], Frame]) -> Frame:
    """The frame that a node is in, given that of its inputs."""
    if n.op not in ENTERS:
        return inside
    name = n.attrs.get("frame_name", "")
    if not name:
        raise InvalidArgumentError(None, None, f"The Enter node {n.name} must have a frame name.")
    return opened.setdefault((inside, name), Frame(name, inside, n))


def input_frame(n: Node, frame_of: dict[str, Frame]) -> Frame:
    """Where a node takes its inputs: an Enter takes them from outside."""
    frame = frame_of[n.name]
    return frame.outer if n.op in ENTERS else frame


def output_frame(n: Node, frame_of: dict[str, Frame]) -> Frame:
    """Where a node's outputs are: those of an Exit are outside."""
    frame = frame_of[n.name]
    return frame.outer if n.op in EXITS else frame
