"""Messages of conditionals and loops: what a meta graph keeps of their contexts."""

from __future__ import annotations

from minitf.proto.kinds import BOOL, INT32, STRING
from minitf.proto.message import Map, Message, Nested, Repeated, Scalar


class ValuesDef(Message):
    """The tensors known in a context, and what stands there for those from outside."""

    values = Repeated(STRING, 1)
    external_values = Map(STRING, STRING, 2)


class CondContextDef(Message):
    """One branch of a cond."""

    context_name = Scalar(STRING, 1)
    pred_name = Scalar(STRING, 2)
    pivot_name = Scalar(STRING, 3)
    branch = Scalar(INT32, 4)
    values_def = Nested(ValuesDef, 5)
    nested_contexts = Repeated(Message, 6)


class WhileContextDef(Message):
    """A loop."""

    context_name = Scalar(STRING, 1)
    parallel_iterations = Scalar(INT32, 2)
    back_prop = Scalar(BOOL, 3)
    swap_memory = Scalar(BOOL, 4)
    pivot_name = Scalar(STRING, 5)
    pivot_for_pred_name = Scalar(STRING, 6)
    pivot_for_body_name = Scalar(STRING, 7)
    loop_exit_names = Repeated(STRING, 8)
    values_def = Nested(ValuesDef, 9)
    loop_enter_names = Repeated(STRING, 10)
    maximum_iterations_name = Scalar(STRING, 11)
    nested_contexts = Repeated(Message, 12)


class ControlFlowContextDef(Message):
    """A context inside another one."""

    cond_ctxt = Nested(CondContextDef, 1, oneof="ctxt")
    while_ctxt = Nested(WhileContextDef, 2, oneof="ctxt")


# A context holds contexts: their class exists only now.
for _outer in (CondContextDef, WhileContextDef):
    _outer.nested_contexts.kind = ControlFlowContextDef
