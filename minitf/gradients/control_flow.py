"""Gradients of ops of conditionals and loops: a Merge for each Switch, an Exit for each Enter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minitf.convert import constant
from minitf.default import get_default_graph, name_scope
from minitf.gradients.aggregation import with_one_index_type
from minitf.gradients.loops import inside, outside
from minitf.gradients.registry import gradient
from minitf.indexed_slices import IndexedSlices
from minitf.operation import Operation, Tensor
from minitf.ops.apply import apply_op
from minitf.ops.array import concat, shape_internal, zeros, zeros_like
from minitf.ops.cond_context import CondContext, merge, output_context, switch, switch_beside
from minitf.ops.reduction import range as range_op
from minitf.ops.while_context import WhileContext, close_loop, leave, next_iteration
from minitf_runtime.types import resource


def _current() -> Any:
    return get_default_graph().control_flow_context


@gradient("Switch")
@gradient("RefSwitch")
def switch_grad(op: Operation, on_false: Any, on_true: Any) -> Any:
    """In a loop visited twice: first from the Exit, then with what the body gives back."""
    context = op._context
    grads = (on_false, on_true)
    if isinstance(context, WhileContext):
        switches = _current().grad_state.switches
        if op in switches:
            if on_true is not None:
                close_loop(switches[op], on_true, enforce=False)
            return None, None
        if on_false is None:
            return None, None
        switches[op] = merge([on_false, on_false], name="b_switch")[0]
        return switches[op], None
    if isinstance(context, CondContext):
        if grads[1 - context.branch] is None:
            if op._inputs[0].dtype.base is resource:
                return _merged([grads[context.branch]] * 2, "cond_resource_grad"), None
            return None, None
        return _merged(grads, "cond_grad"), None
    false_grad = switch(on_false, op._inputs[1])[0]
    true_grad = switch(on_true, op._inputs[1])[1]
    return merge([false_grad, true_grad])[0], None


def _merged(grads: Sequence[Any], name: str) -> Any:
    """The gradient of the branch that was taken; IndexedSlices if one of both is."""
    if not any(isinstance(g, IndexedSlices) for g in grads):
        return merge(grads, name=name)[0]
    with name_scope(name, values=[_parts(g)[0] for g in grads]):
        slices = with_one_index_type([_as_slices(g) for g in grads])
        components = zip(*[_parts(s) for s in slices])
        return IndexedSlices(*[merge(parts)[0] for parts in components])


def _as_slices(grad: Any) -> IndexedSlices:
    """All rows of a tensor, or the slices that are given."""
    if isinstance(grad, IndexedSlices):
        return grad
    shape = shape_internal(grad, optimize=False)
    return IndexedSlices(grad, range_op(0, shape[0]), shape)


@gradient("Merge")
@gradient("RefMerge")
def merge_grad(op: Operation, grad: Any, _: Any) -> Any:
    context = output_context(op._inputs[0].op)
    if isinstance(context, WhileContext):
        return switch_beside(grad, _current().pivot)
    if isinstance(context, CondContext):
        return switch_beside(grad, _pred_now(context.pred), name="cond_grad")
    chosen = [apply_op("Equal", op.outputs[1], i) for i in range(len(op._inputs))]
    return [switch_beside(grad, c)[1] for c in chosen]


def _pred_now(pred: Tensor) -> Tensor:
    """The predicate of a cond, of this iteration if it is in a forward loop."""
    state = _current().grad_state if _current() is not None else None
    if state is None:
        return pred
    if pred.name not in state.history:
        with outside(state.grad_context):
            stack = state.remember(pred)
        state.history[pred.name] = state.recall(stack, pred)
    return state.history[pred.name]  # type: ignore[no-any-return]


@gradient("Exit")
@gradient("RefExit")
def exit_grad(op: Operation, grad: Any) -> Any:
    context = _current()
    if not context.back_prop:
        return None
    if op._context.grad_state is not None:
        raise TypeError("Second-order gradient for while loops not supported.")
    for t in _parts(grad):
        context.add_name(t.name)
    with inside(context):
        entered = [context.enter_value(t, name="b_exit") for t in _parts(grad)]
        context.loop_enters += entered
    return _rebuilt(grad, entered)


def _parts(grad: Any) -> list[Tensor]:
    if not isinstance(grad, IndexedSlices):
        return [grad]
    return [t for t in (grad.values, grad.indices, grad.dense_shape) if t is not None]


def _rebuilt(grad: Any, parts: list[Tensor]) -> Any:
    return IndexedSlices(*parts) if isinstance(grad, IndexedSlices) else parts[0]


@gradient("NextIteration")
@gradient("RefNextIteration")
def next_iteration_grad(op: Operation, grad: Any) -> Any:
    return grad


@gradient("LoopCond")
def loop_cond_grad(op: Operation, grad: Any) -> Any:
    return None


@gradient("Enter")
@gradient("RefEnter")
def enter_grad(op: Operation, grad: Any) -> Any:
    """A loop variable's gradient leaves the loop; that of a constant is summed over iterations."""
    context = _current()
    if not context.back_prop or context.grad_state is None:
        return grad
    if op.get_attr("is_constant"):
        if isinstance(grad, IndexedSlices):
            return _sum_slices(context, op, grad)
        return _sum_dense(context, op, grad)
    result = leave(grad)
    context.loop_exits.append(result)
    context.exit_result([result])
    return result


