"""Variables by their full names: how tf.get_variable finds or makes one."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from minitf.convert import to_tensor
from minitf.default import (
    GraphKeys,
    add_to_collection,
    colocate_with,
    control_dependencies,
    name_scope,
)
from minitf.initializers import glorot_uniform_initializer, zeros_initializer
from minitf.operation import Tensor
from minitf.ops.apply import apply_op
from minitf.source import show
from minitf.tensor_shape import TensorShape
from minitf.variables.base import (
    SaveSliceInfo,
    Variable,
    VariableAggregation,
    VariableSynchronization,
    settle_options,
)
from minitf.variables.create import create_variable, resource_variables_enabled
from minitf.variables.partitioned import PartitionedVariable
from minitf.variables.partitioners import PartitionInfo, call_partitioner, cut_axis, parts_of
from minitf.variables.scopes import scope_state
from minitf_runtime.types import as_dtype, float32


@dataclass(frozen=True)
class Wanted:
    """What is asked for; the fields are the arguments of a custom getter's `getter`, in order."""

    name: str
    shape: Any = None
    dtype: Any = float32
    initializer: Any = None
    regularizer: Any = None
    reuse: Any = None
    trainable: bool | None = None
    collections: Any = None
    caching_device: Any = None
    partitioner: Any = None
    validate_shape: bool = True
    use_resource: bool | None = None
    constraint: Any = None
    synchronization: VariableSynchronization = VariableSynchronization.AUTO
    aggregation: VariableAggregation = VariableAggregation.NONE


def get_by_full_name(wanted: Wanted, custom_getter: Callable[..., Any] | None) -> Any:
    """The variable of that name, through the custom getter if there is one."""
    synchronization, aggregation, trainable = settle_options(
        wanted.synchronization, wanted.aggregation, wanted.trainable, wanted.name
    )
    wanted = replace(
        wanted,
        dtype=as_dtype(wanted.dtype).base,
        synchronization=synchronization,
        aggregation=aggregation,
        trainable=trainable,
    )
    if custom_getter is None:
        return _find_or_make(wanted)
    if not callable(custom_getter):
        raise ValueError(f"Passed a custom_getter which is not callable: {custom_getter}")
    options = dict(vars(wanted))
    if not _takes(custom_getter, "constraint"):
        del options["constraint"]
    return custom_getter(getter=_getter, **options)


def _getter(*args: Any, **kwargs: Any) -> Any:
    """What a custom getter gets: makes the variable in the usual way."""
    return _find_or_make(Wanted(*args, **kwargs))


def _takes(fn: Callable[..., Any], argument: str) -> bool:
    parameters = inspect.signature(fn).parameters
    return argument in parameters or any(
        p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values()
    )


def _find_or_make(wanted: Wanted) -> Any:
    state = scope_state()
    is_scalar = isinstance(wanted.shape, Sequence) and not wanted.shape
    if wanted.partitioner is not None and not is_scalar:
        if not callable(wanted.partitioner):
            raise ValueError(f"Partitioner must be callable, but received: {wanted.partitioner}")
        with name_scope(None):
            return _partitioned(wanted)
    if wanted.reuse is True and wanted.partitioner is None and wanted.name in state.partitioned:
        return _partitioned(wanted)
    if f"{wanted.name}/part_0" in state.variables:
        raise ValueError(
            "No partitioner was provided, but a partitioned version of the variable was found: "
            f"{wanted.name}/part_0. Perhaps a variable of the same name was already created with "
            "partitioning?"
        )
    return _single(wanted)


# ---- a variable in one piece


def _single(wanted: Wanted, part: PartitionInfo | None = None) -> Any:
    from_value = wanted.initializer is not None and not callable(wanted.initializer)
    if wanted.shape is not None and from_value:
        raise ValueError("If initializer is a constant, do not specify shape.")
    variables = scope_state().variables
    shape = TensorShape(wanted.shape)
    if wanted.name in variables:
        return _checked(variables[wanted.name], wanted, shape)
    if wanted.reuse is True:
        raise ValueError(
            f"Variable {wanted.name} does not exist, or was not created with tf.get_variable(). "
            "Did you mean to set reuse=tf.AUTO_REUSE in VarScope?"
        )
    made = _make(wanted, shape, part)
    variables[wanted.name] = made
    if wanted.regularizer:
        _regularize(made, wanted)
    return made


def _checked(found: Any, wanted: Wanted, shape: TensorShape) -> Any:
    """The variable that is there, if it may be shared. Raises ValueError."""
    name = wanted.name
    if wanted.reuse is False:
        raise ValueError(
            f"Variable {name} already exists, disallowed. Did you mean to set reuse=True or "
            f"reuse=tf.AUTO_REUSE in VarScope? Originally defined at:\n\n{show(found.op._source)}"
        )
    if not shape.is_compatible_with(found.shape):
        raise ValueError(
            f"Trying to share variable {name}, but specified shape {shape} and found shape "
            f"{found.shape}."
        )
    if wanted.dtype is not found.dtype.base:
        raise ValueError(
            f"Trying to share variable {name}, but specified dtype {wanted.dtype.name} and found "
            f"dtype {found.dtype.name}."
        )
    return found


def _make(wanted: Wanted, shape: TensorShape, part: PartitionInfo | None) -> Variable:
    start, dtype = _initial_value(wanted, shape, part)
    use_resource = wanted.use_resource
    return create_variable(  # type: ignore[no-any-return]
        initial_value=start,
        name=wanted.name,
        trainable=wanted.trainable,
        collections=wanted.collections,
        caching_device=wanted.caching_device,
        dtype=dtype,
        validate_shape=wanted.validate_shape,
        constraint=wanted.constraint,
        use_resource=resource_variables_enabled() if use_resource is None else use_resource,
        synchronization=wanted.synchronization,
        aggregation=wanted.aggregation,
    )


