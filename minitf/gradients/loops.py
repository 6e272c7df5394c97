"""The backward pass of loops: for each forward loop a gradient loop that runs it in reverse.

Values of the forward loop that the gradient needs are pushed on stacks there and popped here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from minitf.convert import constant
from minitf.default import colocate_with, control_dependencies, get_default_graph
from minitf.gradients.flow import Flow
from minitf.operation import Operation, Tensor
from minitf.ops.apply import apply_op
from minitf.ops.array import shape_internal, zeros, zeros_like
from minitf.ops.cond_context import (
    CondContext,
    is_constant_enter,
    is_loop_enter,
    is_loop_exit,
    merge,
    output_context,
    switch,
    switch_beside,
    while_context_of,
)
from minitf.ops.while_context import WhileContext, leave, next_iteration
from minitf_runtime.types import COMPLEX, FLOATS, int32, resource, variant

_SWITCHES = ("Switch", "RefSwitch")
_TRAINABLE = frozenset((*FLOATS, *COMPLEX, resource, variant))


def is_loop_switch(op: Operation) -> bool:
    """Whether a Switch ends a loop (the others choose a branch)."""
    if op.type not in _SWITCHES:
        return False
    context = op._context
    return isinstance(context, WhileContext) and not _is_cond_switch(op)


def _is_cond_switch(op: Operation) -> bool:
    """A Switch made for a cond inside a loop belongs to the loop but feeds a cond."""
    for t in op.outputs:
        for consumer in t._consumers:
            context = consumer._context
            if is_loop_enter(consumer) and context is not None:
                context = context.outer
            if isinstance(context, CondContext) and context.pred is op._inputs[1]:
                return True
    return False


@contextmanager
def inside(context: Any) -> Iterator[None]:
    """Ops made in the block belong to the context (to none that is new, for None)."""
    if context is not None:
        context.enter()
    try:
        yield
    finally:
        if context is not None:
            context.exit()


@contextmanager
def outside(context: Any) -> Iterator[None]:
    """Ops made in the block belong to what the context was entered from."""
    context.exit()
    try:
        yield
    finally:
        context.enter()


class GradLoop:
    """One forward loop and its gradient loop."""

    def __init__(self, forward: WhileContext, outer: GradLoop | None) -> None:
        self.outer = outer
        self.forward_context = forward
        self.history: dict[str, Tensor] = {}  # forward tensor -> its value in the gradient loop
        self.switches: dict[Operation, Tensor] = {}  # forward Switch -> its gradient's Merge
        self.unused_exits: list[Tensor] = []
        self.deferred_exits: list[Tensor] = []
        self.forward_exits = list(forward.loop_exits)
        self.pending_exits = len(forward.loop_exits)
        self._forward_sync: Operation | None = None
        self._grad_sync: Operation | None = None
        around = outer.forward_context if outer else forward.outer
        with inside(around):
            count, self.forward_index = self._count_forward()
        if outer is None:
            with inside(around):
                self.grad_context = self._new_context()
                self.grad_index = self._count_back(count)
            return
        assert around is not None
        around.add_name(count.name)
        history = outer.remember(count)
        with inside(outer.grad_context):
            self.grad_context = self._new_context()
            self.grad_index = self._count_back(outer.recall(history, count))

    def _new_context(self) -> WhileContext:
        f = self.forward_context
        return WhileContext(
            f.maximum_iterations, f.parallel_iterations, f.back_prop, f.swap_memory, f.name, self
        )

    def _count_forward(self) -> tuple[Tensor, Tensor]:
        """A counter beside the forward loop: how many iterations it took, and the index."""
        context = self.forward_context
        n = constant(0, name="f_count")
        if self.outer is not None:
            n.op._add_control_input(self.outer.forward_index.op._inputs[0].op)
        with inside(context):
            context.add_name(n.name)
            entered = context.enter_value(n, name="f_count")
            context.loop_enters.append(entered)
            merged = merge([entered, entered])[0]
            done, going = switch(merged, context.pivot)
            index = next_iteration(apply_op("Add", going, 1))
            merged.op._update_input(1, index)
            total = leave(done, name="f_count")
            context.loop_exits.append(total)
            context.exit_result([total])
        return total, index

    def _count_back(self, count: Tensor) -> Tensor:
        """The counter that ends the gradient loop."""
        context = self.grad_context
        one = constant(1, name="b_count")
        with inside(context):
            context.add_name(count.name)
            entered = context.enter_value(count, name="b_count")
            context.loop_enters.append(entered)
            merged = merge([entered, entered])[0]
            context.pivot_for_pred = merged
            going = apply_op("GreaterEqual", merged, one)
            context.pivot = apply_op("LoopCond", going, name="b_count")
            done, left = switch(merged, context.pivot)
            index = apply_op("Sub", left, one)
            context.pivot_for_body = index
            following = next_iteration(index)
            merged.op._update_input(1, following)
            final = leave(done, name="b_count")
            context.loop_exits.append(final)
            if self.outer is not None:
                self.outer.grad_sync._add_control_input(final.op)
            context.exit_result([final])
        return following

    @property
    def forward_sync(self) -> Operation:
        """Keeps pushes inside conds in the order of the iterations."""
        if self._forward_sync is None:
            with control_dependencies(None):
                self._forward_sync = apply_op("ControlTrigger", name="f_sync")
            self._forward_sync._context = self.forward_context
            self.forward_index.op._add_control_input(self._forward_sync)
        return self._forward_sync

    @property
    def grad_sync(self) -> Operation:
        """Keeps pops in the order of the iterations."""
        if self._grad_sync is None:
            with control_dependencies(None):
                self._grad_sync = apply_op("ControlTrigger", name="b_sync")
            self._grad_sync._context = self.grad_context
            self.grad_index.op._add_control_input(self._grad_sync)
            if self.grad_context.outer is not None:
                self.grad_context.outer.add_inner_op(self._grad_sync)
        return self._grad_sync

    def remember(self, value: Tensor, dead_branch: bool = False) -> Tensor:
        """Pushes a forward value in each iteration; gives the stack."""
        current = get_default_graph().control_flow_context
        with control_dependencies(None):
            with inside(current), colocate_with(value):
                size = constant(-1, int32)
                stack = apply_op("StackV2", size, elem_type=value.dtype.base, name="f_acc")
            entered = self.forward_context.add_value(stack)
            push = self._push(entered, value, dead_branch)
            push._add_control_input(self.forward_index.op._inputs[0].op)
        return stack  # type: ignore[no-any-return]

    def _push(self, stack: Tensor, value: Tensor, dead_branch: bool) -> Operation:
        context = output_context(value.op)
        swap = self.forward_context.swap_memory

        def push() -> Operation:
            return apply_op("StackPushV2", stack, value, swap_memory=swap).op  # type: ignore

        if context is self.forward_context:
            with inside(self.forward_context):
                made = push()
            self.forward_index.op._add_control_input(made)
            return made
        if not isinstance(context, CondContext):
            raise TypeError(f"'{value.name}' is in no branch and in no loop of the gradient")
        with inside(context.outer if dead_branch else context):
            made = push()
        if dead_branch:
            made._context = context
        self.forward_sync._add_control_input(made)
        return made

    def recall(self, stack: Tensor, value: Tensor, dead_branch: bool = False) -> Tensor:
        """The value of the iteration that the gradient loop is at, from its stack."""
        cond = self._cond_between(value, stack.op._context)
        with control_dependencies(None), inside(self.grad_context):
            if cond is not None:
                branch = 1 - cond.branch if dead_branch else cond.branch
                stack = switch_beside(stack, self._history_of(cond.pred))[branch]
            popped = apply_op("StackPopV2", stack, elem_type=value.dtype.base)
            popped.set_shape(value.shape)
        if self.grad_context.parallel_iterations > 1:
            self.grad_sync._add_control_input(popped.op)
        return popped  # type: ignore[no-any-return]

    def _cond_between(self, value: Tensor, limit: Any) -> CondContext | None:
        context = value.op._context
        while context is not None and context is not limit:
            if isinstance(context, CondContext):
                return context
            context = context.outer
        return None

    def _history_of(self, pred: Tensor) -> Tensor:
        state: GradLoop | None = self
        while state is not None:
            if pred.name in state.history:
                return state.history[pred.name]
            state = state.outer
        return pred

    def real_value(self, value: Tensor) -> Tensor:
        """A forward value as the gradient loop sees it. Called inside the gradient loop."""
        if value.name not in self.history:
            self.history[value.name] = self._find_value(value)
        return self.history[value.name]

    def _find_value(self, value: Tensor) -> Tensor:
        state: GradLoop = self
        while True:
            if is_constant_enter(value.op):  # constant in that loop: look around it
                value = value.op._inputs[0]
                if state.outer is None:
                    return self.grad_context.add_value(value)
                state = state.outer
                continue
            if value.op.type == "Const":
                return constant(value.op._attrs["value"], value.dtype)
            with outside(self.grad_context):
                stack = state.remember(value)
            real = state.recall(stack, value)
            return real if state is self else self.grad_context.add_value(real)


class LoopFlow(Flow):
    """The backward pass of a graph with loops."""

    def __init__(self, add_term: Callable[[Tensor, Any], None]) -> None:
        super().__init__(add_term)
        self._loops: dict[WhileContext, GradLoop] = {}

    def open(self, op: Operation) -> list[Operation]:
        """Makes the gradient loop for an Exit; gives all exits of the loop, which are needed.

        Raises ValueError for a loop of which only the ops are known.
        """
        forward = while_context_of(op)
        if forward is None:
            raise ValueError(
                f"Cannot differentiate through the loop of '{op.name}': nothing is known of it but "
                "its ops. A GraphDef does not tell the contexts of loops; a meta graph does "
                "(tf.train.export_meta_graph, import_meta_graph)."
            )
        if forward in self._loops:
            return []
        around = forward.outer.while_context if forward.outer is not None else None
        outer = self._loops.get(around) if around is not None else None
        self._loops[forward] = GradLoop(forward, outer)
        return [t.op for t in self._loops[forward].forward_exits]

    def _loop_of(self, op: Operation, before: bool) -> GradLoop | None:
        context = while_context_of(op)
        if before and is_loop_exit(op):
            context = op._context.outer
            context = context.while_context if context is not None else None
        return self._loops.get(context) if context is not None else None

    def start(self, pending: dict[Operation, int], queued: set[Operation]) -> Iterable[Operation]:
        exits: list[Tensor] = []
        for loop in self._loops.values():
            for t in loop.forward_exits:
                if pending[t.op] == 0:
                    loop.pending_exits -= 1
                    if t.op not in queued:
                        loop.unused_exits.append(t)
                    if loop.pending_exits == 0:
                        exits += loop.unused_exits
            for t in loop.forward_context.loop_enters:
                if pending[t.op] == 0:
                    pending[t.op] = 1
        return self._with_zeros(exits)

    def _with_zeros(self, exits: list[Tensor]) -> list[Operation]:
        """Exits without gradient that take part all the same get zeros."""
        ops = []
        for t in exits:
            if _is_trainable(t):
                self.add_term(t, self._zeros_for_exit(t))
                ops.append(t.op)
        return ops

    def summing(self, op: Operation) -> AbstractContextManager[Any]:
        loop = self._loop_of(op, True)
        return inside(loop.grad_context if loop else None)

    def differentiating(self, op: Operation) -> AbstractContextManager[Any]:
        loop = self._loop_of(op, False)
        return inside(loop.grad_context if loop else None)

    def ready(
        self, op: Operation, pending: int, has_terms: Callable[[Operation], bool]
    ) -> Iterable[Operation]:
        if pending != 0 and not (pending > 0 and is_loop_switch(op)):
            return ()
        if not is_loop_exit(op):
            return (op,)
        loop = self._loop_of(op, False)
        assert loop is not None
        loop.deferred_exits.append(op.outputs[0])
        loop.pending_exits -= 1
        if loop.pending_exits:
            return ()
        used = [t.op for t in loop.deferred_exits if has_terms(t.op)]
        loop.unused_exits += [t for t in loop.deferred_exits if not has_terms(t.op)]
        if used:
            for t in loop.unused_exits:
                if _is_trainable(t):
                    self.add_term(t, self._zeros_for_exit(t))
        return used + [t.op for t in loop.unused_exits]

    def _zeros_for_exit(self, value: Tensor) -> Tensor:
        context = value.op._context
        around = context.outer.while_context if context.outer is not None else None
        outer = self._loops.get(around) if around is not None else None
        if outer is None:
            if value.shape.is_fully_defined():
                return zeros(value.shape, value.dtype)  # type: ignore[no-any-return]
            return zeros_like(value, optimize=False)  # type: ignore[no-any-return]
        if value.shape.is_fully_defined():
            with inside(outer.grad_context):
                return zeros(value.shape, value.dtype)  # type: ignore[no-any-return]
        with inside(context.outer):
            sizes = shape_internal(value, optimize=False)
        stack = outer.remember(sizes)
        with inside(outer.grad_context):
            return zeros(outer.recall(stack, sizes), value.dtype)  # type: ignore[no-any-return]

    def zeros_like(self, tensor: Tensor) -> Any:
        op = tensor.op
        if is_loop_switch(op):
            return None
        loop = self._loops.get(while_context_of(op))
        if loop is None:
            return super().zeros_like(tensor)
        dead = op.type in _SWITCHES
        if tensor.shape.is_fully_defined():
            result = constant(0, tensor.dtype.base, shape=tensor.shape)
            if dead:
                pred = loop.history[op._context.pred.name]
                result = switch_beside(result, pred)[1 - op._context.branch]
            return result
        sizes = self._shape_in_forward(tensor, dead)
        with outside(loop.grad_context):
            stack = loop.remember(sizes, dead_branch=dead)
        return zeros(loop.recall(stack, sizes, dead), tensor.dtype)

    def _shape_in_forward(self, tensor: Tensor, dead: bool) -> Tensor:
        """The shape of a forward tensor, taken in the forward loop."""
        context = tensor.op._context
        if not dead:
            with inside(context):
                return shape_internal(tensor, optimize=False)  # type: ignore[no-any-return]
        with inside(context.outer):
            other = switch_beside(tensor.op._inputs[0], context.pred)[1 - context.branch]
            sizes = shape_internal(other, optimize=False)
        other.op._context = sizes.op._context = context
        return sizes  # type: ignore[no-any-return]

    def finish(self) -> None:
        """A loop variable whose output does not depend on its input gets zeros for the rest."""
        for loop in self._loops.values():
            for merged in loop.switches.values():
                if merged.op._inputs[0] is merged.op._inputs[1]:
                    merged.op._update_input(1, self._zero_next(loop, merged.op._inputs[0]))

    def _zero_next(self, loop: GradLoop, entered: Tensor) -> Tensor:
        if entered.shape.is_fully_defined():
            with inside(loop.grad_context):
                return next_iteration(constant(0, entered.dtype, shape=entered.shape))
        with inside(loop.grad_context.outer):
            sizes = shape_internal(entered.op._inputs[0], optimize=False)
            value = zeros(sizes, entered.dtype)
        with inside(loop.grad_context):
            return next_iteration(value)


def _is_trainable(t: Tensor) -> bool:
    return t.dtype.base in _TRAINABLE


def make_flow(
    between: list[Operation],
    add_term: Callable[[Tensor, Any], None],
    colocated: Callable[[Operation], AbstractContextManager[Any]],
) -> Flow:
    """The Flow for the ops of a backward pass; exits of their loops are added to `between`."""
    loops = LoopFlow(add_term)
    path = set(between)
    found = False
    for op in between:  # grows while it is walked
        if is_loop_exit(op):
            found = True
            with colocated(op):
                for exit_op in loops.open(op):
                    if exit_op not in path:
                        path.add(exit_op)
                        between.append(exit_op)
    return loops if found else Flow(add_term)
