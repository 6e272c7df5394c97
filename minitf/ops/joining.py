"""Functions that join, split, tile and pad tensors; lists of tensors as one tensor."""

from __future__ import annotations

from typing import Any

from minitf import nest
from minitf.convert import constant, register_tensor_conversion_function, to_tensor
from minitf.default import name_scope
from minitf.operation import Tensor
from minitf.ops.apply import apply_op
from minitf.ops.constant_value import constant_value, is_tensor
from minitf.ops.raw import passthrough
from minitf.ops.shapes import expand_dims, identity
from minitf.tensor_shape import Dimension, TensorShape
from minitf_runtime.types import int32

__all__ = [
    "concat",
    "pad",
    "parallel_stack",
    "split",
    "stack",
    "tile",
    "unstack",
]

tile = passthrough("Tile", "tile")


def concat(values: Any, axis: Any, name: str = "concat") -> Tensor:
    """The tensors one after the other along an axis."""
    if not isinstance(values, (list, tuple)):
        values = [values]
    if len(values) > 1:
        return apply_op("ConcatV2", values, axis, name=name)
    with name_scope(name):
        to_tensor(axis, int32, name="concat_dim").shape.assert_has_rank(0)
        return identity(values[0], name=name)


def stack(values: Any, axis: int = 0, name: str = "stack") -> Tensor:
    """Tensors of one shape along a new axis."""
    if axis == 0:
        try:
            return to_tensor(values, name=name)
        except (TypeError, ValueError):
            pass  # of several types: Pack converts each to the type of the first tensor
    first = to_tensor(values[0], name=name)._shape
    if first is not None and not -len(first) - 1 <= axis <= len(first):
        raise ValueError(f"axis = {axis} not in [{-len(first) - 1}, {len(first) + 1})")
    return apply_op("Pack", values, axis=axis, name=name)


def parallel_stack(values: Any, name: str = "parallel_stack") -> Tensor:
    """Tensors of one fully known shape along a new first axis."""
    with name_scope(name):
        first = to_tensor(values[0])
        out_shape = TensorShape([len(values)]).concatenate(first.shape)
        return apply_op("ParallelConcat", [expand_dims(v, 0) for v in values], shape=out_shape)


# ---- a list that holds tensors is one tensor


def _is_dense(value: Any) -> bool:
    return isinstance(value, Tensor) or hasattr(value, "_as_graph_element")


def _tensor_type(values: Any) -> Any:
    """The type of the first tensor in nested lists."""
    for v in values:
        if _is_dense(v):
            return v.dtype.base
        found = _tensor_type(v) if isinstance(v, (list, tuple)) else None
        if found is not None:
            return found
    return None


def _cast(values: Any, dtype: Any) -> Any:
    if isinstance(values, (list, tuple)):
        return [_cast(v, dtype) for v in values]
    if _is_dense(values) and values.dtype.base is not dtype:
        return apply_op("Cast", values, DstT=dtype)
    return values


def _pack(values: Any, dtype: Any, name: str) -> Any:
    """A Pack of nested lists; a list without tensors comes back as it is."""
    with name_scope(name) as scope:
        items = [_packed_item(v, dtype, str(i)) for i, v in enumerate(values)]
        if not any(_is_dense(v) for v in items):
            return items
        tensors = [
            v if _is_dense(v) else constant(v, dtype, name=str(i)) for i, v in enumerate(items)
        ]
        return apply_op("Pack", tensors, name=scope)


def _packed_item(value: Any, dtype: Any, name: str) -> Any:
    if isinstance(value, (list, tuple)):
        return _pack(value, dtype, name)
    if _is_dense(value) and value.dtype.base is not dtype:
        raise TypeError(
            f"Cannot convert a list containing a tensor of dtype {value.dtype} to {dtype} "
            f"(Tensor is: {value!r})"
        )
    return value


def _from_list(values: Any, dtype: Any = None, name: Any = None, as_ref: bool = False) -> Any:
    own = None if as_ref else _tensor_type(nest.flatten(values))
    if own is None:
        return NotImplemented
    if dtype is not None and dtype is not own:
        values = _cast(values, dtype)
    return _pack(values, dtype or own, name or "packed")


register_tensor_conversion_function((list, tuple), _from_list, 99)


# ---- splitting


def unstack(
    value: Any, num: int | None = None, axis: int = 0, name: str = "unstack"
) -> list[Tensor]:
    """The slices of a tensor along an axis whose size is known (or `num`)."""
    if num is None:
        value = to_tensor(value)
        known = value._shape
        if known is not None:
            if not -len(known) <= axis < len(known):
                raise ValueError(f"axis = {axis} not in [{-len(known)}, {len(known)})")
            num = known[axis]
        if num is None:
            raise ValueError(f"Cannot infer num from shape {value.shape}")
    return apply_op("Unpack", value, num=num, axis=axis, name=name)


def split(
    value: Any, num_or_size_splits: Any, axis: Any = 0, num: int | None = None, name: str = "split"
) -> list[Tensor]:
    """A tensor cut along an axis: into so many equal parts, or into parts of given sizes."""
    sizes = to_tensor(num_or_size_splits)
    if isinstance(num_or_size_splits, (int, Dimension)):
        return apply_op("Split", axis, value, num_split=int(num_or_size_splits), name=name)
    if sizes._shape == ():
        raise ValueError(
            "Rank-0 tensors are not supported as the num_or_size_splits argument to split. "
            f"Argument provided: {num_or_size_splits}"
        )
    if num is None:
        num = sizes._shape[0] if sizes._shape else None
        if num is None:
            raise ValueError(f"Cannot infer num from shape {num_or_size_splits}")
    return apply_op("SplitV", value, sizes, axis, num_split=num, name=name)


# ---- padding


def pad(
    tensor: Any,
    paddings: Any,
    mode: str = "CONSTANT",
    name: str | None = None,
    constant_values: Any = 0,
) -> Tensor:
    """The tensor with values before and after it along each axis: constant or mirrored."""
    mode = mode.upper()
    if mode == "CONSTANT":
        if not is_tensor(constant_values) and constant_values == 0:
            out = apply_op("Pad", tensor, paddings, name=name)
        else:
            out = apply_op("PadV2", tensor, paddings, constant_values, name=name)
    elif mode in ("REFLECT", "SYMMETRIC"):
        out = apply_op("MirrorPad", tensor, paddings, mode=mode, name=name)
    else:
        raise ValueError(f"Unknown padding mode: {mode}")
    _set_padded_shape(out)
    return out


def _set_padded_shape(out: Tensor) -> None:
    """Of paddings that are partly known, the sizes that these tell."""
    before = out.op.inputs[0]._shape
    around = constant_value(out.op.inputs[1], partial=True)
    if before is None or around is None or out.shape.is_fully_defined():
        return
    sizes = []
    for pair, n in zip(around, before):
        known = n is not None and pair is not None and all(p is not None for p in pair)
        sizes.append(n + int(sum(pair)) if known else None)
    out.set_shape(sizes)
