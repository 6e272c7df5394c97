"""apply_op: makes an op from Python values, by its declared signature (TF: _apply_op_helper)."""

from __future__ import annotations

from collections import namedtuple
from contextlib import ExitStack
from functools import cache
from itertools import islice
from typing import Any

import numpy as np

from minitf.convert import to_tensor, to_tensors
from minitf.default import graph_of, graph_stack
from minitf.graph import Graph
from minitf.operation import Operation, Tensor
from minitf.tensor_shape import as_shape
from minitf_runtime.ops.registry import REQUIRED, Arg, Attr, OpDef, arity, op_def
from minitf_runtime.types import DType, as_dtype


def apply_op(op_type: str, *inputs: Any, name: str | None = None, **attrs: Any) -> Any:
    """Adds an op to the graph of its inputs (or the default graph).

    Inputs are given in the order of the signature; attributes by name, those that the inputs tell
    left
    out. Returns the output Tensor, a named tuple of several, a list for a list output, or the
    Operation when there are no outputs. Raises TypeError or ValueError for values that do not fit.
    """
    return outputs_of(make_op(op_type, *inputs, name=name, **attrs))


def make_op(op_type: str, *inputs: Any, name: str | None = None, **attrs: Any) -> Operation:
    """apply_op that returns the Operation."""
    opdef = op_def(op_type)
    if len(inputs) != len(opdef.inputs):
        raise TypeError(f"{op_type} takes {len(opdef.inputs)} inputs, got {len(inputs)}")
    kind = (op_type, *[v._dtype for v in inputs if isinstance(v, Tensor)])
    is_plain = not attrs
    if is_plain and kind in _attrs_of:
        graph = graph_of(inputs)
        if graph.control_flow_context is None:
            return graph.create_op(op_type, inputs, name=name, attrs=_attrs_of[kind])
    known = {k: v for k, v in attrs.items() if v is not None} if attrs else attrs
    for key in known:
        declared = opdef.attrs.get(key)
        if declared is None and not key.startswith("_"):
            unknown = [k for k in known if k not in opdef.attrs and not k.startswith("_")]
            raise TypeError(f"{op_type} got unexpected attributes {unknown}")
        if declared is not None and declared.kind == "type":
            known[key] = as_dtype(known[key]).base
    graph = graph_of(_flat(inputs))
    if graph.control_flow_context is None and all(isinstance(v, Tensor) for v in inputs):
        flat = _convert_inputs(opdef, inputs, known)  # makes no other op: needs no scope
        complete = _complete(opdef, known)
        if is_plain and not opdef.takes_ref:
            _attrs_of[kind] = complete
        return _create(graph, opdef, flat, name, complete)
    with graph_stack.push(graph), graph.name_scope(name or op_type) as scope:
        flat = _convert_inputs(opdef, inputs, known)
        return _create(graph, opdef, flat, scope or op_type, _complete(opdef, known))


# The attributes of ops that are told only their inputs, all Tensors: (op type, types of these) ->
_attrs_of: dict[tuple[Any, ...], dict[str, Any]] = {}


def _create(
    graph: Graph, opdef: OpDef, flat: list[Tensor], name: str | None, attrs: dict[str, Any]
) -> Operation:
    """The op itself, on the device of the variables that it takes by reference."""
    if not opdef.takes_ref:
        return graph.create_op(opdef.name, flat, name=name, attrs=attrs)
    with ExitStack() as stack:
        slot = 0
        for arg in opdef.inputs:
            end = slot + arity(arg, attrs)
            for t in flat[slot:end] if arg.is_ref else ():
                stack.enter_context(graph.colocate_with(t))
            slot = end
        return graph.create_op(opdef.name, flat, name=name, attrs=attrs)


def _flat(inputs: Any) -> list[Any]:
    out: list[Any] = []
    for v in inputs:
        if isinstance(v, (list, tuple)):
            out += v
        else:
            out.append(v)
    return out


def _convert_inputs(opdef: OpDef, inputs: Any, attrs: dict[str, Any]) -> list[Tensor]:
    flat: list[Tensor] = []
    told_by: dict[str, str] = {}
    for arg, value in zip(opdef.inputs, inputs):
        if arg.list_attr:
            flat += _heterogeneous(opdef, arg, value, attrs)
        elif arg.number_attr:
            flat += _homogeneous(opdef, arg, value, attrs, told_by)
        else:
            flat.append(_single(opdef, arg, value, attrs, told_by))
    return flat


