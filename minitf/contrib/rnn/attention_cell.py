"""AttentionCellWrapper: a cell that looks back at its own last outputs."""

from __future__ import annotations

from typing import Any

from minitf import nest
from minitf import tf_logging as logging
from minitf.ops import array, conv, math, nn
from minitf.rnn.cell import RNNCell
from minitf.rnn.projection import Linear
from minitf.rnn.sizes import check_cell
from minitf.variable_scope import get_variable, variable_scope


class AttentionCellWrapper(RNNCell):
    """A cell with attention on `attn_length` outputs (TF: contrib.rnn.AttentionCellWrapper).

    Raises ValueError for no length, or a tuple of states without `state_is_tuple`.
    """

    def __init__(
        self,
        cell: Any,
        attn_length: int,
        attn_size: int | None = None,
        attn_vec_size: int | None = None,
        input_size: int | None = None,
        state_is_tuple: bool = True,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        check_cell("cell", cell)
        if nest.is_nested(cell.state_size) and not state_is_tuple:
            raise ValueError(
                "Cell returns tuple of states, but the flag state_is_tuple is not set. State size "
                f"is: {cell.state_size}"
            )
        if attn_length <= 0:
            raise ValueError(f"attn_length should be greater than zero, got {attn_length}")
        if not state_is_tuple:
            logging.warning(
                "%s: Using a concatenated state is slower and will soon be deprecated.  Use "
                "state_is_tuple=True.",
                self,
            )
        self._cell = cell
        self._state_is_tuple = state_is_tuple
        self._attn_length = attn_length
        self._attn_size = cell.output_size if attn_size is None else attn_size
        self._attn_vec_size = attn_vec_size or self._attn_size
        self._input_size = input_size
        self._of_inputs: Linear | None = None
        self._of_query: Linear | None = None
        self._of_output: Linear | None = None

    @property
    def state_size(self) -> Any:
        size = (self._cell.state_size, self._attn_size, self._attn_size * self._attn_length)
        return size if self._state_is_tuple else sum(size)

    @property
    def output_size(self) -> Any:
        return self._attn_size

    def call(self, inputs: Any, state: Any) -> Any:
        state, attention, past = state if self._state_is_tuple else self._apart(state)
        past = array.reshape(past, [-1, self._attn_length, self._attn_size])
        size = self._input_size or inputs.shape.as_list()[1]
        if self._of_inputs is None:
            self._of_inputs = Linear([inputs, attention], size)
        inputs = self._of_inputs([inputs, attention])
        output, state = self._cell(inputs, state)
        query = array.concat(nest.flatten(state), 1) if self._state_is_tuple else state
        attention, past = self._attend(query, past)
        with variable_scope("attn_output_projection"):
            if self._of_output is None:
                self._of_output = Linear([output, attention], self._attn_size)
            output = self._of_output([output, attention])
        past = array.concat([past, array.expand_dims(output, 1)], 1)
        past = array.reshape(past, [-1, self._attn_length * self._attn_size])
        new_state = (state, attention, past)
        return output, new_state if self._state_is_tuple else array.concat(list(new_state), 1)

    def _apart(self, joined: Any) -> list[Any]:
        own, attention = self._cell.state_size, self._attn_size
        starts = [0, own, own + attention]
        sizes = [own, attention, attention * self._attn_length]
        return [array.slice(joined, [0, at], [-1, size]) for at, size in zip(starts, sizes)]

    def _attend(self, query: Any, past: Any) -> tuple[Any, Any]:
        """The past outputs as the query weighs them, and all but the oldest."""
        length, size, vec_size = self._attn_length, self._attn_size, self._attn_vec_size
        with variable_scope("attention"):
            k = get_variable("attn_w", [1, 1, size, vec_size])
            v = get_variable("attn_v", [vec_size])
            hidden = array.reshape(past, [-1, length, 1, size])
            features = conv.conv2d(hidden, k, [1, 1, 1, 1], "SAME")
            if self._of_query is None:
                self._of_query = Linear([query], vec_size)
            y = array.reshape(self._of_query([query]), [-1, 1, 1, vec_size])
            shares = nn.softmax(math.reduce_sum(v * math.tanh(features + y), [2, 3]))
            shares = array.reshape(shares, [-1, length, 1, 1])
            attention = math.reduce_sum(shares * hidden, [1, 2])
            attention = array.reshape(attention, [-1, size])
            return attention, array.slice(past, [0, 1, 0], [-1, -1, -1])
