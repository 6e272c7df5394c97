"""Reductions, positions of extremes and cumulative functions along axes; tf.range, of which axes
are made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minitf.convert import constant, to_tensor
from minitf.default import name_scope
from minitf.operation import Tensor
from minitf.ops import array
from minitf.ops.apply import apply_op
from minitf.ops.arguments import renamed
from minitf.ops.comparison import is_finite
from minitf.ops.elementwise import add, cast, exp, log, sqrt, square, subtract
from minitf.ops.raw import passthrough
from minitf_runtime.types import as_dtype, float32, float64, int32, int64, is_full

__all__ = [
    "arg_max", "arg_min", "argmax", "argmin", "count_nonzero", "cumprod", "cumsum", "range",
    "reduce_all", "reduce_any", "reduce_logsumexp", "reduce_max", "reduce_mean", "reduce_min",
    "reduce_prod", "reduce_sum",
]  # fmt: skip

_RANGE_TYPES = (int32, int64, float32, float64)


def range(  # noqa: A001
    start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: str | None = "range"
) -> Tensor:
    """start, start + delta, ... up to limit, which is left out; range(n) counts from 0."""
    if limit is None:
        start, limit = 0, start
    with name_scope(name, "Range", [start, limit, delta]) as name:
        start = to_tensor(start, dtype, name="start")
        limit = to_tensor(limit, dtype, name="limit")
        delta = to_tensor(delta, dtype, name="delta")
        if dtype is None:
            widest = max((t.dtype.base for t in (start, limit, delta)), key=_RANGE_TYPES.index)
            start, limit, delta = cast(start, widest), cast(limit, widest), cast(delta, widest)
        return apply_op("Range", start, limit, delta, name=name)


# ---- reductions


def _axes(x: Any, axis: Any) -> Any:
    """The axes to reduce: the ones given, or all that the tensor has."""
    if axis is not None:
        return axis
    if isinstance(x, Tensor) and x._shape is not None:
        return constant(np.arange(len(x._shape)), int32)
    return range(0, array.rank(x))


def _to_scalar(out: Tensor, axis: Any, keepdims: Any) -> Tensor:
    """`out`, known to be a scalar if all axes were reduced."""
    if axis is None and not keepdims and not is_full(out._shape):
        out.set_shape(())
    return out


def _reduction(op_type: str, name: str, doc: str) -> Callable[..., Tensor]:
    """The public function of an op that reduces axes, with the old names of its arguments."""

    def reduce(
        input_tensor: Any,
        axis: Any = None,
        keepdims: Any = None,
        name: str | None = None,
        reduction_indices: Any = None,
        keep_dims: Any = None,
    ) -> Tensor:
        axis = renamed("axis", axis, "reduction_indices", reduction_indices)
        keepdims = bool(renamed("keepdims", keepdims, "keep_dims", keep_dims))
        axes = _axes(input_tensor, axis)
        out = apply_op(op_type, input_tensor, axes, keep_dims=keepdims, name=name)
        return _to_scalar(out, axis, keepdims)

    reduce.__name__ = reduce.__qualname__ = name
    reduce.__doc__ = doc
    return reduce


reduce_all = _reduction("All", "reduce_all", "Whether all elements along the axes are true.")
reduce_any = _reduction("Any", "reduce_any", "Whether any element along the axes is true.")
reduce_max = _reduction("Max", "reduce_max", "The largest elements along the axes.")
reduce_mean = _reduction("Mean", "reduce_mean", "The mean along the axes.")
reduce_min = _reduction("Min", "reduce_min", "The smallest elements along the axes.")
reduce_prod = _reduction("Prod", "reduce_prod", "The product along the axes.")
reduce_sum = _reduction("Sum", "reduce_sum", "The sum along the axes.")


def reduce_euclidean_norm(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The root of the sum of squares along the axes."""
    axes = _axes(input_tensor, axis)
    out = apply_op("EuclideanNorm", input_tensor, axes, keep_dims=keepdims, name=name)
    return _to_scalar(out, axis, keepdims)


