"""What all kinds of recurrent networks share: the scope, and a step that ends some sequences."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from minitf import nest
from minitf.default import colocate_with, get_default_graph
from minitf.operation import Tensor
from minitf.ops import array
from minitf.ops.control_flow import cond
from minitf.ops.tensor_array import TensorArray
from minitf.variable_scope import VariableScope, variable_scope


@contextmanager
def network_scope(scope: Any, default_name: str | None = None) -> Iterator[VariableScope]:
    """The variable scope of a network. Its variables are read where the network runs.

    Inside a loop they are not: the loop may update them.
    """
    with variable_scope(scope, default_name) as opened:
        context = get_default_graph().control_flow_context
        outside = context is None or context.while_context is None
        if outside and opened.caching_device is None:
            opened.set_caching_device(lambda op: op.device)
        yield opened


def pass_through(finished: Tensor, old: Any, new: Any) -> Any:
    """The old value for sequences that have ended; what has no batch is always new."""
    if isinstance(old, TensorArray) or old.shape.ndims == 0:
        return new
    with colocate_with(new):
        return array.where(finished, old, new)


class Lengths:
    """The lengths of the sequences of a batch, and what a step does with them."""

    def __init__(self, lengths: Tensor, shortest: Tensor, longest: Tensor) -> None:
        self.lengths = lengths
        self.shortest = shortest
        self.longest = longest

    def step(
        self,
        time: Any,
        call_cell: Callable[[], Any],
        zero_output: Any,
        state: Any,
        skip_conditionals: bool = False,
    ) -> tuple[Any, Any]:
        """One step: ended sequences give zeros and keep their state.

        Without `skip_conditionals` the cell is not called when all have ended.
        """
        old = nest.flatten(zero_output) + nest.flatten(state)
        finished = time >= self.lengths

        def called() -> list[Any]:
            output, new_state = call_cell()
            nest.assert_same_structure(zero_output, output)
            nest.assert_same_structure(state, new_state)
            return nest.flatten(output) + nest.flatten(new_state)

        def passed(new: list[Any]) -> list[Any]:
            return [pass_through(finished, *pair) for pair in zip(old, new)]

        def some_running() -> Any:
            new = called()
            return cond(time < self.shortest, lambda: new, lambda: passed(new))

        if skip_conditionals:
            result = passed(called())
        else:
            result = cond(time >= self.longest, lambda: old, some_running)
        for was, now in zip(old, result):
            if not isinstance(now, TensorArray):
                now.set_shape(was.shape)
        count = len(nest.flatten(zero_output))
        return (
            nest.pack_sequence_as(zero_output, result[:count]),
            nest.pack_sequence_as(state, result[count:]),
        )
