"""Variables of contrib's layers: making them, finding them, and giving them values."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

from minitf import tf_logging as logging
from minitf.contrib.framework.arg_scope import add_arg_scope
from minitf.default import GraphKeys, add_to_collection, get_collection
from minitf.default import device as on_device
from minitf.operation import Operation
from minitf.ops.filling import placeholder
from minitf.ops.group import group
from minitf.train.checkpoint_reader import NewCheckpointReader
from minitf.train.saver import Saver
from minitf.variable_scope import VariableScope, get_variable, get_variable_scope
from minitf.variables.base import Variable, VariableAggregation, VariableSynchronization
from minitf_runtime.types import float32

# ---- making variables


@add_arg_scope
def variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    collections: Any = None,
    caching_device: Any = None,
    device: Any = None,
    partitioner: Any = None,
    custom_getter: Callable[..., Any] | None = None,
    use_resource: bool | None = None,
    synchronization: VariableSynchronization = VariableSynchronization.AUTO,
    aggregation: VariableAggregation = VariableAggregation.NONE,
) -> Any:
    """get_variable, on a device. A `custom_getter` is called instead of it, with its arguments."""
    options = dict(locals())
    del options["name"], options["device"], options["custom_getter"]
    options["collections"] = list(dict.fromkeys(collections or [GraphKeys.GLOBAL_VARIABLES]))
    getter: Callable[..., Any] = get_variable
    if custom_getter is not None:
        getter = functools.partial(custom_getter, reuse=get_variable_scope().reuse)
    with on_device(device or ""):
        return getter(name, **options)


@add_arg_scope
def model_variable(
    name: str,
    shape: Any = None,
    dtype: Any = float32,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    collections: Any = None,
    caching_device: Any = None,
    device: Any = None,
    partitioner: Any = None,
    custom_getter: Callable[..., Any] | None = None,
    use_resource: bool | None = None,
    synchronization: VariableSynchronization = VariableSynchronization.AUTO,
    aggregation: VariableAggregation = VariableAggregation.NONE,
) -> Any:
    """A `variable` that is also in the collection MODEL_VARIABLES."""
    options = dict(locals())
    own = [GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES]
    options["collections"] = [*(collections or []), *own]
    return variable(**options)


def _in_one_collection(collection: str) -> Callable[..., Variable]:
    def make(
        initial_value: Any,
        validate_shape: bool = True,
        name: str | None = None,
        use_resource: bool | None = None,
    ) -> Variable:
        return Variable(
            initial_value,
            trainable=False,
            collections=[collection],
            validate_shape=validate_shape,
            use_resource=use_resource,
            name=name,
        )

    make.__doc__ = f"A variable that is not trainable, in the collection {collection.upper()}."
    return make


local_variable = _in_one_collection(GraphKeys.LOCAL_VARIABLES)
global_variable = _in_one_collection(GraphKeys.GLOBAL_VARIABLES)


def add_model_variable(var: Any) -> None:
    """Adds a variable to MODEL_VARIABLES, if it is not there."""
    if var not in get_collection(GraphKeys.MODEL_VARIABLES):
        add_to_collection(GraphKeys.MODEL_VARIABLES, var)


# ---- finding variables


def get_variables(
    scope: Any = None, suffix: str | None = None, collection: str = GraphKeys.GLOBAL_VARIABLES
) -> list[Any]:
    """The variables of a collection whose names begin with `scope` and end with `suffix`."""
    if isinstance(scope, VariableScope):
        scope = scope.name
    if suffix is not None:
        end = suffix if ":" in suffix else f"{suffix}:"
        scope = f"{scope or ''}.*{end}"
    return get_collection(collection, scope)


def get_model_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    return get_variables(scope, suffix, GraphKeys.MODEL_VARIABLES)


def get_local_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    return get_variables(scope, suffix, GraphKeys.LOCAL_VARIABLES)


def get_trainable_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    return get_variables(scope, suffix, GraphKeys.TRAINABLE_VARIABLES)


def get_variables_by_suffix(suffix: str, scope: Any = None) -> list[Any]:
    return get_variables(scope=scope, suffix=suffix)


def get_variables_by_name(given_name: str, scope: Any = None) -> list[Any]:
    """The variables with that last part of their name."""
    return get_variables(scope, f"/{given_name}:|^{given_name}:")


def get_unique_variable(var_op_name: str) -> Any:
    """The variable of exactly that name. Raises ValueError."""
    candidates = get_variables(scope=var_op_name)
    if not candidates:
        raise ValueError(f"Couldn't find variable {var_op_name}")
    for candidate in candidates:
        if candidate.op.name == var_op_name:
            return candidate
    raise ValueError(f"Variable {var_op_name} does not uniquely identify a variable")


def get_variables_to_restore(include: Any = None, exclude: Any = None) -> list[Any]:
    """The variables of the scopes `include` (None: all) that are in no scope of `exclude`."""
    for name, scopes in (("include", include), ("exclude", exclude)):
        if scopes is not None and not isinstance(scopes, (list, tuple)):
            raise TypeError(f"{name} is provided but is not a list or a tuple.")
    excluded = {v for scope in exclude or () for v in get_variables(scope)}
    scopes = [None] if include is None else include
    return [v for scope in scopes for v in get_variables(scope) if v not in excluded]


def filter_variables(
    var_list: Any,
    include_patterns: Any = None,
    exclude_patterns: Any = None,
    reg_search: bool = True,
) -> list[Any]:
    """The variables whose names match an included pattern (None: all) and no excluded one."""
    matches = re.search if reg_search else re.match

    def fits(var: Any, patterns: Any) -> bool:
        return any(matches(pattern, var.name) for pattern in patterns)

    included = [v for v in var_list if include_patterns is None or fits(v, include_patterns)]
    return [v for v in included if exclude_patterns is None or not fits(v, exclude_patterns)]


def get_variable_full_name(var: Any) -> str:
    """The name in a checkpoint: that of the whole variable, for a part of one."""
    part = var._save_slice_info
    return part.full_name if part else var.op.name  # type: ignore[no-any-return]


# ---- giving variables values


def _assignment(values: list[tuple[Any, Any]]) -> tuple[Operation, dict[Any, Any]]:
    """An op that gives variables their values, and what to feed it."""
    feeds, assigns = {}, []
    for var, value in values:
        fed = placeholder(var.dtype.base, var.shape, name=f"placeholder/{var.op.name}")
        assigns.append(var.assign(fed))
        feeds[fed] = value
    return group(*assigns), feeds


def assign_from_values(var_names_to_values: dict[str, Any]) -> tuple[Operation, dict[Any, Any]]:
    """An op that gives the named variables values, and its feeds. Raises ValueError."""
    values = []
    for name, value in var_names_to_values.items():
        found = get_collection(GraphKeys.GLOBAL_VARIABLES, name)
        if not found:
            raise ValueError(f"Variable {name} wasn't found")
        exact = found if len(found) == 1 else [v for v in found if v.op.name == name]
        if not exact:
            raise ValueError(f"Variable {name} doesn't uniquely identify a variable")
        values.append((exact[0], value.reshape(exact[0].shape.as_list())))
    return _assignment(values)


def assign_from_values_fn(var_names_to_values: dict[str, Any]) -> Callable[[Any], Any]:
    """A function of a session that gives the named variables values. Raises ValueError."""
    op, feeds = assign_from_values(var_names_to_values)
    return lambda session: session.run(op, feeds)


def assign_from_checkpoint(
    model_path: str, var_list: Any, ignore_missing_vars: bool = False
) -> tuple[Operation, dict[Any, Any]]:
    """An op that gives variables their values from a checkpoint, and its feeds.

    `var_list` is a list, or a dict from names in the checkpoint to a variable or a list of the
    parts of one. Raises ValueError for what is missing or has another shape.
    """
    reader = NewCheckpointReader(model_path)
    values = []
    for name, var in _by_checkpoint_name(var_list):
        if reader.has_tensor(name):
            values.append((var, _value_for(var, name, reader.get_tensor(name))))
        elif ignore_missing_vars:
            logging.warning("Checkpoint is missing variable [%s]", name)
        else:
            raise ValueError(f"Checkpoint is missing variable [{name}]")
    return _assignment(values)


def _by_checkpoint_name(var_list: Any) -> list[tuple[str, Any]]:
    if not isinstance(var_list, dict):
        return [(get_variable_full_name(v), v) for v in var_list]
    lists = ((n, v if isinstance(v, (list, tuple)) else [v]) for n, v in var_list.items())
    return [(name, var) for name, variables in lists for var in variables]


def _value_for(var: Any, name: str, value: Any) -> Any:
    part = var._save_slice_info
    if part:
        return value[tuple(slice(o, o + n) for o, n in zip(part.var_offset, part.var_shape))]
    if var.shape.as_list() != list(value.shape):
        raise ValueError(
            f"Total size of new array must be unchanged for {name} lh_shape: [{value.shape}], "
            f"rh_shape: [{var.shape}]"
        )
    return value


def assign_from_checkpoint_fn(
    model_path: str,
    var_list: Any,
    ignore_missing_vars: bool = False,
    reshape_variables: bool = False,
) -> Callable[[Any], None] | None:
    """A function of a session that restores variables; None if none of them is in the checkpoint.

    Raises ValueError for no variables at all.
    """
    if not var_list:
        raise ValueError("var_list cannot be empty")
    if ignore_missing_vars:
        reader = NewCheckpointReader(model_path)
        named = var_list if isinstance(var_list, dict) else {v.op.name: v for v in var_list}
        for name in named:
            if not reader.has_tensor(name):
                logging.warning("Variable %s missing in checkpoint %s", name, model_path)
        var_list = {name: v for name, v in named.items() if reader.has_tensor(name)}
    if not var_list:
        logging.warning("No Variables to restore")
        return None
    saver = Saver(var_list, reshape=reshape_variables)
    return lambda session: saver.restore(session, model_path)
