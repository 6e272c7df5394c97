"""FuncGraph: the graph of a function under construction. Tensors of the graph around it that its
ops take become arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

from minitf.graph import Graph, describe
from minitf.operation import Operation, Tensor
from minitf_runtime.graph import Function, Node
from minitf_runtime.ops.static import StaticValues
from minitf_runtime.types import DType, Shape, resource

_numbers = count()


class FuncGraph(Graph):
    """The body of a function that is called with tensors, and with those that it captured.

    by_value: it has arguments only, and copies the ops that make what it takes from outside.
    """

    building_function = True

    def __init__(self, name: str, outer: Graph, by_value: bool = False) -> None:
        super().__init__()
        self.name = name
        self.outer = outer
        self.by_value = by_value
        self.seed = outer.seed
        self.variable_scope_store = outer.variable_scope_store
        self._collections = {key: list(items) for key, items in outer._collections.items()}
        self.arguments: list[Tensor] = []
        self.captures: dict[Tensor, Tensor] = {}
        self._copies: dict[Operation, Operation] = {}
        self._handles: dict[Tensor, Tensor] = {}  # of captured variables, as they are outside
        self.static = StaticValues(self._described)

    def _described(self, key: Any) -> Any:
        """A Tensor as StaticValues wants it; a captured handle tells what the variable holds."""
        outside = self._handles.get(key)
        if outside is None:
            return describe(key)
        return "Identity", {"T": resource}, (outside,), [outside._shape], 0, key._shape

    @property
    def outermost(self) -> Graph:
        return self.outer.outermost

    def argument(self, name: str, dtype: DType, shape: Shape) -> Tensor:
        attrs = {"dtype": dtype.base, "shape": shape}
        made = super().create_op("Placeholder", [], name=name, attrs=attrs).outputs[0]
        self.arguments.append(made)
        return made

    def create_op(self, op_type: str, inputs: Sequence[Tensor], *args: Any, **kwargs: Any) -> Any:
        taken = [t if t.graph is self else self.capture(t) for t in inputs]
        return super().create_op(op_type, taken, *args, **kwargs)

    def as_graph_element(
        self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True
    ) -> Any:
        """Graph.as_graph_element, where a tensor of a graph around stands for its argument here."""
        if isinstance(obj, Tensor) and obj.graph is not self:
            obj = self.capture(obj)
        return super().as_graph_element(obj, allow_tensor, allow_operation)

    def capture(self, tensor: Tensor) -> Tensor:
        """The tensor of this graph that stands for one of a graph around it.

        Raises ValueError for a tensor of any other graph.
        """
        self._check_reachable(tensor)
        if self.by_value:
            return self._copy(tensor.op).outputs[tensor.value_index]
        if tensor not in self.captures:
            with self.control_dependencies(None):
                attrs = {"dtype": tensor.dtype.base, "shape": tensor._shape}
                op = super().create_op("Placeholder", [], name=tensor.op.name, attrs=attrs)
            self.captures[tensor] = op.outputs[0]
            if tensor.dtype is resource:
                self._handles[op.outputs[0]] = tensor
        return self.captures[tensor]

    def _check_reachable(self, tensor: Tensor) -> None:
        graph: Any = self.outer
        while graph is not None:
            if tensor.graph is graph:
                return
            graph = getattr(graph, "outer", None)
        raise ValueError(
            f"The tensor '{tensor}' cannot be accessed here: it is defined in another function or "
            "graph. Use return values, explicit Python locals or TensorFlow collections to access "
            f"it. Accessed from the function '{self.name}'."
        )

    def _copy(self, op: Operation) -> Operation:
        """An op of the graph around, with all that it needs, made once more here."""
        if op not in self._copies:
            _check_copied(op)
            with self.control_dependencies(None):
                inputs = [self._copy(t.op).outputs[t.value_index] for t in op.inputs]
                made = super().create_op(op.type, inputs, name=op.name, attrs=dict(op._attrs))
            for new, old in zip(made.outputs, op.outputs):
                new._shape = old._shape
            made._source, made._device = op._source, op._device
            made._add_control_inputs([self._copy(c) for c in op.control_inputs])
            self._copies[op] = made
        return self._copies[op]

    @property
    def captured(self) -> list[Tensor]:
        """What the function takes from outside, in the order of its arguments."""
        return list(self.captures)

    def function(self, results: Sequence[Tensor]) -> Function:
        """The finished function, as plain data: what the results need, and what has an effect."""
        args = [*self.arguments, *self.captures.values()]
        wanted = {t.op for t in (*results, *args)} | {op for op in self._ops if op.op_def.stateful}
        stack = list(wanted)
        while stack:
            op = stack.pop()
            for source in (*(t.op for t in op.inputs), *op.control_inputs):
                if source not in wanted:
                    wanted.add(source)
                    stack.append(source)
        arguments = {t.op for t in args}
        return Function(
            self.name,
            tuple(_node(op, op in arguments) for op in self._ops if op in wanted),
            tuple(t.op.name for t in args),
            tuple((t.op.name, t.value_index) for t in results),
        )


def _node(op: Operation, is_argument: bool) -> Node:
    node = op.to_node()
    return node.with_(op="_Arg", attrs={"T": node.output_types[0]}) if is_argument else node


def _check_copied(op: Operation) -> None:
    """Raises ValueError for an op that cannot be made twice: it has a state of its own."""
    if op.type == "Placeholder":
        raise ValueError(f"Cannot capture a placeholder (name:{op.name}, type:{op.type}) by value.")
    makes_dataset = any(t.dtype.name == "variant" for t in op.outputs)
    if op.op_def.stateful and not makes_dataset:
        raise ValueError(
            f"Cannot capture a stateful node (name:{op.name}, type:{op.type}) by value."
        )


def function_name(prefix: str, fn: Callable[..., Any] | None = None) -> str:
    """A name that no other function of this process has, telling what it was made of."""
    told = "" if fn is None else f"_{getattr(fn, '__name__', None) or type(fn)}"
    return f"{prefix}{told}_{next(_numbers)}"
