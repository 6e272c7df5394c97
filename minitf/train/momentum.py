"""tf.train.MomentumOptimizer."""

from __future__ import annotations

from typing import Any

from minitf.train.rules import RuleOptimizer


class MomentumOptimizer(RuleOptimizer):
    """accumulation = momentum * accumulation + grad; var -= learning_rate * accumulation."""

    rule = "Momentum"
    slots = ("momentum",)
    inputs = ("learning_rate", "grad", "momentum")

    def __init__(
        self,
        learning_rate: Any,
        momentum: Any,
        use_locking: bool = False,
        name: str = "Momentum",
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(use_locking, name, learning_rate=learning_rate, momentum=momentum)
        self._attrs["use_nesterov"] = use_nesterov
