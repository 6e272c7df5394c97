"""Helpers that feed back what was decoded: the best class, a drawn one, or as functions say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitf.contrib.seq2seq.helper import Helper, check_single, embedding_function
from minitf.contrib.seq2seq.sampling import categorical_sample
from minitf.convert import to_tensor
from minitf.ops import array, math
from minitf.ops.control_flow import cond
from minitf.tensor_shape import TensorShape
from minitf_runtime.types import int32


class _FeedsBack(Helper):
    """A helper that starts a batch with inputs of its own."""

    _start_inputs: Any

    def initialize(self, name: str | None = None) -> Any:
        """(finished, first inputs)"""
        return array.tile([False], [self._batch_size]), self._start_inputs


class GreedyEmbeddingHelper(_FeedsBack):
    """Takes the best class, embedded, as next input (TF: seq2seq.GreedyEmbeddingHelper).

    Raises ValueError for start tokens that are no vector, or an end token that is no scalar.
    """

    def __init__(self, embedding: Any, start_tokens: Any, end_token: Any) -> None:
        self._embedding_fn = embedding_function(embedding)
        self._start_tokens = to_tensor(start_tokens, int32, name="start_tokens")
        self._end_token = to_tensor(end_token, int32, name="end_token")
        if self._start_tokens.shape.ndims != 1:
            raise ValueError("start_tokens must be a vector")
        self._batch_size = array.size(start_tokens)
        if self._end_token.shape.ndims != 0:
            raise ValueError("end_token must be a scalar")
        self._start_inputs = self._embedding_fn(self._start_tokens)

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """The best class of each output."""
        check_single(outputs)
        return math.argmax(outputs, axis=-1, output_type=int32)

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> Any:
        """(finished, the embedded samples, the state)"""
        finished = math.equal(sample_ids, self._end_token)
        next_inputs = cond(
            math.reduce_all(finished),
            lambda: self._start_inputs,
            lambda: self._embedding_fn(sample_ids),
        )
        return finished, next_inputs, state


class SampleEmbeddingHelper(GreedyEmbeddingHelper):
    """Draws the class by its logits (TF: seq2seq.SampleEmbeddingHelper)."""

    def __init__(
        self,
        embedding: Any,
        start_tokens: Any,
        end_token: Any,
        softmax_temperature: Any = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(embedding, start_tokens, end_token)
        self._softmax_temperature = softmax_temperature
        self._seed = seed

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """A class for each output; a high temperature makes all alike."""
        check_single(outputs)
        if self._softmax_temperature is not None:
            outputs = outputs / self._softmax_temperature
        return categorical_sample(logits=outputs, seed=self._seed)


class InferenceHelper(_FeedsBack):
    """Samples, and ends, as functions say (TF: seq2seq.InferenceHelper)."""

    def __init__(
        self,
        sample_fn: Callable[..., Any],
        sample_shape: Any,
        sample_dtype: Any,
        start_inputs: Any,
        end_fn: Callable[..., Any],
        next_inputs_fn: Callable[..., Any] | None = None,
    ) -> None:
        self._sample_fn = sample_fn
        self._end_fn = end_fn
        self._sample_shape = TensorShape(sample_shape)
        self._sample_dtype = sample_dtype
        self._next_inputs_fn = next_inputs_fn
        self._batch_size = array.shape(start_inputs)[0]
        self._start_inputs = to_tensor(start_inputs, name="start_inputs")

    @property
    def sample_ids_shape(self) -> Any:
        return self._sample_shape

    @property
    def sample_ids_dtype(self) -> Any:
        return self._sample_dtype

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """What the function draws from the outputs."""
        return self._sample_fn(outputs)

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> Any:
        """(finished, the samples or what the function makes of them, the state)"""
        next_inputs = sample_ids
        if self._next_inputs_fn is not None:
            next_inputs = self._next_inputs_fn(sample_ids)
        return self._end_fn(sample_ids), next_inputs, state
