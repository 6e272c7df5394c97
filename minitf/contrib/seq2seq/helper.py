"""Helpers choose what a decoder's cell sees next: here those that are told by functions or inputs.

Those that feed back what was decoded are in inference.py; those that do at times, in scheduled.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitf.convert import to_tensor
from minitf.default import name_scope
from minitf.operation import Tensor
from minitf.ops import array, math
from minitf.ops.control_flow import cond
from minitf.ops.embedding import embedding_lookup
from minitf.ops.tensor_array import TensorArray
from minitf.rnn.sizes import transpose_batch_time
from minitf.tensor_shape import TensorShape
from minitf_runtime.types import int32


class Helper:
    """What samples from a step's outputs, and makes the next inputs (TF: seq2seq.Helper)."""

    _batch_size: Any

    @property
    def batch_size(self) -> Any:
        """The number of sequences, as a tensor."""
        return self._batch_size

    @property
    def sample_ids_shape(self) -> Any:
        """The shape of one sequence's sample."""
        return TensorShape([])

    @property
    def sample_ids_dtype(self) -> Any:
        return int32

    def initialize(self, name: str | None = None) -> Any:
        """(finished, first inputs)"""
        raise NotImplementedError

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """What is drawn from the outputs of a step."""
        raise NotImplementedError

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> Any:
        """(finished, next inputs, next state)"""
        raise NotImplementedError


class CustomHelper(Helper):
    """A helper of three functions (TF: seq2seq.CustomHelper)."""

    def __init__(
        self,
        initialize_fn: Callable[..., Any],
        sample_fn: Callable[..., Any],
        next_inputs_fn: Callable[..., Any],
        sample_ids_shape: Any = None,
        sample_ids_dtype: Any = None,
    ) -> None:
        self._initialize_fn = initialize_fn
        self._sample_fn = sample_fn
        self._next_inputs_fn = next_inputs_fn
        self._batch_size = None
        self._sample_ids_shape = TensorShape(sample_ids_shape or [])
        self._sample_ids_dtype = sample_ids_dtype or int32

    @property
    def batch_size(self) -> Any:
        """The number of sequences. Raises ValueError before `initialize`, which tells it."""
        if self._batch_size is None:
            raise ValueError("batch_size accessed before initialize was called")
        return self._batch_size

    @property
    def sample_ids_shape(self) -> Any:
        return self._sample_ids_shape

    @property
    def sample_ids_dtype(self) -> Any:
        return self._sample_ids_dtype

    def initialize(self, name: str | None = None) -> Any:
        """(finished, first inputs)"""
        with name_scope(name, f"{type(self).__name__}Initialize"):
            finished, inputs = self._initialize_fn()
            if self._batch_size is None:
                self._batch_size = array.size(finished)
        return finished, inputs

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """What is drawn from the outputs of a step."""
        with name_scope(name, f"{type(self).__name__}Sample", (time, outputs, state)):
            return self._sample_fn(time=time, outputs=outputs, state=state)

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> Any:
        """(finished, next inputs, next state)"""
        with name_scope(name, f"{type(self).__name__}NextInputs", (time, outputs, state)):
            return self._next_inputs_fn(
                time=time, outputs=outputs, state=state, sample_ids=sample_ids
            )


class TrainingHelper(Helper):
    """Reads the inputs of each step from what is known beforehand (TF: seq2seq.TrainingHelper)."""

    def __init__(
        self, inputs: Any, sequence_length: Any, time_major: bool = False, name: str | None = None
    ) -> None:
        with name_scope(name, "TrainingHelper", [inputs, sequence_length]):
            inputs = to_tensor(inputs, name="inputs")
            self._inputs = inputs
            if not time_major:
                inputs = transpose_batch_time(inputs)
            self._input_arrays = array_of(inputs)
            self._sequence_length = to_tensor(sequence_length, name="sequence_length")
            if self._sequence_length.shape.ndims != 1:
                raise ValueError(
                    "Expected sequence_length to be a vector, but received shape: "
                    f"{self._sequence_length.shape}"
                )
            self._zero_inputs = array.zeros_like(inputs[0, :])
            self._batch_size = array.size(sequence_length)

    @property
    def inputs(self) -> Any:
        return self._inputs

    @property
    def sequence_length(self) -> Tensor:
        return self._sequence_length

    def initialize(self, name: str | None = None) -> Any:
        """(finished, first inputs)"""
        with name_scope(name, "TrainingHelperInitialize"):
            finished = math.equal(0, self._sequence_length)
            return finished, self._read(finished, 0)

    def sample(self, time: Any, outputs: Any, name: Any = None, **unused: Any) -> Any:
        """The best class of each output."""
        with name_scope(name, "TrainingHelperSample", [time, outputs]):
            return math.cast(math.argmax(outputs, axis=-1), int32)

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, name: Any = None, **unused: Any
    ) -> Any:
        """(finished, next inputs, the state)"""
        with name_scope(name, "TrainingHelperNextInputs", [time, outputs, state]):
            next_time = time + 1
            finished = next_time >= self._sequence_length
            return finished, self._read(finished, next_time), state

    def _read(self, finished: Tensor, time: Any) -> Any:
        """The inputs at a time, or zeros when all sequences have ended."""
        return cond(
            math.reduce_all(finished),
            lambda: self._zero_inputs,
            lambda: self._input_arrays.read(time),
        )


def array_of(x: Tensor) -> TensorArray:
    """A TensorArray that holds x along its first axis."""
    empty = TensorArray(dtype=x.dtype, size=array.shape(x)[0], element_shape=x.shape[1:])
    return empty.unstack(x)


def embedding_function(embedding: Any) -> Callable[[Any], Any]:
    """The function that is given, or a look-up in the table that is."""
    return embedding if callable(embedding) else lambda ids: embedding_lookup(embedding, ids)


def check_probability(probability: Tensor) -> None:
    """Raises ValueError for a probability of sampling that is neither a scalar nor a vector."""
    if probability.shape.ndims not in (0, 1):
        raise ValueError(
            "sampling_probability must be either a scalar or a vector. saw shape: "
            f"{probability.shape}"
        )


def check_single(outputs: Any) -> None:
    """Raises TypeError for outputs that are more than a tensor."""
    if not isinstance(outputs, Tensor):
        raise TypeError(f"Expected outputs to be a single Tensor, got: {type(outputs)}")
