"""tf.train.AdadeltaOptimizer."""

from __future__ import annotations

from typing import Any

from minitf.train.rules import RuleOptimizer


class AdadeltaOptimizer(RuleOptimizer):
    """Steps scaled by the ratio of running means of past steps and of gradients."""

    rule = "Adadelta"
    slots = ("accum", "accum_update")
    inputs = ("lr", "rho", "epsilon", "grad")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: Any = 0.95,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "Adadelta",
    ) -> None:
        super().__init__(use_locking, name, lr=learning_rate, rho=rho, epsilon=epsilon)
