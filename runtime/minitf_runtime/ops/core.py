"""Ops that every graph has: constants, placeholders, Identity, NoOp."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitf_runtime.errors import InvalidArgumentError
from minitf_runtime.ops.registry import (
    Attr,
    ShapeContext,
    Type,
    kernel,
    no_outputs,
    op,
    unchanged,
)
from minitf_runtime.types import Shape, merge_shapes, show_shape


@op("Const", "-> output: dtype", value=Attr("tensor"), dtype=Type())
def const_shape(c: ShapeContext) -> list[Shape]:
    return [tuple(np.shape(c["value"]))]


@kernel("Const")
def const(xp: Any, *, value: Any) -> Any:
    return value if xp is np else xp.asarray(value)


@op("Placeholder", "-> output: dtype", dtype=Type(), shape=Attr("shape", None))
def placeholder_shape(c: ShapeContext) -> list[Shape]:
    return [c["shape"]]


@kernel("Placeholder")
def placeholder(xp: Any, *, node: Any) -> Any:
    dtype, shape = node.attrs["dtype"], node.attrs["shape"]
    told = f" and shape {show_shape(shape)}" if shape is not None else ""
    raise InvalidArgumentError(
        None,
        None,
        f"You must feed a value for placeholder tensor '{node.name}' with dtype "
        f"{_C_NAMES.get(dtype.name, dtype.name)}{told}",
    )


_C_NAMES = {"float32": "float", "float64": "double", "float16": "half"}


@op(
    "PlaceholderWithDefault",
    "input: dtype -> output: dtype",
    dtype=Type(),
    shape=Attr("shape", None),
)
def placeholder_with_default_shape(c: ShapeContext) -> list[Shape]:
    merge_shapes(c.shape(0), c["shape"])
    return [c["shape"]]


@kernel("PlaceholderWithDefault")
def placeholder_with_default(xp: Any, value: Any) -> Any:
    return value


op("Identity", "input: T -> output: T", unchanged, T=Type())
op("RefIdentity", "input: Ref(T) -> output: Ref(T)", unchanged, T=Type())


@op("IdentityN", "input: T -> output: T", T=Attr("list(type)"))
def identity_n_shape(c: ShapeContext) -> list[Shape]:
    return list(c.shapes)


@kernel("Identity", "RefIdentity")
def identity(xp: Any, x: Any) -> Any:
    return x


@kernel("IdentityN")
def identity_n(xp: Any, xs: Any) -> Any:
    return tuple(xs)


op("NoOp", "->", no_outputs)
op("ControlTrigger", "->", no_outputs)


@kernel("NoOp", "ControlTrigger")
def no_op(xp: Any) -> None:
    return None


# A transfer is made by the cutter; the plan turns it into calls of the rendezvous.
_TRANSFER = dict(
    tensor_name="", send_device="", recv_device="", send_device_incarnation=0,
    client_terminated=False,
)  # fmt: skip
op("_Send", "tensor: T ->", no_outputs, T=Type(), **_TRANSFER)
op("_HostSend", "tensor: T ->", no_outputs, T=Type(), **_TRANSFER)
for _name in ("_Recv", "_HostRecv"):
    op(_name, "-> tensor: tensor_type", lambda c: [None], tensor_type=Type(), **_TRANSFER)


@op("_Arg", "-> output: T", T=Type(), index=0)
def arg_shape(c: ShapeContext) -> list[Shape]:
    return [None]


op("_Retval", "input: T ->", no_outputs, T=Type(), index=0)
