"""tf.train.ProximalAdagradOptimizer."""

from __future__ import annotations

from typing import Any

from minitf.convert import constant
from minitf.default import colocate_with
from minitf.train.rules import RuleOptimizer


class ProximalAdagradOptimizer(RuleOptimizer):
    """Adagrad with L1 and L2 regularization by a proximal step."""

    rule = "ProximalAdagrad"
    slots = ("accumulator",)
    inputs = (
        "learning_rate",
        "l1_regularization_strength",
        "l2_regularization_strength",
        "grad",
    )

    def __init__(
        self,
        learning_rate: Any,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: Any = 0.0,
        l2_regularization_strength: Any = 0.0,
        use_locking: bool = False,
        name: str = "ProximalAdagrad",
    ) -> None:
        if initial_accumulator_value <= 0.0:
            raise ValueError(
                f"initial_accumulator_value must be positive: {initial_accumulator_value}"
            )
        super().__init__(
            use_locking,
            name,
            learning_rate=learning_rate,
            l1_regularization_strength=l1_regularization_strength,
            l2_regularization_strength=l2_regularization_strength,
        )
        self._initial_accumulator_value = initial_accumulator_value

    def _create_slots(self, var_list: list[Any]) -> None:
        for var in var_list:
            with colocate_with(var):
                start = constant(
                    self._initial_accumulator_value, shape=var.shape, dtype=var.dtype.base
                )
            self._get_or_make_slot(var, start, "accumulator", self._name)
