"""Control-flow contexts: they watch each op made inside a branch or loop and wire it in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from minitf import nest
from minitf.convert import to_tensor
from minitf.default import colocate_with, control_dependencies, get_default_graph
from minitf.operation import Operation, Tensor
from minitf.ops.apply import apply_op
from minitf.ops.group import with_dependencies
from minitf.ops.tensor_array import to_flow


def switch(data: Any, pred: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Hands `data` (a variable's value) to output 1 if `pred`, else to 0; the other is dead."""
    data = to_tensor(data, name="data", as_ref=True)
    return apply_op("Switch", data, pred, name=name)  # type: ignore[no-any-return]


def switch_beside(data: Any, pred: Any, name: str = "Switch") -> tuple[Tensor, Tensor]:
    """A Switch on the device of its data; a reference stays one."""
    data = to_tensor(data, name="data", as_ref=True)
    op_type = "RefSwitch" if data.dtype.is_ref else "Switch"
    with colocate_with(data, ignore_existing=True):
        return apply_op(op_type, data, pred, name=name)  # type: ignore[no-any-return]


def merge(inputs: Any, name: str | None = None) -> Any:
    """The one input that is not dead, and its index (TF: control_flow_ops.merge)."""
    tensors = [to_tensor(t, as_ref=True) for t in inputs]
    if all(t.dtype.is_ref for t in tensors):
        return apply_op("RefMerge", tensors, name=name or "Merge")
    return apply_op("Merge", tensors, name=name)


def is_loop_exit(op: Operation) -> bool:
    return op.type in ("Exit", "RefExit")


def is_loop_enter(op: Operation) -> bool:
    return op.type in ("Enter", "RefEnter")


def is_constant_enter(op: Operation) -> bool:
    return is_loop_enter(op) and bool(op.get_attr("is_constant"))


def output_context(op: Operation) -> Any:
    """The context that an op's outputs are in: that around the loop for an Exit."""
    context = op._context
    if context is not None and is_loop_exit(op):
        return context.outer
    return context


def while_context_of(op: Operation) -> Any:
    return op._context.while_context if op._context is not None else None


class ControlFlowContext(ABC):
    """Base of CondContext and WhileContext. `names` holds the tensors known inside."""

    def __init__(self) -> None:
        self.outer: Any = get_default_graph().control_flow_context
        self.names: set[str] = set()
        self.known: dict[str, Tensor] = {}  # outside tensor -> what stands for it inside
        self.nested: list[ControlFlowContext] = []
        if self.outer is not None:
            self.outer.nested.append(self)
        self._entered_from: list[Any] = []

    @property
    def while_context(self) -> Any:
        """The innermost loop around (or being) this context."""
        return self.outer.while_context if self.outer is not None else None

    @property
    def back_prop(self) -> bool:
        return self.while_context.back_prop if self.while_context is not None else False

    @property
    def grad_state(self) -> Any:
        """The gradient's view of the loop, where this is a loop of a gradient."""
        return self.while_context.grad_state if self.while_context is not None else None

    @property
    def control_pivot(self) -> Tensor | None:
        return None

    def enter(self) -> None:
        graph = get_default_graph()
        self._entered_from.append(graph.control_flow_context)
        graph.control_flow_context = self

    def exit(self) -> None:
        get_default_graph().control_flow_context = self._entered_from.pop()

    def add_name(self, name: str) -> None:
        self.names.add(name)

    @abstractmethod
    def add_value(self, tensor: Tensor) -> Tensor:
        """What stands for a tensor inside this context."""

    @abstractmethod
    def wire(self, op: Operation) -> None:
        """Makes the inputs of an op known inside, and the op wait for what runs this context."""

    def add_op(self, op: Operation) -> None:
        """Takes in a new op (called by Graph.create_op)."""
        self.wire(op)

    def add_inner_op(self, op: Operation) -> None:
        """Tells of an op made in a context inside."""
        if self.outer is not None:
            self.outer.add_inner_op(op)

    def exit_result(self, results: Any) -> None:
        """Makes results known outside."""
        if self.outer is not None:
            for t in results:
                self.outer.names.add(t.name)

    def drop_outer_controls(self, op: Operation) -> tuple[list[Operation], list[Operation]]:
        """Removes control inputs from outside the loop; gives (those kept, those removed)."""
        loop = self.while_context
        if loop is None:
            return op.control_inputs, []
        inside, outside = [], []
        for c in op.control_inputs:
            context = output_context(c)
            same = context is not None and context.while_context is loop
            (inside if same else outside).append(c)
        if outside:
            op._remove_all_control_inputs()
            op._add_control_inputs(inside)
        return inside, outside

    def _hide(self, op: Operation) -> None:
        """An op inside may run any number of times: nobody can feed or fetch it."""
        if self.outer is not None or not is_loop_exit(op):
            op.graph.prevent_fetching(op)
            for t in op.outputs:
                op.graph.prevent_feeding(t)
        if self.outer is not None:
            self.outer.add_inner_op(op)


