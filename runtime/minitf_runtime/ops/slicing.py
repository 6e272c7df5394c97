"""Ops that take or replace a box of a tensor (Slice, StridedSlice)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from minitf_runtime.errors import UnimplementedError, invalid
from minitf_runtime.ops import dims
from minitf_runtime.ops.array import shape_input, zeros_of
from minitf_runtime.ops.registry import ShapeContext, Type, kernel, no_outputs, op
from minitf_runtime.types import INDEX, Shape, show_shape


@op("Slice", "input: T, begin: Index, size: Index -> output: T", T=Type(), Index=Type(INDEX))
def slice_shape(c: ShapeContext) -> list[Shape]:
    """The box of `size` at `begin`; size -1 means all that is left."""
    x, begin, sizes = c.shape(0), c.value(1), c.value(2)
    given = dims.merge(dims.with_rank(c.shape(1), 1), dims.with_rank(c.shape(2), 1)) or (None,)
    ndim = given[0]
    if ndim is not None:
        x = dims.with_rank(x, ndim)
    elif x is not None:
        ndim = dims.merge_sizes(ndim, len(x))
    if x is None or ndim is None:
        return [None]
    if sizes is None:
        partly = c.shape_value(2)
        return [partly if partly is not None and begin is not None else (None,) * ndim]
    starts = [None] * ndim if begin is None else begin.tolist()
    return [
        tuple(
            size if size != -1 else None if start is None else dims.add(n, -start)
            for n, start, size in zip(x, starts, sizes.tolist())
        )
    ]


@kernel("Slice", host_inputs="begin size")
def slice_(xp: Any, x: Any, begin: Any, size: Any) -> Any:
    if begin.shape != (x.ndim,) or size.shape != (x.ndim,):
        raise invalid(
            f"Expected begin and size arguments to be 1-D tensors of size {x.ndim}, but got shapes "
            f"{show_shape(begin.shape)} and {show_shape(size.shape)} instead."
        )
    box = []
    for i, (n, start, wanted) in enumerate(zip(x.shape, begin.tolist(), size.tolist())):
        if not 0 <= start <= n:
            raise invalid(f"Expected begin[{i}] in [0, {n}], but got {start}")
        count = n - start if wanted == -1 else wanted
        if not 0 <= count <= n - start:
            raise invalid(f"Expected size[{i}] in [0, {n - start}], but got {count}")
        box.append(slice(start, start + count))
    return boxed(x, box)


def boxed(x: Any, index: Any) -> Any:
    """x[index] as an array even where a scalar is picked (of strings, too)."""
    return x[(*index, ...)] if x.ndim else x.reshape((1,) * sum(i is None for i in index))


# ---- strided slices


@dataclass(frozen=True)
class _Spec:
    """One entry of a strided slice after the ellipsis is spelled out."""

    slot: int  # position in begin, end, strides; -1 for an axis that the ellipsis covers
    axis: int  # axis of the input; -1 for a new axis
    shrinks: bool = False


_MASKS = dict(begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0, shrink_axis_mask=0)


def _specs(count: int, ndim: int, attrs: Any) -> list[_Spec]:
    """The entries of a slice of `count` terms over `ndim` axes. Raises ValueError."""
    dots = [i for i in range(count) if attrs["ellipsis_mask"] >> i & 1]
    if len(dots) > 1:
        raise ValueError("Multiple ellipses in slice spec not allowed")
    at = dots[0] if dots else count
    fresh = {i for i in range(count) if attrs["new_axis_mask"] >> i & 1 and i != at}
    taken = count - len(dots) - len(fresh)
    if taken > ndim:
        raise ValueError(f"Index out of range using input dim {ndim}; input has only {ndim} dims")
    out: list[_Spec] = []
    axis = 0
    for i in range(count + (not dots)):
        if i == at:
            out += [_Spec(-1, a) for a in range(axis, axis + ndim - taken)]
            axis += ndim - taken
        elif i in fresh:
            out.append(_Spec(i, -1))
        else:
            out.append(_Spec(i, axis, bool(attrs["shrink_axis_mask"] >> i & 1)))
            axis += 1
    return out


def _range(spec: _Spec, begin: Any, end: Any, strides: Any, attrs: Any) -> slice:
    """One term as a Python slice; None stands for a masked or unknown end."""
    i = spec.slot
    if i < 0:
        return slice(None, None, 1)
    first = None if begin is None or attrs["begin_mask"] >> i & 1 else int(begin[i])
    last = None if end is None or attrs["end_mask"] >> i & 1 else int(end[i])
    step = int(strides[i])
    if step == 0:
        raise ValueError(f"strides[{i}] must be non-zero")
    return slice(first, last, step)


def _picked(spec: _Spec, begin: Any, strides: Any, size: int | None) -> int:
    """The position that a shrinking term picks. Raises ValueError."""
    if int(strides[spec.slot]) <= 0:
        raise ValueError("only stride 1 allowed on non-range indexing.")
    at = int(begin[spec.slot])
    if size is not None and not -size <= at < size:
        raise ValueError(f"slice index {at} of dimension {spec.axis} out of bounds.")
    return at


def _strided_slice_shape(c: ShapeContext) -> list[Shape]:
    x, begin, end, strides = c.shape(0), c.value(1), c.value(2), c.value(3)
    given: Shape = (None,)
    for i in (1, 2, 3):
        given = dims.merge(given, dims.with_rank(c.shape(i), 1))
    if x is None or given is None or given[0] is None or strides is None:
        return [None]
    out: list[dims.Size] = []
    for spec in _specs(given[0], len(x), c.attrs):
        if spec.axis < 0:
            out.append(1)
        elif spec.shrinks:
            if begin is not None:
                _picked(spec, begin, strides, x[spec.axis])
        else:
            out.append(_length(spec, x[spec.axis], begin, end, strides, c.attrs))
    return [tuple(out)]


def _length(
    spec: _Spec, size: dims.Size, begin: Any, end: Any, strides: Any, attrs: Any
) -> dims.Size:
    cut = _range(spec, begin, end, strides, attrs)
    i = spec.slot
    whole = i < 0 or (attrs["begin_mask"] >> i & 1 and attrs["end_mask"] >> i & 1)
    if size is None or not (whole or (begin is not None and end is not None)):
        return None
    return len(range(*cut.indices(size)))


def strided_index(shape: Any, begin: Any, end: Any, strides: Any, attrs: Any) -> tuple[Any, ...]:
    """The NumPy index that a strided slice of a tensor of this shape means."""
    if not begin.shape == end.shape == strides.shape or begin.ndim != 1:
        raise invalid(
            "Expected begin, end, and strides to be 1D equal size tensors, but got shapes "
            f"{show_shape(begin.shape)}, {show_shape(end.shape)}, and "
            f"{show_shape(strides.shape)} instead."
        )
    index: list[Any] = []
    try:
        for spec in _specs(len(begin), len(shape), attrs):
            if spec.axis < 0:
                index.append(None)
            elif spec.shrinks:
                index.append(_picked(spec, begin, strides, shape[spec.axis]))
            else:
                index.append(_range(spec, begin, end, strides, attrs))
    except ValueError as e:
        raise invalid(str(e)) from None
    return tuple(index)


_ENDS = "begin: Index, end: Index, strides: Index"
op(
    "StridedSlice",
    f"input: T, {_ENDS} -> output: T",
    _strided_slice_shape,
    T=Type(),
    Index=Type(INDEX),
    **_MASKS,
)


def _with_masks(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel function that takes the five masks as one table, after its inputs."""

    def call(
        xp: Any,
        *inputs: Any,
        begin_mask: Any,
        end_mask: Any,
        ellipsis_mask: Any,
        new_axis_mask: Any,
        shrink_axis_mask: Any,
    ) -> Any:
        masks = (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
        return fn(xp, *inputs, dict(zip(_MASKS, masks)))

    return call


@kernel("StridedSlice", host_inputs="begin end strides")
@_with_masks
def strided_slice(xp: Any, x: Any, begin: Any, end: Any, strides: Any, masks: Any) -> Any:
    return boxed(x, strided_index(x.shape, begin, end, strides, masks))


@op(
    "StridedSliceGrad",
    f"shape: Index, {_ENDS}, dy: T -> output: T",
    T=Type(),
    Index=Type(INDEX),
    **_MASKS,
)
def strided_slice_grad_shape(c: ShapeContext) -> list[Shape]:
    """Zeros of `shape`, holding dy where the slice was taken."""
    return [shape_input(c, 0)]


@kernel("StridedSliceGrad", host_inputs="shape begin end strides")
@_with_masks
def strided_slice_grad(
    xp: Any, shape: Any, begin: Any, end: Any, strides: Any, dy: Any, masks: Any
) -> Any:
    out = zeros_of(xp, shape.tolist(), dy.dtype)
    place = boxed(out, strided_index(out.shape, begin, end, strides, masks))
    if place.shape != dy.shape:
        raise invalid(
            f"shape of dy was {show_shape(dy.shape)} instead of {show_shape(place.shape)}"
        )
    place[...] = dy
    return out


@op(
    "StridedSliceAssign",
    f"ref: Ref(T), {_ENDS}, value: T -> output_ref: Ref(T)",
    T=Type(),
    Index=Type(INDEX),
    **_MASKS,
)
def strided_slice_assign_shape(c: ShapeContext) -> list[Shape]:
    """A part of a variable replaced."""
    return [c.shape(0)]


op(
    "ResourceStridedSliceAssign",
    f"ref: resource, {_ENDS}, value: T ->",
    no_outputs,
    T=Type(),
    Index=Type(INDEX),
    stateful=True,
    **_MASKS,
)


@kernel("StridedSliceAssign", host_inputs="begin end strides")
@_with_masks
def strided_slice_assign(
    xp: Any, ref: Any, begin: Any, end: Any, strides: Any, value: Any, masks: Any
) -> Any:
    _assign(ref, begin, end, strides, value, masks)
    return ref


def _assign(ref: Any, begin: Any, end: Any, strides: Any, value: Any, masks: Any) -> None:
    with ref.writable() as whole:
        place = boxed(whole, strided_index(whole.shape, begin, end, strides, masks))
        if value.ndim and place.shape != value.shape:
            raise UnimplementedError(
                None,
                None,
                f"sliced l-value shape {show_shape(place.shape)} does not match r-value shape "
                f"{show_shape(value.shape)}. Automatic broadcasting not yet implemented.",
            )
        place[...] = value


@kernel("ResourceStridedSliceAssign", host_inputs="begin end strides")
@_with_masks
def resource_strided_slice_assign(
    xp: Any, ref: Any, begin: Any, end: Any, strides: Any, value: Any, masks: Any
) -> None:
    _assign(ref, begin, end, strides, value, masks)
