"""Attention mechanisms: how much each place of a memory counts for a query, a step after another.

Those that only move on through the memory are in monotonic.py.
"""

from __future__ import annotations

import math as pymath
from collections.abc import Callable
from typing import Any

import numpy as np

from minitf import nest
from minitf.convert import to_tensor
from minitf.default import control_dependencies, name_scope
from minitf.initializers import constant_initializer, ones_initializer, zeros_initializer
from minitf.layers.base import Layer
from minitf.layers.core import Dense
from minitf.operation import Tensor
from minitf.ops import array, math, nn
from minitf.ops.check import assert_positive
from minitf.rnn.sizes import zero_state
from minitf.variable_scope import get_variable, variable_scope
from minitf_runtime.types import as_dtype, float32, int32

Weigh = Callable[[Any, Any], Any]  # (score, state) -> alignments


class AttentionMechanism:
    """Gives alignments [batch, places of the memory] (TF: seq2seq.AttentionMechanism)."""

    @property
    def alignments_size(self) -> Any:
        raise NotImplementedError

    @property
    def state_size(self) -> Any:
        raise NotImplementedError


class BaseAttention(AttentionMechanism):
    """What mechanisms share: keys and values from a memory, and the mask of its ends.

    `weigh` makes alignments of scores. Raises TypeError for layers that are none.
    """

    def __init__(
        self,
        query_layer: Any,
        memory: Any,
        weigh: Any,
        memory_sequence_length: Any = None,
        memory_layer: Any = None,
        check_inner_dims_defined: bool = True,
        score_mask_value: Any = None,
        custom_key_value_fn: Callable[[Any, Any], Any] | None = None,
        name: str | None = None,
    ) -> None:
        for what, layer in (("query_layer", query_layer), ("memory_layer", memory_layer)):
            if layer is not None and not isinstance(layer, Layer):
                raise TypeError(f"{what} is not a Layer: {type(layer).__name__}")
        if not callable(weigh):
            raise TypeError(f"probability_fn must be callable, saw type: {type(weigh).__name__}")
        self._query_layer = query_layer
        self._memory_layer = memory_layer
        self.dtype = memory_layer.dtype
        if score_mask_value is None:
            score_mask_value = as_dtype(self.dtype).as_numpy_dtype(-np.inf)
        self._mask = memory_sequence_length, score_mask_value
        self._weigh = weigh
        with name_scope(name, "BaseAttentionMechanismInit", nest.flatten(memory)):
            self._values = _masked_memory(memory, memory_sequence_length, check_inner_dims_defined)
            self._keys = memory_layer(self._values) if memory_layer else self._values
            if custom_key_value_fn is not None:
                self._keys, self._values = custom_key_value_fn(self._keys, self._values)
            self._batch_size = size_of(self._keys, 0)
            self._alignments_size = size_of(self._keys, 1)

    @property
    def memory_layer(self) -> Any:
        return self._memory_layer

    @property
    def query_layer(self) -> Any:
        return self._query_layer

    @property
    def values(self) -> Any:
        return self._values

    @property
    def keys(self) -> Any:
        return self._keys

    @property
    def batch_size(self) -> Any:
        return self._batch_size

    @property
    def alignments_size(self) -> Any:
        return self._alignments_size

    @property
    def state_size(self) -> Any:
        return self._alignments_size

    def initial_alignments(self, batch_size: Any, dtype: Any) -> Any:
        """The alignments before the first step."""
        return zero_state(self._alignments_size, batch_size, dtype)

    def initial_state(self, batch_size: Any, dtype: Any) -> Any:
        """The state of the mechanism before the first step: the alignments."""
        return self.initial_alignments(batch_size, dtype)

    def _aligned(self, score: Tensor, state: Any) -> tuple[Any, Any]:
        """The alignments, and the next state, which is the same."""
        lengths, mask_value = self._mask
        alignments = self._weigh(_masked_score(score, lengths, mask_value), state)
        return alignments, alignments


class LuongAttention(BaseAttention):
    """Scores are products of query and key (TF: seq2seq.LuongAttention), with `scale` scaled."""

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        scale: bool = False,
        probability_fn: Any = None,
        score_mask_value: Any = None,
        dtype: Any = None,
        custom_key_value_fn: Any = None,
        name: str = "LuongAttention",
    ) -> None:
        super().__init__(
            query_layer=None,
            memory_layer=projection(num_units, "memory_layer", dtype),
            memory=memory,
            weigh=_stateless(probability_fn),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            custom_key_value_fn=custom_key_value_fn,
            name=name,
        )
        self._num_units = num_units
        self._scale = scale
        self._name = name

    def __call__(self, query: Any, state: Any) -> tuple[Any, Any]:
        """(alignments, next state)"""
        with variable_scope(None, "luong_attention", [query]):
            score = luong_score(query, self._keys, self._scale)
        return self._aligned(score, state)


