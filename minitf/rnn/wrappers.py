"""Cells around another cell: DeviceWrapper and ResidualWrapper. DropoutWrapper: dropout.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitf import nest
from minitf.default import device, name_scope
from minitf.rnn.cell import RNNCell
from minitf.rnn.sizes import check_cell


class CellWrapper(RNNCell):
    """A cell that does something around each step of another one."""

    def __init__(self, cell: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        check_cell("cell", cell)
        self.cell = cell

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        """One step of the cell, with what this one adds to it."""
        return self._around_step(inputs, state, scope)

    def _around_step(self, inputs: Any, state: Any, scope: Any) -> Any:
        raise NotImplementedError

    @property
    def wrapped_cell(self) -> Any:
        return self.cell

    @property
    def state_size(self) -> Any:
        return self.cell.state_size

    @property
    def output_size(self) -> Any:
        return self.cell.output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """The inner cell's state of zeros."""
        with name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]):
            return self.cell.zero_state(batch_size, dtype)


class DeviceWrapper(CellWrapper):
    """Asks for a device for a cell's ops (TF: nn.rnn_cell.DeviceWrapper)."""

    def __init__(self, cell: Any, device: Any, **kwargs: Any) -> None:
        super().__init__(cell, **kwargs)
        self._device = device

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """The inner cell's state of zeros, on the device."""
        scope = f"{type(self).__name__}ZeroState"
        with name_scope(scope, values=[batch_size]), device(self._device):
            return self.cell.zero_state(batch_size, dtype)

    def _around_step(self, inputs: Any, state: Any, scope: Any) -> Any:
        with device(self._device):
            return self.cell(inputs, state, scope=scope)


class ResidualWrapper(CellWrapper):
    """Adds a cell's inputs to its outputs (TF: nn.rnn_cell.ResidualWrapper)."""

    def __init__(
        self, cell: Any, residual_fn: Callable[[Any, Any], Any] | None = None, **kwargs: Any
    ) -> None:
        super().__init__(cell, **kwargs)
        self._residual_fn = residual_fn or _added

    def _around_step(self, inputs: Any, state: Any, scope: Any) -> Any:
        outputs, new_state = self.cell(inputs, state, scope=scope)
        return self._residual_fn(inputs, outputs), new_state


def _added(inputs: Any, outputs: Any) -> Any:
    """Inputs plus outputs. Raises TypeError or ValueError if they are not alike."""
    nest.assert_same_structure(inputs, outputs)
    for i, o in zip(nest.flatten(inputs), nest.flatten(outputs)):
        i.shape.assert_is_compatible_with(o.shape)
    return nest.map_structure(lambda i, o: i + o, inputs, outputs)