def _single(opdef: OpDef, arg: Arg, value: Any, attrs: dict[str, Any], told_by: Any) -> Tensor:
    wanted, preferred = _wanted(opdef, arg, attrs)
    if isinstance(value, Tensor) and (wanted is None or wanted is value._dtype.base):
        tensor = value
    else:
        try:
            tensor = to_tensor(value, wanted, arg.name, arg.is_ref, preferred)
        except (TypeError, ValueError) as e:
            raise _mismatch(opdef, arg, value, wanted, told_by, e) from None
    if arg.is_ref and not tensor.dtype.is_ref:
        raise TypeError(
            f"'{opdef.name}' Op requires that input '{arg.name}' be a mutable tensor "
            "(e.g.: a tf.Variable)"
        )
    if arg.type_attr:
        _settle(opdef, arg, tensor.dtype.base, attrs, told_by)
    return tensor


def _wanted(opdef: OpDef, arg: Arg, attrs: dict[str, Any]) -> tuple[DType | None, DType | None]:
    """The type that the argument must have, or else the one it would rather have."""
    if arg.dtype is not None:
        return arg.dtype, None
    if arg.type_attr in attrs:
        return attrs[arg.type_attr], None
    default = opdef.attrs[arg.type_attr].default
    return None, (default if isinstance(default, DType) else None)


def _mismatch(
    opdef: OpDef, arg: Arg, value: Any, wanted: Any, told_by: dict[str, str], error: Exception
) -> Exception:
    """TF's text for an input of the wrong type."""
    if wanted is None:
        return error
    try:
        got = to_tensor(value, None, arg.name, arg.is_ref).dtype.base
    except (TypeError, ValueError):
        return error
    if arg.type_attr and arg.type_attr in told_by:
        return TypeError(
            f"Input '{arg.name}' of '{opdef.name}' Op has type {got.name} that does not match type "
            f"{wanted.name} of argument '{told_by[arg.type_attr]}'."
        )
    return TypeError(
        f"Input '{arg.name}' of '{opdef.name}' Op has type {got.name} that does not match expected "
        f"type of {wanted.name}."
    )


def _settle(opdef: OpDef, arg: Arg, dtype: DType, attrs: dict[str, Any], told_by: Any) -> None:
    """Records the type that an input tells. Raises TypeError if the op does not take it."""
    key = arg.type_attr
    _check_allowed(opdef.attrs[key], arg.name, dtype)
    if key not in attrs:
        attrs[key] = dtype
        told_by[key] = arg.name
    elif attrs[key] is not dtype:
        raise TypeError(
            f"Input '{arg.name}' of '{opdef.name}' Op has type {dtype.name} that does not match "
            f"type {attrs[key].name} of argument '{told_by.get(key, key)}'."
        )


def _check_allowed(attr: Attr, name: str, dtype: DType) -> None:
    if attr.allowed and dtype not in attr.allowed:
        raise TypeError(
            f"Value passed to parameter '{name}' has DataType {dtype.name} not in list of "
            f"allowed values: {', '.join(t.name for t in attr.allowed)}"
        )


def _homogeneous(
    opdef: OpDef, arg: Arg, values: Any, attrs: dict[str, Any], told_by: Any
) -> list[Tensor]:
    """An `N * T` input."""
    if not isinstance(values, (list, tuple)):
        raise TypeError(
            f"Expected list for '{arg.name}' argument to '{opdef.name}' Op, not {values}."
        )
    wanted, preferred = _wanted(opdef, arg, attrs)
    if wanted is None and not arg.is_ref:
        wanted = next((v.dtype.base for v in values if isinstance(v, Tensor)), None)
    try:
        tensors = to_tensors(values, wanted, arg.name, arg.is_ref, preferred)
    except (TypeError, ValueError):
        if wanted is None or not any(isinstance(v, Tensor) for v in values):
            raise
        types = [v.dtype.base.name if isinstance(v, Tensor) else type(v).__name__ for v in values]
        raise TypeError(
            f"Tensors in list passed to '{arg.name}' of '{opdef.name}' Op have types "
            f"[{', '.join(types)}] that don't all match."
        ) from None
    if arg.number_attr not in attrs:
        attrs[arg.number_attr] = len(tensors)
    least = opdef.attrs[arg.number_attr].minimum
    if len(tensors) < least:
        raise ValueError(
            f"List argument '{arg.name}' to '{opdef.name}' Op with length {len(tensors)} shorter "
            f"than minimum length {least}."
        )
    if len(tensors) != attrs[arg.number_attr]:
        raise ValueError(
            f"List argument '{arg.name}' to '{opdef.name}' Op with length {len(tensors)} must "
            "match "
            f"length {attrs[arg.number_attr]}."
        )
    for t in tensors if arg.type_attr else ():
        _settle(opdef, arg, t.dtype.base, attrs, told_by)
    return tensors


