"""Cells of tf.contrib.rnn that put a layer before or after another cell."""

from __future__ import annotations

import math as pymath
from typing import Any

from minitf import tf_logging as logging
from minitf.convert import constant
from minitf.default import device, name_scope
from minitf.initializers import constant_initializer, random_uniform_initializer
from minitf.ops import array, matmul, nn
from minitf.ops.embedding import embedding_lookup
from minitf.rnn.cell import RNNCell
from minitf.rnn.sizes import check_cell
from minitf.variable_scope import get_variable, get_variable_scope, variable_scope
from minitf_runtime.types import int32


class Linear:
    """[inputs] * kernel + bias, with variables of the current scope. Raises ValueError."""

    def __init__(self, inputs: list[Any], output_size: int) -> None:
        shapes = [x.shape for x in inputs]
        for shape in shapes:
            if shape.ndims != 2:
                raise ValueError(f"linear is expecting 2D arguments: {shapes}")
            if shape[1].value is None:
                raise ValueError(
                    f"linear expects shape[1] to be provided for shape {shape}, but saw {shape[1]}"
                )
        depth = sum(shape[1].value for shape in shapes)
        dtype = inputs[0].dtype
        with variable_scope(get_variable_scope()) as outer:
            self._kernel = get_variable("kernel", [depth, output_size], dtype=dtype)
            with variable_scope(outer) as inner:
                inner.set_partitioner(None)
                zeros = constant_initializer(0.0, dtype=dtype)
                self._bias = get_variable("bias", [output_size], dtype=dtype, initializer=zeros)

    def __call__(self, inputs: list[Any]) -> Any:
        if len(inputs) > 1:
            one = constant(1, dtype=int32)
            inputs = [array.concat(inputs, one)]
        return nn.bias_add(matmul.matmul(inputs[0], self._kernel), self._bias)


class _AroundCell(RNNCell):
    """A cell with variables of its own around another one."""

    def __init__(self, cell: Any, reuse: Any) -> None:
        super().__init__(_reuse=reuse)
        check_cell("cell", cell)
        self._cell = cell

    @property
    def state_size(self) -> Any:
        return self._cell.state_size

    @property
    def output_size(self) -> Any:
        return self._cell.output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """The inner cell's state of zeros."""
        with name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]):
            return self._cell.zero_state(batch_size, dtype)


class InputProjectionWrapper(_AroundCell):
    """Projects the inputs of a cell (TF: contrib.rnn.InputProjectionWrapper)."""

    def __init__(
        self,
        cell: Any,
        num_proj: int,
        activation: Any = None,
        input_size: Any = None,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(cell, reuse)
        if input_size is not None:
            logging.warning("%s: The input_size parameter is deprecated.", self)
        self._num_proj = num_proj
        self._activation = activation
        self._linear: Linear | None = None

    def call(self, inputs: Any, state: Any) -> Any:
        if self._linear is None:
            self._linear = Linear([inputs], self._num_proj)
        projected = self._linear([inputs])
        if self._activation:
            projected = self._activation(projected)
        return self._cell(projected, state)


class OutputProjectionWrapper(_AroundCell):
    """Projects the outputs of a cell (TF: contrib.rnn.OutputProjectionWrapper)."""

    def __init__(
        self, cell: Any, output_size: int, activation: Any = None, reuse: bool | None = None
    ) -> None:
        super().__init__(cell, reuse)
        if output_size < 1:
            raise ValueError(f"Parameter output_size must be > 0: {output_size}.")
        self._output_size = output_size
        self._activation = activation
        self._linear: Linear | None = None

    @property
    def output_size(self) -> Any:
        return self._output_size

    def call(self, inputs: Any, state: Any) -> Any:
        output, new_state = self._cell(inputs, state)
        if self._linear is None:
            self._linear = Linear([output], self._output_size)
        projected = self._linear([output])
        if self._activation:
            projected = self._activation(projected)
        return projected, new_state


class EmbeddingWrapper(_AroundCell):
    """Looks ids up in a table, as the inputs of a cell (TF: contrib.rnn.EmbeddingWrapper)."""

    def __init__(
        self,
        cell: Any,
        embedding_classes: int,
        embedding_size: int,
        initializer: Any = None,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(cell, reuse)
        if embedding_classes <= 0 or embedding_size <= 0:
            raise ValueError(
                "Both embedding_classes and embedding_size must be > 0: "
                f"{embedding_classes}, {embedding_size}."
            )
        self._shape = [embedding_classes, embedding_size]
        self._initializer = initializer

    def call(self, inputs: Any, state: Any) -> Any:
        bound = pymath.sqrt(3)
        with device("/cpu:0"):
            initializer = self._initializer or get_variable_scope().initializer
            if not initializer:
                initializer = random_uniform_initializer(-bound, bound)
            dtype = state[0].dtype if isinstance(state, tuple) else state.dtype
            table = get_variable("embedding", self._shape, initializer=initializer, dtype=dtype)
            return self._cell(embedding_lookup(table, array.reshape(inputs, [-1])), state)
