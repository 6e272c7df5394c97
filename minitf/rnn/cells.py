"""The basic cells: BasicRNNCell, GRUCell, BasicLSTMCell. LSTMCell with its options: lstm.py."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from minitf import nest
from minitf import tf_logging as logging
from minitf.convert import constant
from minitf.initializers import constant_initializer, zeros_initializer
from minitf.layers.arguments import activation_of, initializer_of
from minitf.layers.input_spec import InputSpec
from minitf.ops import array, math, matmul, nn
from minitf.rnn.cell import LayerRNNCell
from minitf.tensor_shape import TensorShape
from minitf_runtime.types import as_dtype, int32


class LSTMStateTuple(namedtuple("LSTMStateTuple", ("c", "h"))):
    """The state of an LSTM: the memory c, and the last output h."""

    __slots__ = ()

    @property
    def dtype(self) -> Any:
        if self.c.dtype != self.h.dtype:
            raise TypeError(f"Inconsistent internal state: {self.c.dtype} vs {self.h.dtype}")
        return self.c.dtype


class UnitsCell(LayerRNNCell):
    """What the cells share that have a number of units and an activation."""

    def __init__(
        self, num_units: int, activation: Any, reuse: Any, name: Any, dtype: Any, **kwargs: Any
    ) -> None:
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        check_dtype(self.dtype)
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._activation = activation_of(activation) or math.tanh

    @property
    def state_size(self) -> Any:
        return self._num_units

    @property
    def output_size(self) -> Any:
        return self._num_units

    def _depth(self, input_shape: Any) -> int:
        """The size of the inputs. Raises ValueError if it is not known."""
        shape = TensorShape(input_shape)
        depth = shape[-1].value
        if depth is None:
            raise ValueError(
                f"Expected inputs.shape[-1] to be known, saw shape: {tuple(shape.as_list())}"
            )
        check_dtype(self.dtype)
        return depth

    def _zeros(self) -> Any:
        return zeros_initializer(dtype=self.dtype or "float32")


class BasicRNNCell(UnitsCell):
    """output = new state = activation([inputs, state] * kernel + bias) (TF: BasicRNNCell)."""

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: bool | None = None,
        name: str | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(num_units, activation, reuse, name, dtype, **kwargs)

    def build(self, inputs_shape: Any) -> None:
        depth, units = self._depth(inputs_shape), self._num_units
        self._kernel = self.add_variable("kernel", shape=[depth + units, units])
        self._bias = self.add_variable("bias", shape=[units], initializer=self._zeros())
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        check_dtypes([inputs, state])
        output = self._activation(linear([inputs, state], self._kernel, self._bias))
        return output, output


class GRUCell(UnitsCell):
    """Gated recurrent unit (TF: GRUCell)."""

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: bool | None = None,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(num_units, activation, reuse, name, dtype, **kwargs)
        self._kernel_initializer = initializer_of(kernel_initializer)
        self._bias_initializer = initializer_of(bias_initializer)

    def build(self, inputs_shape: Any) -> None:
        depth, units = self._depth(inputs_shape), self._num_units
        ones = constant_initializer(1.0, dtype=self.dtype or "float32")
        self._gate_kernel, self._gate_bias = self._add("gates", depth + units, 2 * units, ones)
        self._candidate_kernel, self._candidate_bias = self._add(
            "candidate", depth + units, units, self._zeros()
        )
        self.built = True

    def _add(self, name: str, rows: int, columns: int, bias_start: Any) -> tuple[Any, Any]:
        kernel = self.add_variable(
            f"{name}/kernel", shape=[rows, columns], initializer=self._kernel_initializer
        )
        start = bias_start if self._bias_initializer is None else self._bias_initializer
        return kernel, self.add_variable(f"{name}/bias", shape=[columns], initializer=start)

    def call(self, inputs: Any, state: Any) -> Any:
        check_dtypes([inputs, state])
        gates = math.sigmoid(linear([inputs, state], self._gate_kernel, self._gate_bias))
        r, u = array.split(value=gates, num_or_size_splits=2, axis=1)
        candidate = linear([inputs, r * state], self._candidate_kernel, self._candidate_bias)
        c = self._activation(candidate)
        new = u * state + (1 - u) * c
        return new, new


class BasicLSTMCell(UnitsCell):
    """Long short-term memory without options (TF: BasicLSTMCell)."""

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Any = None,
        reuse: bool | None = None,
        name: str | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(num_units, activation, reuse, name, dtype, **kwargs)
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple
        if not state_is_tuple:
            warn_of_joined_state(self)

    @property
    def state_size(self) -> Any:
        units = self._num_units
        return LSTMStateTuple(units, units) if self._state_is_tuple else 2 * units

    def build(self, inputs_shape: Any) -> None:
        depth, units = self._depth(inputs_shape), self._num_units
        self._kernel = self.add_variable("kernel", shape=[depth + units, 4 * units])
        self._bias = self.add_variable("bias", shape=[4 * units], initializer=self._zeros())
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        check_dtypes([inputs, state])
        one = constant(1, dtype=int32)
        if self._state_is_tuple:
            c, h = state
        else:
            c, h = array.split(value=state, num_or_size_splits=2, axis=one)
        gates = linear([inputs, h], self._kernel, self._bias)
        i, j, f, o = array.split(value=gates, num_or_size_splits=4, axis=one)
        forget = math.sigmoid(math.add(f, constant(self._forget_bias, dtype=f.dtype)))
        kept = math.multiply(c, forget)
        new_c = math.add(kept, math.multiply(math.sigmoid(i), self._activation(j)))
        new_h = math.multiply(self._activation(new_c), math.sigmoid(o))
        if self._state_is_tuple:
            return new_h, LSTMStateTuple(new_c, new_h)
        return new_h, array.concat([new_c, new_h], 1)


# ---- what cells share


def linear(parts: list[Any], kernel: Any, bias: Any) -> Any:
    """[parts] * kernel + bias."""
    return nn.bias_add(matmul.matmul(array.concat(parts, 1), kernel), bias)


def warn_of_joined_state(cell: Any) -> None:
    logging.warning(
        "%s: Using a concatenated state is slower and will soon be deprecated.  Use "
        "state_is_tuple=True.",
        cell,
    )


def check_dtypes(inputs: Any) -> None:
    for x in nest.flatten(inputs):
        check_dtype(x.dtype)


def check_dtype(dtype: Any) -> None:
    """Raises ValueError for a type that cells do not work with."""
    if dtype is not None and not (as_dtype(dtype).is_floating or as_dtype(dtype).is_complex):
        raise ValueError(
            f"RNN cell only supports floating point inputs, but saw dtype: {as_dtype(dtype)}"
        )
