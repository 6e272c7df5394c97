"""Variables of a graph, of both kinds, whole or in parts. Their scopes: variable_scope.py."""

from minitf.variables.base import (
    Variable,
    VariableAggregation,
    VariableSynchronization,
)
from minitf.variables.collections import (
    all_variables,
    assert_variables_initialized,
    global_variables,
    global_variables_initializer,
    initialize_all_variables,
    initialize_local_variables,
    initialize_variables,
    local_variables,
    local_variables_initializer,
    model_variables,
    moving_average_variables,
    report_uninitialized_variables,
    trainable_variables,
    variables_initializer,
)
from minitf.variables.create import (
    disable_resource_variables,
    enable_resource_variables,
    resource_variables_enabled,
    variable_creator_scope,
)
from minitf.variables.partitioners import (
    fixed_size_partitioner,
    min_max_variable_partitioner,
    variable_axis_size_partitioner,
)

__all__ = [
    "Variable", "VariableAggregation", "VariableSynchronization", "all_variables",
    "assert_variables_initialized", "disable_resource_variables", "enable_resource_variables",
    "fixed_size_partitioner", "global_variables", "global_variables_initializer",
    "initialize_all_variables", "initialize_local_variables", "initialize_variables",
    "local_variables", "local_variables_initializer",
    "min_max_variable_partitioner", "model_variables", "moving_average_variables",
    "report_uninitialized_variables", "resource_variables_enabled", "trainable_variables",
    "variable_axis_size_partitioner", "variable_creator_scope", "variables_initializer",
]  # fmt: skip
