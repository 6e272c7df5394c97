"""dynamic_rnn and bidirectional_dynamic_rnn: a cell in a loop over the time of its inputs."""

from __future__ import annotations

from typing import Any

from minitf import nest
from minitf.convert import constant, to_tensor
from minitf.default import control_dependencies, name_scope
from minitf.operation import Tensor
from minitf.ops import array, math
from minitf.ops.constant_value import constant_value
from minitf.ops.control_flow import while_loop
from minitf.ops.debug import Assert
from minitf.ops.tensor_array import TensorArray
from minitf.rnn.sizes import (
    batch_size_of,
    check_cell,
    joined_shape,
    joined_static_shape,
    state_dtype,
    transpose_batch_time,
)
from minitf.rnn.step import Lengths, network_scope
from minitf.tensor_shape import TensorShape
from minitf.variable_scope import variable_scope
from minitf_runtime.types import int32


def dynamic_rnn(
    cell: Any,
    inputs: Any,
    sequence_length: Any = None,
    initial_state: Any = None,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: Any = None,
) -> tuple[Any, Any]:
    """Runs a cell along `inputs` [batch, time, ...]: all outputs, and the last state.

    With `sequence_length` outputs after the end of a sequence are zeros, and its last state is the
    one at its end. Raises ValueError without an initial state and a dtype.
    """
    check_cell("cell", cell)
    with network_scope(scope or "rnn"):
        flat = nest.flatten(inputs)
        if not time_major:
            flat = [transpose_batch_time(x) for x in [to_tensor(x) for x in flat]]
        if sequence_length is not None:
            sequence_length = _lengths(sequence_length)
        batch_size = batch_size_of(flat)
        state = initial_state
        if state is None:
            state = start_state(cell, batch_size, dtype)
        if sequence_length is not None:
            with control_dependencies([_one_for_each(sequence_length, batch_size)]):
                sequence_length = array.identity(sequence_length, name="CheckSeqLen")
        loop = _Loop(cell, nest.pack_sequence_as(inputs, flat), state, sequence_length, dtype)
        outputs, last_state = loop.run(parallel_iterations or 32, swap_memory)
        if not time_major:
            outputs = nest.map_structure(transpose_batch_time, outputs)
        return outputs, last_state


def start_state(cell: Any, batch_size: Any, dtype: Any) -> Any:
    """The state that a cell starts with if no other is given. Raises ValueError without a type."""
    if not dtype:
        raise ValueError("If there is no initial_state, you must give a dtype.")
    if getattr(cell, "get_initial_state", None) is not None:
        return cell.get_initial_state(inputs=None, batch_size=batch_size, dtype=dtype)
    return cell.zero_state(batch_size, dtype)


def _lengths(given: Any) -> Tensor:
    lengths = math.cast(given, int32)
    if lengths.shape.ndims not in (None, 1):
        raise ValueError(
            f"sequence_length must be a vector of length batch_size, but saw shape: {lengths.shape}"
        )
    return array.identity(lengths, name="sequence_length")


def _one_for_each(lengths: Tensor, batch_size: Any) -> Any:
    """An Assert that there are as many lengths as sequences."""
    found = array.shape(lengths)
    wanted = array.stack([batch_size])
    text = f"Expected shape for Tensor {lengths.name} is "
    return Assert(
        math.reduce_all(math.equal(found, wanted)), [text, wanted, " but saw shape: ", found]
    )


