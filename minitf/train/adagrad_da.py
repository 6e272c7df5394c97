"""tf.train.AdagradDAOptimizer."""

from __future__ import annotations

from typing import Any

from minitf.convert import constant
from minitf.default import colocate_with, device
from minitf.operation import Tensor
from minitf.ops.apply import apply_op
from minitf.ops.elementwise import cast
from minitf.train.rules import RuleOptimizer


class AdagradDAOptimizer(RuleOptimizer):
    """Adagrad with dual averaging, for sparse models: needs the global step."""

    rule = "AdagradDA"
    slots = ("gradient_accumulator", "gradient_squared_accumulator")
    inputs = ("grad", "learning_rate", "l1", "l2", "global_step")

    def __init__(
        self,
        learning_rate: Any,
        global_step: Any,
        initial_gradient_squared_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "AdagradDA",
    ) -> None:
        start = initial_gradient_squared_accumulator_value
        if start <= 0.0:
            raise ValueError(
                f"initial_gradient_squared_accumulator_value must be positive: {start}"
            )
        super().__init__(use_locking, name, learning_rate=learning_rate)
        self._start = start
        self._strengths = dict(l1=l1_regularization_strength, l2=l2_regularization_strength)
        self._global_step = global_step

    def _create_slots(self, var_list: list[Any]) -> None:
        for var in var_list:
            dtype = var.dtype.base
            with colocate_with(var):
                zeros = constant(0.0, shape=var.shape, dtype=dtype)
                start = constant(self._start, shape=var.shape, dtype=dtype)
            for value, slot in zip((zeros, start), self.slots):
                self._get_or_make_slot(var, value, slot, self._name)

    def _prepare(self) -> None:
        super()._prepare()
        with colocate_with(self._tensors["learning_rate"]):
            self._step_on_worker = apply_op("Identity", self._global_step) + 1

    def _apply(self, op: str, var: Any, *gradient: Tensor) -> Any:
        with device(var.device):
            self._tensors["global_step"] = apply_op("Identity", self._step_on_worker)
        return super()._apply(op, var, *gradient)

    def _input(self, key: str, var: Any) -> Tensor:
        if key == "global_step":
            return self._tensors[key]
        if key in self._strengths:
            return cast(self._strengths[key], var.dtype.base)  # type: ignore[no-any-return]
        return super()._input(key, var)
