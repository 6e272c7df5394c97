"""What a backward pass asks about control flow. `Flow` is the answer for graphs without loops and
conditionals; a subclass answers for those that have them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from minitf.default import control_dependencies
from minitf.gradients.handles import handle_dtype
from minitf.operation import Operation, Tensor
from minitf.ops.apply import apply_op
from minitf.ops.array import identity, shape_internal, zeros, zeros_like
from minitf.ops.cond_context import switch
from minitf_runtime.types import resource

AddTerm = Callable[[Tensor, Any], None]


class Flow:
    """The backward pass of a graph without control flow."""

    def __init__(self, add_term: AddTerm) -> None:
        self.add_term = add_term

    def start(self, pending: dict[Operation, int], queued: set[Operation]) -> Iterable[Operation]:
        """More ops to begin with, besides those of the ys."""
        return ()

    def summing(self, op: Operation) -> AbstractContextManager[Any]:
        """The scope in which the terms for the outputs of `op` are summed."""
        return nullcontext()

    def differentiating(self, op: Operation) -> AbstractContextManager[Any]:
        """The scope in which the gradient function of `op` runs."""
        return nullcontext()

    def zeros_like(self, tensor: Tensor) -> Tensor:
        """The gradient of an output that the ys do not depend on."""
        if tensor.op.type in ("Switch", "RefSwitch") and tensor.op._context is not None:
            return self._zeros_of_branch(tensor)
        if tensor.dtype.base is resource:
            return zeros(apply_op("VariableShape", tensor), handle_dtype(tensor))
        return zeros_like(tensor, optimize=False)

    def _zeros_of_branch(self, tensor: Tensor) -> Tensor:
        """Zeros that are alive when the other branch is taken."""
        op, context = tensor.op, tensor.op._context
        other = switch(op._inputs[0], context.pred)[1 - context.branch]
        pivot = identity(other)  # what follows must run on that branch alone
        if tensor.dtype.base is resource:
            with control_dependencies([pivot]):
                return zeros(apply_op("VariableShape", other), handle_dtype(tensor))
        sizes = shape_internal(other, optimize=False)
        with control_dependencies([pivot]):
            return zeros(sizes, dtype=tensor.dtype)

    def ready(
        self, op: Operation, pending: int, has_terms: Callable[[Operation], bool]
    ) -> Iterable[Operation]:
        """The ops to visit now that `pending` consumers of `op` are still to come."""
        return (op,) if pending == 0 else ()

    def finish(self) -> None:
        """Closes what the pass left open."""