def _heterogeneous(opdef: OpDef, arg: Arg, values: Any, attrs: dict[str, Any]) -> list[Tensor]:
    """A list(type) input."""
    if not isinstance(values, (list, tuple)):
        raise TypeError(
            f"Expected list for '{arg.name}' argument to '{opdef.name}' Op, not {values}."
        )
    types = attrs.get(arg.list_attr)
    if types is not None and len(types) != len(values):
        raise ValueError(
            f"List argument '{arg.name}' to '{opdef.name}' Op with length {len(values)} must "
            f"match length {len(types)}."
        )
    tensors = [
        to_tensor(v, None if types is None else types[i], f"{arg.name}_{i}", arg.is_ref)
        for i, v in enumerate(values)
    ]
    attrs[arg.list_attr] = found = [t.dtype.base for t in tensors]
    for dtype in found:
        _check_allowed(opdef.attrs[arg.list_attr], arg.name, dtype)
    return tensors


def _complete(opdef: OpDef, known: dict[str, Any]) -> dict[str, Any]:
    """All attributes, defaults filled in and values normalised. Raises TypeError, ValueError."""
    out = {}
    for key, attr in opdef.attrs.items():
        if key in known:
            out[key] = _normal(opdef, key, attr, known[key])
        elif attr.default is not REQUIRED:
            out[key] = attr.default
        else:
            raise TypeError(f"No argument for attr {key} found in {opdef.name}")
    out.update((k, v) for k, v in known.items() if k.startswith("_"))
    return out


def _normal(opdef: OpDef, key: str, attr: Attr, value: Any) -> Any:
    kind = attr.kind
    if kind == "type":
        value = as_dtype(value).base
        _check_allowed(attr, key, value)
        return value
    if kind in _SIMPLE:
        value = _simple(opdef, key, kind, value)
        if attr.minimum and value < attr.minimum:
            raise ValueError(
                f"Attr '{key}' of '{opdef.name}' Op passed {value} less than minimum "
                f"{attr.minimum}."
            )
        return value
    if kind == "string":
        value = value.decode("latin-1") if isinstance(value, bytes) else _checked_str(key, value)
        if attr.allowed and value not in attr.allowed:
            raise ValueError(
                f"Attr '{key}' of '{opdef.name}' Op passed string '{value}' not in: "
                + ", ".join(f'"{v}"' for v in attr.allowed)
                + "."
            )
        return value
    if kind == "shape":
        return as_shape(value)
    if kind == "list(type)":
        types = [as_dtype(t).base for t in value]
        for dtype in types:
            _check_allowed(attr, key, dtype)
        return types
    if kind == "list(shape)":
        return [as_shape(s) for s in value]
    if kind.startswith("list(") and not isinstance(value, (list, tuple, np.ndarray)):
        raise TypeError(f"Expected list for attr {key} of {opdef.name}, got {value!r}")
    if attr.allowed and value not in attr.allowed:
        raise ValueError(f"Attr {key} of {opdef.name} must be one of {attr.allowed}, got {value!r}")
    return list(value) if kind.startswith("list(") else value


_SIMPLE: dict[str, Any] = {"int": int, "float": float, "bool": bool}


def _simple(opdef: OpDef, key: str, kind: str, value: Any) -> Any:
    if isinstance(value, (str, bytes)) or (kind == "int" and value != int(value)):
        raise TypeError(f"Expected {kind} for argument '{key}' not {value!r}.")
    return _SIMPLE[kind](value)


def _checked_str(key: str, value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"Expected string for argument '{key}' not {value!r}.")
    return value


@cache
def _result_type(op_type: str, names: tuple[str, ...]) -> Any:
    return namedtuple(op_type, names)  # type: ignore[misc]


def outputs_of(op: Operation) -> Any:
    """An op's outputs as its generated function in TF returns them."""
    args = op.op_def.outputs
    if not args or (op.op_def.stateful and not op.outputs):
        return op
    if len(args) == 1:
        return list(op.outputs) if args[0].is_list else op.outputs[0]
    outputs = iter(op.outputs)
    values = [
        list(islice(outputs, arity(a, op._attrs))) if a.is_list else next(outputs) for a in args
    ]
    return _result_type(op.type, tuple(a.name for a in args))(*values)