class BahdanauAttention(BaseAttention):
    """Scores are those of a small network on query and key (TF: seq2seq.BahdanauAttention).

    With `normalize` its weights are normalized.
    """

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        normalize: bool = False,
        probability_fn: Any = None,
        score_mask_value: Any = None,
        dtype: Any = None,
        custom_key_value_fn: Any = None,
        name: str = "BahdanauAttention",
    ) -> None:
        super().__init__(
            query_layer=projection(num_units, "query_layer", dtype),
            memory_layer=projection(num_units, "memory_layer", dtype),
            memory=memory,
            weigh=_stateless(probability_fn),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            custom_key_value_fn=custom_key_value_fn,
            name=name,
        )
        self._num_units = num_units
        self._normalize = normalize
        self._name = name

    def __call__(self, query: Any, state: Any) -> tuple[Any, Any]:
        """(alignments, next state)"""
        with variable_scope(None, "bahdanau_attention", [query]):
            processed = self.query_layer(query) if self.query_layer else query
            score = bahdanau_score(
                processed, self._keys, self._num_units, query.dtype, self._normalize
            )
        return self._aligned(score, state)


def hardmax(logits: Any, name: str | None = None) -> Tensor:
    """1 for the best class along the last axis, 0 for the others."""
    with name_scope(name, "Hardmax", [logits]):
        logits = to_tensor(logits, name="logits")
        depth = logits.shape[-1].value
        if depth is None:
            depth = array.shape(logits)[-1]
        return array.one_hot(math.argmax(logits, -1), depth, dtype=logits.dtype)


# ---- what mechanisms share


def size_of(x: Tensor, axis: int) -> Any:
    """A tensor's size along an axis: a number if it is known, else a tensor."""
    return x.shape[axis].value or array.shape(x)[axis]


def projection(units: int, name: str, dtype: Any) -> Dense:
    """A layer without bias."""
    return Dense(units, name=name, use_bias=False, dtype=dtype or float32)


def _stateless(probability_fn: Any) -> Weigh:
    weigh = probability_fn or nn.softmax
    return lambda score, _: weigh(score)


def luong_score(query: Tensor, keys: Tensor, scale: bool) -> Tensor:
    """[batch, places]: query times keys. Raises ValueError for other sizes."""
    factor = None
    if scale:
        factor = get_variable(
            "attention_g", dtype=query.dtype, initializer=ones_initializer, shape=()
        )
    depth, units = query.shape[-1], keys.shape[-1]
    if depth != units:
        raise ValueError(
            "Incompatible or unknown inner dimensions between query and keys.  "
            f"Query ({query}) has units: {depth}.  Keys ({keys}) have units: {units}.  "
            f"Perhaps you need to set num_units to the keys' dimension ({units})?"
        )
    score = math.matmul(array.expand_dims(query, 1), keys, transpose_b=True)
    score = array.squeeze(score, [1])
    return score if factor is None else factor * score


def bahdanau_score(query: Tensor, keys: Tensor, units: int, dtype: Any, normalize: bool) -> Tensor:
    """[batch, places]: v * tanh(keys + query), with normalized weights g * v / |v| and a bias."""
    v = get_variable("attention_v", [units], dtype=dtype)
    if not normalize:
        query = array.expand_dims(query, 1)
        return math.reduce_sum(v * math.tanh(keys + query), [2])
    root = constant_initializer(pymath.sqrt(1.0 / units))
    g = get_variable("attention_g", dtype=dtype, initializer=root, shape=())
    b = get_variable("attention_b", [units], dtype=dtype, initializer=zeros_initializer())
    query = array.expand_dims(query, 1)
    normed = g * v * math.rsqrt(math.reduce_sum(math.square(v)))
    return math.reduce_sum(normed * math.tanh(keys + query + b), [2])


def _masked_memory(memory: Any, lengths: Any, check_inner_dims: bool) -> Any:
    """The memory with zeros after each sequence's end. Raises ValueError for unknown depths."""
    memory = nest.map_structure(lambda m: to_tensor(m, name="memory"), memory)
    if lengths is not None:
        lengths = to_tensor(lengths, name="memory_sequence_length")
    for m in nest.flatten(memory):
        if check_inner_dims and not m.shape[2:].is_fully_defined():
            raise ValueError(
                f"Expected memory {m.name} to have fully defined inner dims, but saw shape: "
                f"{m.shape}"
            )
    if lengths is None:
        return memory
    first = nest.flatten(memory)[0]
    mask = array.sequence_mask(lengths, maxlen=array.shape(first)[1], dtype=first.dtype)

    def masked(m: Tensor) -> Tensor:
        rank = m.shape.ndims if m.shape.ndims is not None else array.rank(m)
        ones = array.ones(rank - 2, dtype=int32)
        return m * array.reshape(mask, array.concat((array.shape(mask), ones), 0))

    return nest.map_structure(masked, memory)


def _masked_score(score: Tensor, lengths: Any, mask_value: Any) -> Tensor:
    """The score, and `mask_value` after each sequence's end."""
    if lengths is None:
        return score
    message = "All values in memory_sequence_length must be greater than zero."
    with control_dependencies([assert_positive(lengths, message=message)]):
        mask = array.sequence_mask(lengths, maxlen=array.shape(score)[1])
    return array.where(mask, score, mask_value * array.ones_like(score))
