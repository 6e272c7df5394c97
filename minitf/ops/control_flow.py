"""tf.cond and tf.while_loop. How ops are wired into branches and loops: *_context.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitf import nest
from minitf.convert import constant, to_tensor
from minitf.default import GraphKeys, add_to_collection, name_scope
from minitf.operation import Tensor
from minitf.ops.apply import apply_op
from minitf.ops.cond_context import CondContext, merge, switch
from minitf.ops.tensor_array import from_flows
from minitf.ops.while_context import WhileContext

__all__ = ["cond", "while_loop"]


def cond(
    pred: Any,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    strict: bool = False,
    name: str | None = None,
    fn1: Callable[[], Any] | None = None,
    fn2: Callable[[], Any] | None = None,
) -> Any:
    """`true_fn()` if `pred` else `false_fn()`, decided at run time (TF: cond).

    Raises TypeError for a pred that is a Python bool, or a branch that is no function; ValueError
    when the branches do not return the same structure and types.
    """
    true_fn = _one_of(true_fn, fn1, "true_fn", "fn1")
    false_fn = _one_of(false_fn, fn2, "false_fn", "fn2")
    with name_scope(name, "cond", [pred]):
        if isinstance(pred, bool):
            raise TypeError("pred must not be a Python bool")
        on_false, on_true = switch(pred, pred)
        pivot_true = apply_op("Identity", on_true, name="switch_t")
        pivot_false = apply_op("Identity", on_false, name="switch_f")
        pred = apply_op("Identity", pred, name="pred_id")
        for t in (on_true, on_false, pivot_true, pivot_false, pred):
            t.graph.prevent_fetching(t.op)
        when_true, result_true, flat_true = _branch(pred, pivot_true, 1, true_fn, "true_fn")
        when_false, result_false, flat_false = _branch(pred, pivot_false, 0, false_fn, "false_fn")
        if not strict:
            result_true, result_false = _lone(result_true), _lone(result_false)
        _check_branches(result_true, result_false, flat_true, flat_false)
        merged = [merge(pair)[0] for pair in zip(flat_false, flat_true)]
        if when_true.outer is None:
            add_to_collection(GraphKeys.COND_CONTEXT, when_true)
            add_to_collection(GraphKeys.COND_CONTEXT, when_false)
        packed = nest.pack_sequence_as(result_true, from_flows(result_true, merged), True)
        return packed if strict else _lone(packed)


def _one_of(fn: Any, old: Any, name: str, old_name: str) -> Any:
    if fn is not None and old is not None:
        raise TypeError(f"cond(): {name} and {old_name} may not be set simultaneously.")
    fn = old if fn is None else fn
    if fn is None:
        raise TypeError(f"cond(): {name} argument required")
    if not callable(fn):
        raise TypeError(f"{name} must be callable.")
    return fn


def _branch(
    pred: Tensor, pivot: Tensor, branch: int, fn: Callable[[], Any], what: str
) -> tuple[CondContext, Any, list[Tensor]]:
    context = CondContext(pred, pivot, branch)
    context.enter()
    try:
        result, tensors = context.build_branch(fn)
        if result is None:
            raise ValueError(f"{what} must have a return value.")
    finally:
        context.exit()
    return context, result, tensors


def _lone(value: Any) -> Any:
    """The element of a list or tuple of one."""
    return value[0] if isinstance(value, (list, tuple)) and len(value) == 1 else value


def _check_branches(a: Any, b: Any, flat_a: list[Tensor], flat_b: list[Tensor]) -> None:
    try:
        nest.assert_same_structure(a, b, expand_composites=True)
    except TypeError as e:
        raise TypeError(f"Incompatible return types of true_fn and false_fn: {e}") from None
    except ValueError as e:
        raise ValueError(f"Incompatible return values of true_fn and false_fn: {e}") from None
    if not flat_a:
        raise ValueError("true_fn and false_fn must return at least one result.")
    for x, y in zip(flat_a, flat_b):
        if x.dtype.base is not y.dtype.base:
            raise ValueError(
                "Outputs of true_fn and false_fn must have the same type: "
                f"{x.dtype.name}, {y.dtype.name}"
            )


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
    maximum_iterations: Any = None,
    return_same_structure: bool = False,
) -> Any:
    """Repeats `body(*loop_vars)` while `cond(*loop_vars)` holds (TF: while_loop).

    Raises TypeError for a cond or body that is no function, ValueError for no loop variables, a
    body of another structure, or a shape that changes without `shape_invariants`.
    """
    with name_scope(name, "while", loop_vars):
        if not loop_vars:
            raise ValueError("No loop variables provided")
        for what, fn in (("cond", cond), ("body", body)):
            if not callable(fn):
                raise TypeError(f"{what} must be callable.")
        if parallel_iterations < 1:
            raise TypeError("parallel_iterations must be a positive integer.")
        limit = None
        if maximum_iterations is not None:
            limit = to_tensor(maximum_iterations, name="maximum_iterations")
            cond, body, loop_vars, shape_invariants = _counted(
                cond, body, loop_vars, shape_invariants, limit
            )
        context = WhileContext(limit, int(parallel_iterations), back_prop, swap_memory)
        if context.outer is None:
            add_to_collection(GraphKeys.WHILE_CONTEXT, context)
        result, exits = context.build(cond, body, loop_vars, shape_invariants)
        packed = nest.pack_sequence_as(result, from_flows(result, exits), True)
        if limit is not None:
            return packed[1]
        return packed if return_same_structure or len(exits) != 1 else packed[0]


def _counted(
    cond: Any, body: Any, loop_vars: Any, shape_invariants: Any, limit: Tensor
) -> tuple[Any, Any, Any, Any]:
    """The loop with a counter in front that ends it after `limit` iterations."""
    if limit._shape not in (None, ()):
        raise ValueError(f"maximum_iterations must be a scalar, saw shape: {limit.shape}")
    counter = constant(0, limit.dtype, name="iteration_counter")
    lone = len(loop_vars) == 1
    inner = loop_vars[0] if lone else loop_vars

    def counted_cond(i: Any, values: Any) -> Any:
        below = apply_op("Less", i, limit)
        return apply_op("LogicalAnd", below, cond(values) if lone else cond(*values))

    def counted_body(i: Any, values: Any) -> Any:
        return i + 1, (body(values) if lone else body(*values))

    if shape_invariants is not None:
        own = shape_invariants[0] if lone else shape_invariants
        shape_invariants = ((), own)
    return counted_cond, counted_body, (counter, inner), shape_invariants
