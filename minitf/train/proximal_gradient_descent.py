"""tf.train.ProximalGradientDescentOptimizer."""

from __future__ import annotations

from typing import Any

from minitf.train.rules import RuleOptimizer


class ProximalGradientDescentOptimizer(RuleOptimizer):
    """Gradient descent with L1 and L2 regularization by a proximal step."""

    rule = "ProximalGradientDescent"
    inputs = (
        "learning_rate",
        "l1_regularization_strength",
        "l2_regularization_strength",
        "grad",
    )

    def __init__(
        self,
        learning_rate: Any,
        l1_regularization_strength: Any = 0.0,
        l2_regularization_strength: Any = 0.0,
        use_locking: bool = False,
        name: str = "ProximalGradientDescent",
    ) -> None:
        super().__init__(
            use_locking,
            name,
            learning_rate=learning_rate,
            l1_regularization_strength=l1_regularization_strength,
            l2_regularization_strength=l2_regularization_strength,
        )
