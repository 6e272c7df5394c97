"""DropoutWrapper: dropout of a cell's inputs, state and outputs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from minitf import nest
from minitf.convert import to_tensor
from minitf.default import name_scope
from minitf.ops import array, math, nn
from minitf.ops.constant_value import constant_value
from minitf.ops.random import random_uniform
from minitf.ops.tensor_array import TensorArray
from minitf.rnn.cells import LSTMStateTuple
from minitf.rnn.wrappers import CellWrapper
from minitf.tensor_shape import TensorShape

_PARTS = ("input", "state", "output")


class DropoutWrapper(CellWrapper):
    """Drops elements around each step of a cell (TF: nn.rnn_cell.DropoutWrapper).

    With `variational_recurrent` the same elements are dropped in every step; then `dtype`, and
    with dropout of the inputs `input_size`, must be told. The filter tells for a part of the state
    (True, False, or one of these for each of its parts) whether it takes part: the memory of an
    LSTM does not. Raises ValueError for a probability that is none.
    """

    def __init__(
        self,
        cell: Any,
        input_keep_prob: Any = 1.0,
        output_keep_prob: Any = 1.0,
        state_keep_prob: Any = 1.0,
        variational_recurrent: bool = False,
        input_size: Any = None,
        dtype: Any = None,
        seed: int | None = None,
        dropout_state_filter_visitor: Callable[[Any], Any] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(cell, dtype=dtype, **kwargs)
        if dropout_state_filter_visitor is not None and not callable(dropout_state_filter_visitor):
            raise TypeError("dropout_state_filter_visitor must be callable")
        self._filter = dropout_state_filter_visitor or _all_but_memory
        given = {"input": input_keep_prob, "state": state_keep_prob, "output": output_keep_prob}
        with name_scope("DropoutWrapperInit"):
            self._keep = {part: _probability(part, given[part]) for part in _PARTS}
        self._seed = seed
        self._noise: dict[str, Any] | None = None
        if variational_recurrent:
            self._noise = self._drawn_once(input_size, dtype)

    def _drawn_once(self, input_size: Any, dtype: Any) -> dict[str, Any]:
        """The random numbers of each part, for all steps."""
        if dtype is None:
            raise ValueError("When variational_recurrent=True, dtype must be provided")
        sizes = {"state": self.cell.state_size, "output": self.cell.output_size}
        if _may_drop(self._keep["input"]):
            if input_size is None:
                raise ValueError(
                    "When variational_recurrent=True and input_keep_prob < 1.0 or is unknown, "
                    "input_size must be provided"
                )
            sizes = {"input": input_size, **sizes}

        def drawn(part: str, i: int, size: Any) -> Any:
            shape = array.concat(([1], TensorShape(size).as_list()), 0)
            return random_uniform(shape, seed=self._seed_of(part, i), dtype=dtype)

        return {
            part: nest.pack_sequence_as(
                size, [drawn(part, i, one) for i, one in enumerate(nest.flatten(size))]
            )
            for part, size in sizes.items()
        }

    def _seed_of(self, part: str, index: int) -> int | None:
        """A seed for each tensor; which one is TensorFlow's choice."""
        if self._seed is None:
            return None
        text = f"{self._seed}{part}_{index}".encode()
        return int(hashlib.md5(text).hexdigest()[:8], 16) & 0x7FFFFFFF

    def _around_step(self, inputs: Any, state: Any, scope: Any) -> Any:
        if _may_drop(self._keep["input"]):
            inputs = self._dropped("input", inputs, inputs)
        output, new_state = self.cell(inputs, state, scope=scope)
        if _may_drop(self._keep["state"]):
            new_state = self._dropped("state", new_state, _chosen(self._filter, new_state))
        if _may_drop(self._keep["output"]):
            output = self._dropped("output", output, output)
        return output, new_state

    def _dropped(self, part: str, values: Any, chosen: Any) -> Any:
        """The values after dropout, but for those that `chosen` has False for."""
        keep = self._keep[part]
        index = iter(range(len(nest.flatten(chosen))))

        def drop(wanted: Any, value: Any, noise: Any = None) -> Any:
            i = next(index)
            if wanted is False:
                return value
            if self._noise is None:
                return nn.dropout(value, rate=1.0 - keep, seed=self._seed_of(part, i))
            kept = math.floor(keep + noise)
            scaled = math.div(value, keep) * kept
            scaled.set_shape(value.shape)
            return scaled

        noise = [] if self._noise is None else [self._noise[part]]
        return nest.map_structure_up_to(chosen, drop, chosen, values, *noise)


def _probability(part: str, given: Any) -> Any:
    """A float if it is known, else a tensor."""
    tensor = to_tensor(given)
    value = constant_value(tensor)
    if value is None:
        return tensor
    if not 0 <= value <= 1:
        raise ValueError(f"Parameter {part}_keep_prob must be between 0 and 1: {int(value)}")
    return float(value)


def _may_drop(keep_prob: Any) -> bool:
    return not isinstance(keep_prob, float) or keep_prob < 1


def _all_but_memory(state: Any) -> Any:
    if isinstance(state, LSTMStateTuple):
        return LSTMStateTuple(c=False, h=True)
    return not isinstance(state, TensorArray)


def _chosen(told_of: Callable[[Any], Any], state: Any) -> Any:
    """A structure of truths as deep as the filter looks into the state. Raises TypeError."""
    told = told_of(state)
    if not nest.is_nested(state):
        if not isinstance(told, bool):
            raise TypeError(f"The filter must tell True or False for {state}, but told {told}")
        return told
    if told is False:
        return False
    parts = nest.children(state) or []
    truths = [True] * len(parts) if told is True else nest.children(told) or []
    deep = [_chosen(told_of, part) if truth else False for truth, part in zip(truths, parts)]
    return nest.with_children(state, deep)
