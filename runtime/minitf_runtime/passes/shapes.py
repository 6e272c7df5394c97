"""Shapes of a whole step from the shapes of what is fed, so that transfers know their bytes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from minitf_runtime.errors import InvalidArgumentError
from minitf_runtime.graph import Graph, Node
from minitf_runtime.ops.registry import OPS, infer_shapes
from minitf_runtime.ops.static import StaticValues
from minitf_runtime.passes.ids import is_back_edge
from minitf_runtime.passes.order import step_order
from minitf_runtime.types import Shape, merge_shapes, show_shape

Tensor = tuple[str, int]


def infer(graph: Graph, known: Mapping[str, Shape]) -> Graph:
    """The graph with output shapes as far as they follow from those of the `known` nodes.

    What construction knew stays. Raises InvalidArgumentError where an op's inputs do not fit.
    """
    return _Inference(graph).run(known)


class _Inference:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.shapes: dict[Tensor, Shape] = {
            (n.name, i): shape for n in graph for i, shape in enumerate(n.output_shapes)
        }
        self.static = StaticValues(self._describe)

    def run(self, known: Mapping[str, Shape]) -> Graph:
        for name in step_order(self.graph):
            n = self.graph[name]
            if name in known:
                self._learn(n, [known[name]])
            elif n.op in OPS and n.inputs and not self._closes_loop(n):
                self._learn(n, self._outputs(n))
        return self.graph.map(self._with_shapes)

    def _closes_loop(self, n: Node) -> bool:
        """Whether one of its inputs is not known yet, for it comes round a loop."""
        return any(is_back_edge(self.graph[source], n) for source, _ in n.inputs)

    def _outputs(self, n: Node) -> list[Shape]:
        try:
            return infer_shapes(
                OPS[n.op],
                [self.shapes[i] for i in n.inputs],
                n.attrs,
                len(n.output_types),
                lambda k: self.static.value(n.inputs[k]),
                lambda k: self.static.shape_value(n.inputs[k]),
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
        return n.op, n.attrs, n.inputs, [self.shapes[i] for i in n.inputs], index, self.shapes[key]