def reduce_variance(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The mean squared deviation from the mean along the axes."""
    with name_scope(name or "reduce_variance"):
        means = reduce_mean(input_tensor, axis=axis, keepdims=True)
        return reduce_mean(square(input_tensor - means), axis=axis, keepdims=keepdims)


def reduce_std(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The standard deviation along the axes."""
    with name_scope(name or "reduce_std"):
        return sqrt(reduce_variance(input_tensor, axis=axis, keepdims=keepdims))


def reduce_logsumexp(
    input_tensor: Any,
    axis: Any = None,
    keepdims: Any = None,
    name: str | None = None,
    reduction_indices: Any = None,
    keep_dims: Any = None,
) -> Tensor:
    """log(sum(exp(x))) along the axes, without overflow."""
    axis = renamed("axis", axis, "reduction_indices", reduction_indices)
    keepdims = bool(renamed("keepdims", keepdims, "keep_dims", keep_dims))
    x = to_tensor(input_tensor)
    with name_scope(name, "ReduceLogSumExp", [x]):
        largest = reduce_max(x, axis=axis, keepdims=True)
        finite = array.where(is_finite(largest), largest, array.zeros_like(largest))
        shift = array.stop_gradient(finite)
        out = log(reduce_sum(exp(subtract(x, shift)), axis, keepdims=keepdims))
        if not keepdims:
            shift = array.reshape(shift, array.shape(out))
        return _to_scalar(add(out, shift), axis, keepdims)


def count_nonzero(
    input_tensor: Any = None,
    axis: Any = None,
    keepdims: Any = None,
    dtype: Any = int64,
    name: str | None = None,
    reduction_indices: Any = None,
    keep_dims: Any = None,
    input: Any = None,  # noqa: A002
) -> Tensor:
    """How many elements along the axes are not zero (or not empty, for strings)."""
    axis = renamed("axis", axis, "reduction_indices", reduction_indices)
    keepdims = bool(renamed("keepdims", keepdims, "keep_dims", keep_dims))
    x = renamed("input_tensor", input_tensor, "input", input)
    with name_scope(name, "count_nonzero", [x]):
        x = to_tensor(x, name="input")
        zero = array.zeros([], dtype=x.dtype.base)
        nonzero = cast(apply_op("NotEqual", x, zero), int64)
        return cast(reduce_sum(nonzero, axis=axis, keepdims=keepdims), dtype)


def reduced_shape(input_shape: Any, axes: Any) -> Tensor:
    """The shape that a reduction with keepdims would give, as a tensor."""
    sizes = cast(input_shape, int32)
    axes = cast(axes, int32)
    ndim = array.size(sizes)
    axes = (axes + ndim) % ndim
    count = array.shape(axes)
    places = [range(ndim), axes]
    return apply_op("DynamicStitch", places, [sizes, array.fill(count, 1)])


# ---- positions of extremes


def _arg(op_type: str, name: str, doc: str) -> Callable[..., Tensor]:
    def arg(
        input: Any,  # noqa: A002
        axis: Any = None,
        name: str | None = None,
        dimension: Any = None,
        output_type: Any = int64,
    ) -> Tensor:
        axis = renamed("axis", axis, "dimension", dimension)
        axis = 0 if axis is None else axis
        return apply_op(op_type, input, axis, output_type=as_dtype(output_type), name=name)

    arg.__name__ = arg.__qualname__ = name
    arg.__doc__ = doc
    return arg


argmax = _arg("ArgMax", "argmax", "Where along an axis the largest elements are.")
argmin = _arg("ArgMin", "argmin", "Where along an axis the smallest elements are.")
arg_max = passthrough("ArgMax", "arg_max")
arg_min = passthrough("ArgMin", "arg_min")


# ---- cumulative functions


def _scan(op_type: str, name: str, doc: str) -> Callable[..., Tensor]:
    def scan(
        x: Any,
        axis: Any = 0,
        exclusive: bool = False,
        reverse: bool = False,
        name: str | None = None,
    ) -> Tensor:
        return apply_op(op_type, x, axis, exclusive=exclusive, reverse=reverse, name=name)

    scan.__name__ = scan.__qualname__ = name
    scan.__doc__ = doc
    return scan


cumsum = _scan("Cumsum", "cumsum", "Running sums along an axis.")
cumprod = _scan("Cumprod", "cumprod", "Running products along an axis.")
