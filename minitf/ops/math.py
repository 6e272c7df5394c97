"""Sums of many tensors, counting and binning, checks of numbers; and the names of the other math
files, so that other domains can say math.cast, math.less, math.matmul."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minitf.convert import constant, to_tensor
from minitf.default import colocate_with, control_dependencies, get_default_graph, name_scope
from minitf.indexed_slices import IndexedSlices, tensor_or_slices
from minitf.operation import Operation, Tensor
from minitf.ops import array, operators  # noqa: F401  (gives Tensor its operators)
from minitf.ops.apply import apply_op
from minitf.ops.arguments import renamed
from minitf.ops.clip import *  # noqa: F403
from minitf.ops.clip import clip_by_value
from minitf.ops.comparison import *  # noqa: F403
from minitf.ops.elementwise import *  # noqa: F403
from minitf.ops.elementwise import cast, maximum, minimum, truediv
from minitf.ops.elementwise import floor as floor_op
from minitf.ops.group import group, with_dependencies
from minitf.ops.matmul import *  # noqa: F403
from minitf.ops.raw import passthrough
from minitf.ops.reduction import *  # noqa: F403
from minitf.ops.reduction import reduce_max, reduce_prod
from minitf.ops.segment import *  # noqa: F403
from minitf.ops.segment import unsorted_segment_sum
from minitf.ops.special import *  # noqa: F403
from minitf.tensor_shape import TensorShape
from minitf_runtime.types import FLOATS, as_dtype, int32

__all__ = [
    "accumulate_n", "add_check_numerics_ops", "add_n", "bincount", "check_numerics",
    "histogram_fixed_width", "histogram_fixed_width_bins", "lin_space", "linspace",
    "verify_tensor_all_finite",
]  # fmt: skip

lin_space = linspace = passthrough("LinSpace", "lin_space")


# ---- sums of many


def _checked_terms(inputs: Any, kinds: tuple[type, ...]) -> list[Any]:
    """The terms as Tensors (or IndexedSlices). Raises ValueError for no or other terms."""
    if inputs and isinstance(inputs, (list, tuple)):
        terms = [tensor_or_slices(x) for x in inputs]
        if all(isinstance(t, kinds) for t in terms):
            return terms
    names = "/".join(k.__name__ for k in kinds)
    raise ValueError(f"inputs must be a list of at least one {names} with the same dtype and shape")


def add_n(inputs: Any, name: str | None = None) -> Tensor:
    """The sum of all tensors; IndexedSlices count as their dense form."""
    terms = _checked_terms(inputs, (Tensor, IndexedSlices))
    if len(terms) > 1:
        return apply_op("AddN", terms, name=name)
    only = to_tensor(terms[0])
    return array.identity(only, name=name) if name else only


def accumulate_n(
    inputs: Any, shape: Any = None, tensor_dtype: Any = None, name: str | None = None
) -> Tensor:
    """add_n that need not hold all its terms at once. Raises TypeError for another tensor_dtype."""
    terms = _checked_terms(inputs, (Tensor,))
    if any(t.dtype.base is not terms[0].dtype.base for t in terms):
        raise ValueError(
            "inputs must be a list of at least one Tensor with the same dtype and shape"
        )
    if tensor_dtype is not None and as_dtype(tensor_dtype) != terms[0].dtype.base:
        raise TypeError(f"tensor_dtype is {tensor_dtype}, but input is of type {terms[0].dtype}")
    whole = TensorShape(shape)
    for t in terms:
        whole = whole.merge_with(t.shape)
    if len(terms) > 1:
        return apply_op("AccumulateNV2", terms, shape=whole, name=name)
    return terms[0] if name is None else array.identity(terms[0], name=name)


# ---- counting and binning


def bincount(
    arr: Any,
    weights: Any = None,
    minlength: Any = None,
    maxlength: Any = None,
    dtype: Any = int32,
) -> Tensor:
    """How often each of 0, 1 ... max(arr) occurs, or the sum of the weights where it does."""
    with name_scope("bincount"):
        arr = to_tensor(arr, int32, name="arr")
        nonempty = reduce_prod(array.shape(arr)) > 0
        size = cast(nonempty, int32) * (reduce_max(arr) + 1)
        if minlength is not None:
            size = maximum(to_tensor(minlength, int32, name="minlength"), size)
        if maxlength is not None:
            size = minimum(to_tensor(maxlength, int32, name="maxlength"), size)
        if weights is not None:
            weights = to_tensor(weights, name="weights")
            return unsorted_segment_sum(weights, arr, size)
        return apply_op("Bincount", arr, size, constant([], dtype))


def histogram_fixed_width(
    values: Any, value_range: Any, nbins: Any = 100, dtype: Any = int32, name: str | None = None
) -> Tensor:
    """How many values fall into each of nbins equal parts of the range."""
    with name_scope(name, "histogram_fixed_width", [values, value_range, nbins]) as name:
        return apply_op(
            "HistogramFixedWidth", values, value_range, nbins, dtype=as_dtype(dtype), name=name
        )


def histogram_fixed_width_bins(
    values: Any, value_range: Any, nbins: Any = 100, dtype: Any = int32, name: str | None = None
) -> Tensor:
    """The bin of each value, as histogram_fixed_width counts them."""
    with name_scope(name, "histogram_fixed_width_bins", [values, value_range, nbins]):
        values = to_tensor(values, name="values")
        shape = array.shape(values)
        values = array.reshape(values, [-1])
        value_range = to_tensor(value_range, name="value_range")
        nbins = to_tensor(nbins, int32, name="nbins")
        bins = cast(nbins, values.dtype.base)
        low = value_range[0]
        scaled = truediv(values - low, value_range[1] - value_range[0], name="scaled_values")
        places = floor_op(bins * scaled, name="indices")
        return array.reshape(cast(clip_by_value(places, 0, bins - 1), int32), shape)


# ---- checks


def check_numerics(tensor: Any, message: str, name: str | None = None) -> Tensor:
    """The tensor itself; its run fails with the message if there is an Inf or NaN in it."""
    return apply_op("CheckNumerics", tensor, message=message, name=name)


def verify_tensor_all_finite(
    t: Any = None, msg: Any = None, name: str | None = None, x: Any = None, message: Any = None
) -> Tensor:
    """The tensor itself, available only after check_numerics."""
    x = renamed("x", x, "t", t)
    message = renamed("message", message, "msg", msg)
    with name_scope(name, "VerifyFinite", [x]):
        x = to_tensor(x, name="x")
        with colocate_with(x):
            check = check_numerics(x, message=message)
            return with_dependencies([check], x)


def add_check_numerics_ops() -> Operation:
    """An op that checks all floating tensors made so far, one after the other."""
    checks: Sequence[Tensor] = []
    for op in get_default_graph().get_operations():
        for tensor in op.outputs:
            if tensor.dtype not in FLOATS:
                continue
            if op._control_flow_context is not None:
                raise ValueError(
                    "`tf.add_check_numerics_ops() is not compatible with TensorFlow control flow "
                    "operations such as `tf.cond()` or `tf.while_loop()`."
                )
            with control_dependencies(checks):
                checks = [check_numerics(tensor, message=f"{op.name}:{tensor.value_index}")]
    return group(*checks)
