"""Reference variables: ops that make, read and update a variable by reference. Kernels get the
variable itself (plan/state.py) for a Ref input. Scatter updates are in scatter.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minitf_runtime.errors import OutOfRangeError, invalid
from minitf_runtime.ops import dims
from minitf_runtime.ops.registry import Attr, ShapeContext, Type, kernel, op, scalar, unchanged
from minitf_runtime.types import INDEX, NUMBERS, Shape, is_full, show_shape

_MADE_OF = dict(shape=Attr("shape", None), dtype=Type())
_SHARED = dict(container="", shared_name="")


@op("VariableV2", "-> ref: Ref(dtype)", stateful=True, **_MADE_OF, **_SHARED)
def variable_shape(c: ShapeContext) -> list[Shape]:
    """A variable of the task, found by container and name."""
    return [c["shape"]]


@op("Variable", "-> ref: Ref(dtype)", stateful=True, **_MADE_OF, **_SHARED)
def old_variable_shape(c: ShapeContext) -> list[Shape]:
    """VariableV2 for which a scalar shape means an unknown one."""
    return [c["shape"] or None]


@kernel("VariableV2", "Variable")
def variable(xp: Any, *, node: Any) -> Any:
    attrs = node.attrs
    name = attrs["shared_name"] or node.name
    return node.resources.variable(
        attrs["container"], name, node.name, attrs["dtype"], attrs["shape"]
    )


op(
    "TemporaryVariable",
    "-> ref: Ref(dtype)",
    variable_shape,
    stateful=True,
    var_name="",
    **_MADE_OF,
)
op(
    "DestroyTemporaryVariable",
    "ref: Ref(T) -> value: T",
    unchanged,
    T=Type(),
    var_name=Attr("string"),
)


@kernel("TemporaryVariable")
def temporary_variable(xp: Any, *, node: Any) -> Any:
    """A variable that only the ops of this step can reach, through its reference."""
    dtype, shape = node.attrs["dtype"], node.attrs["shape"]
    made = node.resources.temporary(node.name, dtype, shape)
    made.assign(xp.zeros(shape, dtype.as_numpy_dtype))
    return made


@kernel("DestroyTemporaryVariable")
def destroy_temporary_variable(xp: Any, ref: Any) -> Any:
    return ref.read()


op("IsVariableInitialized", "ref: Ref(dtype) -> is_initialized: bool", scalar, dtype=Type())


@kernel("IsVariableInitialized", host_outputs="is_initialized")
def is_variable_initialized(xp: Any, ref: Any) -> Any:
    return np.bool_(ref.initialized)


# ---- assignments


def _assigned_shape(c: ShapeContext) -> list[Shape]:
    return [dims.merge(c.shape(0), c.shape(1)) if c["validate_shape"] else c.shape(1)]


def _merged(c: ShapeContext) -> list[Shape]:
    return [dims.merge(c.shape(0), c.shape(1))]


_ASSIGN = "ref: Ref(T), value: T -> output_ref: Ref(T)"
op("Assign", _ASSIGN, _assigned_shape, T=Type(), validate_shape=True, use_locking=True)
op("AssignAdd", _ASSIGN, _merged, T=Type(NUMBERS), use_locking=False)
op("AssignSub", _ASSIGN, _merged, T=Type(NUMBERS), use_locking=False)


@kernel("Assign")
def assign(xp: Any, ref: Any, value: Any, *, validate_shape: bool) -> Any:
    if validate_shape:
        wanted = ref.read().shape if ref.initialized else ref.shape
        if is_full(wanted) and wanted != value.shape:
            raise invalid(
                "Assign requires shapes of both tensors to match. "
                f"lhs shape= {show_shape(wanted)} rhs shape= {show_shape(value.shape)}"
            )
    ref.assign(value)
    return ref


@kernel("AssignAdd")
def assign_add(xp: Any, ref: Any, value: Any) -> Any:
    with ref.writable() as array:
        check_same_size(array.shape, value.shape)
        array += value
    return ref


@kernel("AssignSub")
def assign_sub(xp: Any, ref: Any, value: Any) -> Any:
    with ref.writable() as array:
        check_same_size(array.shape, value.shape)
        array -= value
    return ref


def check_same_size(mine: Sequence[int], given: Sequence[int]) -> None:
    """Raises InvalidArgumentError unless the update has the variable's shape."""
    if mine != given:
        raise invalid(
            "Parameters and update must be the same size, got "
            f"{show_shape(mine)} and {show_shape(given)}"
        )


# ---- counting


@op("CountUpTo", "ref: Ref(T) -> output: T", limit=Attr("int"), T=Type(INDEX))
def count_up_to_shape(c: ShapeContext) -> list[Shape]:
    """The value before it is raised by one."""
    return [c.rank(0, 0)]


@kernel("CountUpTo")
def count_up_to(xp: Any, ref: Any, *, limit: int) -> Any:
    with ref.writable() as array:
        if array.shape != ():
            raise invalid(f"input is not a scalar: {show_shape(array.shape)}")
        before = array.copy()
        if before >= limit:
            raise OutOfRangeError(None, None, f"Reached limit of {limit}")
        array += 1
    return before
