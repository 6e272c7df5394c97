"""Shapes of a whole step from the shapes of what is fed, so that transfers know their bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from minitf_runtime.errors import InvalidArgumentError
from minitf_runtime.graph import Graph, Node
from minitf_runtime.ops.registry import OPS, infer_shapes
from minitf_runtime.ops.static import StaticValues
from minitf_runtime.passes.carried import Place, handed_on, places, pushed
from minitf_runtime.passes.frames import ENTERS, has_loops
from minitf_runtime.passes.order import step_order
from minitf_runtime.types import Shape, merge_shapes, show_shape

Tensor = tuple[str, int]


def infer(graph: Graph, known: Mapping[str, Shape]) -> Graph:
    """The graph with output shapes as far as they follow from those of the `known` nodes.

    A loop variable is taken to keep the shape that it enters with, until the loop says otherwise;
    what comes from a stack or a TensorArray is like what went in. What construction knew stays.
    Raises InvalidArgumentError where an op's inputs do not fit.
    """
    if has_loops(graph.nodes):
        try:
            return _Inference(graph, known, loops=True).run()
        except InvalidArgumentError:  # of an iteration that may never come
            return _Inference(graph, known, loops=False).run()
    return _Inference(graph, known, loops=False).run()


class _Inference:
    def __init__(self, graph: Graph, known: Mapping[str, Shape], loops: bool) -> None:
        self.graph = graph
        self.known = known
        self.loops = loops
        self.places = places(graph)
        self.pushed = pushed(graph)
        self._forget()

    def _forget(self) -> None:
        self.shapes: dict[Tensor, Shape] = {
            (n.name, i): shape for n in self.graph for i, shape in enumerate(n.output_shapes)
        }
        self.static = StaticValues(self._describe)

    def run(self) -> Graph:
        order = step_order(self.graph)
        self._visit(order)
        while self._wrong_places():
            self._forget()
            self._visit(order)
        return self.graph.map(self._with_shapes)

    def _wrong_places(self) -> list[Place]:
        """Those of which less is assumed from now on."""
        return [place for place in set(self.places.values()) if not place.agrees(self.shapes)]

    def _visit(self, order: Sequence[str]) -> None:
        for name in order:
            n = self.graph[name]
            if name in self.known:
                self._learn(n, [self.known[name]])
            elif name in self.places:
                if self.loops:
                    self._learn(n, self._taken(n))
            elif n.op in ENTERS:
                self._learn(n, [self.shapes[n.inputs[0]]])
            elif n.op in OPS and n.inputs:
                self._learn(n, self._outputs(n))

    def _taken(self, n: Node) -> list[Shape]:
        """The shapes of what a node takes from a loop variable, a stack or an array."""
        shape = self.places[n.name].shape(self.shapes)
        if n.op == "TensorArrayGatherV3":
            rows = self.shapes[n.inputs[1]]
            return [None if shape is None or not rows else (*rows, *shape)]
        return [shape]

    def _outputs(self, n: Node) -> list[Shape]:
        try:
            return infer_shapes(
                OPS[n.op],
                [self.shapes[i] for i in n.inputs],
                n.attrs,
                len(n.output_types),
                self.static,
                n.inputs,
            )
        except ValueError as e:
            raise self._misfit(n, e) from None

    def _learn(self, n: Node, shapes: list[Shape]) -> None:
        for i, shape in enumerate(shapes):
            try:
                self.shapes[n.name, i] = merge_shapes(self.shapes[n.name, i], shape)
            except ValueError as e:
                raise self._misfit(n, e) from None

    def _misfit(self, n: Node, cause: ValueError) -> InvalidArgumentError:
        inputs = ", ".join(show_shape(self.shapes[i]) for i in n.inputs)
        where = f" made at {n.source}" if n.source else ""
        error = InvalidArgumentError(
            None, None, f"{cause} for '{n.name}' (op: '{n.op}'){where} with input shapes: {inputs}."
        )
        error.node = n.name
        return error

    def _with_shapes(self, n: Node) -> Node:
        shapes = tuple(self.shapes[n.name, i] for i in range(len(n.output_types)))
        return n if shapes == n.output_shapes else n.with_(output_shapes=shapes)

    def _describe(self, key: Any) -> Any:
        """A tensor as StaticValues wants it."""
        name, index = key
        n = self.graph[name]
        op, attrs, inputs = n.op, n.attrs, n.inputs
        source = handed_on(n, self.pushed)
        if source is not None:
            op, attrs, inputs = "Identity", {"T": n.output_types[index]}, (source,)
        return op, attrs, inputs, [self.shapes[i] for i in inputs], index, self.shapes[key]
