"""tf.train.RMSPropOptimizer."""

from __future__ import annotations

from typing import Any

from minitf.initializers import ones_initializer
from minitf.ops.array import ones_like
from minitf.train.rules import RuleOptimizer


class RMSPropOptimizer(RuleOptimizer):
    """Steps divided by a running root mean square of the gradients, or of their deviation."""

    rule = "RMSProp"
    slots = ("rms", "momentum")
    inputs = ("learning_rate", "decay", "momentum", "epsilon", "grad")

    def __init__(
        self,
        learning_rate: Any,
        decay: Any = 0.9,
        momentum: Any = 0.0,
        epsilon: Any = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        name: str = "RMSProp",
    ) -> None:
        super().__init__(
            use_locking,
            name,
            learning_rate=learning_rate,
            decay=decay,
            momentum=momentum,
            epsilon=epsilon,
        )
        if centered:
            self.rule, self.slots = "CenteredRMSProp", ("mg", "rms", "momentum")

    def _create_slots(self, var_list: list[Any]) -> None:

        for var in var_list:
            dtype = var.dtype.base
            known = var.shape.is_fully_defined()
            start = ones_initializer(dtype=dtype) if known else ones_like(var)
            self._get_or_make_slot_with_initializer(var, start, var.shape, dtype, "rms", self._name)
            for slot in self.slots:
                self._zeros_slot(var, slot, self._name)
