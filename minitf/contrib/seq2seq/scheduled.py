"""Scheduled sampling: training inputs, replaced at times by what the decoder has just made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitf import nest
from minitf.contrib.seq2seq.helper import (
    TrainingHelper,
    array_of,
    check_probability,
    embedding_function,
)
from minitf.contrib.seq2seq.sampling import bernoulli_sample, categorical_sample
from minitf.convert import to_tensor
from minitf.default import name_scope
from minitf.operation import Tensor
from minitf.ops import array, math
from minitf.ops.apply import apply_op
from minitf.ops.control_flow import cond
from minitf.rnn.sizes import transpose_batch_time
from minitf_runtime.types import bool_, int32


class ScheduledEmbeddingTrainingHelper(TrainingHelper):
    """Takes drawn classes, embedded (TF: seq2seq.ScheduledEmbeddingTrainingHelper).

    A sample id is -1 where nothing was drawn. Raises ValueError.
    """

    def __init__(
        self,
        inputs: Any,
        sequence_length: Any,
        embedding: Any,
        sampling_probability: Any,
        time_major: bool = False,
        seed: int | None = None,
        scheduling_seed: int | None = None,
        name: str | None = None,
    ) -> None:
        with name_scope(
            name, "ScheduledEmbeddingSamplingWrapper", [embedding, sampling_probability]
        ):
            self._embedding_fn = embedding_function(embedding)
            self._probability = to_tensor(sampling_probability, name="sampling_probability")
            check_probability(self._probability)
            self._seed = seed
            self._scheduling_seed = scheduling_seed
            super().__init__(inputs, sequence_length, time_major=time_major, name=name)

    def sample(self, time: Any, outputs: Any, state: Any, name: Any = None) -> Any:
        """Classes where they are drawn, -1 elsewhere."""
        scope = "ScheduledEmbeddingTrainingHelperSample"
        with name_scope(name, scope, [time, outputs, state]):
            chosen = bernoulli_sample(
                probs=self._probability,
                dtype=bool_,
                sample_shape=self.batch_size,
                seed=self._scheduling_seed,
            )
            classes = categorical_sample(logits=outputs, seed=self._seed)
            return array.where(chosen, classes, apply_op("Fill", [self.batch_size], -1))

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: Any = None
    ) -> Any:
        """(finished, next inputs, the state)"""
        scope = "ScheduledEmbeddingTrainingHelperNextInputs"
        with name_scope(name, scope, [time, outputs, state, sample_ids]):
            finished, inputs, state = super().next_inputs(
                time=time, outputs=outputs, state=state, sample_ids=sample_ids, name=name
            )

            def mixed() -> Tensor:
                drawn = _places(sample_ids > -1)
                kept = _places(sample_ids <= -1)
                ids = array.gather_nd(sample_ids, drawn)
                old = array.gather_nd(inputs, kept)
                return _merged(drawn, self._embedding_fn(ids), kept, old, array.shape(inputs))

            return finished, cond(math.reduce_all(finished), lambda: inputs, mixed), state


class ScheduledOutputTrainingHelper(TrainingHelper):
    """Takes the outputs, or a function of them (TF: seq2seq.ScheduledOutputTrainingHelper).

    Sample ids tell where outputs were taken. `auxiliary_inputs` are appended to either.
    """

    def __init__(
        self,
        inputs: Any,
        sequence_length: Any,
        sampling_probability: Any,
        time_major: bool = False,
        seed: int | None = None,
        next_inputs_fn: Callable[..., Any] | None = None,
        auxiliary_inputs: Any = None,
        name: str | None = None,
    ) -> None:
        values = [inputs, auxiliary_inputs, sampling_probability]
        with name_scope(name, "ScheduledOutputTrainingHelper", values):
            self._probability = to_tensor(sampling_probability, name="sampling_probability")
            check_probability(self._probability)
            self._auxiliary = None
            if auxiliary_inputs is not None:
                inputs = to_tensor(inputs, name="inputs")
                auxiliary = to_tensor(auxiliary_inputs, name="auxiliary_inputs")
                inputs = array.concat((inputs, auxiliary), -1)
                if not time_major:
                    auxiliary = transpose_batch_time(auxiliary)
                self._auxiliary = array_of(auxiliary)
            self._seed = seed
            self._next_inputs_fn = next_inputs_fn
            super().__init__(inputs, sequence_length, time_major=time_major, name=name)

    def sample(self, time: Any, outputs: Any, state: Any, name: Any = None) -> Any:
        """1 where the outputs are taken, 0 elsewhere."""
        with name_scope(name, "ScheduledOutputTrainingHelperSample", [time, outputs, state]):
            return bernoulli_sample(
                probs=self._probability, sample_shape=self.batch_size, seed=self._seed
            )

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: Any = None
    ) -> Any:
        """(finished, next inputs, the state)"""
        scope = "ScheduledOutputTrainingHelperNextInputs"
        with name_scope(name, scope, [time, outputs, state, sample_ids]):
            finished, inputs, state = super().next_inputs(
                time=time, outputs=outputs, state=state, sample_ids=sample_ids, name=name
            )
            taken = math.cast(sample_ids, bool_)
            all_finished = math.reduce_all(finished)
            none_taken = math.logical_not(math.reduce_any(taken))
            next_inputs = cond(
                math.logical_or(all_finished, none_taken),
                lambda: inputs,
                lambda: self._mixed(time, outputs, inputs, taken),
            )
            return finished, next_inputs, state

    def _mixed(self, time: Any, outputs: Any, inputs: Any, taken: Tensor) -> Tensor:
        if self._next_inputs_fn is None:
            return array.where(taken, self._with_auxiliary(time, outputs), inputs)
        drawn = _places(taken)
        kept = _places(math.logical_not(taken))
        made = array.gather_nd(outputs, drawn)
        old = array.gather_nd(inputs, kept)
        made = self._with_auxiliary(time, self._next_inputs_fn(made), drawn)
        return _merged(drawn, made, kept, old, array.shape(inputs))

    def _with_auxiliary(self, time: Any, outputs: Any, where: Any = None) -> Any:
        if self._auxiliary is None:
            return outputs
        more = self._auxiliary.read(time + 1)
        if where is not None:
            more = array.gather_nd(more, where)
        return nest.map_structure(lambda x, y: array.concat((x, y), -1), outputs, more)


def _places(chosen: Tensor) -> Tensor:
    return math.cast(array.where(chosen), int32)


def _merged(drawn: Tensor, made: Any, kept: Tensor, old: Tensor, shape: Tensor) -> Tensor:
    """Rows that were made and rows that are kept, each at its place."""
    new_rows = array.scatter_nd(indices=drawn, updates=made, shape=shape)
    return new_rows + array.scatter_nd(indices=kept, updates=old, shape=shape)
