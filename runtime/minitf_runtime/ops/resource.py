"""Resource variables: ops on a variable behind a handle. At run time a handle is the variable
itself (plan/state.py). Scatter updates are in scatter.py, slice assignment in slicing.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minitf_runtime.errors import FailedPreconditionError, NotFoundError, invalid
from minitf_runtime.ops import dims
from minitf_runtime.ops.gather import gather_nd, gather_v2
from minitf_runtime.ops.registry import Attr, ShapeContext, Type, kernel, no_outputs, op, scalar
from minitf_runtime.ops.state import assign_add, assign_sub, count_up_to
from minitf_runtime.types import INDEX, DType, Shape, int32

op(
    "VarHandleOp",
    "-> resource: resource",
    scalar,
    stateful=True,
    container="",
    shared_name="",
    dtype=Type(),
    shape=Attr("shape", None),
)


@kernel("VarHandleOp")
def var_handle_op(xp: Any, *, node: Any) -> Any:
    attrs = node.attrs
    return node.resources.resource_variable(
        attrs["container"], attrs["shared_name"] or node.name, attrs["dtype"], attrs["shape"]
    )


@op("ReadVariableOp", "resource: resource -> value: dtype", stateful=True, dtype=Type())
def read_variable_shape(c: ShapeContext) -> list[Shape]:
    """The variable's value."""
    return [c.shape_value(0)]


@kernel("ReadVariableOp")
def read_variable_op(xp: Any, handle: Any, *, dtype: DType) -> Any:
    if handle.dtype is not dtype:
        raise invalid(
            "Trying to read variable with wrong dtype. "
            f"Expected {dtype.name} got {handle.dtype.name}"
        )
    try:
        return handle.read()
    except NotFoundError as missing:
        raise FailedPreconditionError(
            None,
            None,
            f"Error while reading resource variable {handle.name} from Container: "
            f"{handle.container}. This could mean that the variable was uninitialized. "
            f"Not found: {missing.message}",
        ) from None


op("VarIsInitializedOp", "resource: resource -> is_initialized: bool", scalar, stateful=True)


@kernel("VarIsInitializedOp")
def var_is_initialized_op(xp: Any, handle: Any) -> Any:
    return np.bool_(handle.initialized)


@op(
    "VariableShape",
    "input: resource -> output: out_type",
    stateful=True,
    out_type=Type(INDEX, int32),
)
def variable_shape_shape(c: ShapeContext) -> list[Shape]:
    """The variable's shape, once it is known."""
    shape = c.shape_value(0)
    return [(None if shape is None else len(shape),)]


@kernel("VariableShape", host_outputs="output")
def variable_shape(xp: Any, handle: Any, *, out_type: DType) -> Any:
    return np.array(handle.read().shape, out_type.as_numpy_dtype)


op(
    "DestroyResourceOp",
    "resource: resource ->",
    no_outputs,
    stateful=True,
    ignore_lookup_error=True,
)


@kernel("DestroyResourceOp")
def destroy_resource_op(xp: Any, handle: Any, *, ignore_lookup_error: bool) -> None:
    if not ignore_lookup_error:
        handle.read()
    handle.clear()


# ---- assignments


def _fits_variable(c: ShapeContext) -> list[Shape]:
    dims.merge(c.shape_value(0), c.shape(1))
    return []


for _name in ("AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp"):
    op(_name, "resource: resource, value: dtype ->", _fits_variable, stateful=True, dtype=Type())


@kernel("AssignVariableOp")
def assign_variable_op(xp: Any, handle: Any, value: Any, *, dtype: DType) -> None:
    if handle.dtype is not dtype:
        raise invalid(
            "Trying to assign variable with wrong dtype. "
            f"Expected {handle.dtype.name} got {dtype.name}"
        )
    handle.assign(value)


@kernel("AssignAddVariableOp")
def assign_add_variable_op(xp: Any, handle: Any, value: Any) -> None:
    assign_add(xp, handle, value)


@kernel("AssignSubVariableOp")
def assign_sub_variable_op(xp: Any, handle: Any, value: Any) -> None:
    assign_sub(xp, handle, value)


@op(
    "ResourceCountUpTo",
    "resource: resource -> output: T",
    stateful=True,
    limit=Attr("int"),
    T=Type(INDEX),
)
def resource_count_up_to_shape(c: ShapeContext) -> list[Shape]:
    """The value before it is raised by one."""
    return [dims.with_rank(c.shape_value(0), 0)]


@kernel("ResourceCountUpTo")
def resource_count_up_to(xp: Any, handle: Any, *, limit: int) -> Any:
    return count_up_to(xp, handle, limit=limit)


# ---- reads of a part


@op(
    "ResourceGather",
    "resource: resource, indices: Tindices -> output: dtype",
    stateful=True,
    batch_dims=0,
    validate_indices=True,
    dtype=Type(),
    Tindices=Type(INDEX),
)
def resource_gather_shape(c: ShapeContext) -> list[Shape]:
    """Rows of the variable; the first `batch_dims` axes are walked together."""
    whole, indices = dims.at_least(c.shape_value(0), c["batch_dims"] + 1), c.shape(1)
    if whole is None or indices is None:
        return [None]
    batch = c["batch_dims"]
    return [whole[:batch] + indices[batch:] + whole[batch + 1 :]]


@kernel("ResourceGather")
def resource_gather(xp: Any, handle: Any, indices: Any, *, batch_dims: int) -> Any:
    return gather_v2(xp, handle.read(), indices, batch_dims, batch_dims=batch_dims)


@op(
    "ResourceGatherNd",
    "resource: resource, indices: Tindices -> output: dtype",
    stateful=True,
    dtype=Type(),
    Tindices=Type(INDEX),
)
def resource_gather_nd_shape(c: ShapeContext) -> list[Shape]:
    """The slice of the variable at each index vector."""
    whole, indices = c.shape_value(0), dims.at_least(c.shape(1), 1)
    if whole is None or indices is None or indices[-1] is None:
        return [None]
    dims.at_least(whole, indices[-1])
    return [indices[:-1] + whole[indices[-1] :]]


@kernel("ResourceGatherNd")
def resource_gather_nd(xp: Any, handle: Any, indices: Any) -> Any:
    return gather_nd(xp, handle.read(), indices)
