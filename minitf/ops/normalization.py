"""Normalisation of tf.nn: norms, moments, batch and local response normalisation."""

from __future__ import annotations

import math as pymath
from collections.abc import Iterable
from typing import Any

from minitf.convert import constant, to_tensor
from minitf.default import name_scope
from minitf.operation import Tensor
from minitf.ops import array, math
from minitf.ops.apply import apply_op
from minitf.ops.arguments import renamed
from minitf.ops.raw import passthrough
from minitf_runtime.types import float16, float32

local_response_normalization = lrn = passthrough("LRN", "local_response_normalization")
MIN_EPSILON = 1.001e-5  # less is not accepted by cuDNN, and TF keeps to it everywhere


def l2_normalize(
    x: Any, axis: Any = None, epsilon: float = 1e-12, name: str | None = None, dim: Any = None
) -> Tensor:
    """x, scaled to an L2 norm of one along `axis`."""
    axis = renamed("axis", axis, "dim", dim)
    with name_scope(name, "l2_normalize", [x]) as name:
        x = to_tensor(x, name="x")
        square_sum = math.reduce_sum(math.square(x), axis, keepdims=True)
        inverse = math.rsqrt(math.maximum(square_sum, epsilon))
        return math.multiply(x, inverse, name=name)


# ---- moments


def moments(
    x: Any,
    axes: Any,
    shift: Any = None,
    name: str | None = None,
    keep_dims: bool | None = None,
    keepdims: bool | None = None,
) -> tuple[Tensor, Tensor]:
    """Mean and variance over `axes`. `shift` is not used (TF: the same)."""
    keep = renamed("keepdims", keepdims, "keep_dims", keep_dims)
    with name_scope(name, "moments", [x, axes]):
        half = x.dtype.base is float16
        y = math.cast(x, float32) if half else x
        mean = math.reduce_mean(y, axes, keepdims=True, name="mean")
        squares = math.squared_difference(y, array.stop_gradient(mean))
        variance = math.reduce_mean(squares, axes, keepdims=True, name="variance")
        if not keep:
            mean = array.squeeze(mean, axes)
            variance = array.squeeze(variance, axes)
        if half:
            return math.cast(mean, float16), math.cast(variance, float16)
        return mean, variance


def sufficient_statistics(
    x: Any,
    axes: Iterable[int],
    shift: Any = None,
    keep_dims: bool | None = None,
    name: str | None = None,
    keepdims: bool | None = None,
) -> tuple[Tensor, Tensor, Tensor, Any]:
    """Count, shifted sum and shifted sum of squares over `axes`, and the shift."""
    axes = list(set(axes))
    keep = renamed("keepdims", keepdims, "keep_dims", keep_dims) or False
    with name_scope(name, "sufficient_statistics", [x, shift]):
        x = to_tensor(x, name="x")
        sizes = None if x._shape_tuple is None else [x._shape_tuple[d] for d in axes]
        if sizes is not None and None not in sizes:
            count = constant(pymath.prod(sizes), x.dtype)  # type: ignore[type-var]
        else:
            x_dims = array.gather(math.cast(array.shape(x), x.dtype), axes)
            count = math.reduce_prod(x_dims, name="count")
        if shift is not None:
            shift = to_tensor(shift, name="shift")
            first, second = math.subtract(x, shift), math.squared_difference(x, shift)
        else:
            first, second = x, math.square(x)
        first = math.reduce_sum(first, axes, keepdims=keep, name="mean_ss")
        second = math.reduce_sum(second, axes, keepdims=keep, name="var_ss")
        return count, first, second, shift


