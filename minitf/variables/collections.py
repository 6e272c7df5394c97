"""Sets of variables: the collections, their initializers, and reports on what is initialized."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from minitf.convert import constant
from minitf.default import (
    GraphKeys,
    colocate_with,
    device,
    get_collection,
    get_default_graph,
    name_scope,
)
from minitf.operation import Operation, Tensor
from minitf.ops.apply import apply_op
from minitf.ops.array import boolean_mask
from minitf.ops.group import group, no_op
from minitf.ops.state import is_variable_initialized
from minitf_runtime.types import string

_VARIABLE_OPS = ("Variable", "VariableV2", "AutoReloadVariable")


def global_variables(scope: str | None = None) -> list[Any]:
    return get_collection(GraphKeys.GLOBAL_VARIABLES, scope)


def all_variables() -> list[Any]:
    return global_variables()


def local_variables(scope: str | None = None) -> list[Any]:
    return get_collection(GraphKeys.LOCAL_VARIABLES, scope)


def model_variables(scope: str | None = None) -> list[Any]:
    return get_collection(GraphKeys.MODEL_VARIABLES, scope)


def trainable_variables(scope: str | None = None) -> list[Any]:
    return get_collection(GraphKeys.TRAINABLE_VARIABLES, scope)


def moving_average_variables(scope: str | None = None) -> list[Any]:
    return get_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, scope)


def variables_initializer(var_list: Sequence[Any] | None, name: str = "init") -> Operation:
    """An op that stores the initial values of the variables."""
    with get_default_graph().role_scope("init"):
        if not var_list:
            return no_op(name=name)
        return group(*(v.initializer for v in var_list), name=name)


def global_variables_initializer() -> Operation:
    return variables_initializer(global_variables())


def local_variables_initializer() -> Operation:
    return variables_initializer(local_variables())


def initialize_variables(var_list: Sequence[Any] | None, name: str = "init") -> Operation:
    return variables_initializer(var_list, name=name)


def initialize_all_variables() -> Operation:
    return global_variables_initializer()


def initialize_local_variables() -> Operation:
    return local_variables_initializer()


def _known_variables() -> list[Any]:
    """Global and local variables, or else the references that the graph makes."""
    known = global_variables() + local_variables()
    ops = get_default_graph().get_operations()
    return known or [op.outputs[0] for op in ops if op.type in _VARIABLE_OPS]


def assert_variables_initialized(var_list: Sequence[Any] | None = None) -> Tensor | None:
    """Ranks of the variables: computing them fails if one is not initialized."""
    ranks = []
    for variable in _known_variables() if var_list is None else var_list:
        with colocate_with(variable.op):
            ranks.append(apply_op("Rank", variable))
    if not ranks:
        return None
    return ranks[0] if len(ranks) == 1 else apply_op("Pack", ranks, name="stack")


def report_uninitialized_variables(
    var_list: Sequence[Any] | None = None, name: str = "report_uninitialized_variables"
) -> Tensor:
    """The names of the variables that are not initialized, as a vector of strings."""

    var_list = _known_variables() if var_list is None else list(var_list)
    where = os.environ.get("TF_DEVICE_FOR_UNINITIALIZED_VARIABLE_REPORTING", "/cpu:0")
    with get_default_graph().role_scope("init"), name_scope(name):
        initialized = [is_variable_initialized(v) for v in var_list]
        with device(where):
            if not var_list:
                return constant([], dtype=string)
            missing = apply_op("LogicalNot", apply_op("Pack", initialized, name="stack"))
            names = constant([v.op.name for v in var_list])
            return boolean_mask(names, missing)  # type: ignore[no-any-return]
