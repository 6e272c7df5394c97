"""raw_rnn: a cell in a loop whose inputs, states and end a function decides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitf import nest
from minitf.convert import constant, to_tensor
from minitf.operation import Tensor
from minitf.ops import array, math
from minitf.ops.control_flow import while_loop
from minitf.ops.tensor_array import TensorArray
from minitf.rnn.dynamic import joined_element_shape
from minitf.rnn.sizes import check_cell, joined_shape
from minitf.rnn.step import network_scope, pass_through
from minitf.tensor_shape import Dimension
from minitf_runtime.types import int32


def raw_rnn(
    cell: Any,
    loop_fn: Callable[..., Any],
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    scope: Any = None,
) -> tuple[Any, Any, Any]:
    """Runs a cell as `loop_fn` tells: arrays of what it emits, last state, last loop state.

    loop_fn(time, output, state, loop_state) gives (finished, next input, next state, what to emit,
    loop state); first it is called with (0, None, None, None) for a start.
    """
    check_cell("cell", cell)
    if not callable(loop_fn):
        raise TypeError("loop_fn must be a callable")
    with network_scope(scope or "rnn"):
        time = constant(0, dtype=int32)
        finished, first_input, state, emitted, told_state = loop_fn(time, None, None, None)
        loop_state = constant(0, dtype=int32) if told_state is None else told_state
        flat_input = nest.flatten(first_input)
        known = _static_batch_size(flat_input)
        batch_size = array.shape(flat_input[0])[0] if known is None else known
        nest.assert_same_structure(state, cell.state_size)
        flat_state = [to_tensor(s) for s in nest.flatten(state)]
        state = nest.pack_sequence_as(state, flat_state)
        emit = _Emit(cell, emitted, flat_state, known, batch_size)
        step = _Step(cell, loop_fn, emit)
        *_, arrays, last_state, last_loop_state = while_loop(
            lambda _, finished, *__: math.logical_not(math.reduce_all(finished)),
            step,
            loop_vars=[time, finished, first_input, emit.arrays, state, loop_state],
            parallel_iterations=parallel_iterations or 32,
            swap_memory=swap_memory,
        )
        return arrays, last_state, None if told_state is None else last_loop_state


def _static_batch_size(inputs: list[Tensor]) -> int | None:
    """The batch size if it is known. Raises ValueError for inputs of different ones."""
    sizes = [Dimension(None) if x.shape.ndims is None else x.shape[0] for x in inputs]
    for size in sizes:
        sizes[0].merge_with(size)
    return sizes[0].value


class _Emit:
    """Arrays for what the loop emits, and the zeros that ended sequences emit."""

    def __init__(
        self, cell: Any, structure: Any, flat_state: list[Tensor], known: Any, batch_size: Any
    ) -> None:
        if structure is None:
            structure = cell.output_size
            sizes = nest.flatten(structure)
            dtypes = [flat_state[0].dtype] * len(sizes)
        else:
            parts = nest.flatten(structure)
            sizes = [p.shape if p.shape.is_fully_defined() else array.shape(p) for p in parts]
            dtypes = [p.dtype for p in parts]
        arrays = [
            TensorArray(
                dtype=dtype,
                dynamic_size=True,
                element_shape=joined_element_shape(known, size),
                size=0,
                name=f"rnn_output_{i}",
            )
            for i, (dtype, size) in enumerate(zip(dtypes, sizes))
        ]
        self.arrays = nest.pack_sequence_as(structure, arrays)
        zeros = [array.zeros(joined_shape(batch_size, s), t) for s, t in zip(sizes, dtypes)]
        self.zeros = nest.pack_sequence_as(structure, zeros)


class _Step:
    """The body of the loop."""

    def __init__(self, cell: Any, loop_fn: Callable[..., Any], emit: _Emit) -> None:
        self.cell = cell
        self.loop_fn = loop_fn
        self.emit = emit

    def __call__(
        self, time: Tensor, finished: Tensor, inputs: Any, arrays: Any, state: Any, loop_state: Any
    ) -> Any:
        output, cell_state = self.cell(inputs, state)
        nest.assert_same_structure(state, cell_state)
        nest.assert_same_structure(self.cell.output_size, output)
        next_time = time + 1
        ended, next_inputs, next_state, emitted, told_state = self.loop_fn(
            next_time, output, cell_state, loop_state
        )
        nest.assert_same_structure(state, next_state)
        nest.assert_same_structure(inputs, next_inputs)
        nest.assert_same_structure(arrays, emitted)

        def passed(old: Any, new: Any) -> Any:
            return nest.map_structure(lambda a, b: pass_through(finished, a, b), old, new)

        emitted = passed(self.emit.zeros, emitted)
        next_state = passed(state, next_state)
        arrays = nest.map_structure(lambda a, value: a.write(time, value), arrays, emitted)
        finished = math.logical_or(finished, ended)
        loop_state = loop_state if told_state is None else told_state
        return next_time, finished, next_inputs, arrays, next_state, loop_state
