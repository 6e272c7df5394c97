"""MultiRNNCell: cells on top of each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minitf import nest
from minitf import tf_logging as logging
from minitf.default import name_scope
from minitf.layers.base import Layer
from minitf.ops import array
from minitf.rnn.cell import RNNCell
from minitf.variable_scope import variable_scope


class MultiRNNCell(RNNCell):
    """Each cell takes the output of the one before it (TF: nn.rnn_cell.MultiRNNCell).

    Raises ValueError for no cells, or for cells whose states cannot be joined to one tensor.
    """

    def __init__(self, cells: Sequence[Any], state_is_tuple: bool = True) -> None:
        super().__init__()
        if not cells:
            raise ValueError("Must specify at least one cell for MultiRNNCell.")
        if not nest.is_nested(cells):
            raise TypeError(f"cells must be a list or tuple, but saw: {cells}.")
        if len({id(cell) for cell in cells}) < len(cells):
            logging.log_first_n(
                logging.WARN,
                "At least two cells provided to MultiRNNCell are the same object and will share "
                "weights.",
                1,
            )
        self._cells = cells
        self._state_is_tuple = state_is_tuple
        if not state_is_tuple and any(nest.is_nested(c.state_size) for c in cells):
            raise ValueError(
                "Some cells return tuples of states, but the flag state_is_tuple is not set.  "
                f"State sizes are: {[c.state_size for c in cells]}"
            )

    @property
    def state_size(self) -> Any:
        listed = tuple(cell.state_size for cell in self._cells)
        return listed if self._state_is_tuple else sum(listed)

    @property
    def output_size(self) -> Any:
        return self._cells[-1].output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """A state of zeros for each cell."""
        with name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]):
            if self._state_is_tuple:
                return tuple(cell.zero_state(batch_size, dtype) for cell in self._cells)
            return super().zero_state(batch_size, dtype)

    def call(self, inputs: Any, state: Any) -> Any:
        """One step of all cells. Raises ValueError for a state that is no tuple."""
        states = []
        for i, cell in enumerate(self._cells):
            with variable_scope(f"cell_{i}"):
                inputs, new_state = cell(inputs, self._state_of(i, state))
                states.append(new_state)
        return inputs, tuple(states) if self._state_is_tuple else array.concat(states, 1)

    def _state_of(self, i: int, state: Any) -> Any:
        if not self._state_is_tuple:
            start = sum(cell.state_size for cell in self._cells[:i])
            return array.slice(state, [0, start], [-1, self._cells[i].state_size])
        if not nest.is_nested(state):
            raise ValueError(
                f"Expected state to be a tuple of length {len(self.state_size)}, but received: "
                f"{state}"
            )
        return state[i]

    @property
    def trainable_weights(self) -> list[Any]:
        return self._gathered("trainable_weights") if self.trainable else []

    @property
    def non_trainable_weights(self) -> list[Any]:
        weights = self._gathered("non_trainable_weights")
        return weights if self.trainable else self._gathered("trainable_weights") + weights

    def _gathered(self, kind: str) -> list[Any]:
        layers = [cell for cell in self._cells if isinstance(cell, Layer)]
        return [weight for layer in layers for weight in getattr(layer, kind)]
