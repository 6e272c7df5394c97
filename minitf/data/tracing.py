"""Functions of elements, such as that of Dataset.map, traced into functions of the graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitf.data import structure
from minitf.default import get_default_graph
from minitf.func_graph import FuncGraph, function_name
from minitf.operation import Tensor
from minitf.ops.apply import apply_op
from minitf.tensor_shape import as_shape
from minitf_runtime.graph import Function


class Traced:
    """A Python function as one of the graph: `function`, what it `captured`, and the structure of
    what it returns."""

    def __init__(self, func: Callable[..., Any], transformation: str, spec: Any) -> None:
        """Calls `func` once, with an element of the structure `spec` as TensorFlow does: a tuple
        becomes several arguments. Raises TypeError for results that no element can be."""
        readable = transformation.replace(".", "_").removesuffix("()")
        name = function_name(f"__inference_{readable}", func)
        graph = FuncGraph(name, get_default_graph())
        with graph.as_default():
            args = [
                graph.argument(f"args_{i}", dtype, as_shape(shape))
                for i, (dtype, shape) in enumerate(
                    zip(structure.flat_types(spec), structure.flat_shapes(spec))
                )
            ]
            nested = structure.from_tensors(spec, args)
            returned = func(*nested) if type(nested) is tuple else func(nested)
            if isinstance(returned, list):
                returned = tuple(returned)
            try:
                self.spec = structure.spec_of(returned)
                flat = structure.to_tensors(self.spec, returned)
            except (TypeError, ValueError):
                raise TypeError(
                    f"Unsupported return value from function passed to {transformation}: "
                    f"{returned}."
                ) from None
            results: list[Tensor] = [apply_op("Identity", t) for t in flat]
        self.captured = graph.captured
        self.function: Function = graph.function(results)