class _Loop:
    """The loop of dynamic_rnn over time-major inputs."""

    def __init__(self, cell: Any, inputs: Any, state: Any, lengths: Any, dtype: Any) -> None:
        self.cell = cell
        self.inputs = inputs
        self.flat_input = nest.flatten(inputs)
        self.state = state
        self.dtype = dtype
        self.sizes = nest.flatten(cell.output_size)
        self.time_steps = array.shape(self.flat_input[0])[0]
        batch_size = batch_size_of(self.flat_input)
        self.shapes = [x.shape.with_rank_at_least(3) for x in self.flat_input]
        _check_alike(self.shapes)
        zeros = [self._zeros(batch_size, size) for size in self.sizes]
        self.zero_output = nest.pack_sequence_as(cell.output_size, zeros)
        self.lengths: Lengths | None = None
        if lengths is not None:
            self.lengths = Lengths(lengths, math.reduce_min(lengths), math.reduce_max(lengths))

    def _zeros(self, batch_size: Any, size: Any) -> Tensor:
        shape = array.stack(joined_shape(batch_size, size))
        return array.zeros(shape, state_dtype(self.dtype, self.state))

    def run(self, parallel_iterations: int, swap_memory: bool) -> tuple[Any, Any]:
        """All outputs, and the last state."""
        longest = self.time_steps if self.lengths is None else self.lengths.longest
        time = constant(0, dtype=int32, name="time")
        outputs, self.input_arrays = self._arrays()
        end = math.minimum(self.time_steps, math.maximum(1, longest))
        _, outputs, state = while_loop(
            cond=lambda time, *_: time < end,
            body=self._step,
            loop_vars=(time, outputs, self.state),
            parallel_iterations=parallel_iterations,
            maximum_iterations=self.time_steps,
            swap_memory=swap_memory,
        )
        return self._stacked(outputs), state

    def _arrays(self) -> tuple[Any, Any]:
        """Arrays for the outputs, and arrays that hold the inputs."""
        with name_scope("dynamic_rnn") as prefix:
            base = prefix
        batch = self.shapes[0][1].value
        dtype = state_dtype(self.dtype, self.state)
        outputs = tuple(
            self._array(f"{base}output_{i}", joined_element_shape(batch, size), dtype)
            for i, size in enumerate(self.sizes)
        )
        arrays = [
            self._array(f"{base}input_{i}", x.shape[1:], x.dtype)
            for i, x in enumerate(self.flat_input)
        ]
        return outputs, tuple(a.unstack(x) for a, x in zip(arrays, self.flat_input))

    def _array(self, name: str, element_shape: TensorShape, dtype: Any) -> TensorArray:
        return TensorArray(
            dtype=dtype,
            size=self.time_steps,
            element_shape=element_shape,
            tensor_array_name=name,
        )

    def _step(self, time: Tensor, arrays: Any, state: Any) -> Any:
        read = tuple(a.read(time) for a in self.input_arrays)
        for x, shape in zip(read, self.shapes):
            x.set_shape(shape[1:])
        inputs = nest.pack_sequence_as(self.inputs, read)
        if self.lengths is None:
            output, state = self.cell(inputs, state)
        else:
            old = state
            output, state = self.lengths.step(
                time, lambda: self.cell(inputs, old), self.zero_output, old, skip_conditionals=True
            )
        arrays = tuple(a.write(time, out) for a, out in zip(arrays, nest.flatten(output)))
        return time + 1, arrays, state

    def _stacked(self, arrays: Any) -> Any:
        outputs = [a.stack() for a in arrays]
        for output, size in zip(outputs, self.sizes):
            output.set_shape(joined_static_shape(self.shapes[0].as_list()[:2], size))
        return nest.pack_sequence_as(self.cell.output_size, outputs)


def joined_element_shape(batch: int | None, size: Any) -> TensorShape:
    """The static shape of one step's output."""
    known = constant_value(size) if isinstance(size, Tensor) else size
    return TensorShape([batch]).concatenate(known)


def _check_alike(shapes: list[TensorShape]) -> None:
    """Raises ValueError for inputs of unknown depth, or of different time or batch."""
    steps, batch = shapes[0].as_list()[:2]
    for shape in shapes:
        if not shape[2:].is_fully_defined():
            raise ValueError(
                "Input size (depth of inputs) must be accessible via shape inference, but saw "
                "value None."
            )
        if steps != shape[0].value:
            raise ValueError(
                "Time steps is not the same for all the elements in the input in a batch."
            )
        if batch != shape[1].value:
            raise ValueError("Batch_size is not the same for all the elements in the input.")


def bidirectional_dynamic_rnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: Any,
    sequence_length: Any = None,
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: Any = None,
) -> tuple[Any, Any]:
    """Two networks, one against time: (outputs of both), (last states of both)."""
    check_cell("cell_fw", cell_fw)
    check_cell("cell_bw", cell_bw)
    options = dict(
        sequence_length=sequence_length,
        dtype=dtype,
        parallel_iterations=parallel_iterations,
        swap_memory=swap_memory,
        time_major=time_major,
    )
    time_axis, batch_axis = (0, 1) if time_major else (1, 0)

    def reversed_in_time(x: Any) -> Any:
        if sequence_length is None:
            return array.reverse(x, axis=[time_axis])
        return array.reverse_sequence(
            input=x, seq_lengths=sequence_length, seq_axis=time_axis, batch_axis=batch_axis
        )

    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as forward:
            output_fw, state_fw = dynamic_rnn(
                cell_fw, inputs, initial_state=initial_state_fw, scope=forward, **options
            )
        with variable_scope("bw") as backward:
            turned = nest.map_structure(reversed_in_time, inputs)
            output, state_bw = dynamic_rnn(
                cell_bw, turned, initial_state=initial_state_bw, scope=backward, **options
            )
    return (output_fw, reversed_in_time(output)), (state_fw, state_bw)
