"""LSTMCell: long short-term memory with peepholes, projection and clipping."""

from __future__ import annotations

from typing import Any

from minitf import tf_logging as logging
from minitf.layers.arguments import initializer_of
from minitf.ops import array, math, matmul
from minitf.ops.clip import clip_by_value
from minitf.rnn.cells import (
    LSTMStateTuple,
    UnitsCell,
    check_dtypes,
    linear,
    warn_of_joined_state,
)
from minitf.variables.partitioners import fixed_size_partitioner


class LSTMCell(UnitsCell):
    """Long short-term memory (TF: LSTMCell).

    With `use_peepholes` the gates see the memory, with `num_proj` the output is projected.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        num_unit_shards: int | None = None,
        num_proj_shards: int | None = None,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Any = None,
        reuse: bool | None = None,
        name: str | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(num_units, activation, reuse, name, dtype, **kwargs)
        if not state_is_tuple:
            warn_of_joined_state(self)
        if num_unit_shards is not None or num_proj_shards is not None:
            logging.warning(
                "%s: The num_unit_shards and proj_unit_shards parameters are deprecated and will "
                "be removed in Jan 2017.  Use a variable scope with a partitioner instead.",
                self,
            )
        self._use_peepholes = use_peepholes
        self._cell_clip = cell_clip
        self._initializer = initializer_of(initializer)
        self._num_proj = num_proj
        self._proj_clip = proj_clip
        self._num_unit_shards = num_unit_shards
        self._num_proj_shards = num_proj_shards
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple

    @property
    def state_size(self) -> Any:
        units, out = self._num_units, self.output_size
        return LSTMStateTuple(units, out) if self._state_is_tuple else units + out

    @property
    def output_size(self) -> Any:
        return self._num_proj or self._num_units

    def build(self, inputs_shape: Any) -> None:
        depth, units = self._depth(inputs_shape), self._num_units
        out = units if self._num_proj is None else self._num_proj
        self._kernel = self._add("kernel", [depth + out, 4 * units], self._num_unit_shards)
        self._bias = self.add_variable("bias", shape=[4 * units], initializer=self._zeros())
        if self._use_peepholes:
            self._w_f_diag = self._add("w_f_diag", [units])
            self._w_i_diag = self._add("w_i_diag", [units])
            self._w_o_diag = self._add("w_o_diag", [units])
        if self._num_proj is not None:
            self._proj_kernel = self._add(
                "projection/kernel", [units, self._num_proj], self._num_proj_shards
            )
        self.built = True

    def _add(self, name: str, shape: list[int], shards: int | None = None) -> Any:
        partitioner = None if shards is None else fixed_size_partitioner(shards)
        return self.add_variable(
            name, shape=shape, initializer=self._initializer, partitioner=partitioner
        )

    def call(self, inputs: Any, state: Any) -> Any:
        """One step. Raises ValueError for inputs of unknown size."""
        check_dtypes([inputs, state])
        c_prev, m_prev = self._parts(state)
        if inputs.shape.with_rank(2)[1].value is None:
            raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
        gates = linear([inputs, m_prev], self._kernel, self._bias)
        i, j, f, o = array.split(value=gates, num_or_size_splits=4, axis=1)
        c = self._memory(i, j, f, c_prev)
        if self._cell_clip is not None:
            c = clip_by_value(c, -self._cell_clip, self._cell_clip)
        if self._use_peepholes:
            m = math.sigmoid(o + self._w_o_diag * c) * self._activation(c)
        else:
            m = math.sigmoid(o) * self._activation(c)
        m = self._projected(m)
        if self._state_is_tuple:
            return m, LSTMStateTuple(c, m)
        return m, array.concat([c, m], 1)

    def _parts(self, state: Any) -> Any:
        if self._state_is_tuple:
            return state
        units = self._num_units
        out = units if self._num_proj is None else self._num_proj
        return array.slice(state, [0, 0], [-1, units]), array.slice(state, [0, units], [-1, out])

    def _memory(self, i: Any, j: Any, f: Any, c_prev: Any) -> Any:
        if not self._use_peepholes:
            forget = math.sigmoid(f + self._forget_bias)
            return forget * c_prev + math.sigmoid(i) * self._activation(j)
        forget = math.sigmoid(f + self._forget_bias + self._w_f_diag * c_prev)
        kept = forget * c_prev
        return kept + math.sigmoid(i + self._w_i_diag * c_prev) * self._activation(j)

    def _projected(self, m: Any) -> Any:
        if self._num_proj is None:
            return m
        m = matmul.matmul(m, self._proj_kernel)
        if self._proj_clip is not None:
            m = clip_by_value(m, -self._proj_clip, self._proj_clip)
        return m
