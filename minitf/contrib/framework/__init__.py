"""tf.contrib.framework: arg_scope, variables by scope and from checkpoints, and old names."""

from minitf import nest
from minitf.contrib.framework.arg_scope import (
    add_arg_scope,
    arg_scope,
    arg_scoped_arguments,
    current_arg_scope,
    has_arg_scope,
)
from minitf.contrib.framework.shapes import with_same_shape, with_shape
from minitf.contrib.framework.variables import (
    add_model_variable,
    assign_from_checkpoint,
    assign_from_checkpoint_fn,
    assign_from_values,
    assign_from_values_fn,
    filter_variables,
    get_local_variables,
    get_model_variables,
    get_trainable_variables,
    get_unique_variable,
    get_variable_full_name,
    get_variables,
    get_variables_by_name,
    get_variables_by_suffix,
    get_variables_to_restore,
    global_variable,
    local_variable,
    model_variable,
    variable,
)
from minitf.layers.arguments import smart_cond
from minitf.ops.check import assert_same_float_dtype, assert_scalar
from minitf.ops.constant_value import is_tensor
from minitf.ops.script import py_func
from minitf.ops.sorting import argsort, sort
from minitf.ops.sparse import convert_to_tensor_or_sparse_tensor
from minitf.train.checkpoint_reader import list_variables, load_checkpoint, load_variable
from minitf.train.global_step import (
    assert_global_step,
    create_global_step,
    get_global_step,
    get_or_create_global_step,
)

__all__ = [
    "add_arg_scope", "add_model_variable", "arg_scope", "arg_scoped_arguments", "argsort",
    "assert_global_step", "assert_same_float_dtype", "assert_scalar", "assign_from_checkpoint",
    "assign_from_checkpoint_fn", "assign_from_values", "assign_from_values_fn",
    "convert_to_tensor_or_sparse_tensor", "create_global_step", "current_arg_scope",
    "filter_variables", "get_global_step", "get_local_variables", "get_model_variables",
    "get_or_create_global_step", "get_trainable_variables", "get_unique_variable",
    "get_variable_full_name", "get_variables", "get_variables_by_name", "get_variables_by_suffix",
    "get_variables_to_restore", "global_variable", "has_arg_scope", "is_tensor", "list_variables",
    "load_checkpoint", "load_variable", "local_variable", "model_variable", "nest", "py_func",
    "smart_cond", "sort", "variable", "with_same_shape", "with_shape",
]  # fmt: skip
