"""Ops that join, stack and split tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitf_runtime.errors import invalid
from minitf_runtime.ops import dims
from minitf_runtime.ops.registry import Attr, Count, ShapeContext, Type, kernel, op
from minitf_runtime.types import INDEX, Shape, int32, int64, resource, show_shape

# ---- concatenation


def _concat_shape(c: ShapeContext, axis_slot: int, shapes: list[Shape]) -> list[Shape]:
    dims.with_rank(c.shape(axis_slot), 0)
    at = c.value(axis_slot)
    rank = next((len(s) for s in shapes if s is not None), None)
    if rank is None:
        return [None]
    if rank == 0:
        raise ValueError("Can't concatenate scalars (use tf.stack instead)")
    sized = [dims.with_rank(s, rank) for s in shapes]
    if at is None:
        return [(None,) * rank]
    axis = int(at)
    dims.axis_of(sized[0], axis)
    axis %= rank
    before: Shape = ()
    after: Shape = ()
    total: dims.Size = 0
    for i, s in enumerate(sized):
        before = s[:axis] if i == 0 else dims.merge(before, s[:axis])
        after = s[axis + 1 :] if i == 0 else dims.merge(after, s[axis + 1 :])
        total = dims.add(total, s[axis])
    return [(*(before or ()), total, *(after or ()))]


@op(
    "ConcatV2",
    "values: N * T, axis: Tidx -> output: T",
    N=Count(2),
    T=Type(),
    Tidx=Type(INDEX, int32),
)
def concat_v2_shape(c: ShapeContext) -> list[Shape]:
    """The values one after the other along an axis."""
    return _concat_shape(c, len(c.shapes) - 1, list(c.shapes[:-1]))


@op("Concat", "concat_dim: int32, values: N * T -> output: T", N=Count(2), T=Type())
def concat_shape(c: ShapeContext) -> list[Shape]:
    return _concat_shape(c, 0, list(c.shapes[1:]))


@kernel("ConcatV2", host_inputs="axis")
def concat_v2(xp: Any, values: Any, axis: Any) -> Any:
    at = _axis(axis, "axis")
    rank = values[0].ndim
    if not -rank <= at < rank:
        low = -rank if rank else 0
        raise invalid(
            f"ConcatOp : Expected concatenating dimensions in the range [{low}, {rank}), but got "
            f"{at}"
        )
    for i, v in enumerate(values):
        _check_concat(values[0].shape, v.shape, i, at % rank)
    return xp.concatenate(values, at)


@kernel("Concat", host_inputs="concat_dim")
def concat(xp: Any, concat_dim: Any, values: Any) -> Any:
    return concat_v2(xp, values, concat_dim)


def _axis(axis: Any, name: str) -> int:
    if axis.ndim:
        raise invalid(
            f"{name} tensor should be a scalar integer, but got shape {show_shape(axis.shape)}"
        )
    return int(axis)


def _check_concat(first: Any, other: Any, i: int, axis: int) -> None:
    if first == other:
        return
    if len(first) != len(other):
        what = "Ranks of all input tensors should match"
    elif dims.replaced(first, axis, 0) != dims.replaced(other, axis, 0):
        what = "Dimensions of inputs should match"
    else:
        return
    raise invalid(
        f"ConcatOp : {what}: shape[0] = {show_shape(first)} vs. shape[{i}] = {show_shape(other)}"
    )


@op("ConcatOffset", "concat_dim: int32, shape: N * int32 -> offset: N * int32", N=Count(2))
def concat_offset_shape(c: ShapeContext) -> list[Shape]:
    """Where each part of a concatenation begins in it."""
    return [dims.with_rank(s, 1) for s in c.shapes[1:]]


@kernel("ConcatOffset", host_inputs="concat_dim shape", host_outputs="offset")
def concat_offset(xp: Any, concat_dim: Any, shapes: Any) -> Any:
    rank = len(shapes[0])
    axis = int(concat_dim)
    if not -rank <= axis < rank:
        raise invalid(f"Concat dim is out of range: {axis} vs. {rank}")
    axis %= rank
    offsets = []
    start = 0
    for i, shape in enumerate(shapes):
        if len(shape) != rank:
            raise invalid(f"input {i} should contain {rank} elements, but got {len(shape)}")
        for d in range(rank):
            if d != axis and shape[d] != shapes[0][d]:
                raise invalid(
                    f"All dimensions except {axis} must match. Input {i} has shape "
                    f"[{' '.join(map(str, shape))}] and doesn't match input 0 with shape "
                    f"[{' '.join(map(str, shapes[0]))}]."
                )
        offset = np.zeros(rank, np.int32)
        offset[axis] = start
        start += int(shape[axis])
        offsets.append(offset)
    return tuple(offsets)


# ---- stacking


@op("Pack", "values: N * T -> output: T", N=Count(), T=Type(), axis=0)
def pack_shape(c: ShapeContext) -> list[Shape]:
    """The values stacked along a new axis."""
    x = dims.merge_all(c.shapes)
    if x is None:
        return [None]
    axis = c["axis"]
    if not -len(x) - 1 <= axis <= len(x):
        raise ValueError(f"Invalid axis: {axis}; must be in [{-len(x) - 1},{len(x) + 1})")
    axis %= len(x) + 1
    return [(*x[:axis], len(c.shapes), *x[axis:])]


@kernel("Pack")
def pack(xp: Any, values: Any, *, axis: Any) -> Any:
    first = values[0].shape
    for i, v in enumerate(values):
        if v.shape != first:
            raise invalid(
                f"Shapes of all inputs must match: values[0].shape = {show_shape(first)} != "
                f"values[{i}].shape = {show_shape(v.shape)}"
            )
    if not -len(first) - 1 <= axis <= len(first):
        raise invalid(f"axis = {axis} not in [{-len(first) - 1}, {len(first) + 1})")
    return xp.stack(values, axis)


@kernel("Pack", types=(resource,), priority=1)
def pack_handles(xp: Any, values: Any, *, axis: Any) -> Any:
    """Handles are Python objects: a vector of them."""
    out = np.empty(len(values), object)
    out[:] = values
    return out


@op("ParallelConcat", "values: N * T -> output: T", N=Count(), T=Type(), shape=Attr("shape"))
def parallel_concat_shape(c: ShapeContext) -> list[Shape]:
    """Values of first size 1 joined along the first axis into the declared shape."""
    wanted = c["shape"]
    if wanted is None or None in wanted:
        raise ValueError("shape attr must be fully defined.")
    if wanted[0] != len(c.shapes):
        raise ValueError(
            f"Number of inputs ({len(c.shapes)}) must match the first dimension of the output "
            f"({wanted[0]})"
        )
    for s in c.shapes:
        dims.merge(s, (1, *wanted[1:]))
    return [wanted]


@kernel("ParallelConcat")
def parallel_concat(xp: Any, values: Any) -> Any:
    return xp.concatenate(values, 0)


@op("Unpack", "value: T -> output: num * T", num=Count(0), T=Type(), axis=0)
def unpack_shape(c: ShapeContext) -> list[Shape]:
    """The slices of a tensor along an axis."""
    x, axis, num = c.shape(0), c["axis"], c["num"]
    if x is None:
        return [None] * num
    if not -len(x) <= axis < len(x):
        raise ValueError(f"Invalid axis: {axis}; must be in [{-len(x)},{len(x)})")
    axis %= len(x)
    dims.fixed_size(x[axis], num)
    return [x[:axis] + x[axis + 1 :]] * num


@kernel("Unpack")
def unpack(xp: Any, value: Any, *, num: Any, axis: Any) -> Any:
    if not -value.ndim <= axis < value.ndim:
        raise invalid(f"axis = {axis} not in [{-value.ndim}, {value.ndim})")
    if value.shape[axis] != num:
        raise invalid(
            f"Input shape axis {axis % value.ndim} must equal {num}, got shape "
            f"{show_shape(value.shape)}"
        )
    shape = value.shape[: axis % value.ndim] + value.shape[axis % value.ndim + 1 :]
    turned = xp.moveaxis(value, axis, 0)
    return tuple(turned[i : i + 1].reshape(shape) for i in range(num))


# ---- splitting


@op("Split", "split_dim: int32, value: T -> output: num_split * T", num_split=Count(), T=Type())
def split_shape(c: ShapeContext) -> list[Shape]:
    """A tensor cut into equal parts along an axis."""
    x, num = c.shape(1), c["num_split"]
    axis = _split_axis(c, 0, x)
    if x is None or axis is None:
        return [None if x is None else (None,) * len(x)] * num
    return [dims.replaced(x, axis, dims.divide(x[axis], num))] * num


def _split_axis(c: ShapeContext, slot: int, x: Shape) -> int | None:
    dims.with_rank(c.shape(slot), 0)
    at = c.value(slot)
    if at is None or x is None:
        return None
    if not -len(x) <= at < len(x):
        raise ValueError(
            f"Dimension size, given by scalar input {at} must be in range [{-len(x)}, {len(x)})"
        )
    return int(at) % len(x)


@kernel("Split", host_inputs="split_dim")
def split(xp: Any, split_dim: Any, value: Any, *, num_split: Any) -> Any:
    axis = _checked_split_axis(split_dim, value)
    if value.shape[axis] % num_split:
        raise invalid(
            "Number of ways to split should evenly divide the split dimension, but got split_dim "
            f"{axis} (size = {value.shape[axis]}) and num_split {num_split}"
        )
    size = value.shape[axis] // num_split
    before = (slice(None),) * axis
    return tuple([value[(*before, slice(i * size, (i + 1) * size))] for i in range(num_split)])


def _checked_split_axis(split_dim: Any, value: Any) -> int:
    axis = _axis(split_dim, "split_dim")
    if not -value.ndim <= axis < value.ndim:
        raise invalid(
            f"-input rank({-value.ndim}) <= split_dim < input rank ({value.ndim}), but got {axis}"
        )
    return axis % value.ndim


@op(
    "SplitV",
    "value: T, size_splits: Tlen, split_dim: int32 -> output: num_split * T",
    num_split=Count(),
    T=Type(),
    Tlen=Type(INDEX, int64),
)
def split_v_shape(c: ShapeContext) -> list[Shape]:
    """A tensor cut into parts of given sizes along an axis."""
    x, num = c.shape(0), c["num_split"]
    axis = _split_axis(c, 2, x)
    sizes = c.value(1)
    if x is None or axis is None:
        return [None if x is None else (None,) * len(x)] * num
    if sizes is None:
        only = x[axis] if num == 1 else None
        return [dims.replaced(x, axis, only)] * num
    parts = [int(n) for n in sizes]
    if parts.count(-1) > 1:
        raise ValueError("size_splits can only have one -1")
    total = sum(n for n in parts if n != -1)
    whole = x[axis]
    if whole is not None and (total > whole or (total < whole and -1 not in parts)):
        raise ValueError(
            f"can't split axis of size {whole} into pieces of size [{','.join(map(str, parts))}]"
        )
    rest = None if whole is None else whole - total
    return [dims.replaced(x, axis, rest if n == -1 else n) for n in parts]


@kernel("SplitV", host_inputs="size_splits split_dim")
def split_v(xp: Any, value: Any, size_splits: Any, split_dim: Any, *, num_split: Any) -> Any:
    axis = _checked_split_axis(split_dim, value)
    if size_splits.ndim != 1 or len(size_splits) != num_split:
        raise invalid(
            f"size of the split_tensor should be 1-D and have {num_split} elements, got "
            f"{show_shape(size_splits.shape)}"
        )
    parts = size_splits.tolist()
    if parts.count(-1) > 1:
        raise invalid("There can only be one -1 in the input.")
    total = sum(n for n in parts if n != -1)
    whole = value.shape[axis]
    if total > whole or (total < whole and -1 not in parts):
        raise invalid(
            "Determined shape must either match input shape along split_dim exactly if fully "
            "specified, or be less than the size of the input along split_dim if not fully "
            f"specified.  Got: {total}"
        )
    parts = [whole - total if n == -1 else n for n in parts]
    return tuple(xp.split(value, np.cumsum(parts[:-1]).tolist(), axis))
