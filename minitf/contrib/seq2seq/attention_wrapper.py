"""AttentionWrapper: a cell that looks at memories after each step."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from minitf import nest
from minitf.contrib.framework.shapes import with_same_shape
from minitf.contrib.seq2seq.attention import AttentionMechanism, projection, size_of
from minitf.default import control_dependencies, name_scope
from minitf.operation import Tensor
from minitf.ops import array, math
from minitf.ops.check import assert_equal
from minitf.ops.tensor_array import TensorArray
from minitf.rnn.cell import RNNCell
from minitf.rnn.sizes import check_cell, zero_state
from minitf.tensor_shape import TensorShape
from minitf_runtime.types import int32

_BEAMS = "Are you using the BeamSearchDecoder?  "


class AttentionWrapperState(NamedTuple):
    """The state of an AttentionWrapper; of several mechanisms the last three are tuples."""

    cell_state: Any
    attention: Any
    time: Any
    alignments: Any
    alignment_history: Any
    attention_state: Any

    def clone(self, **kwargs: Any) -> AttentionWrapperState:
        """A state with other parts, of the same shapes. Raises ValueError for other shapes."""
        return nest.map_structure(_with_same_shape, self, self._replace(**kwargs))


def _with_same_shape(old: Any, new: Any) -> Any:
    both = isinstance(old, Tensor) and isinstance(new, Tensor)
    return with_same_shape(old, new) if both else new


class AttentionWrapper(RNNCell):
    """A cell whose output a mechanism, or several, takes as query (TF: seq2seq.AttentionWrapper).

    The attention goes into the next step's inputs, and out if `output_attention`. Raises TypeError
    or ValueError for arguments that do not go together.
    """

    def __init__(
        self,
        cell: Any,
        attention_mechanism: Any,
        attention_layer_size: Any = None,
        alignment_history: bool = False,
        cell_input_fn: Callable[[Any, Any], Any] | None = None,
        output_attention: bool = True,
        initial_cell_state: Any = None,
        name: str | None = None,
        attention_layer: Any = None,
        attention_fn: Callable[..., Any] | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(name=name, dtype=dtype)
        check_cell("cell", cell)
        self._is_multi = isinstance(attention_mechanism, (list, tuple))
        mechanisms = tuple(attention_mechanism) if self._is_multi else (attention_mechanism,)
        _check_mechanisms(mechanisms, self._is_multi)
        if cell_input_fn is not None and not callable(cell_input_fn):
            raise TypeError(
                f"cell_input_fn must be callable, saw type: {type(cell_input_fn).__name__}"
            )
        self._cell = cell
        self._attention_mechanisms = mechanisms
        self._set_layers(attention_layer_size, attention_layer)
        self._attention_fn = attention_fn or _attend
        self._cell_input_fn = cell_input_fn or (lambda x, a: array.concat([x, a], -1))
        self._output_attention = output_attention
        self._alignment_history = alignment_history
        self._initial_cell_state = None
        with name_scope(name, "AttentionWrapperInit"):
            if initial_cell_state is not None:
                self._initial_cell_state = self._checked_start(initial_cell_state)

    def _set_layers(self, sizes: Any, layers: Any) -> None:
        """The layers of the attentions, and the size of all attentions together."""
        mechanisms = self._attention_mechanisms
        if sizes is not None and layers is not None:
            raise ValueError("Only one of attention_layer_size and attention_layer should be set")
        self._attention_layers: tuple[Any, ...] | None = None
        if sizes is not None:
            sizes = _as_tuple(sizes)
            _check_count("attention_layer_size", "integer", sizes, mechanisms)
            self._attention_layers = tuple(
                projection(size, "attention_layer", m.dtype) for size, m in zip(sizes, mechanisms)
            )
            self._attention_layer_size = sum(sizes)
        elif layers is not None:
            layers = _as_tuple(layers)
            _check_count("attention_layer", "layer", layers, mechanisms)
            self._attention_layers = layers
            self._attention_layer_size = sum(
                self._size_after(layer, m) for layer, m in zip(layers, mechanisms)
            )
        else:
            self._attention_layer_size = sum(m.values.shape[-1].value for m in mechanisms)

    def _size_after(self, layer: Any, mechanism: Any) -> Any:
        depth = self._cell.output_size + mechanism.values.shape[-1].value
        return layer.compute_output_shape([None, depth])[-1].value

    def _checked_start(self, state: Any) -> Any:
        """The state that the inner cell starts with, of as many sequences as the memory."""
        batch_size = size_of(nest.flatten(state)[-1], 0)
        fault = (
            f"When constructing AttentionWrapper {self._base_name}: Non-matching batch sizes "
            f"between the memory (encoder output) and initial_cell_state.  {_BEAMS}You may need "
            "to tile your initial state via the tf.contrib.seq2seq.tile_batch function with "
            "argument multiple=beam_width."
        )
        with control_dependencies(self._batch_size_checks(batch_size, fault)):
            return nest.map_structure(
                lambda s: array.identity(s, name="check_initial_cell_state"), state
            )

    def _batch_size_checks(self, batch_size: Any, message: str) -> list[Any]:
        return [
            assert_equal(batch_size, m.batch_size, message=message)
            for m in self._attention_mechanisms
        ]

    def _item_or_tuple(self, items: Iterable[Any]) -> Any:
        """The one item, or the tuple of those of several mechanisms."""
        found = tuple(items)
        return found if self._is_multi else found[0]

    @property
    def output_size(self) -> Any:
        return self._attention_layer_size if self._output_attention else self._cell.output_size

    @property
    def state_size(self) -> AttentionWrapperState:
        mechanisms = self._attention_mechanisms
        sizes = [m.alignments_size for m in mechanisms]
        return AttentionWrapperState(
            cell_state=self._cell.state_size,
            time=TensorShape([]),
            attention=self._attention_layer_size,
            alignments=self._item_or_tuple(sizes),
            attention_state=self._item_or_tuple(m.state_size for m in mechanisms),
            alignment_history=self._item_or_tuple(
                size if self._alignment_history else () for size in sizes
            ),
        )

    def zero_state(self, batch_size: Any, dtype: Any) -> AttentionWrapperState:
        """The state before the first step: no attention yet, the inner cell's own start."""
        mechanisms = self._attention_mechanisms
        with name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]):
            cell_state = self._initial_cell_state
            if cell_state is None:
                cell_state = self._cell.get_initial_state(batch_size=batch_size, dtype=dtype)
            fault = (
                f"When calling zero_state of AttentionWrapper {self._base_name}: Non-matching "
                "batch sizes between the memory (encoder output) and the requested batch size.  "
                f"{_BEAMS}If so, make sure your encoder output has been tiled to beam_width via "
                "tf.contrib.seq2seq.tile_batch, and the batch_size= argument passed to "
                "zero_state is batch_size * beam_width."
            )
            with control_dependencies(self._batch_size_checks(batch_size, fault)):
                cell_state = nest.map_structure(
                    lambda s: array.identity(s, name="checked_cell_state"), cell_state
                )
            alignments = [m.initial_alignments(batch_size, dtype) for m in mechanisms]
            return AttentionWrapperState(
                cell_state=cell_state,
                time=array.zeros([], dtype=int32),
                attention=zero_state(self._attention_layer_size, batch_size, dtype),
                alignments=self._item_or_tuple(alignments),
                attention_state=self._item_or_tuple(
                    m.initial_state(batch_size, dtype) for m in mechanisms
                ),
                alignment_history=self._item_or_tuple(
                    self._history(a, dtype) if self._alignment_history else () for a in alignments
                ),
            )

    def _history(self, alignments: Tensor, dtype: Any) -> TensorArray:
        return TensorArray(dtype, size=0, dynamic_size=True, element_shape=alignments.shape)

    def call(self, inputs: Any, state: Any) -> Any:
        """A step of the cell, then of each mechanism. Raises TypeError for another state."""
        if not isinstance(state, AttentionWrapperState):
            raise TypeError(
                "Expected state to be instance of AttentionWrapperState. Received type "
                f"{type(state)} instead."
            )
        cell_inputs = self._cell_input_fn(inputs, state.attention)
        output, cell_state = self._cell(cell_inputs, state.cell_state)
        fault = (
            f"When applying AttentionWrapper {self.name}: Non-matching batch sizes between the "
            f"memory (encoder output) and the query (decoder output).  {_BEAMS}You may need to "
            "tile your memory input via the tf.contrib.seq2seq.tile_batch function with argument "
            "multiple=beam_width."
        )
        with control_dependencies(self._batch_size_checks(size_of(output, 0), fault)):
            output = array.identity(output, name="checked_cell_output")
        attentions, alignments, states, histories = self._look(output, state)
        attention = array.concat(attentions, 1)
        next_state = AttentionWrapperState(
            time=state.time + 1,
            cell_state=cell_state,
            attention=attention,
            attention_state=self._item_or_tuple(states),
            alignments=self._item_or_tuple(alignments),
            alignment_history=self._item_or_tuple(histories),
        )
        return (attention if self._output_attention else output), next_state

    def _look(self, output: Any, state: AttentionWrapperState) -> Any:
        """(attentions, alignments, states, histories) of all mechanisms."""
        old_states, old_histories = state.attention_state, state.alignment_history
        if not self._is_multi:
            old_states, old_histories = [old_states], [old_histories]
        layers = self._attention_layers or (None,) * len(self._attention_mechanisms)
        found = []
        for mechanism, layer, old, history in zip(
            self._attention_mechanisms, layers, old_states, old_histories
        ):
            attention, alignments, new = self._attention_fn(mechanism, output, old, layer)
            history = history.write(state.time, alignments) if self._alignment_history else ()
            found.append((attention, alignments, new, history))
        return zip(*found)


