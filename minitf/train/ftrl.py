"""tf.train.FtrlOptimizer."""

from __future__ import annotations

from typing import Any

from minitf.convert import constant
from minitf.default import colocate_with
from minitf.train.rules import RuleOptimizer


class FtrlOptimizer(RuleOptimizer):
    """Follow the regularized leader, with proximal regularization (FTRL-Proximal)."""

    rule = "Ftrl"
    slots = ("accum", "linear")
    inputs = (
        "grad",
        "learning_rate",
        "l1_regularization_strength",
        "l2_regularization_strength",
        "learning_rate_power",
    )

    def __init__(
        self,
        learning_rate: Any,
        learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "Ftrl",
        accum_name: str | None = None,
        linear_name: str | None = None,
        l2_shrinkage_regularization_strength: float = 0.0,
    ) -> None:
        strengths = dict(
            l1_regularization_strength=l1_regularization_strength,
            l2_regularization_strength=l2_regularization_strength,
            l2_shrinkage_regularization_strength=l2_shrinkage_regularization_strength,
        )
        for key, value in {
            "initial_accumulator_value": initial_accumulator_value,
            **strengths,
        }.items():
            if value < 0.0:
                raise ValueError(f"{key} {value:f} needs to be positive or zero")
        if learning_rate_power > 0.0:
            raise ValueError(
                f"learning_rate_power {learning_rate_power:f} needs to be negative or zero"
            )
        super().__init__(
            use_locking,
            name,
            learning_rate=learning_rate,
            **strengths,
            learning_rate_power=learning_rate_power,
        )
        self._initial_accumulator_value = initial_accumulator_value
        self._accum_name = accum_name or name
        self._linear_name = linear_name or name
        if l2_shrinkage_regularization_strength > 0.0:
            self.rule = "FtrlV2"
            self.inputs = (*self.inputs[:-1], "l2_shrinkage_regularization_strength",
                           "learning_rate_power")  # fmt: skip

    def _create_slots(self, var_list: list[Any]) -> None:
        for var in var_list:
            with colocate_with(var):
                start = constant(
                    self._initial_accumulator_value, dtype=var.dtype.base, shape=var.shape
                )
                self._get_or_make_slot(var, start, "accum", self._accum_name)
                self._zeros_slot(var, "linear", self._linear_name)
