"""Contexts of conditionals and loops as messages, for meta graphs, and back."""

from __future__ import annotations

from typing import Any

from minitf.default import get_default_graph
from minitf.ops.cond_context import CondContext, ControlFlowContext, is_loop_enter
from minitf.ops.while_context import WhileContext
from minitf.proto.control_flow import (
    CondContextDef,
    ControlFlowContextDef,
    WhileContextDef,
)
from minitf.scoped_names import Rename, is_below, within_scope, without_scope

ContextDef = CondContextDef | WhileContextDef


def context_def(context: ControlFlowContext, export_scope: str | None = None) -> Any:
    """The context and those inside, with names below the scope; None if it is not below it."""
    if not is_below(context.name, export_scope):
        return None
    return _def_of(context, without_scope(export_scope))


def _def_of(context: ControlFlowContext, rename: Rename) -> ContextDef:
    describe = _cond_def if isinstance(context, CondContext) else _while_def
    made: ContextDef = describe(context, rename)
    made.context_name = rename(context.name)
    made.values_def.values.extend(rename(name) for name in sorted(context.names))
    made.values_def.external_values.update(
        {rename(name): rename(known.name) for name, known in context.known.items()}
    )
    for inner in context.nested:
        field = "cond_ctxt" if isinstance(inner, CondContext) else "while_ctxt"
        made.nested_contexts.add(**{field: _def_of(inner, rename)})
    return made


def _cond_def(context: Any, rename: Rename) -> CondContextDef:
    return CondContextDef(
        pred_name=rename(context.pred.name),
        pivot_name=rename(context.pivot.name),
        branch=context.branch,
    )


def _while_def(context: Any, rename: Rename) -> WhileContextDef:
    limit = context.maximum_iterations
    return WhileContextDef(
        parallel_iterations=context.parallel_iterations,
        back_prop=context.back_prop,
        swap_memory=context.swap_memory,
        pivot_name=rename(context.pivot.name),
        pivot_for_pred_name=rename(context.pivot_for_pred.name),
        pivot_for_body_name=rename(context.pivot_for_body.name),
        loop_exit_names=[rename(t.name) for t in context.loop_exits],
        loop_enter_names=[rename(t.name) for t in context.loop_enters],
        maximum_iterations_name=None if limit is None else rename(limit.name),
    )


def context_of_def(made: ContextDef, import_scope: str | None = None) -> ControlFlowContext:
    """The context whose ops are in the default graph, which then belong to it.

    Raises KeyError or ValueError if one is missing.
    """
    rename = within_scope(import_scope)
    take = _cond_of_def if isinstance(made, CondContextDef) else _while_of_def
    context: ControlFlowContext = take(made, rename)
    _take_values(context, made, rename)
    context.enter()
    try:
        for inner in made.nested_contexts:
            _inner_of_def(inner, import_scope)
    finally:
        context.exit()
    return context


def _inner_of_def(made: ControlFlowContextDef, import_scope: str | None) -> None:
    field = made.WhichOneof("ctxt")
    if field is None:
        raise ValueError("a context inside another one is empty")
    context_of_def(getattr(made, field), import_scope)


def _tensor(name: str) -> Any:
    return get_default_graph().get_tensor_by_name(name)


def _cond_of_def(made: CondContextDef, rename: Rename) -> CondContext:
    pred, pivot = _tensor(rename(made.pred_name)), _tensor(rename(made.pivot_name))
    context = CondContext(pred, pivot, made.branch)
    context.name = rename(made.context_name)
    return context


def _while_of_def(made: WhileContextDef, rename: Rename) -> WhileContext:
    limit, name = made.maximum_iterations_name, rename(made.context_name)
    context = WhileContext(
        _tensor(rename(limit)) if limit else None,
        made.parallel_iterations,
        made.back_prop,
        made.swap_memory,
        name,  # taken, so that a new loop gets another
    )
    context.name = name
    context.pivot = _tensor(rename(made.pivot_name))
    context.pivot_for_pred = _tensor(rename(made.pivot_for_pred_name))
    context.pivot_for_body = _tensor(rename(made.pivot_for_body_name))
    context.loop_exits = [_tensor(rename(name)) for name in made.loop_exit_names]
    context.loop_enters = [_tensor(rename(name)) for name in made.loop_enter_names]
    return context


def _take_values(context: ControlFlowContext, made: ContextDef, rename: Rename) -> None:
    """What is known in the context; the ops of what does not come from outside belong to it."""
    context.names = {rename(name) for name in made.values_def.values}
    context.known = {
        rename(name): _tensor(rename(known))
        for name, known in made.values_def.external_values.items()
    }
    for name in context.names - context.known.keys():
        op = _tensor(name).op
        op._context = context
        if is_loop_enter(op) and op._attrs["frame_name"] == made.context_name:
            op._attrs = {**op._attrs, "frame_name": context.name}
