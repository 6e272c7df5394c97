"""HighwayWrapper: a cell whose inputs pass by it as far as a gate lets them."""

from __future__ import annotations

from typing import Any

from minitf import nest
from minitf.initializers import constant_initializer
from minitf.ops import math, nn
from minitf.rnn.wrappers import CellWrapper
from minitf.variable_scope import get_variable


class HighwayWrapper(CellWrapper):
    """carry * inputs + transform * outputs (TF: contrib.rnn.HighwayWrapper).

    The transform gate is 1 - carry, unless the two are not coupled.
    """

    def __init__(
        self, cell: Any, couple_carry_transform_gates: bool = True, carry_bias_init: float = 1.0
    ) -> None:
        super().__init__(cell)
        self._coupled = couple_carry_transform_gates
        self._carry_bias_init = carry_bias_init

    def _around_step(self, inputs: Any, state: Any, scope: Any) -> Any:
        outputs, new_state = self.cell(inputs, state, scope=scope)
        nest.assert_same_structure(inputs, outputs)
        for i, o in zip(nest.flatten(inputs), nest.flatten(outputs)):
            i.shape.assert_is_compatible_with(o.shape)
        return nest.map_structure(self._mixed, inputs, outputs), new_state

    def _mixed(self, inputs: Any, outputs: Any) -> Any:
        carry = self._gate("carry", inputs, self._carry_bias_init)
        if self._coupled:
            transform = 1 - carry
        else:
            transform = self._gate("transform", inputs, -self._carry_bias_init)
        return inputs * carry + outputs * transform

    def _gate(self, name: str, inputs: Any, start: float) -> Any:
        size = inputs.shape.with_rank(2)[1].value
        weight = get_variable(f"{name}_w", [size, size])
        bias = get_variable(f"{name}_b", [size], initializer=constant_initializer(start))
        return math.sigmoid(nn.xw_plus_b(inputs, weight, bias))