def _sum_dense(context: WhileContext, op: Operation, grad: Tensor) -> Tensor:
    """acc = 0; while ...: acc += grad."""
    with outside(context):
        if grad.shape.is_fully_defined():
            with inside(context.outer):
                start = constant(0, grad.dtype, shape=grad.shape, name="b_acc")
        else:
            start = _zeros_of(context, op._inputs[0], grad)
    return context.accumulate(start, "b_acc", lambda value: apply_op("Add", value, grad))


def _zeros_of(context: WhileContext, value: Tensor, grad: Tensor) -> Tensor:
    outer = context.outer
    if not isinstance(outer, WhileContext) or outer.grad_state is None:
        with inside(outer):
            return zeros(shape_internal(value, optimize=False), grad.dtype)  # type: ignore
    with inside(context.grad_state.forward_context.outer):
        sizes = shape_internal(value, optimize=False)
    stack = context.grad_state.outer.remember(sizes)
    with inside(outer):
        return zeros(context.grad_state.outer.recall(stack, sizes), grad.dtype)  # type: ignore


def _sum_slices(context: WhileContext, op: Operation, grad: IndexedSlices) -> IndexedSlices:
    """Rows and indices of all iterations, one after the other."""
    with outside(context):
        starts = _slice_starts(context, op, grad)
    for t in starts:
        context.add_name(t.name)
    entered = [context.enter_value(t, use_input_shape=False, name="b_acc") for t in starts]
    entered[0].set_shape([None])
    if starts[1].shape.dims is not None:
        entered[1].set_shape([None, *starts[1].shape.dims[1:]])
    context.loop_enters += entered
    merged = [merge([t, t], name="b_acc")[0] for t in entered]
    switched = [switch(t, context.pivot) for t in merged]
    following = [concat([s[1], t], 0) for s, t in zip(switched[:2], (grad.indices, grad.values))]
    if grad.dense_shape is not None:
        following.append(apply_op("Maximum", grad.dense_shape, switched[2][1]))
    for m, f in zip(merged, following):
        m.op._update_input(1, next_iteration(f))
    exits = [leave(s[0], name="b_acc") for s in switched]
    context.loop_exits += exits
    context.exit_result(exits)
    return IndexedSlices(exits[1], exits[0], exits[2] if len(exits) > 2 else None)


def _slice_starts(context: WhileContext, op: Operation, grad: IndexedSlices) -> list[Tensor]:
    with inside(context.outer):
        row = grad.values.shape[1:]
        if grad.values.shape.is_fully_defined():
            values = constant(0, grad.values.dtype, shape=[1, *row.as_list()], name="b_acc")
        else:
            sizes = shape_internal(op._inputs[0], optimize=False)[1:]
            values = zeros(concat([[1], sizes], 0), dtype=grad.values.dtype)
        starts = [constant([0], grad.indices.dtype), values]
        if grad.dense_shape is None:
            return starts
        if grad.dense_shape.shape.is_fully_defined():
            shape = grad.dense_shape.shape
            starts.append(constant(0, grad.dense_shape.dtype, shape=shape))
        else:
            own = shape_internal(op._inputs[0], optimize=False, out_type=grad.dense_shape.dtype)
            starts.append(zeros_like(own, optimize=False))
        return starts
