"""Gradients of batch and local response normalisation."""

from __future__ import annotations

from typing import Any

from minitf.gradients.driver import gradients
from minitf.gradients.registry import gradient
from minitf.ops.apply import apply_op
from minitf.ops.array import size, squeeze, transpose
from minitf.ops.elementwise import cast
from minitf.ops.reduction import reduce_mean, reduce_sum
from minitf_runtime.types import float32


@gradient("LRN")
def lrn(op: Any, grad: Any) -> Any:
    same = {k: op.get_attr(k) for k in ("depth_radius", "bias", "alpha", "beta")}
    return apply_op("LRNGrad", grad, op.inputs[0], op.outputs[0], **same)


@gradient("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
def fused_batch_norm(op: Any, grad: Any, *_: Any) -> Any:
    version = op.type.removeprefix("FusedBatchNorm")
    x, scale, _, mean, variance = op.inputs
    data_format = op._attrs["data_format"]
    training = op.get_attr("is_training")
    channels_first = data_format == "NCHW" and not training
    if training:
        mean, variance = op.outputs[3:5]
    elif channels_first:
        x = transpose(x, [0, 2, 3, 1])
        grad = transpose(grad, [0, 2, 3, 1])
    more = [op.outputs[5]] if version == "V3" else []
    made = apply_op(
        "FusedBatchNormGrad" + version, grad, x, scale, mean, variance, *more,
        epsilon=op.get_attr("epsilon"),
        data_format=data_format if training else "NHWC",
        is_training=training,
    )  # fmt: skip
    if training:
        return made
    dx, dscale, doffset = made[:3]
    if channels_first:
        dx = transpose(dx, [0, 3, 1, 2])
    return dx, dscale, doffset, None, None


@gradient("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3")
def fused_batch_norm_grad(op: Any, *grads: Any) -> Any:
    """The first gradient is written out in simple ops, and these are differentiated."""
    grad_y, x, scale, mean, variance = op.inputs[:5]
    epsilon = op.get_attr("epsilon")
    channels_first = op._attrs["data_format"] == "NCHW"
    if op.get_attr("is_training"):
        made = _in_training(grad_y, x, scale, epsilon, channels_first)
    else:
        made = _in_use(grad_y, x, scale, mean, variance, epsilon, channels_first)
    back = gradients(list(made), [grad_y, x, scale], list(grads[:3]))
    return [*back, *[None] * (len(op.inputs) - 3)]


def _channels(values: Any, channels_first: bool) -> Any:
    """One value per channel, in the form that broadcasts over images."""
    if not channels_first:
        return values
    return apply_op("Reshape", values, [1, size(values), 1, 1])


def _in_training(grad_y: Any, x: Any, scale: Any, epsilon: float, channels_first: bool) -> Any:
    """The gradients by x, scale and offset, the statistics being those of the batch."""
    half = x.dtype.base
    x = cast(x, float32)
    grad_y = cast(grad_y, float32)
    axes = [0, 2, 3] if channels_first else [0, 1, 2]

    def mean(values: Any) -> Any:
        return reduce_mean(values, axes, keepdims=channels_first)

    scale = _channels(scale, channels_first)
    mean_x = mean(x)
    spread = mean(apply_op("SquaredDifference", x, apply_op("StopGradient", mean_x))) + epsilon
    centred = x - mean_x
    covariance = mean(grad_y * centred)
    rate = apply_op("Rsqrt", spread)
    rest = apply_op("Reciprocal", spread) * covariance * centred
    grad_x = scale * rate * (grad_y - mean(grad_y) - rest)
    grad_scale = rate * reduce_sum(grad_y * centred, axes, keepdims=channels_first)
    if channels_first:
        grad_scale = squeeze(grad_scale)
    return cast(grad_x, half), grad_scale, reduce_sum(grad_y, axes)


def _in_use(
    grad_y: Any, x: Any, scale: Any, mean: Any, variance: Any, epsilon: float, channels_first: bool
) -> Any:
    """The gradients by x, scale and offset, the statistics being given."""
    half = x.dtype.base
    x = cast(x, float32)
    grad_y = cast(grad_y, float32)
    axes = [0, 2, 3] if channels_first else [0, 1, 2]
    mean, variance, scale = (_channels(v, channels_first) for v in (mean, variance, scale))
    rate = apply_op("Rsqrt", variance + epsilon)
    grad_scale = reduce_sum(grad_y * (x - mean) * rate, axes)
    return cast(grad_y * scale * rate, half), grad_scale, reduce_sum(grad_y, axes)