def _attend(mechanism: Any, output: Any, state: Any, layer: Any) -> tuple[Any, Any, Any]:
    """(attention, alignments, next state): the memory as the mechanism weighs it."""
    alignments, next_state = mechanism(output, state=state)
    context = math.matmul(array.expand_dims(alignments, 1), mechanism.values)
    context = array.squeeze(context, [1])
    attention = context if layer is None else layer(array.concat([output, context], 1))
    return attention, alignments, next_state


def _as_tuple(x: Any) -> tuple[Any, ...]:
    return tuple(x) if isinstance(x, (list, tuple)) else (x,)


def _check_mechanisms(mechanisms: tuple[Any, ...], several: bool) -> None:
    """Raises TypeError for what is no AttentionMechanism."""
    for m in mechanisms:
        if isinstance(m, AttentionMechanism):
            continue
        if several:
            raise TypeError(
                "attention_mechanism must contain only instances of AttentionMechanism, saw type: "
                f"{type(m).__name__}"
            )
        raise TypeError(
            "attention_mechanism must be an AttentionMechanism or list of multiple "
            f"AttentionMechanism instances, saw type: {type(m).__name__}"
        )


def _check_count(what: str, kind: str, given: Any, mechanisms: Any) -> None:
    if len(given) != len(mechanisms):
        raise ValueError(
            f"If provided, {what} must contain exactly one {kind} per attention_mechanism, saw: "
            f"{len(given)} vs {len(mechanisms)}"
        )
