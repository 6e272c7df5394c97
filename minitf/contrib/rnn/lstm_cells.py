"""LSTM cells with normalized gates, or with convolutions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitf import tf_logging as logging
from minitf.contrib.layers.normalization import layer_norm
from minitf.initializers import constant_initializer
from minitf.ops import array, conv, math, matmul, nn
from minitf.rnn.cell import RNNCell
from minitf.rnn.cells import LSTMStateTuple
from minitf.tensor_shape import TensorShape
from minitf.variable_scope import get_variable, variable_scope


class LayerNormBasicLSTMCell(RNNCell):
    """An LSTM with layer normalization and dropout inside (TF: contrib.rnn's of that name)."""

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        input_size: Any = None,
        activation: Callable[[Any], Any] = math.tanh,
        layer_norm: bool = True,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
        dropout_keep_prob: Any = 1.0,
        dropout_prob_seed: int | None = None,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        if input_size is not None:
            logging.warning("%s: The input_size parameter is deprecated.", self)
        self._num_units = num_units
        self._activation = activation
        self._forget_bias = forget_bias
        self._keep_prob = dropout_keep_prob
        self._seed = dropout_prob_seed
        self._layer_norm = layer_norm
        self._norm_gain = norm_gain
        self._norm_shift = norm_shift

    @property
    def state_size(self) -> Any:
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self) -> Any:
        return self._num_units

    def call(self, inputs: Any, state: Any) -> Any:
        c, h = state
        gates = self._linear(array.concat([inputs, h], 1))
        i, j, f, o = array.split(value=gates, num_or_size_splits=4, axis=1)
        i, j = self._norm(i, "input"), self._norm(j, "transform")
        f, o = self._norm(f, "forget"), self._norm(o, "output")
        g = self._activation(j)
        if not isinstance(self._keep_prob, float) or self._keep_prob < 1:
            g = nn.dropout(g, self._keep_prob, seed=self._seed)
        new_c = c * math.sigmoid(f + self._forget_bias) + math.sigmoid(i) * g
        new_c = self._norm(new_c, "state")
        new_h = self._activation(new_c) * math.sigmoid(o)
        return new_h, LSTMStateTuple(new_c, new_h)

    def _linear(self, x: Any) -> Any:
        size = 4 * self._num_units
        out = matmul.matmul(x, get_variable("kernel", [x.shape[-1], size], dtype=x.dtype))
        if self._layer_norm:
            return out
        return nn.bias_add(out, get_variable("bias", [size], dtype=x.dtype))

    def _norm(self, x: Any, scope: str) -> Any:
        if not self._layer_norm:
            return x
        starts = {"gamma": self._norm_gain, "beta": self._norm_shift}
        with variable_scope(scope):
            for name, start in starts.items():
                initializer = constant_initializer(start)
                get_variable(name, shape=x.shape[-1:], initializer=initializer, dtype=x.dtype)
        return layer_norm(x, reuse=True, scope=scope)


class ConvLSTMCell(RNNCell):
    """An LSTM whose gates are convolutions (TF: contrib.rnn.ConvLSTMCell)."""

    def __init__(
        self,
        conv_ndims: int,
        input_shape: list[int],
        output_channels: int,
        kernel_shape: list[int],
        use_bias: bool = True,
        skip_connection: bool = False,
        forget_bias: float = 1.0,
        initializers: Any = None,
        name: str = "conv_lstm_cell",
    ) -> None:
        super().__init__(name=name)
        if conv_ndims != len(input_shape) - 1:
            raise ValueError(f"Invalid input_shape {input_shape} for conv_ndims={conv_ndims}.")
        self._conv_ndims = conv_ndims
        self._channels = output_channels
        self._kernel_shape = list(kernel_shape)
        self._use_bias = use_bias
        self._forget_bias = forget_bias
        self._skip_connection = skip_connection
        places, depth = list(input_shape[:-1]), input_shape[-1]
        state = TensorShape([*places, output_channels])
        total = output_channels + (depth if skip_connection else 0)
        self._state_size = LSTMStateTuple(state, state)
        self._output_size = TensorShape([*places, total])

    @property
    def state_size(self) -> Any:
        return self._state_size

    @property
    def output_size(self) -> Any:
        return self._output_size

    def call(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        cell, hidden = state
        gates = self._convolved([inputs, hidden])
        parts = array.split(value=gates, num_or_size_splits=4, axis=self._conv_ndims + 1)
        input_gate, new_input, forget_gate, output_gate = parts
        new_cell = math.sigmoid(forget_gate + self._forget_bias) * cell
        new_cell += math.sigmoid(input_gate) * math.tanh(new_input)
        output = math.tanh(new_cell) * math.sigmoid(output_gate)
        if self._skip_connection:
            output = array.concat([output, inputs], axis=-1)
        return output, LSTMStateTuple(new_cell, output)

    def _convolved(self, parts: list[Any]) -> Any:
        shapes = [x.shape.as_list() for x in parts]
        rank = len(shapes[0])
        if any(len(shape) not in (3, 4, 5) for shape in shapes):
            raise ValueError(f"Conv Linear expects 3D, 4D or 5D arguments: {shapes}")
        if any(len(shape) != rank for shape in shapes):
            raise ValueError(f"Conv Linear expects all args to be of same Dimension: {shapes}")
        dtype = parts[0].dtype
        depth, size = sum(shape[-1] for shape in shapes), 4 * self._channels
        kernel = get_variable("kernel", [*self._kernel_shape, depth, size], dtype=dtype)
        convolve = {3: conv.conv1d, 4: conv.conv2d, 5: conv.conv3d}[rank]
        strides = 1 if rank == 3 else [1] * rank
        x = array.concat(axis=rank - 1, values=parts)
        out = convolve(x, kernel, strides, padding="SAME")
        if not self._use_bias:
            return out
        zeros = constant_initializer(0.0, dtype=dtype)
        return out + get_variable("biases", [size], dtype=dtype, initializer=zeros)


class Conv1DLSTMCell(ConvLSTMCell):
    """A ConvLSTMCell for [places, depth]."""

    def __init__(self, name: str = "conv_1d_lstm_cell", **kwargs: Any) -> None:
        super().__init__(conv_ndims=1, name=name, **kwargs)


class Conv2DLSTMCell(ConvLSTMCell):
    """A ConvLSTMCell for images."""

    def __init__(self, name: str = "conv_2d_lstm_cell", **kwargs: Any) -> None:
        super().__init__(conv_ndims=2, name=name, **kwargs)


class Conv3DLSTMCell(ConvLSTMCell):
    """A ConvLSTMCell for volumes."""

    def __init__(self, name: str = "conv_3d_lstm_cell", **kwargs: Any) -> None:
        super().__init__(conv_ndims=3, name=name, **kwargs)
