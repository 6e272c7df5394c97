"""Gradients of reductions, cumulative ops and matrix products' kin along axes."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from minitf.convert import constant
from minitf.default import colocate_with, device, get_default_graph
from minitf.gradients.registry import gradient
from minitf.graph import Graph
from minitf.operation import Tensor
from minitf.ops.apply import apply_op
from minitf.ops.array import concat, gather, rank, setdiff1d, shape, transpose
from minitf.ops.constant_value import constant_value
from minitf.ops.elementwise import cast, conj
from minitf.ops.reduction import range as range_op
from minitf.ops.reduction import reduce_prod, reduce_sum, reduced_shape
from minitf_runtime.types import int32, is_full, num_elements


def safe_shape_div(x: Any, y: Any) -> Any:
    """x // y of sizes, 0 / 0 being 0."""
    return x // apply_op("Maximum", y, 1)


@gradient("Sum")
def sum_(op: Any, grad: Any) -> Any:
    x, axes = op.inputs
    known = constant_value(axes)
    if x._shape is not None and known is not None:
        if np.array_equal(known, np.arange(len(x._shape))):
            return [_spread_scalar(x, grad), None]
        if is_full(x._shape):
            kept, multiples = _known_spread(x._shape, tuple(int(a) for a in known.reshape(-1)))
            return [apply_op("Tile", apply_op("Reshape", grad, kept), multiples), None]
    x_shape = shape(x)
    with colocate_with(x_shape):
        kept = reduced_shape(x_shape, axes)
        multiples = safe_shape_div(x_shape, kept)
    return [apply_op("Tile", apply_op("Reshape", grad, kept), multiples), None]


def _spread_scalar(x: Tensor, grad: Any) -> Tensor:
    """The gradient of a sum over all axes, repeated for each element."""
    grad = apply_op("Reshape", grad, [1] * len(x._shape or ()))
    sizes = constant(x._shape, int32) if is_full(x._shape) else shape(x)
    return apply_op("Tile", grad, sizes)  # type: ignore[no-any-return]


_seen: WeakKeyDictionary[Graph, dict[Any, Any]] = WeakKeyDictionary()


def _known_spread(sizes: tuple[int, ...], axes: tuple[int, ...]) -> Any:
    """The reduced shape with its axes kept, and how often each is repeated.

    TF computes them with ops, which it leaves in the graph for the first such pair.
    """
    seen = _seen.setdefault(get_default_graph(), {})
    if (sizes, axes) not in seen:
        reduced_shape(sizes, axes)
        gone = {a % len(sizes) for a in axes}
        kept = tuple(1 if i in gone else n for i, n in enumerate(sizes))
        safe_shape_div(sizes, kept)
        seen[sizes, axes] = kept, tuple(n // max(k, 1) for n, k in zip(sizes, kept))
    return seen[sizes, axes]


@gradient("Mean")
def mean(op: Any, grad: Any) -> Any:
    total = sum_(op, grad)[0]
    x, y = op.inputs[0], op.outputs[0]
    if is_full(x._shape) and is_full(y._shape):
        factor = constant(num_elements(x._shape) // max(num_elements(y._shape), 1), total.dtype)
    else:
        x_shape = shape(x)
        y_shape = shape(y)
        factor = safe_shape_div(reduce_prod(x_shape), reduce_prod(y_shape))
    return total / cast(factor, total.dtype), None


@gradient("Max", "Min")
def max_or_min(op: Any, grad: Any) -> Any:
    """Shared evenly by the elements that are the extremum."""
    x, axes = op.inputs
    kept = reduced_shape(shape(x), axes)
    y = apply_op("Reshape", op.outputs[0], kept)
    grad = apply_op("Reshape", grad, kept)
    chosen = cast(apply_op("Equal", y, x), grad.dtype)
    count = apply_op("Reshape", reduce_sum(chosen, axes), kept)
    return chosen / count * grad, None


@gradient("Prod")
def prod(op: Any, grad: Any) -> Any:
    """By products of all other elements, which also holds where elements are 0."""
    x, axes = op.inputs
    x_shape = shape(x)
    axes = apply_op("Reshape", axes, [-1])
    kept = reduced_shape(x_shape, op.inputs[1])
    multiples = safe_shape_div(x_shape, kept)
    grad = apply_op("Tile", apply_op("Reshape", grad, kept), multiples)
    with device("/cpu:0"):
        x_rank = rank(x)
        axes = (axes + x_rank) % x_rank
        reduced = cast(axes, int32)
        other, _ = setdiff1d(range_op(0, x_rank), reduced)
        perm = concat([reduced, other], 0)
        reduced_count = reduce_prod(gather(x_shape, reduced))
        other_count = reduce_prod(gather(x_shape, other))
    permuted = transpose(x, perm)
    permuted_shape = shape(permuted)
    columns = apply_op("Reshape", permuted, (reduced_count, other_count))
    left = apply_op("Cumprod", columns, 0, exclusive=True)
    right = apply_op("Cumprod", columns, 0, exclusive=True, reverse=True)
    y = apply_op("Reshape", conj(left) * conj(right), permuted_shape)
    out = grad * transpose(y, apply_op("InvertPermutation", perm))
    return apply_op("Reshape", out, x_shape), None


# ---- along one axis


@gradient("Cumsum")
def cumsum(op: Any, grad: Any) -> Any:
    axis = op.inputs[1]
    exclusive, reverse = op.get_attr("exclusive"), op.get_attr("reverse")
    return apply_op("Cumsum", grad, axis, exclusive=exclusive, reverse=not reverse), None


@gradient("Cumprod")
def cumprod(op: Any, grad: Any) -> Any:
    """Not right where x has zeros, as in TF."""
    x, axis = op.inputs
    exclusive, reverse = op.get_attr("exclusive"), op.get_attr("reverse")
    product = apply_op("Cumprod", x, axis, exclusive=exclusive, reverse=reverse)
    out = apply_op("Cumsum", product * grad, axis, exclusive=exclusive, reverse=not reverse)
    return out / x, None
