"""tf.train.AdagradOptimizer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitf.initializers import constant_initializer
from minitf.operation import Tensor
from minitf.ops.apply import apply_op
from minitf.ops.array import shape
from minitf.ops.elementwise import cast
from minitf.train.rules import RuleOptimizer


class AdagradOptimizer(RuleOptimizer):
    """accumulator += grad ** 2; var -= learning_rate * grad / sqrt(accumulator)."""

    rule = "Adagrad"
    slots = ("accumulator",)
    inputs = ("learning_rate", "grad")

    def __init__(
        self,
        learning_rate: Any,
        initial_accumulator_value: float = 0.1,
        use_locking: bool = False,
        name: str = "Adagrad",
    ) -> None:
        if initial_accumulator_value <= 0.0:
            raise ValueError(
                f"initial_accumulator_value must be positive: {initial_accumulator_value}"
            )
        super().__init__(use_locking, name, learning_rate=learning_rate)
        self._initial_accumulator_value = initial_accumulator_value

    def _create_slots(self, var_list: list[Any]) -> None:

        for var in var_list:
            dtype = var.dtype.base
            if var.shape.is_fully_defined():
                start = constant_initializer(self._initial_accumulator_value, dtype=dtype)
            else:
                start = self._filled_like(var)
            self._get_or_make_slot_with_initializer(
                var, start, var.shape, dtype, "accumulator", self._name
            )

    def _filled_like(self, var: Any) -> Callable[[], Tensor]:

        def start() -> Tensor:
            filled = apply_op("Fill", shape(var), self._initial_accumulator_value)
            return cast(filled, var.dtype.base)  # type: ignore[no-any-return]

        return start
