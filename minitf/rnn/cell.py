"""RNNCell: one step of a recurrent network, (inputs, state) -> (output, new state)."""

from __future__ import annotations

from typing import Any

from minitf.convert import to_tensor
from minitf.default import name_scope
from minitf.layers.base import Layer
from minitf.ops import array
from minitf.ops.constant_value import constant_value, is_tensor
from minitf.rnn.sizes import zero_state
from minitf.variable_scope import get_variable_scope, variable_scope
from minitf.variables.collections import trainable_variables


class RNNCell(Layer):
    """A layer of inputs and a state (TF: nn.rnn_cell.RNNCell).

    A subclass defines `state_size`, `output_size` and `call(inputs, state)`; variables that `call`
    gets by tf.get_variable become the cell's weights.
    """

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        """One step: the output and the new state."""
        getter = self._keep_variable
        if scope is not None:
            with variable_scope(scope, custom_getter=getter) as opened:
                return super().__call__(inputs, state, scope=opened)
        if not hasattr(self, "_around"):
            self._around = variable_scope(get_variable_scope(), custom_getter=getter)
        with self._around:
            return super().__call__(inputs, state)

    def _keep_variable(self, getter: Any, *args: Any, **kwargs: Any) -> Any:
        variable = getter(*args, **kwargs)
        parts = variable if hasattr(variable, "_get_variable_list") else [variable]
        trains = list(parts)[0] in trainable_variables()
        weights = self._trainable_weights if trains else self._non_trainable_weights
        if variable not in weights:
            weights.append(variable)
        return variable

    @property
    def state_size(self) -> Any:
        """A number or shape for each tensor of the state, without the batch."""
        raise NotImplementedError("Abstract method")

    @property
    def output_size(self) -> Any:
        """A number or shape for each tensor of the output, without the batch."""
        raise NotImplementedError("Abstract method")

    def build(self, _: Any) -> None:
        """Variables are made in `call`."""

    def get_initial_state(
        self, inputs: Any = None, batch_size: Any = None, dtype: Any = None
    ) -> Any:
        """A state of zeros for a batch, told or taken from `inputs`. Raises ValueError."""
        if inputs is not None:
            inputs = to_tensor(inputs, name="inputs")
            _check_alike(inputs, batch_size, dtype)
            batch_size = inputs.shape[0].value or array.shape(inputs)[0]
            dtype = inputs.dtype
        if batch_size is None or dtype is None:
            raise ValueError(
                "batch_size and dtype cannot be None while constructing initial state: "
                f"batch_size={batch_size}, dtype={dtype}"
            )
        return self.zero_state(batch_size, dtype)

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """A state of zeros."""
        with name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]):
            return zero_state(self.state_size, batch_size, dtype)


def _check_alike(inputs: Any, batch_size: Any, dtype: Any) -> None:
    """Raises ValueError if what is told is not what the inputs have."""
    if batch_size is not None:
        known = constant_value(batch_size, True) if is_tensor(batch_size) else batch_size
        if inputs.shape[0].value != known:
            raise ValueError(
                "batch size from input tensor is different from the input param. Input tensor "
                f"batch: {inputs.shape[0].value}, batch_size: {batch_size}"
            )
    if dtype is not None and inputs.dtype != dtype:
        raise ValueError(
            "dtype from input tensor is different from the input param. Input tensor dtype: "
            f"{inputs.dtype}, dtype: {dtype}"
        )


class LayerRNNCell(RNNCell):
    """A cell that makes its variables in `build`, in a scope of its own."""

    def __call__(self, inputs: Any, state: Any, scope: Any = None, *args: Any, **kw: Any) -> Any:
        """One step: the output and the new state."""
        return Layer.__call__(self, inputs, state, *args, scope=scope, **kw)
