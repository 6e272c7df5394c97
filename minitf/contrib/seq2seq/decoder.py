"""Decoder, and dynamic_decode: a loop of its steps until all sequences of a batch have ended."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from minitf import nest
from minitf.convert import constant, to_tensor
from minitf.operation import Tensor
from minitf.ops import array, math
from minitf.ops.constant_value import constant_value
from minitf.ops.control_flow import while_loop
from minitf.ops.tensor_array import TensorArray
from minitf.rnn.sizes import transpose_batch_time, zero_state
from minitf.rnn.step import network_scope
from minitf.tensor_shape import TensorShape
from minitf_runtime.types import int32


class Decoder:
    """What starts a batch of sequences, and makes one step of it (TF: seq2seq.Decoder)."""

    @property
    def batch_size(self) -> Any:
        raise NotImplementedError

    @property
    def output_size(self) -> Any:
        """A number or shape for each tensor of a step's output, without the batch."""
        raise NotImplementedError

    @property
    def output_dtype(self) -> Any:
        """A type for each tensor of a step's output."""
        raise NotImplementedError

    def initialize(self, name: str | None = None) -> Any:
        """(finished, first inputs, first state)"""
        raise NotImplementedError

    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> Any:
        """(outputs, next state, next inputs, finished)"""
        raise NotImplementedError

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> Any:
        """(outputs, state) as the user gets them, of those of all steps."""
        raise NotImplementedError

    @property
    def tracks_own_finished(self) -> bool:
        """Whether `finished` of a step tells of earlier steps, too."""
        return False


def dynamic_decode(
    decoder: Any,
    output_time_major: bool = False,
    impute_finished: bool = False,
    maximum_iterations: Any = None,
    parallel_iterations: int = 32,
    swap_memory: bool = False,
    scope: Any = None,
) -> tuple[Any, Any, Any]:
    """Steps of a decoder until all have finished: outputs [batch, time, ...], last state, lengths.

    With `impute_finished` a sequence that has ended keeps its state, and its outputs are zeros.
    Raises TypeError for what is no Decoder, ValueError for a maximum that is no scalar.
    """
    if not isinstance(decoder, Decoder):
        raise TypeError(f"Expected decoder to be type Decoder, but saw: {type(decoder)}")
    with network_scope(scope, "decoder"):
        if maximum_iterations is not None:
            maximum_iterations = to_tensor(maximum_iterations, int32, name="maximum_iterations")
            if maximum_iterations.shape.ndims != 0:
                raise ValueError("maximum_iterations must be a scalar")
        loop = _Loop(decoder, impute_finished, maximum_iterations)
        arrays, state, lengths = loop.run(parallel_iterations, swap_memory)
        outputs = nest.map_structure(lambda a: a.stack(), arrays)
        with suppress(NotImplementedError):  # a decoder need not define it
            outputs, state = decoder.finalize(outputs, state, lengths)
        if not output_time_major:
            outputs = nest.map_structure(transpose_batch_time, outputs)
    return outputs, state, lengths


class _Loop:
    """The loop of dynamic_decode."""

    def __init__(self, decoder: Decoder, impute_finished: bool, limit: Tensor | None) -> None:
        self.decoder = decoder
        self.impute = impute_finished
        self.limit = limit
        self.finished, self.inputs, self.state = decoder.initialize()
        self.zero_outputs = nest.map_structure(
            lambda size, dtype: zero_state(size, decoder.batch_size, dtype),
            decoder.output_size,
            decoder.output_dtype,
        )

    def run(self, parallel_iterations: int, swap_memory: bool) -> tuple[Any, Any, Tensor]:
        """The arrays of outputs, the last state, the lengths of the sequences."""
        if self.limit is not None:
            self.finished = math.logical_or(self.finished, self.limit <= 0)
        lengths = array.zeros_like(self.finished, dtype=int32)
        time = constant(0, dtype=int32)
        arrays = nest.map_structure(
            self._array, self.decoder.output_size, self.decoder.output_dtype
        )
        _, arrays, state, _, _, lengths = while_loop(
            lambda time, arrays, state, inputs, finished, lengths: math.logical_not(
                math.reduce_all(finished)
            ),
            self._step,
            loop_vars=(time, arrays, self.state, self.inputs, self.finished, lengths),
            parallel_iterations=parallel_iterations,
            maximum_iterations=self.limit,
            swap_memory=swap_memory,
        )
        return arrays, state, lengths

    def _array(self, size: Any, dtype: Any) -> TensorArray:
        shape = None
        if isinstance(size, TensorShape) and size.ndims != 0:
            batch = constant_value(to_tensor(self.decoder.batch_size, name="batch_size"))
            shape = TensorShape([batch]).concatenate(size)
        return TensorArray(dtype=dtype, size=0, dynamic_size=True, element_shape=shape)

    def _step(
        self, time: Any, arrays: Any, state: Any, inputs: Any, finished: Any, lengths: Any
    ) -> Any:
        outputs, new_state, new_inputs, new_finished = self.decoder.step(time, inputs, state)
        if not self.decoder.tracks_own_finished:
            new_finished = math.logical_or(new_finished, finished)
        goes_on = math.logical_not(finished)
        lengths = array.where(goes_on, array.fill(array.shape(lengths), time + 1), lengths)
        nest.assert_same_structure(state, new_state)
        nest.assert_same_structure(arrays, outputs)
        nest.assert_same_structure(inputs, new_inputs)
        if self.impute:
            outputs = nest.map_structure(
                lambda out, zero: array.where(finished, zero, out), outputs, self.zero_outputs
            )
            new_state = nest.map_structure(
                lambda new, old: _kept(finished, old, new), new_state, state
            )
        arrays = nest.map_structure(lambda a, out: a.write(time, out), arrays, outputs)
        return time + 1, arrays, new_state, new_inputs, new_finished, lengths


def _kept(finished: Tensor, old: Any, new: Any) -> Any:
    """The old state of sequences that have ended; what has no batch is always new."""
    if isinstance(old, TensorArray):
        return new
    new.set_shape(old.shape)
    return new if new.shape.ndims == 0 else array.where(finished, old, new)
