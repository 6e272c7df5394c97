"""WhileContext: one loop. Tensors from outside come in by an Enter and stay constant."""

from __future__ import annotations

from typing import Any

from minitf import nest
from minitf.convert import to_tensor
from minitf.default import control_dependencies, get_default_graph
from minitf.operation import Operation, Tensor
from minitf.ops.apply import apply_op
from minitf.ops.cond_context import (
    ControlFlowContext,
    is_constant_enter,
    is_loop_exit,
    merge,
    output_context,
    switch,
    switch_beside,
    while_context_of,
)
from minitf.ops.tensor_array import from_flows, to_flow
from minitf.scopes import control_inputs_for
from minitf.tensor_shape import TensorShape, as_shape
from minitf_runtime import errors
from minitf_runtime.types import Shape, c_name


def enter(
    data: Tensor,
    frame: str,
    is_constant: bool = False,
    parallel_iterations: int = 10,
    use_input_shape: bool = True,
    name: str | None = None,
) -> Tensor:
    """Brings a tensor into the loop `frame`."""
    op_type = "RefEnter" if data.dtype.is_ref else "Enter"
    result = apply_op(
        op_type,
        data,
        frame_name=frame,
        is_constant=is_constant,
        parallel_iterations=parallel_iterations,
        name=name,
    )
    if use_input_shape:
        result.set_shape(data.shape)
    return result  # type: ignore[no-any-return]


def leave(data: Tensor, name: str | None = None) -> Tensor:
    """The value of a loop variable when the loop has ended."""
    return apply_op("RefExit" if data.dtype.is_ref else "Exit", data, name=name)  # type: ignore


def next_iteration(data: Tensor, name: str | None = None) -> Tensor:
    op_type = "RefNextIteration" if data.dtype.is_ref else "NextIteration"
    return apply_op(op_type, data, name=name)  # type: ignore[no-any-return]


def same(data: Tensor) -> Tensor:
    """The value of a loop variable in the body; a reference stays one."""
    return apply_op("RefIdentity" if data.dtype.is_ref else "Identity", data)  # type: ignore


def close_loop(merged: Tensor, value: Any, enforce: bool = True) -> Tensor:
    """Makes `value` what `merged` is in the next iteration. Raises ValueError for another shape,
    InvalidArgumentError for a value in the place of a reference."""
    following = next_iteration(to_tensor(value))
    if merged.dtype.is_ref and not following.dtype.is_ref:
        raise errors.invalid(
            f"Input 1 of node {merged.op.name} was passed {c_name(following.dtype)} from "
            f"{following.name} incompatible with expected {c_name(merged.dtype)}_ref."
        )
    if enforce:
        _check_invariant(merged, following)
    merged.op._update_input(1, following)
    return following


