"""A compiled part, compiled anew for shapes of feeds that come again: with them known, more folds
and fuses."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from minitf_runtime.devices.name import parse_full
from minitf_runtime.errors import OpError
from minitf_runtime.graph import Graph, Node
from minitf_runtime.passes.shapes import infer
from minitf_runtime.plan.compile import Program
from minitf_runtime.plan.executor import Executable
from minitf_runtime.plan.part import Part
from minitf_runtime.plan.rendezvous import Rendezvous
from minitf_runtime.types import is_full

MOST_SHAPES = 8  # after that many, new shapes take the general programs


class Specialized:
    """The programs for any feeds, and those for shapes that were fed twice."""

    def __init__(self, part: Part, compile_part: Callable[[Part], list[Program]]) -> None:
        self._part = part
        self._compile = compile_part
        self._general = Executable(compile_part(part), len(part.fetches))
        self._for_shapes: dict[Any, Executable | None] = {}
        self._seen: set[Any] = set()
        self._lock = threading.Lock()
        self._may_help = "specialize" in part.passes and _has_open_feed(part) and _on_cpus(part)

    @property
    def programs(self) -> list[Program]:
        return self._general.programs

    def run(self, rdv: Rendezvous, feeds: Sequence[Any]) -> list[Any]:
        """Runs the part with these feeds. Raises the step's first error."""
        if not self._may_help:
            return self._general.run(rdv, feeds)
        shapes = tuple([getattr(value, "shape", None) for value in feeds])
        found = self._for_shapes.get(shapes, self)
        if found is self:
            found = self._learn(shapes)
        return (found or self._general).run(rdv, feeds)  # type: ignore[union-attr]

    def _learn(self, shapes: tuple[Any, ...]) -> Executable | None:
        """The programs for these shapes; None the first time that they come."""
        with self._lock:
            if shapes not in self._for_shapes and shapes in self._seen:
                self._for_shapes[shapes] = self._made(shapes)
            elif len(self._seen) < MOST_SHAPES:
                self._seen.add(shapes)
            return self._for_shapes.get(shapes)

    def _made(self, shapes: tuple[Any, ...]) -> Executable | None:
        known = dict(zip(self._part.feeds, shapes))
        nodes: dict[str, tuple[Node, ...]] = {}
        try:
            for device, members in self._part.nodes.items():
                nodes[device] = tuple(infer(Graph(members), known))
        except OpError:
            return None  # the step itself tells what does not fit
        part = replace(self._part, nodes=nodes)
        return Executable(self._compile(part), len(part.fetches))


def _on_cpus(part: Part) -> bool:
    """Whether the whole part is; what a GPU receives of the feeds has no known shape anyway."""
    return all(parse_full(device).type != "GPU" for device in part.nodes)


def _has_open_feed(part: Part) -> bool:
    feeds = set(part.feeds)
    fed = [n for members in part.nodes.values() for n in members if n.name in feeds]
    return any(not is_full(shape) for n in fed for shape in n.output_shapes)
