"""tf.train.GradientDescentOptimizer."""

from __future__ import annotations

from typing import Any

from minitf.indexed_slices import IndexedSlices
from minitf.operation import Tensor
from minitf.ops.apply import apply_op
from minitf.train.rules import RuleOptimizer


class GradientDescentOptimizer(RuleOptimizer):
    """var -= learning_rate * grad."""

    rule = "GradientDescent"
    inputs = ("learning_rate", "grad")

    def __init__(
        self, learning_rate: Any, use_locking: bool = False, name: str = "GradientDescent"
    ) -> None:
        super().__init__(use_locking, name, learning_rate=learning_rate)

    def _apply_sparse_duplicate_indices(self, grad: IndexedSlices, var: Any) -> Any:
        rows = grad.values * self._input("learning_rate", var)
        delta = IndexedSlices(rows, grad.indices, grad.dense_shape)
        return var.scatter_sub(delta, use_locking=self._use_locking)

    def _resource_apply_sparse_duplicate_indices(
        self, grad: Tensor, handle: Any, indices: Tensor
    ) -> Any:
        rows = -grad * self._hyper_parameters["learning_rate"]
        return apply_op("ResourceScatterAdd", handle.handle, indices, rows)
