"""What Python code may know of a tensor before any run (TF: tensor_util), by TF's own short rules.

TF's functions decide by these rules which ops they make, so they must not know more than TF does.
Shape functions know more: minitf_runtime/ops/static.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minitf.operation import Tensor
from minitf.tensor_shape import TensorShape, unknown_shape
from minitf_runtime.types import Shape, is_full, merge_shapes

__all__ = ["get_static_value", "is_tensor"]


def is_tensor(x: Any) -> bool:
    """Whether `x` is a tensor, a variable or made of tensors."""
    return isinstance(x, Tensor) or hasattr(x, "_as_graph_element") or hasattr(x, "_components")


def constant_value(tensor: Any, partial: bool = False) -> Any:
    """The value of a tensor where it is plain to see, else None; what is no tensor is returned.

    With `partial`, a stack may hold None. A tensor whose value is used can no longer be fed.
    """
    if not is_tensor(tensor):
        return tensor
    if not isinstance(tensor, Tensor):
        return None
    value = _value(tensor, partial)
    if value is not None:
        tensor.graph.prevent_feeding(tensor)
    return value


get_static_value = constant_value


def _value(t: Tensor, partial: bool) -> Any:
    op = t.op
    rule = _RULES.get(op.type)
    if op.type == "Pack":
        return _packed(t, partial)
    return None if rule is None else rule(t)


def _packed(t: Tensor, partial: bool) -> Any:
    if t.op._attrs["axis"] != 0:
        return None
    values = []
    for one in t.op.inputs:
        value = constant_value(one, partial)
        if value is None and not partial:
            return None
        values.append(value)
    return np.array(values, object if _unknown(values) else None)


def _of_shape(t: Tensor) -> Any:
    shape = t.op.inputs[0]._shape
    return np.array(shape, t.dtype.as_numpy_dtype) if is_full(shape) else None


def _of_size(t: Tensor) -> Any:
    shape = t.op.inputs[0]._shape
    return np.prod(shape, dtype=np.int32) if is_full(shape) else None


def _of_rank(t: Tensor) -> Any:
    shape = t.op.inputs[0]._shape
    return None if shape is None else np.array(len(shape), np.int32)


def _of_range(t: Tensor) -> Any:
    ends = [constant_value(i) for i in t.op.inputs]
    return None if _unknown(ends) else np.arange(*ends, dtype=t.dtype.as_numpy_dtype)


def _unknown(values: list[Any]) -> bool:
    return any(v is None for v in values)


def _of_cast(t: Tensor) -> Any:
    value = constant_value(t.op.inputs[0])
    return None if value is None else value.astype(t.dtype.as_numpy_dtype)


def _of_concat(t: Tensor) -> Any:
    axis, *values = (constant_value(i) for i in _axis_first(t))
    return None if axis is None or _unknown(values) else np.concatenate(values, axis=axis)


def _axis_first(t: Tensor) -> tuple[Tensor, ...]:
    inputs = t.op.inputs
    return (inputs[-1], *inputs[:-1]) if t.op.type == "ConcatV2" else inputs


def _of_fill(t: Tensor) -> Any:
    value = constant_value(t.op.inputs[1])
    if not is_full(t._shape) or value is None:
        return None
    return np.full(t._shape, value, dtype=value.dtype)


def _of_comparison(t: Tensor) -> Any:
    values = [constant_value(i) for i in t.op.inputs]
    compare = np.equal if t.op.type == "Equal" else np.not_equal
    return None if _unknown(values) else compare(*values)


_RULES = {
    "Const": lambda t: np.asarray(t.op._attrs["value"]),
    "Shape": _of_shape,
    "Size": _of_size,
    "Rank": _of_rank,
    "Range": _of_range,
    "Cast": _of_cast,
    "Concat": _of_concat,
    "ConcatV2": _of_concat,
    "Fill": _of_fill,
    "Equal": _of_comparison,
    "NotEqual": _of_comparison,
}


def constant_value_as_shape(tensor: Tensor) -> TensorShape:
    """The shape that a vector of sizes (-1: unknown) means, as far as it is known."""
    if tensor._shape == ():
        value = constant_value(tensor)
        if value is None or value != -1:
            raise ValueError(
                f"Received a scalar with value '{value}' as shape; require a statically known "
                "scalar with value '-1' to describe an unknown shape."
            )
        return unknown_shape()
    (length,) = tensor.shape.with_rank(1).as_tuple or (None,)
    return TensorShape.of(() if length == 0 else _as_shape(tensor, length))


def _as_shape(t: Tensor, length: int | None) -> Shape:
    kind, inputs = t.op.type, t.op.inputs
    if kind == "Shape":
        return inputs[0]._shape
    if kind == "Pack":
        return tuple(_as_size(constant_value(i)) for i in inputs)
    if kind in ("Concat", "ConcatV2"):
        return _joined([constant_value_as_shape(i).as_tuple for i in _axis_first(t)[1:]])
    if kind == "StridedSlice":
        picked = _sliced(t)
        if picked is not None:
            return picked
    value = constant_value(t)
    own: Shape = None if length is None else (None,) * length
    return own if value is None else merge_shapes(own, tuple(_as_size(n) for n in value))


def _as_size(value: Any) -> int | None:
    return None if value is None or value < 0 else int(value)


def _joined(parts: list[Shape]) -> Shape:
    out: tuple[int | None, ...] = ()
    for part in parts:
        if part is None:
            return None
        out += part
    return out


def _sliced(t: Tensor) -> Shape:
    """sizes[begin:end:stride], where all three are known."""
    attrs = t.op._attrs
    begin, end, stride = (constant_value(i) for i in t.op.inputs[1:4])
    plain = not (attrs["ellipsis_mask"] or attrs["new_axis_mask"] or attrs["shrink_axis_mask"])
    if _unknown([begin, end, stride]) or not plain:
        return None
    if attrs["begin_mask"] > 1 or attrs["end_mask"] > 1:
        return None
    whole = constant_value_as_shape(t.op.inputs[0]).as_tuple
    first = None if attrs["begin_mask"] else int(begin[0])
    last = None if attrs["end_mask"] else int(end[0])
    return None if whole is None else whole[first : last : int(stride[0])]
