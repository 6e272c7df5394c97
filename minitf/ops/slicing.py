"""Slices of tensors and variables, boolean masks, reversed and rolled axes."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from minitf.convert import constant, to_tensor
from minitf.default import name_scope
from minitf.operation import Tensor
from minitf.ops.apply import apply_op
from minitf.ops.arguments import renamed
from minitf.ops.filling import ones_like
from minitf.ops.gather import gather
from minitf.ops.joining import concat, stack
from minitf.ops.raw import passthrough
from minitf.ops.shapes import reshape, shape, squeeze
from minitf.ops.sorting import where
from minitf.tensor_shape import Dimension, TensorShape
from minitf_runtime.types import as_dtype, bool_, int32, int64, num_elements

__all__ = [
    "boolean_mask",
    "newaxis",
    "reverse",
    "reverse_sequence",
    "roll",
    "slice",
    "strided_slice",
]

newaxis = None
_Slice = slice

reverse = passthrough("ReverseV2", "reverse")
roll = passthrough("Roll", "roll")
slice = passthrough("Slice", "slice")  # noqa: A001


class _Terms:
    """The terms of an index, as the arguments of StridedSlice."""

    def __init__(self) -> None:
        self.begin: list[Any] = []
        self.end: list[Any] = []
        self.strides: list[Any] = []
        self.masks = dict.fromkeys(
            ("begin_mask", "end_mask", "shrink_axis_mask", "new_axis_mask", "ellipsis_mask"), 0
        )

    def add(self, term: Any) -> None:
        if isinstance(term, _Slice):
            self._append(
                self._end_or_masked(term.start, "begin_mask"),
                self._end_or_masked(term.stop, "end_mask"),
                1 if term.step is None else _checked(term.step),
            )
        elif term is Ellipsis:
            self._masked("ellipsis_mask")
        elif term is newaxis:
            self._masked("new_axis_mask")
        else:
            _checked(term)
            self._mark("shrink_axis_mask")
            self._append(term, term + 1, 1)

    def _append(self, begin: Any, end: Any, stride: Any) -> None:
        self.begin.append(begin)
        self.end.append(end)
        self.strides.append(stride)

    def _mark(self, mask: str) -> None:
        self.masks[mask] |= 1 << len(self.begin)

    def _masked(self, mask: str) -> None:
        self._mark(mask)
        self._append(0, 0, 1)

    def _end_or_masked(self, value: Any, mask: str) -> Any:
        if value is None or (not isinstance(value, Tensor) and value == sys.maxsize):
            self._mark(mask)
            return 0
        return _checked(value)


def _checked(index: Any) -> Any:
    """An index that is an integer or a scalar integer tensor. Raises TypeError."""
    if isinstance(index, (int, Dimension)):
        return index
    dtype = getattr(index, "dtype", None)
    if (
        dtype is None
        or as_dtype(dtype).base not in (int32, int64)
        or (index.shape and len(index.shape) == 1)
    ):
        raise TypeError(
            "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar "
            f"tf.int32/tf.int64 tensors are valid indices, got {index!r}"
        )
    return index


def _is_mask(index: Any) -> bool:
    dtype = getattr(index, "dtype", None)
    return isinstance(index, bool) or (
        isinstance(index, (Tensor, np.ndarray)) and as_dtype(dtype) == bool_
    )


def slice_helper(tensor: Any, index: Any, var: Any = None) -> Tensor:
    """tensor[index] (TF: _slice_helper); of a variable, the result has `assign`."""
    if _is_mask(index):
        return boolean_mask(tensor, index)
    terms = _Terms()
    for term in index if isinstance(index, (list, tuple)) else [index]:
        terms.add(term)
    parts = (terms.begin, terms.end, terms.strides)
    with name_scope(None, "strided_slice", [tensor, *(v for p in parts for v in p)]) as scope:
        ends = _as_tensors(parts) if terms.begin else [constant([], int32)] * 3
        return strided_slice(tensor, *ends, **terms.masks, var=var, name=scope)


def _as_tensors(parts: Any) -> list[Tensor]:
    """The three vectors, all int64 if one is."""
    packed = [stack(p) for p in parts]
    if any(p.dtype is int64 for p in packed):
        packed = [p if p.dtype is int64 else apply_op("Cast", p, DstT=int64) for p in packed]
    return packed


Tensor.override("__getitem__", slice_helper)


def strided_slice(
    input_: Any,
    begin: Any,
    end: Any,
    strides: Any = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: Any = None,
    name: str | None = None,
) -> Tensor:
    """The entries from begin to end in steps of strides; bit i of a mask tells of axis i."""
    if strides is None:
        strides = ones_like(begin)
    masks = dict(
        begin_mask=begin_mask,
        end_mask=end_mask,
        ellipsis_mask=ellipsis_mask,
        new_axis_mask=new_axis_mask,
        shrink_axis_mask=shrink_axis_mask,
    )
    picked = apply_op("StridedSlice", input_, begin, end, strides, name=name, **masks)
    parent = name

    def assign(value: Any, name: str | None = None) -> Any:
        if var is None:
            raise ValueError("Sliced assignment is only supported for variables")
        name = f"{parent}_assign" if name is None else name
        return var._scatter("StridedSliceAssign", begin, end, strides, value, name=name, **masks)

    picked.assign = assign
    return picked


# ---- masks


def boolean_mask(tensor: Any, mask: Any, name: str = "boolean_mask", axis: Any = None) -> Tensor:
    """The entries where the mask, laid over the axes from `axis` on, is True."""
    with name_scope(name, values=[tensor, mask]):
        tensor = to_tensor(tensor, name="tensor")
        mask = to_tensor(mask, name="mask")
        over = mask._shape
        if over == ():
            raise ValueError("mask cannot be scalar.")
        if over is None:
            raise ValueError(
                "Number of mask dimensions must be specified, even if some dimensions are None.  "
                "E.g. shape=[None] is ok, but shape=None is not."
            )
        first = 0 if axis is None else axis
        last = first + len(over)
        whole = tensor.shape
        whole[first:last].assert_is_compatible_with(over)
        count = apply_op("Prod", shape(tensor)[first:last], [0])
        sizes = [shape(tensor)[:first], [count], shape(tensor)[last:]]
        flat = reshape(tensor, concat(sizes, 0))
        known = num_elements(whole[first:last].as_tuple)
        flat.set_shape(whole[:first].concatenate(TensorShape([known])).concatenate(whole[last:]))
        places = squeeze(where(reshape(mask, [-1])), axis=[1])
        return gather(flat, places, axis=axis)


# ---- reversing


def reverse_sequence(
    input: Any,  # noqa: A002
    seq_lengths: Any,
    seq_axis: int | None = None,
    batch_axis: int | None = None,
    name: str | None = None,
    seq_dim: int | None = None,
    batch_dim: int | None = None,
) -> Tensor:
    """Each batch entry with its first `seq_lengths` positions reversed."""
    seq = renamed("seq_axis", seq_axis, "seq_dim", seq_dim)
    batch = renamed("batch_axis", batch_axis, "batch_dim", batch_dim)
    return apply_op("ReverseSequence", input, seq_lengths, seq_dim=seq, batch_dim=batch, name=name)
