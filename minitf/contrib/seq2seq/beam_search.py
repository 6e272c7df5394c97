"""BeamSearchDecoder: keeps the best few sequences of each batch element at once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from minitf import nest
from minitf.contrib.seq2seq.basic_decoder import check_output_layer, size_after
from minitf.contrib.seq2seq.beam_step import (
    BeamSearchDecoderOutput,
    BeamSearchDecoderState,
    Search,
    attention_probabilities,
)
from minitf.contrib.seq2seq.beams import Beams, gather_tree
from minitf.contrib.seq2seq.decoder import Decoder
from minitf.contrib.seq2seq.helper import embedding_function
from minitf.convert import to_tensor
from minitf.default import name_scope
from minitf.ops import array, math
from minitf.ops.control_flow import cond
from minitf.rnn.sizes import check_cell
from minitf.tensor_shape import TensorShape
from minitf_runtime.types import bool_, int32, int64


class FinalBeamSearchDecoderOutput(NamedTuple):
    """The whole sequences, best first, and what each step gave."""

    predicted_ids: Any
    beam_search_decoder_output: Any


class BeamSearchDecoder(Decoder):
    """Beam search with penalties for length and coverage (TF: seq2seq.BeamSearchDecoder).

    The memory of an attention, and the initial state, must be tiled by tile_batch. Raises
    ValueError for start tokens that are no vector, or an end token that is no scalar.
    """

    def __init__(
        self,
        cell: Any,
        embedding: Any,
        start_tokens: Any,
        end_token: Any,
        initial_state: Any,
        beam_width: int,
        output_layer: Any = None,
        length_penalty_weight: Any = 0.0,
        coverage_penalty_weight: Any = 0.0,
        reorder_tensor_arrays: bool = True,
    ) -> None:
        check_cell("cell", cell)
        check_output_layer(output_layer)
        self._cell = cell
        self._output_layer = output_layer
        self._reorder_tensor_arrays = reorder_tensor_arrays
        self._beam_width = beam_width
        self._coverage_weight = coverage_penalty_weight
        self._embedding_fn = embedding_function(embedding)
        tokens = to_tensor(start_tokens, int32, name="start_tokens")
        if tokens.shape.ndims != 1:
            raise ValueError("start_tokens must be a vector")
        self._end_token = to_tensor(end_token, int32, name="end_token")
        if self._end_token.shape.ndims != 0:
            raise ValueError("end_token must be a scalar")
        self._batch_size = array.size(start_tokens)
        self._beams = Beams(self._batch_size, beam_width)
        self._search = Search(
            self._beams, self._end_token, length_penalty_weight, coverage_penalty_weight
        )
        self._initial_cell_state = nest.map_structure(
            self._beams.split_state, initial_state, cell.state_size
        )
        self._start_tokens = array.tile(array.expand_dims(tokens, 1), [1, beam_width])
        self._start_inputs = self._embedding_fn(self._start_tokens)
        self._finished = array.one_hot(
            array.zeros([self._batch_size], dtype=int32),
            depth=beam_width,
            on_value=False,
            off_value=True,
            dtype=bool_,
        )

    @property
    def batch_size(self) -> Any:
        return self._batch_size

    @property
    def tracks_own_finished(self) -> bool:
        """Beams change places, so dynamic_decode cannot."""
        return True

    @property
    def output_size(self) -> BeamSearchDecoderOutput:
        width = TensorShape([self._beam_width])
        return BeamSearchDecoderOutput(width, width, width)

    @property
    def output_dtype(self) -> BeamSearchDecoderOutput:
        dtype = self._dtype
        size = size_after(self._output_layer, self._cell.output_size)
        return BeamSearchDecoderOutput(nest.map_structure(lambda _: dtype, size), int32, int32)

    @property
    def _dtype(self) -> Any:
        return nest.flatten(self._initial_cell_state)[0].dtype

    def initialize(self, name: str | None = None) -> Any:
        """(finished, first inputs, first state): only the first beam counts at first."""
        dtype = self._dtype
        zeros = array.zeros([self._batch_size], dtype=int32)
        log_probs = array.one_hot(
            zeros,
            depth=self._beam_width,
            on_value=to_tensor(0.0, dtype=dtype),
            off_value=to_tensor(-np.inf, dtype=dtype),
            dtype=dtype,
        )
        attention = attention_probabilities(self._initial_cell_state, self._coverage_weight)
        state = BeamSearchDecoderState(
            cell_state=self._initial_cell_state,
            log_probs=log_probs,
            finished=self._finished,
            lengths=array.zeros([self._batch_size, self._beam_width], dtype=int64),
            accumulated_attention_probs=() if attention is None else attention,
        )
        return self._finished, self._start_inputs, state

    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> Any:
        """(outputs, next state, next inputs, finished)"""
        beams = self._beams
        with name_scope(name, "BeamSearchDecoderStep", (time, inputs, state)):
            inputs = nest.map_structure(lambda x: beams.merge(x, x.shape[2:]), inputs)
            cell_state = nest.map_structure(
                beams.merge_state, state.cell_state, self._cell.state_size
            )
            outputs, cell_state = self._cell(inputs, cell_state)
            outputs = nest.map_structure(lambda out: beams.split(out, out.shape[1:]), outputs)
            cell_state = nest.map_structure(beams.split_state, cell_state, self._cell.state_size)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            output, next_state = self._search.step(time, outputs, cell_state, state)
            next_inputs = cond(
                math.reduce_all(next_state.finished),
                lambda: self._start_inputs,
                lambda: self._embedding_fn(output.predicted_ids),
            )
        return output, next_state, next_inputs, next_state.finished

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> Any:
        """The sequences along their paths, and the state with its arrays along them, too."""
        longest = math.cast(math.reduce_max(final_state.lengths, axis=1), int32)
        predicted_ids = gather_tree(
            outputs.predicted_ids,
            outputs.parent_ids,
            max_sequence_lengths=longest,
            end_token=self._end_token,
        )
        if self._reorder_tensor_arrays:
            sorted_state = nest.map_structure(
                lambda t: self._beams.sort_array(t, outputs.parent_ids, final_state.lengths),
                final_state.cell_state,
            )
            final_state = final_state._replace(cell_state=sorted_state)
        return FinalBeamSearchDecoderOutput(predicted_ids, outputs), final_state