class CondContext(ControlFlowContext):
    """One branch of a cond. Tensors from outside come in by a Switch."""

    def __init__(self, pred: Tensor, pivot: Tensor, branch: int) -> None:
        super().__init__()
        self.pred = pred
        self.pivot = pivot
        self.branch = branch
        self.names.update((pred.name, pivot.name))
        self.known[pred.name] = pred
        pivot.op._context = self
        self.name = get_default_graph().unique_name("cond_text")

    @property
    def control_pivot(self) -> Tensor | None:
        return self.pivot

    def add_value(self, tensor: Tensor) -> Tensor:
        if tensor.name in self.names:
            return self.known.get(tensor.name, tensor)
        result = tensor
        self.names.add(tensor.name)
        if self.outer is not None:
            result = self.outer.add_value(tensor)
            self.names.add(result.name)
            self.known[result.name] = result
        with control_dependencies(None):
            result = switch_beside(result, self.pred)[self.branch]
            if self.outer is not None:
                self.outer.add_inner_op(result.op)
        result.graph.prevent_fetching(result.op)
        result.graph.prevent_feeding(result)
        result.op._context = self  # its gradient merges within this branch
        self._know(result)
        self.known[tensor.name] = result
        return result

    def _know(self, *tensors: Tensor) -> None:
        context: Any = self
        while context is not None:
            context.names.update(t.name for t in tensors)
            context = context.outer

    def wire(self, op: Operation) -> None:
        if not op._inputs:
            self.drop_outer_controls(op)
            if not any(_within(c, self) for c in op._control_inputs):
                op._add_control_input(self.pivot.op)
        else:
            for i, t in enumerate(op._inputs):
                closes_loop = op.type == "Merge" and t.op.type == "NextIteration"
                real = t if closes_loop else self.add_value(t)
                if real is not t:
                    op._update_input(i, real)
            self.drop_outer_controls(op)
        self._know(*op.outputs)
        self._hide(op)

    def build_branch(self, fn: Any) -> tuple[Any, list[Tensor]]:
        """Runs the user's function; gives its result and the tensors to merge."""
        original = fn()
        if original is None:
            return None, []
        result = nest.map_structure(
            lambda v: self._branch_tensor(to_flow(v)), original, expand_composites=True
        )
        tensors = nest.flatten(result, expand_composites=True)
        self.exit_result(tensors)
        return original, tensors

    def _branch_tensor(self, value: Any) -> Any:
        if isinstance(value, Operation):
            return with_dependencies([value], self.pivot)  # the pivot stands for the op
        return self._output(to_tensor(value))

    def _output(self, tensor: Tensor) -> Tensor:
        """The branch's version of a result, also when it is just a tensor from outside."""
        if tensor.name in self.names:
            return self.known.get(tensor.name, tensor)
        real = tensor
        self.names.add(tensor.name)
        if self.outer is not None:
            real = self.outer.add_value(tensor)
            self.names.add(real.name)
            self.known[real.name] = real
        real = switch_beside(real, self.pred)[self.branch]
        self.known[tensor.name] = real
        return real


def _within(op: Operation, context: ControlFlowContext) -> bool:
    """Whether an op was made in this context or in one inside it."""
    at = op._context
    while at is not None and at is not context:
        at = at.outer
    return at is context