class WhileContext(ControlFlowContext):
    """A loop under construction, or built."""

    def __init__(
        self,
        maximum_iterations: Any = None,
        parallel_iterations: int = 10,
        back_prop: bool = True,
        swap_memory: bool = False,
        name: str = "while_context",
        grad_state: Any = None,
    ) -> None:
        super().__init__()
        self.graph = get_default_graph()
        self.name = self.graph.unique_name(name)
        self.maximum_iterations = maximum_iterations
        self.parallel_iterations = parallel_iterations
        self.swap_memory = swap_memory
        self._back_prop = back_prop
        self._grad_state = grad_state
        self.pivot: Any = None  # the LoopCond
        self.pivot_for_pred: Any = None
        self.pivot_for_body: Any = None
        self.loop_enters: list[Tensor] = []
        self.loop_exits: list[Tensor] = []

    @property
    def while_context(self) -> WhileContext:
        return self

    @property
    def back_prop(self) -> bool:
        return self._back_prop

    @property
    def grad_state(self) -> Any:
        return self._grad_state

    @property
    def control_pivot(self) -> Tensor | None:
        """What an op without inputs waits for, so that it runs once per iteration."""
        found = self.pivot_for_pred if self.pivot_for_body is None else self.pivot_for_body
        return found  # type: ignore[no-any-return]

    def enter_value(self, data: Tensor, name: str | None = None, **kwargs: Any) -> Tensor:
        return enter(
            data, self.name, parallel_iterations=self.parallel_iterations, name=name, **kwargs
        )

    def add_value(self, tensor: Tensor) -> Tensor:
        """What stands for a tensor inside this loop."""
        if tensor.name in self.names or tensor.op._context is self:
            return self.known.get(tensor.name, tensor)
        self.names.add(tensor.name)
        history = self._from_forward_loop(tensor)
        if history is not None:
            self.known[tensor.name] = history
            return history
        result = self.outer.add_value(tensor) if self.outer is not None else tensor
        with control_dependencies(None):
            entered = self.enter_value(result, is_constant=True)
            entered.graph.prevent_feeding(entered)
            if self.outer is not None:
                self.outer.add_inner_op(entered.op)
        self._adopt([entered])
        self.names.add(entered.name)
        self.known[tensor.name] = entered
        return entered

    def _from_forward_loop(self, tensor: Tensor) -> Tensor | None:
        """In a gradient's loop: the kept history of a value of the forward loop."""
        current = get_default_graph().control_flow_context
        loop = current.while_context if current is not None else None
        if loop is None or loop.grad_state is None:
            return None
        forward = while_context_of(tensor.op)
        if forward is not None and is_loop_exit(tensor.op):
            forward = forward.outer.while_context if forward.outer is not None else None
        if forward is not loop.grad_state.forward_context:
            return None
        return loop.grad_state.real_value(tensor)  # type: ignore[no-any-return]

    def _adopt(self, enters: list[Tensor]) -> None:
        """Makes Enter ops part of this loop, keeping the control inputs of the scopes around it."""
        graph = get_default_graph()
        for t in enters:
            controls = control_inputs_for(graph, t.op._inputs[:1])
            t.op._context = self
            t.op._add_control_inputs([c for c in controls if self._may_wait_for(c)])
            for scope in graph._control_stack:
                scope.seen.add(t.op)

    def _may_wait_for(self, op: Operation) -> bool:
        """Whether an Enter may wait for the op: it is in a context around, up to the next loop."""
        at = output_context(op)
        context = self.outer
        limit = self.outer.while_context if self.outer is not None else None
        while context is not at:
            if context is None or context is limit:
                return False
            context = context.outer
        return True

    def add_op(self, op: Operation) -> None:
        if op.type in ("Shape", "Size", "Rank") and self._belongs_to_forward(op):
            return
        self.wire(op)

    def _belongs_to_forward(self, op: Operation) -> bool:
        """A shape of a forward value that a gradient asks for is taken in the forward loop."""
        current = get_default_graph().control_flow_context
        loop = current.while_context if current is not None else None
        if loop is None or loop.grad_state is None:
            return False
        source = op._inputs[0].op
        if while_context_of(source) is not loop.grad_state.forward_context:
            return False
        op._context = source._context
        source._context.wire(op)
        return True

    def wire(self, op: Operation) -> None:
        if not op._inputs:
            kept, removed = self.drop_outer_controls(op)
            if not kept:
                assert self.control_pivot is not None
                op._add_control_input(self.control_pivot.op)
        else:
            for i, t in enumerate(list(op._inputs)):
                real = self.add_value(t)
                if real is not t:
                    op._update_input(i, real)
            _, removed = self.drop_outer_controls(op)
            if not op._control_inputs and all(is_constant_enter(t.op) for t in op._inputs):
                assert self.control_pivot is not None
                op._add_control_input(self.control_pivot.op)
        self.names.update(t.name for t in op.outputs)
        if removed:
            op._add_control_inputs(self._bring_in(removed))
        self._hide(op)

    def _bring_in(self, outside: list[Operation]) -> list[Operation]:
        """Control inputs from outside the loop, as data that enters it."""
        with control_dependencies(None):
            self.enter()
            inside = [apply_op("Identity", c.outputs[0]).op for c in outside if c.outputs]
            self.exit()
        return inside

    # ---- the loop itself

    def build(self, pred: Any, body: Any, loop_vars: Any, invariants: Any) -> Any:
        """Builds the loop; gives the body's result structure and the exits."""
        flat = [to_flow(v) for v in nest.flatten(loop_vars, expand_composites=True)]
        tensors = [to_tensor(v) for v in flat]
        shapes = invariant_shapes(tensors, loop_vars, invariants)
        self.enter()
        try:
            return self._build(pred, body, loop_vars, tensors, shapes)
        finally:
            self.exit()

    def _build(
        self, pred: Any, body: Any, loop_vars: Any, tensors: list[Tensor], shapes: Any
    ) -> Any:
        self.names = {t.name for t in tensors}
        merged = self._open(tensors, shapes)
        self.pivot_for_pred = merged[0]

        def packed(values: list[Tensor]) -> Any:
            return nest.pack_sequence_as(loop_vars, from_flows(loop_vars, values), True)

        going = to_tensor(pred(*packed(merged)))
        self.pivot = apply_op("LoopCond", going, name="LoopCond")
        switched = [switch_beside(m, self.pivot) for m in merged]
        inside = [same(s[1]) for s in switched]
        self.pivot_for_body = inside[0]
        result = body(*packed(inside))
        if not nest.is_nested(result):
            result = [result]
        nest.assert_same_structure(list(packed(inside)), list(result), expand_composites=True)
        flat = [to_flow(v) for v in nest.flatten(result, expand_composites=True)]
        if len(flat) != len(merged):
            raise ValueError(
                "Number of inputs and outputs of body must match loop_vars: "
                f"{len(merged)}, {len(flat)}"
            )
        values = [to_tensor(v) for v in flat]
        for m, v in zip(merged, values):
            close_loop(m, v)
        exits = [leave(s[0]) for s in switched]
        self.loop_exits = exits
        self.exit_result(exits)
        return result, exits

    def _open(self, tensors: list[Tensor], shapes: list[Shape] | None) -> list[Tensor]:
        """The Enter and Merge of each loop variable."""
        real = [self.outer.add_value(t) for t in tensors] if self.outer is not None else tensors
        with control_dependencies(None):
            enters = [self.enter_value(t, use_input_shape=shapes is None) for t in real]
            for t in enters:
                t.graph.prevent_feeding(t)
                if self.outer is not None:
                    self.outer.add_inner_op(t.op)
        self._wait_for_outer_pivot(enters)
        for source, t, shape in zip(real, enters, shapes or ()):
            if not _at_least(source._shape, shape):
                raise ValueError(
                    f"The shape invariant specified for {source.name} is not compatible with the "
                    f"initial shape of the loop variable. It enters the loop with shape "
                    f"{source.shape}, but the specified shape invariant is {TensorShape.of(shape)}."
                )
            t.set_shape(TensorShape.of(shape))
        self._adopt(enters)
        self.names = {t.name for t in enters}
        self.loop_enters = enters
        return [merge([t, t])[0] for t in enters]

    def _wait_for_outer_pivot(self, enters: list[Tensor]) -> None:
        """A variable that is constant in the loop around enters once per iteration of that loop."""
        context, pivot = self.outer, None
        while context is not None and pivot is None:
            pivot, context = context.control_pivot, context.outer
        if pivot is not None:
            for t in enters:
                if is_constant_enter(t.op._inputs[0].op):
                    t.op._add_control_input(pivot.op)

    def accumulate(self, start: Tensor, name: str, step: Any) -> Tensor:
        """A loop variable of this (built) loop: from `start`, `step(value)` each iteration."""
        self.names.add(start.name)
        entered = self.enter_value(start, name=name)
        self.loop_enters.append(entered)
        merged = merge([entered, entered], name=name)[0]
        done, going = switch(merged, self.pivot)
        merged.op._update_input(1, next_iteration(step(going)))
        result = leave(done, name=name)
        self.loop_exits.append(result)
        self.exit_result([result])
        return result


def invariant_shapes(tensors: list[Tensor], loop_vars: Any, invariants: Any) -> list[Shape] | None:
    """The shapes that hold in every iteration; None where each variable keeps its own."""
    if invariants is None:
        return [t._shape for t in tensors]
    nest.assert_same_structure(loop_vars, invariants)
    return [as_shape(s) for s in nest.flatten(invariants)]


def _at_least(shape: Shape, invariant: Shape) -> bool:
    """Whether a shape is at least as specific as the invariant."""
    if invariant is None:
        return True
    if shape is None or len(shape) != len(invariant):
        return False
    return all(b is None or a == b for a, b in zip(shape, invariant))


def _check_invariant(merged: Tensor, following: Tensor) -> None:
    if not _at_least(following._shape, merged._shape):
        source = merged.op._inputs[0].op._inputs[0]
        raise ValueError(
            f"Input tensor '{source.name}' enters the loop with shape {source.shape}, but has "
            f"shape {following.shape} after one iteration. To allow the shape to vary across "
            "iterations, "
            "use the `shape_invariants` argument of tf.while_loop to specify a less-specific shape."
        )
