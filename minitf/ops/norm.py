"""tf.norm: norms of vectors and of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitf.convert import convert_to_tensor
from minitf.default import name_scope
from minitf.operation import Tensor
from minitf.ops import array, math
from minitf.ops.apply import apply_op
from minitf.ops.arguments import renamed
from minitf.ops.control_flow import cond
from minitf.ops.functional import map_fn
from minitf.ops.sorting import where_v2
from minitf_runtime.types import int32

__all__ = ["norm"]


def norm(
    tensor: Any,
    ord: Any = "euclidean",  # noqa: A002
    axis: Any = None,
    keepdims: bool | None = None,
    name: str | None = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """The norm of vectors (along `axis`, or of all elements), or of matrices (a pair of axes)."""
    keepdims = renamed("keepdims", keepdims, "keep_dims", keep_dims)
    axes = _norm_axes(ord, axis)
    with name_scope(name, "norm", [tensor]):
        tensor = convert_to_tensor(tensor)
        result = _norm(tensor, ord, axes)
        return result if keepdims else array.squeeze(result, axes)


def _norm_axes(ord: Any, axis: Any) -> tuple[int, ...] | None:  # noqa: A002
    """The axes as a tuple, or None for all elements. Raises ValueError."""
    if isinstance(axis, (tuple, list)) and len(axis) == 2:
        a, b = axis
        if not isinstance(a, int) or not isinstance(b, int) or a == b:
            raise ValueError("'axis' must be None, an integer, or a tuple of 2 unique integers")
        supported = ["euclidean", "fro", 1, 2, np.inf]
        if ord not in supported:
            raise ValueError(f"'ord' must be a supported matrix norm in {supported}, got {ord}")
        return a, b
    if axis is not None and not isinstance(axis, int):
        raise ValueError("'axis' must be None, an integer, or a tuple of 2 unique integers")
    if ord != "euclidean" and not (np.isreal(ord) and ord > 0):
        raise ValueError(f"'ord' must be a supported vector norm, got {ord}")
    return None if axis is None else (axis,)


def _norm(tensor: Tensor, ord: Any, axes: tuple[int, ...] | None) -> Tensor:  # noqa: A002
    """The norm, the axes kept with size 1."""
    if ord == 2 and axes is not None and len(axes) == 2:
        return _spectral_norm(tensor, axes)
    if ord in ("fro", "euclidean", 2):
        return math.sqrt(math.reduce_sum(tensor * math.conj(tensor), axes, keepdims=True))
    size = math.abs(tensor)
    first = None if axes is None else axes[0]
    if ord == 1:
        result = math.reduce_sum(size, first, keepdims=True)
        return (
            result if first == _last(axes) else math.reduce_max(result, _last(axes), keepdims=True)
        )
    if ord == np.inf:
        if first != _last(axes):
            size = math.reduce_sum(size, _last(axes), keepdims=True)
        return math.reduce_max(size, first, keepdims=True)
    return math.pow(math.reduce_sum(math.pow(size, ord), axes, keepdims=True), 1.0 / ord)


def _spectral_norm(tensor: Tensor, axes: tuple[int, ...]) -> Tensor:
    """The largest singular value of matrices along any two axes: TF's ops, two loops among them."""
    rank = array.rank(tensor)
    positive = map_fn(lambda i: cond(i >= 0, lambda: i, lambda: i + rank), convert_to_tensor(axes))
    every = math.range(rank)
    before = array.concat([array.setdiff1d(every, positive)[0], positive], axis=0)
    after = map_fn(
        lambda i: math.cast(array.squeeze(where_v2(math.equal(before, i))), dtype=int32), every
    )
    matrices = array.transpose(tensor, perm=before)
    values = math.abs(apply_op("Svd", matrices, compute_uv=False)[0])
    largest = math.reduce_max(values, axis=-1, keepdims=True)
    return array.transpose(array.expand_dims(largest, axis=-1), perm=after)


def _last(axes: tuple[int, ...] | None) -> int | None:
    return None if axes is None else axes[-1]
