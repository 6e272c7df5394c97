"""tf.train.AdamOptimizer."""

from __future__ import annotations

from typing import Any

from minitf.default import colocate_with, control_dependencies, get_default_graph
from minitf.indexed_slices import IndexedSlices
from minitf.operation import Operation, Tensor
from minitf.ops import state
from minitf.ops.apply import apply_op
from minitf.ops.elementwise import cast
from minitf.ops.group import group
from minitf.train.rules import RuleOptimizer
from minitf.variables.resource import is_resource_variable


class AdamOptimizer(RuleOptimizer):
    """Steps from running means of gradients and of their squares, both corrected for their start.

    A sparse gradient moves the means of all rows, and so all rows of the variable.
    """

    rule = "Adam"
    slots = ("m", "v")
    inputs = ("beta1_power", "beta2_power", "learning_rate", "beta1", "beta2", "epsilon", "grad")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "Adam",
    ) -> None:
        super().__init__(
            use_locking,
            name,
            learning_rate=learning_rate,
            beta1=beta1,
            beta2=beta2,
            epsilon=epsilon,
        )

    def _create_slots(self, var_list: list[Any]) -> None:
        first = min(var_list, key=lambda v: v.name)
        for beta in ("beta1", "beta2"):
            start = self._hyper_parameters[beta]
            self._create_non_slot_variable(start, name=f"{beta}_power", colocate_with=first)
        super()._create_slots(var_list)

    def _power(self, beta: str) -> Any:
        return self._get_non_slot_variable(f"{beta}_power", graph=get_default_graph())

    def _input(self, key: str, var: Any) -> Tensor:
        if key.endswith("_power"):
            return cast(self._power(key.removesuffix("_power")), var.dtype.base)  # type: ignore[no-any-return]
        return super()._input(key, var)

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Operation:
        return self._apply_to_all(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad: Tensor, handle: Any, indices: Tensor) -> Operation:
        return self._apply_to_all(grad, handle, indices)

    def _apply_to_all(self, grad: Tensor, var: Any, indices: Tensor) -> Operation:
        keys = ("beta1_power", "beta2_power", "learning_rate", "beta1", "beta2", "epsilon")
        power1, power2, rate, beta1, beta2, epsilon = (self._input(key, var) for key in keys)
        rate = rate * apply_op("Sqrt", 1 - power2) / (1 - power1)
        m = self._moved(self.get_slot(var, "m"), beta1, indices, grad * (1 - beta1))
        v = self._moved(self.get_slot(var, "v"), beta2, indices, grad * grad * (1 - beta2))
        root = apply_op("Sqrt", v)
        step = rate * m / (root + epsilon)
        update = state.assign_sub(var, step, use_locking=self._use_locking)
        return group(update, m, v)

    def _moved(self, mean: Any, beta: Tensor, indices: Tensor, rows: Tensor) -> Tensor:
        """A slot after its decay and after the rows were added to it."""
        decayed = state.assign(mean, mean * beta, use_locking=self._use_locking)
        with control_dependencies([decayed]):
            if not is_resource_variable(mean):
                return state.scatter_add(mean, indices, rows, use_locking=self._use_locking)  # type: ignore[no-any-return]
            added = apply_op("ResourceScatterAdd", mean.handle, indices, rows)
            with control_dependencies([added]):
                return mean.value()  # type: ignore[no-any-return]

    def _finish(self, update_ops: list[Any], name_scope: str) -> Operation:
        powers = self._power("beta1"), self._power("beta2")
        with control_dependencies(update_ops), colocate_with(powers[0]):
            raised = [
                power.assign(power * self._tensors[beta], use_locking=self._use_locking)
                for power, beta in zip(powers, ("beta1", "beta2"))
            ]
        return group(*update_ops, *raised, name=name_scope)