def _initial_value(
    wanted: Wanted, shape: TensorShape, part: PartitionInfo | None
) -> tuple[Any, Any]:
    """The value or a function that makes it, and its type if the function must be told."""
    initializer = wanted.initializer
    if initializer is None:
        initializer = _default_initializer(wanted)
    elif not callable(initializer):
        return initializer, None
    if inspect.isclass(initializer):
        initializer = initializer()
    if shape.is_fully_defined():
        size, dtype = shape.as_list(), wanted.dtype
        return lambda: initializer(size, dtype=dtype, partition_info=part), dtype
    if all(
        p.default is not p.empty or p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
        for p in inspect.signature(initializer).parameters.values()
    ):
        return initializer, None
    raise ValueError(
        "The initializer passed is not valid. It should be a callable with no arguments and the "
        "shape should not be provided or an instance of `tf.keras.initializers.*' and `shape` "
        "should be fully defined."
    )


def _default_initializer(wanted: Wanted) -> Any:

    dtype = wanted.dtype
    if dtype.is_floating:
        return glorot_uniform_initializer()
    if dtype.is_integer or dtype.is_bool or dtype.name == "string":
        return zeros_initializer()
    raise ValueError(f"An initializer for variable {wanted.name} of {dtype} is required")


def _regularize(variable: Variable, wanted: Wanted) -> None:
    with (
        colocate_with(variable),
        name_scope(f"{wanted.name}/Regularizer/"),
        control_dependencies(None),
    ):
        loss = wanted.regularizer(variable)
    if loss is not None:
        add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)


# ---- a variable in parts


def _partitioned(wanted: Wanted) -> PartitionedVariable:
    state = scope_state()
    name = wanted.name
    if name in state.variables:
        raise ValueError(
            "A partitioner was provided, but an unpartitioned version of the variable was found: "
            f"{name}.  Perhaps a variable of the same name was already created without "
            "partitioning?"
        )
    shape = TensorShape(wanted.shape)
    if isinstance(wanted.initializer, Tensor):
        shape = shape.merge_with(wanted.initializer.shape)
    partitions = None
    if not wanted.reuse or wanted.partitioner:
        partitions = call_partitioner(wanted.partitioner, shape, wanted.dtype)
    if name in state.partitioned:
        return _checked_parts(state.partitioned[name], wanted, shape, partitions)
    if wanted.reuse is True or partitions is None:
        raise ValueError(
            f"PartitionedVariable {name} does not exist, or was not created with "
            "tf.get_variable(). Did you mean to set reuse=False or reuse=tf.AUTO_REUSE in VarScope?"
        )
    parts = _make_parts(wanted, shape.as_list(), partitions)
    made = PartitionedVariable(name, shape, parts[0].dtype.base, parts, partitions)
    state.partitioned[name] = made
    return made


def _checked_parts(
    found: PartitionedVariable, wanted: Wanted, shape: TensorShape, partitions: Any
) -> PartitionedVariable:
    """The variable that is there, if it may be shared. Raises ValueError."""
    name = wanted.name
    if wanted.reuse is False:
        raise ValueError(
            f"Partitioned variable with name {name} already exists. Did you mean to set reuse=True "
            "or reuse=tf.AUTO_REUSE in VarScope?"
        )
    trying = f"Trying to reuse partitioned variable {name}, but specified"
    if not shape.is_compatible_with(found.shape):
        raise ValueError(f"{trying} shape {shape} and found shape {found.shape}.")
    if wanted.dtype is not found.dtype.base:
        raise ValueError(f"{trying} dtype {wanted.dtype.name} and found dtype {found.dtype.name}.")
    if partitions is not None and found._get_partitions() != partitions:
        raise ValueError(
            f"{trying} partitions {partitions} and found partitions {found._get_partitions()}."
        )
    return found


def _make_parts(wanted: Wanted, shape: Any, partitions: Sequence[int]) -> list[Any]:
    axis, count = cut_axis(partitions)
    _check_earlier_parts(wanted.name, count)
    made = []
    for i, (offset, size) in enumerate(parts_of(shape, axis, count)):
        name = f"{wanted.name}/part_{i}"
        with name_scope(f"{name}/PartitionedInitializer"):
            part = _part_wanted(wanted, name, offset, size)
        with name_scope(None):
            variable = _single(part, PartitionInfo(shape, offset))
        variable._set_save_slice_info(SaveSliceInfo(wanted.name, shape, offset, size))
        made.append(variable)
    return made


def _check_earlier_parts(name: str, count: int) -> None:
    """Raises ValueError if parts of the name exist, and not as many as are wanted."""
    variables = scope_state().variables
    if f"{name}/part_0" not in variables:
        return
    if f"{name}/part_{count - 1}" not in variables or f"{name}/part_{count}" in variables:
        raise ValueError(
            "Partitioner returned a different partitioning than what was already found.  "
            f"Partitioner returned {count} shards, and shard {name}/part_0 was found, but not "
            "exactly that many."
        )


def _part_wanted(wanted: Wanted, name: str, offset: list[int], size: list[int]) -> Wanted:
    """The order for one part: its own shape, or its own slice of the initial value."""
    initializer = wanted.initializer
    if initializer is None or callable(initializer):
        return replace(wanted, name=name, shape=size, partitioner=None)
    whole = to_tensor(initializer, None if isinstance(initializer, Tensor) else wanted.dtype)
    part = apply_op("Slice", whole, offset, size)
    return replace(
        wanted, name=name, shape=None, dtype=part.dtype.base, initializer=part, partitioner=None
    )
