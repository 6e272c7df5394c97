"""static_rnn and its kin: a cell called once for each of a list of inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minitf import nest
from minitf.convert import to_tensor
from minitf.default import control_dependencies
from minitf.operation import Tensor
from minitf.ops import array, math
from minitf.rnn.sizes import check_cell, joined_shape, joined_static_shape, state_dtype
from minitf.rnn.step import Lengths, network_scope
from minitf.tensor_shape import TensorShape, unknown_shape
from minitf.variable_scope import variable_scope
from minitf_runtime.types import int32


def static_rnn(
    cell: Any,
    inputs: Sequence[Any],
    initial_state: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """Calls a cell for each of the inputs: the list of outputs, and the last state.

    Raises TypeError or ValueError for inputs that are no list, empty or of unknown size.
    """
    check_cell("cell", cell)
    _check_inputs(inputs)
    with network_scope(scope or "rnn") as opened:
        known, batch_size = _batch_size(inputs)
        state = initial_state
        if state is None:
            state = _start_state(cell, batch_size, dtype)
        lengths, zero_output = None, None
        if sequence_length is not None:
            given = to_tensor(sequence_length, name="sequence_length")
            if given.shape.ndims not in (None, 1):
                raise ValueError("sequence_length must be a vector of length batch_size")
            zero_output = _zero_output(cell, batch_size, known, state_dtype(dtype, state))
            given = math.cast(given, int32)
            lengths = Lengths(given, math.reduce_min(given), math.reduce_max(given))
        outputs = []
        for time, x in enumerate(inputs):
            if time > 0:
                opened.reuse_variables()
            if lengths is None:
                output, state = cell(x, state)
            else:
                output, state = _step(lengths, time, cell, x, state, zero_output)
            outputs.append(output)
        return outputs, state


def _step(lengths: Lengths, time: int, cell: Any, x: Any, state: Any, zero_output: Any) -> Any:
    return lengths.step(time, lambda: cell(x, state), zero_output, state)


def _check_inputs(inputs: Any) -> None:
    if not nest.is_nested(inputs):
        raise TypeError("inputs must be a sequence")
    if not inputs:
        raise ValueError("inputs must not be empty")


def _batch_size(inputs: Any) -> tuple[int | None, Any]:
    """The batch size if it is known before any run, and as a number or tensor."""
    flat = nest.flatten(inputs)
    if flat[0].shape.ndims == 1:
        known = flat[0].shape[0]
    else:
        known = flat[0].shape.with_rank_at_least(2)[0]
        for x in flat:
            shape = x.shape.with_rank_at_least(2)
            known.merge_with(shape[0])
            for i, size in enumerate(shape[1:]):
                if size.value is None:
                    raise ValueError(
                        f"Input size (dimension {i} of inputs) must be accessible via shape "
                        "inference, but saw value None."
                    )
    return known.value, known.value or array.shape(flat[0])[0]


def _start_state(cell: Any, batch_size: Any, dtype: Any) -> Any:
    if not dtype:
        raise ValueError("If no initial_state is provided, dtype must be specified")
    if getattr(cell, "get_initial_state", None) is not None:
        return cell.get_initial_state(inputs=None, batch_size=batch_size, dtype=dtype)
    return cell.zero_state(batch_size, dtype)


def _zero_output(cell: Any, batch_size: Any, known: int | None, dtype: Any) -> Any:
    def zeros(size: Any) -> Tensor:
        made = array.zeros(array.stack(joined_shape(batch_size, size)), dtype)
        made.set_shape(joined_static_shape(known, size))
        return made

    sizes = nest.flatten(cell.output_size)
    return nest.pack_sequence_as(cell.output_size, [zeros(size) for size in sizes])


def static_state_saving_rnn(
    cell: Any,
    inputs: Sequence[Any],
    state_saver: Any,
    state_name: Any,
    sequence_length: Any = None,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """static_rnn that starts from `state_saver.state(name)`, and saves the last state there.

    Raises ValueError if the names are not as many, or not nested, as the states.
    """
    _check_names(state_name, cell.state_size)
    names = nest.flatten(state_name)
    start = nest.pack_sequence_as(cell.state_size, [state_saver.state(n) for n in names])
    outputs, state = static_rnn(
        cell, inputs, initial_state=start, sequence_length=sequence_length, scope=scope
    )
    parts = nest.flatten(state)
    saved = [state_saver.save_state(name, part) for name, part in zip(names, parts)]
    with control_dependencies(saved):
        outputs[-1] = nest.map_structure(array.identity, outputs[-1])
        state = nest.map_structure(array.identity, state)
    return outputs, state


def _check_names(names: Any, sizes: Any) -> None:
    if nest.is_nested(names) != nest.is_nested(sizes):
        raise ValueError(
            "state_name should be the same type as cell.state_size.  state_name: "
            f"{names}, cell.state_size: {sizes}"
        )
    given, wanted = len(nest.flatten(names)), len(nest.flatten(sizes))
    if given != wanted:
        raise ValueError(f"#elems(state_name) != #elems(state_size): {given} vs. {wanted}")


def static_bidirectional_rnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: Sequence[Any],
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    scope: Any = None,
) -> tuple[Any, Any, Any]:
    """Two networks, one against time: outputs joined in depth, and the last state of each."""
    check_cell("cell_fw", cell_fw)
    check_cell("cell_bw", cell_bw)
    _check_inputs(inputs)
    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as forward:
            output_fw, state_fw = static_rnn(
                cell_fw, inputs, initial_state_fw, dtype, sequence_length, scope=forward
            )
        with variable_scope("bw") as backward:
            turned = _reversed(inputs, sequence_length)
            output, state_bw = static_rnn(
                cell_bw, turned, initial_state_bw, dtype, sequence_length, scope=backward
            )
    output_bw = _reversed(output, sequence_length)
    pairs = zip(nest.flatten(output_fw), nest.flatten(output_bw))
    joined = [array.concat([fw, bw], 1) for fw, bw in pairs]
    return nest.pack_sequence_as(output_fw, joined), state_fw, state_bw


def _reversed(inputs: Sequence[Any], lengths: Any) -> list[Any]:
    """The inputs of each sequence in the order from its end to its start."""
    if lengths is None:
        return list(reversed(inputs))
    columns = zip(*(nest.flatten(x) for x in inputs))
    turned = zip(*(_column_reversed(column, lengths) for column in columns))
    return [nest.pack_sequence_as(x, flat) for x, flat in zip(inputs, turned)]


def _column_reversed(column: Sequence[Tensor], lengths: Any) -> list[Tensor]:
    shape: TensorShape = unknown_shape(column[0].shape.ndims)
    for x in column:
        x.set_shape(shape)
    turned = array.unstack(array.reverse_sequence(array.stack(column), lengths, 0, 1))
    for x in turned:
        x.set_shape(shape)
    return turned  # type: ignore[no-any-return]
