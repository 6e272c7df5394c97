"""BasicDecoder: a cell whose next inputs a helper chooses."""

from __future__ import annotations

from typing import Any, NamedTuple

from minitf import nest
from minitf.contrib.seq2seq.decoder import Decoder
from minitf.contrib.seq2seq.helper import Helper
from minitf.default import name_scope
from minitf.layers.base import Layer
from minitf.rnn.sizes import check_cell
from minitf.tensor_shape import TensorShape


class BasicDecoderOutput(NamedTuple):
    """What a step of BasicDecoder gives."""

    rnn_output: Any
    sample_id: Any


class BasicDecoder(Decoder):
    """A cell, perhaps with a layer after it, and a helper (TF: seq2seq.BasicDecoder)."""

    def __init__(
        self, cell: Any, helper: Any, initial_state: Any, output_layer: Layer | None = None
    ) -> None:
        check_cell("cell", cell)
        if not isinstance(helper, Helper):
            raise TypeError(f"helper must be a Helper, received: {type(helper)}")
        check_output_layer(output_layer)
        self._cell = cell
        self._helper = helper
        self._initial_state = initial_state
        self._output_layer = output_layer

    @property
    def batch_size(self) -> Any:
        return self._helper.batch_size

    @property
    def output_size(self) -> BasicDecoderOutput:
        size = size_after(self._output_layer, self._cell.output_size)
        return BasicDecoderOutput(size, self._helper.sample_ids_shape)

    @property
    def output_dtype(self) -> BasicDecoderOutput:
        """The type of the state's first tensor for outputs, and that of the helper's samples."""
        dtype = nest.flatten(self._initial_state)[0].dtype
        size = size_after(self._output_layer, self._cell.output_size)
        dtypes = nest.map_structure(lambda _: dtype, size)
        return BasicDecoderOutput(dtypes, self._helper.sample_ids_dtype)

    def initialize(self, name: str | None = None) -> Any:
        """(finished, first inputs, first state)"""
        return (*self._helper.initialize(), self._initial_state)

    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> Any:
        """(outputs, next state, next inputs, finished)"""
        with name_scope(name, "BasicDecoderStep", (time, inputs, state)):
            outputs, state = self._cell(inputs, state)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            sample_ids = self._helper.sample(time=time, outputs=outputs, state=state)
            finished, next_inputs, next_state = self._helper.next_inputs(
                time=time, outputs=outputs, state=state, sample_ids=sample_ids
            )
        return BasicDecoderOutput(outputs, sample_ids), next_state, next_inputs, finished


def check_output_layer(layer: Any) -> None:
    """Raises TypeError for what is neither a Layer nor None."""
    if layer is not None and not isinstance(layer, Layer):
        raise TypeError(f"output_layer must be a Layer, received: {type(layer)}")


def size_after(layer: Layer | None, size: Any) -> Any:
    """The size of a cell's outputs after a layer."""
    if layer is None:
        return size
    whole = nest.map_structure(lambda s: TensorShape([None]).concatenate(s), size)
    return nest.map_structure(lambda s: s[1:], layer.compute_output_shape(whole))
