"""Monotonic attention: attention that only moves on through the memory."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from minitf.contrib.seq2seq.attention import (
    BaseAttention,
    bahdanau_score,
    luong_score,
    projection,
    size_of,
)
from minitf.convert import to_tensor
from minitf.default import name_scope
from minitf.operation import Tensor
from minitf.ops import array, math, random
from minitf.ops.functional import scan
from minitf.variable_scope import get_variable, variable_scope
from minitf_runtime.types import int32


def safe_cumprod(x: Any, *args: Any, **kwargs: Any) -> Tensor:
    """cumprod by sums of logarithms, for numbers from 0 to 1."""
    with name_scope(None, "SafeCumprod", [x]):
        x = to_tensor(x, name="x")
        tiny = np.finfo(x.dtype.as_numpy_dtype).tiny
        logs = math.log(math.clip_by_value(x, tiny, 1))
        return math.exp(math.cumsum(logs, *args, **kwargs))


def monotonic_attention(p_choose_i: Any, previous_attention: Any, mode: str) -> Tensor:
    """How likely the attention is now at each place, of the chances to stay there.

    Modes: `recursive` (exact), `parallel` (fast), `hard` (for chances of 0 and 1). Raises
    ValueError for another one.
    """
    p = to_tensor(p_choose_i, name="p_choose_i")
    previous = to_tensor(previous_attention, name="previous_attention")
    if mode == "recursive":
        return _recursive(p, previous)
    if mode == "parallel":
        passed = safe_cumprod(1 - p, axis=1, exclusive=True)
        here = p * passed
        shares = previous / math.clip_by_value(passed, 1e-10, 1.0)
        return here * math.cumsum(shares, axis=1)  # type: ignore[no-any-return]
    if mode == "hard":
        p *= math.cumsum(previous, axis=1)
        return p * math.cumprod(1 - p, axis=1, exclusive=True)  # type: ignore[no-any-return]
    raise ValueError("mode must be 'recursive', 'parallel', or 'hard'.")


def _recursive(p: Tensor, previous: Tensor) -> Tensor:
    batch = size_of(p, 0)
    moves_on = array.concat([array.ones((batch, 1)), 1 - p[:, :-1]], 1)
    reached = scan(
        lambda x, yz: array.reshape(yz[0] * x + yz[1], (batch,)),
        [array.transpose(moves_on), array.transpose(previous)],
        array.zeros((batch,)),
    )
    return p * array.transpose(reached)


def monotonic_probability_fn(
    score: Any, previous_alignments: Any, sigmoid_noise: float, mode: str, seed: int | None = None
) -> Tensor:
    """Monotonic attention whose chances are sigmoids of scores, with noise for training."""
    if sigmoid_noise > 0:
        noise = random.random_normal(array.shape(score), dtype=score.dtype, seed=seed)
        score += sigmoid_noise * noise
    p_choose_i = math.cast(score > 0, score.dtype) if mode == "hard" else math.sigmoid(score)
    return monotonic_attention(p_choose_i, previous_alignments, mode)


class _Monotonic(BaseAttention):
    """A mechanism that starts at the first place of the memory."""

    def initial_alignments(self, batch_size: Any, dtype: Any) -> Any:
        """1 at the first place."""
        first = array.zeros((batch_size,), dtype=int32)
        return array.one_hot(first, self._alignments_size, dtype=dtype)

    def _biased(self, score: Tensor, dtype: Any) -> Tensor:
        bias = get_variable("attention_score_bias", dtype=dtype, initializer=self._bias_init)
        return score + bias

    _bias_init: float


class BahdanauMonotonicAttention(_Monotonic):
    """Monotonic attention with Bahdanau's score (TF: seq2seq.BahdanauMonotonicAttention)."""

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        normalize: bool = False,
        score_mask_value: Any = None,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: int | None = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        dtype: Any = None,
        name: str = "BahdanauMonotonicAttention",
    ) -> None:
        super().__init__(
            query_layer=projection(num_units, "query_layer", dtype),
            memory_layer=projection(num_units, "memory_layer", dtype),
            memory=memory,
            weigh=_weigh(sigmoid_noise, mode, sigmoid_noise_seed),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            name=name,
        )
        self._num_units = num_units
        self._normalize = normalize
        self._bias_init = score_bias_init
        self._name = name

    def __call__(self, query: Any, state: Any) -> tuple[Any, Any]:
        """(alignments, next state)"""
        with variable_scope(None, "bahdanau_monotonic_attention", [query]):
            processed = self.query_layer(query) if self.query_layer else query
            score = bahdanau_score(
                processed, self._keys, self._num_units, query.dtype, self._normalize
            )
            score = self._biased(score, processed.dtype)
        return self._aligned(score, state)


class LuongMonotonicAttention(_Monotonic):
    """Monotonic attention with Luong's score (TF: seq2seq.LuongMonotonicAttention)."""

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        scale: bool = False,
        score_mask_value: Any = None,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: int | None = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        dtype: Any = None,
        name: str = "LuongMonotonicAttention",
    ) -> None:
        super().__init__(
            query_layer=None,
            memory_layer=projection(num_units, "memory_layer", dtype),
            memory=memory,
            weigh=_weigh(sigmoid_noise, mode, sigmoid_noise_seed),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            name=name,
        )
        self._num_units = num_units
        self._scale = scale
        self._bias_init = score_bias_init
        self._name = name

    def __call__(self, query: Any, state: Any) -> tuple[Any, Any]:
        """(alignments, next state)"""
        with variable_scope(None, "luong_monotonic_attention", [query]):
            score = self._biased(luong_score(query, self._keys, self._scale), query.dtype)
        return self._aligned(score, state)


def _weigh(noise: float, mode: str, seed: int | None) -> Any:
    return functools.partial(monotonic_probability_fn, sigmoid_noise=noise, mode=mode, seed=seed)
