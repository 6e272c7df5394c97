"""Limits: by value, and by norm of one tensor or of many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minitf.convert import constant, to_tensor
from minitf.default import colocate_with, name_scope
from minitf.indexed_slices import IndexedSlices
from minitf.operation import Tensor
from minitf.ops import array
from minitf.ops.apply import apply_op
from minitf.ops.comparison import is_finite
from minitf.ops.elementwise import cast, maximum, minimum, rsqrt, sqrt
from minitf.ops.reduction import range as range_op
from minitf.ops.reduction import reduce_sum
from minitf_runtime.types import float32

__all__ = [
    "clip_by_average_norm", "clip_by_global_norm", "clip_by_norm", "clip_by_value",
    "global_norm",
]  # fmt: skip


def _values(t: Any, name: str) -> Tensor:
    """The tensor to look at: IndexedSlices are clipped by their values."""
    return to_tensor(t.values if isinstance(t, IndexedSlices) else t, name=name)


def _like(t: Any, values: Tensor) -> Any:
    """Clipped values in the form that t had."""
    if isinstance(t, IndexedSlices):
        return IndexedSlices(values, t.indices, t.dense_shape)
    return values


def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any, name: str | None = None) -> Any:
    """Elements below the minimum become it, those above the maximum that.

    Raises ValueError if the limits would broadcast t to another shape.
    """
    with name_scope(name, "clip_by_value", [t, clip_value_min, clip_value_max]) as name:
        values = _values(t, "t")
        lowered = minimum(values, clip_value_max)
        values.shape.merge_with(lowered.shape)
        clipped = maximum(lowered, clip_value_min, name=name)
        values.shape.merge_with(clipped.shape)
        return _like(t, clipped)


def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None, name: str | None = None) -> Any:
    """t, shortened so that its norm (along the axes) is at most clip_norm."""
    with name_scope(name, "clip_by_norm", [t, clip_norm]) as name:
        values = _values(t, "t")
        squares = reduce_sum(values * values, axes, keepdims=True)
        positive = squares > 0
        safe = array.where(positive, squares, array.ones_like(squares))
        norm = array.where(positive, sqrt(safe), squares)
        scaled = values * clip_norm
        values.shape.merge_with(scaled.shape)
        clipped = array.identity(scaled / maximum(norm, clip_norm), name=name)
        return _like(t, clipped)


def _as_list(t_list: Any) -> list[Any]:
    if not isinstance(t_list, Sequence) or isinstance(t_list, str):
        raise TypeError("t_list should be a sequence")
    return list(t_list)


def _all_values(t_list: list[Any]) -> list[Any]:
    return [None if t is None else _values(t, f"t_{i}") for i, t in enumerate(t_list)]


def global_norm(t_list: Any, name: str | None = None) -> Tensor:
    """The norm of all tensors taken together; None among them does not count."""
    t_list = _as_list(t_list)
    with name_scope(name, "global_norm", t_list):
        halves = []
        for v in _all_values(t_list):
            if v is not None:
                with colocate_with(v):
                    halves.append(apply_op("L2Loss", v))
        half = reduce_sum(array.stack(halves))
        return sqrt(half * constant(2.0, half.dtype), name="global_norm")


def clip_by_global_norm(
    t_list: Any, clip_norm: Any, use_norm: Any = None, name: str | None = None
) -> tuple[list[Any], Tensor]:
    """All tensors shortened alike, so that their global norm is at most clip_norm; and that norm.

    Tensors become NaN if the norm is not finite.
    """
    t_list = _as_list(t_list)
    if use_norm is None:
        use_norm = global_norm(t_list, name)
    with name_scope(name, "clip_by_global_norm", [*t_list, clip_norm]) as name:
        inverse = 1.0 / use_norm
        finite_scale = clip_norm * minimum(inverse, constant(1.0, use_norm.dtype) / clip_norm)
        finite = is_finite(use_norm)
        nan = constant(float("nan"), use_norm.dtype)
        scale = array.where(finite, finite_scale, nan)
        clipped = []
        for i, (t, v) in enumerate(zip(t_list, _all_values(t_list))):
            if v is None:
                clipped.append(None)
                continue
            with colocate_with(v):
                clipped.append(_like(t, array.identity(v * scale, name=f"{name}_{i}")))
        return clipped, use_norm


def clip_by_average_norm(t: Any, clip_norm: Any, name: str | None = None) -> Tensor:
    """t, shortened so that its norm divided by its number of elements is at most clip_norm."""
    with name_scope(name, "clip_by_average_norm", [t, clip_norm]) as name:
        t = to_tensor(t, name="t")
        count = cast(array.size(t), float32)
        inverse = rsqrt(reduce_sum(t * t, range_op(array.rank(t))))
        longest = t * clip_norm
        limit = minimum(inverse * count, constant(1.0) / clip_norm)
        return array.identity(longest * limit, name=name)
