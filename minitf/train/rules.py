"""RuleOptimizer: an optimizer whose every update is one op, an update rule of the engine."""

from __future__ import annotations

from typing import Any

from minitf.convert import to_tensor
from minitf.indexed_slices import IndexedSlices
from minitf.operation import Operation, Tensor
from minitf.ops.apply import apply_op
from minitf.ops.elementwise import cast
from minitf.train.optimizer import Optimizer
from minitf.variables.resource import is_resource_variable

GRADIENT = "grad"


class RuleOptimizer(Optimizer):
    """A subclass names its rule, the slots that the rule takes after the variable, and its inputs:
    hyper-parameters by name, and the gradient.
    """

    rule: str
    slots: tuple[str, ...] = ()
    inputs: tuple[str, ...]

    def __init__(self, use_locking: bool, name: str, **hyper_parameters: Any) -> None:
        super().__init__(use_locking, name)
        self._hyper_parameters = hyper_parameters  # value, tensor or function, in order of making
        self._tensors: dict[str, Tensor] = {}
        self._attrs: dict[str, Any] = {}

    def _create_slots(self, var_list: list[Any]) -> None:
        for var in var_list:
            for slot in self.slots:
                self._zeros_slot(var, slot, self._name)

    def _prepare(self) -> None:
        for key, value in self._hyper_parameters.items():
            made = value() if callable(value) else value
            self._tensors[key] = to_tensor(made, name=key)

    def _input(self, key: str, var: Any) -> Tensor:
        """The tensor that stands for a hyper-parameter in the update of `var`."""
        return cast(self._tensors[key], var.dtype.base)  # type: ignore[no-any-return]

    def _apply_dense(self, grad: Tensor, var: Any) -> Operation:
        return self._apply(f"Apply{self.rule}", var, grad)

    _resource_apply_dense = _apply_dense

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Operation:
        return self._apply(f"SparseApply{self.rule}", var, grad.values, grad.indices)

    def _resource_apply_sparse(self, grad: Tensor, handle: Any, indices: Tensor) -> Operation:
        return self._apply(f"SparseApply{self.rule}", handle, grad, indices)

    def _apply(self, op: str, var: Any, *gradient: Tensor) -> Operation:
        """The op of the rule, with `gradient` (perhaps values and indices) in its place."""
        cells = [var, *(self.get_slot(var, name) for name in self.slots)]
        if is_resource_variable(var):
            op, cells = f"Resource{op}", [cell.handle for cell in cells]
        inputs: list[Tensor] = []
        for key in self.inputs:
            inputs += gradient if key == GRADIENT else [self._input(key, var)]
        made = apply_op(op, *cells, *inputs, use_locking=self._use_locking, **self._attrs)
        return made.op if isinstance(made, Tensor) else made
