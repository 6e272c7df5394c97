"""One step of a beam search: which beams, each with one more symbol, are the best now."""

from __future__ import annotations

from typing import Any, NamedTuple

from minitf import nest
from minitf.contrib.seq2seq.attention_wrapper import AttentionWrapperState
from minitf.contrib.seq2seq.beams import Beams
from minitf.convert import to_tensor
from minitf.operation import Tensor
from minitf.ops import array, math, nn
from minitf.ops.constant_value import constant_value
from minitf.ops.sorting import top_k
from minitf_runtime.types import float32, int32, int64


class BeamSearchDecoderState(NamedTuple):
    """What a beam search keeps from step to step, each [batch, beams, ...]."""

    cell_state: Any
    log_probs: Any
    finished: Any
    lengths: Any
    accumulated_attention_probs: Any


class BeamSearchDecoderOutput(NamedTuple):
    """What a step gives for each beam: its score, its symbol, and the beam that it comes from."""

    scores: Any
    predicted_ids: Any
    parent_ids: Any


class Search:
    """The rules of a search: the end, and the penalties."""

    def __init__(
        self, beams: Beams, end_token: Tensor, length_weight: Any, coverage_weight: Any
    ) -> None:
        self.beams = beams
        self.end_token = end_token
        self.length_weight = length_weight
        self.coverage_weight = coverage_weight

    def step(
        self, time: Any, logits: Tensor, cell_state: Any, state: BeamSearchDecoderState
    ) -> tuple[BeamSearchDecoderOutput, BeamSearchDecoderState]:
        """The best beams after one more symbol, and their state."""
        beams, batch_size, width = self.beams, self.beams.batch_size, self.beams.width
        goes_on = math.logical_not(state.finished)
        log_probs = _only_end(nn.log_softmax(logits), self.end_token, state.finished)
        totals = array.expand_dims(state.log_probs, 2) + log_probs
        classes = logits.shape[-1].value or array.shape(logits)[-1]
        lengths = self._lengths(state.lengths, goes_on, classes)
        attention = attention_probabilities(cell_state, self.coverage_weight)
        if attention is not None:
            attention *= array.expand_dims(math.cast(goes_on, float32), 2)
            attention = state.accumulated_attention_probs + attention
        scores = self._scores(totals, lengths, state.finished, attention)
        to_tensor(time, name="time")
        flat = array.reshape(scores, [batch_size, -1])
        best_scores, best = top_k(flat, k=to_tensor(width, int32, name="beam_width"))
        for found in (best_scores, best):
            found.set_shape([beams.known_batch_size, width])

        best_log_probs = beams.gather(best, totals, width * classes, [-1], name="next_beam_probs")
        words = math.cast(math.mod(best, classes, name="next_beam_word_ids"), int32)
        parents = math.cast(best / classes, int32, name="next_beam_parent_ids")
        was_finished = beams.gather(parents, state.finished, width, [-1])
        finished = math.logical_or(
            was_finished, math.equal(words, self.end_token), name="next_beam_finished"
        )
        longer = math.cast(math.logical_not(was_finished), int64)
        next_lengths = beams.gather(parents, state.lengths, width, [-1]) + longer
        next_attention: Any = ()
        if attention is not None:
            next_attention = beams.gather(
                parents,
                attention,
                width,
                [batch_size * width, -1],
                name="next_accumulated_attention_probs",
            )
        cell_state = nest.map_structure(lambda t: beams.gather_state(parents, t), cell_state)
        next_state = BeamSearchDecoderState(
            cell_state=cell_state,
            log_probs=best_log_probs,
            lengths=next_lengths,
            finished=finished,
            accumulated_attention_probs=next_attention,
        )
        return BeamSearchDecoderOutput(best_scores, words, parents), next_state

    def _lengths(self, lengths: Tensor, goes_on: Tensor, classes: Any) -> Tensor:
        """[batch, beams, classes]: an end token makes no sequence longer, nor does one after it."""
        ends = array.fill([self.beams.batch_size, self.beams.width], self.end_token)
        more = array.one_hot(
            indices=ends,
            depth=classes,
            on_value=math.to_int64(0),
            off_value=math.to_int64(1),
            dtype=int64,
        )
        more *= array.expand_dims(math.cast(goes_on, int64), 2)
        return more + array.expand_dims(lengths, 2)

    def _scores(self, log_probs: Tensor, lengths: Tensor, finished: Any, attention: Any) -> Tensor:
        """Log probabilities, by length, less what is not covered of the memory."""
        length_penalty = math.cast(_length_penalty(lengths, self.length_weight), log_probs.dtype)
        scores = log_probs / length_penalty
        weight = to_tensor(self.coverage_weight, name="coverage_penalty_weight")
        if weight.shape.ndims != 0:
            raise ValueError(
                f"coverage_penalty_weight should be a scalar, but saw shape: {weight.shape}"
            )
        if constant_value(weight) == 0.0:
            return scores
        unseen = math.equal(attention, 0.0)
        attention = array.where(unseen, array.ones_like(attention), attention)
        penalty = math.reduce_sum(math.log(math.minimum(attention, 1.0)), 2)
        penalty *= math.cast(finished, float32)
        return scores + array.expand_dims(penalty * weight, 2)


def _only_end(log_probs: Tensor, end_token: Tensor, finished: Tensor) -> Tensor:
    """The log probabilities, where a finished beam can only go on with the end token."""
    classes = array.shape(log_probs)[2]
    dtype = log_probs.dtype
    row = array.one_hot(
        end_token,
        classes,
        dtype=dtype,
        on_value=to_tensor(0.0, dtype=dtype),
        off_value=dtype.min,
    )
    rows = array.reshape(row, [1, 1, -1])
    rows = array.tile(rows, array.concat([array.shape(finished), [1]], 0))
    mask = array.tile(array.expand_dims(finished, 2), [1, 1, classes])
    return array.where(mask, rows, log_probs)


def _length_penalty(lengths: Tensor, weight: Any) -> Any:
    """((5 + length) / 6) ** weight"""
    weight = to_tensor(weight, name="penalty_factor")
    weight.set_shape(())
    if constant_value(weight) == 0:
        return 1.0
    return math.div((5.0 + math.cast(lengths, float32)) ** weight, 6.0**weight)


def attention_probabilities(cell_state: Any, coverage_weight: Any) -> Any:
    """The alignments in a state, their mean if it has several; None if they are not wanted.

    Raises ValueError for a state without attention.
    """
    if coverage_weight == 0.0:
        return None
    parts: Any = cell_state
    if isinstance(cell_state, AttentionWrapperState) or not isinstance(cell_state, tuple):
        parts = (cell_state,)
    found = [
        _mean(s.alignments) if isinstance(s.alignments, tuple) else s.alignments
        for s in parts
        if isinstance(s, AttentionWrapperState)
    ]
    if not found:
        raise ValueError("coverage_penalty_weight must be 0.0 if no cell is attentional.")
    return found[0] if len(found) == 1 else _mean(found)


def _mean(alignments: Any) -> Tensor:
    apart = [array.expand_dims(a, -1) for a in alignments]
    return math.reduce_mean(array.concat(apart, -1), -1)