def normalize_moments(
    counts: Any, mean_ss: Any, variance_ss: Any, shift: Any, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Mean and variance from what sufficient_statistics gives."""
    with name_scope(name, "normalize", [counts, mean_ss, variance_ss, shift]):
        divisor = math.reciprocal(counts, name="divisor")
        if shift is not None:
            shifted_mean = math.multiply(mean_ss, divisor, name="shifted_mean")
            mean = math.add(shifted_mean, shift, name="mean")
        else:
            mean = shifted_mean = math.multiply(mean_ss, divisor, name="mean")
        variance = math.subtract(
            math.multiply(variance_ss, divisor), math.square(shifted_mean), name="variance"
        )
    return mean, variance


def weighted_moments(
    x: Any,
    axes: Any,
    frequency_weights: Any,
    name: str | None = None,
    keep_dims: bool | None = None,
    keepdims: bool | None = None,
) -> tuple[Tensor, Tensor]:
    """Mean and variance in which each element counts as often as its weight says."""
    keep = renamed("keepdims", keepdims, "keep_dims", keep_dims)
    with name_scope(name, "weighted_moments", [x, frequency_weights, axes]):
        x = to_tensor(x, name="x")
        weights = to_tensor(frequency_weights, name="frequency_weights")
        half = x.dtype.base is float16
        if half:
            x = math.cast(x, float32)
        if weights.dtype is not x.dtype:
            weights = math.cast(weights, x.dtype)
        weighted_sum = math.reduce_sum(weights * x, axes, name="weighted_input_sum", keepdims=True)
        spread = weights + array.zeros_like(x)
        total = math.reduce_sum(spread, axes, name="sum_of_weights", keepdims=True)
        divisor = math.reciprocal(total, name="inv_weight_sum")
        mean = math.multiply(weighted_sum, divisor)
        distances = weights * math.squared_difference(x, mean)
        distance = math.reduce_sum(distances, axes, name="weighted_distsq", keepdims=True)
        variance = math.multiply(distance, divisor)
        if not keep:
            mean = array.squeeze(mean, axis=axes)
            variance = array.squeeze(variance, axis=axes)
        if half:
            return math.cast(mean, float16), math.cast(variance, float16)
        return mean, variance


# ---- batch normalisation


def batch_normalization(
    x: Any,
    mean: Any,
    variance: Any,
    offset: Any,
    scale: Any,
    variance_epsilon: Any,
    name: str | None = None,
) -> Tensor:
    """(x - mean) / sqrt(variance + epsilon) * scale + offset; the last two may be None."""
    with name_scope(name, "batchnorm", [x, mean, variance, scale, offset]):
        inverse = math.rsqrt(variance + variance_epsilon)
        if scale is not None:
            inverse = inverse * scale
        scaled = x * math.cast(inverse, x.dtype)
        rest = offset - mean * inverse if offset is not None else -mean * inverse
        return scaled + math.cast(rest, x.dtype)  # type: ignore[no-any-return]


def fused_batch_norm(
    x: Any,
    scale: Any,
    offset: Any,
    mean: Any = None,
    variance: Any = None,
    epsilon: float = 0.001,
    data_format: str = "NHWC",
    is_training: bool = True,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Batch normalisation of images in one op: output, batch mean, batch variance.

    Raises ValueError when statistics are given for training.
    """
    x = to_tensor(x, name="input")
    scale = to_tensor(scale, name="scale")
    offset = to_tensor(offset, name="offset")
    if is_training and not (mean is None and variance is None):
        raise ValueError("Both 'mean' and 'variance' must be None if is_training is True.")
    mean = constant([]) if mean is None else mean
    variance = constant([]) if variance is None else variance
    y, batch_mean, batch_variance, *_ = apply_op(
        "FusedBatchNormV3", x, scale, offset, mean, variance, epsilon=max(epsilon, MIN_EPSILON),
        data_format=data_format, is_training=is_training, name=name,
    )  # fmt: skip
    return y, batch_mean, batch_variance


def batch_norm_with_global_normalization(
    t: Any = None,
    m: Any = None,
    v: Any = None,
    beta: Any = None,
    gamma: Any = None,
    variance_epsilon: Any = None,
    scale_after_normalization: bool | None = None,
    name: str | None = None,
    input: Any = None,  # noqa: A002
    mean: Any = None,
    variance: Any = None,
) -> Tensor:
    """batch_normalization under its old name."""
    return batch_normalization(
        renamed("input", input, "t", t),
        renamed("mean", mean, "m", m),
        renamed("variance", variance, "v", v),
        beta,
        gamma if scale_after_normalization else None,
        variance_epsilon,
        name,
    )
