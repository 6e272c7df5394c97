"""Normalisation: batch normalisation in one op, and local response normalisation."""

from __future__ import annotations

from typing import Any

from minitf_runtime.errors import invalid
from minitf_runtime.ops import dims
from minitf_runtime.ops.nn import DATA_FORMAT
from minitf_runtime.ops.registry import ShapeContext, Type, kernel, op, unchanged
from minitf_runtime.types import Shape, float16, float32, show_shape

# ---- batch normalisation

_WIDE = (float32,)
_BATCH_NORM: dict[str, Any] = dict(epsilon=1e-4, data_format=DATA_FORMAT, is_training=True)


def _channel(data_format: str) -> int:
    return 1 if data_format == "NCHW" else 3


def _batch_norm_shape(c: ShapeContext) -> list[Shape]:
    x = dims.with_rank(c.shape(0), 4)
    axis = _channel(c["data_format"])
    size = x[axis]
    for i in range(1, 3 if c["is_training"] else 5):
        (one,) = dims.with_rank(c.shape(i), 1)
        size = dims.merge_sizes(size, one)
    extra: list[Shape] = [None] if c.opdef.name.endswith("V3") else []
    return [dims.replaced(x, axis, size), *[(size,)] * 4, *extra]


def _batch_norm_grad_shape(c: ShapeContext) -> list[Shape]:
    x = dims.merge(dims.with_rank(c.shape(0), 4), dims.with_rank(c.shape(1), 4))
    assert x is not None
    axis = _channel(c["data_format"])
    (scale,) = dims.with_rank(c.shape(2), 1)
    size = dims.merge_sizes(x[axis], scale)
    spare = 0 if c["is_training"] else size  # they stand for the gradients of mean and variance
    return [dims.replaced(x, axis, size), (size,), (size,), (spare,), (spare,)]


def _declare(suffix: str, u: str, spare: int, **types: Any) -> None:
    """One version of the op: statistics of type `u`, with so many reserved outputs."""
    reserved = ", ".join(f"reserve_space_{i + 1}: {u}" for i in range(spare))
    op(
        f"FusedBatchNorm{suffix}",
        f"x: T, scale: {u}, offset: {u}, mean: {u}, variance: {u} -> "
        f"y: T, batch_mean: {u}, batch_variance: {u}, {reserved}",
        _batch_norm_shape,
        **types,
        **_BATCH_NORM,
    )
    scale = "T" if u == "T" else "float32"
    op(
        f"FusedBatchNormGrad{suffix}",
        f"y_backprop: T, x: T, scale: {scale}, {reserved} -> x_backprop: T, scale_backprop: {u}, "
        f"offset_backprop: {u}, reserve_space_{spare + 1}: {u}, reserve_space_{spare + 2}: {u}",
        _batch_norm_grad_shape,
        **types,
        **_BATCH_NORM,
    )


_declare("", "T", 2, T=Type(_WIDE))
_declare("V2", "U", 2, T=Type((float16, float32)), U=Type(_WIDE))
_declare("V3", "U", 3, T=Type((float16, float32)), U=Type(_WIDE))


class _Layout:
    """Sums over all but the channels of [N, H, W, C] or [N, C, H, W]."""

    def __init__(self, x: Any, data_format: str) -> None:
        if x.ndim != 4:
            raise invalid(f"input must be 4-dimensional{show_shape(x.shape)}")
        channel = _channel(data_format)
        self.axes = tuple(i for i in range(4) if i != channel)
        self.shape = [-1 if i == channel else 1 for i in range(4)]
        self.count = x.size // max(1, x.shape[channel])

    def mean(self, x: Any) -> Any:
        return x.mean(axis=self.axes)

    def sum(self, x: Any) -> Any:
        return x.sum(axis=self.axes)

    def spread(self, per_channel: Any) -> Any:
        return per_channel.reshape(self.shape)


@kernel("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
def fused_batch_norm(
    xp: Any, x: Any, scale: Any, offset: Any, mean: Any, variance: Any, *, node: Any,
    epsilon: float, data_format: str, is_training: bool,
) -> Any:  # fmt: skip
    layout = _Layout(x, data_format)
    wide = x.astype(scale.dtype)
    batch_variance = variance
    if is_training:
        mean = layout.mean(wide)
        variance = layout.mean((wide - layout.spread(mean)) ** 2)
        batch_variance = variance * (layout.count / max(1, layout.count - 1))
    factor = scale / xp.sqrt(variance + epsilon)
    y = wide * layout.spread(factor) + layout.spread(offset - mean * factor)
    out = y.astype(x.dtype), mean, batch_variance, mean, variance
    return (*out, xp.zeros((), scale.dtype)) if node.op == "FusedBatchNormV3" else out


@kernel("FusedBatchNormGrad", "FusedBatchNormGradV2")
def fused_batch_norm_grad(
    xp: Any, dy: Any, x: Any, scale: Any, mean: Any, variance: Any, *, epsilon: float,
    data_format: str, is_training: bool,
) -> Any:  # fmt: skip
    layout = _Layout(x, data_format)
    wide, g = x.astype(scale.dtype), dy.astype(scale.dtype)
    deviation = 1 / xp.sqrt(variance + epsilon)
    normal = (wide - layout.spread(mean)) * layout.spread(deviation)
    d_offset = layout.sum(g)
    d_scale = layout.sum(g * normal)
    if is_training:
        g = g - layout.spread(d_offset / layout.count)
        g -= normal * layout.spread(d_scale / layout.count)
    dx = (g * layout.spread(scale * deviation)).astype(x.dtype)
    spare = xp.zeros(0 if is_training else scale.shape, scale.dtype)
    return dx, d_scale, d_offset, spare, spare


@kernel("FusedBatchNormGradV3")
def fused_batch_norm_grad_v3(
    xp: Any, dy: Any, x: Any, scale: Any, mean: Any, variance: Any, unused: Any, *,
    epsilon: float, data_format: str, is_training: bool,
) -> Any:  # fmt: skip
    return fused_batch_norm_grad(
        xp, dy, x, scale, mean, variance, epsilon=epsilon, data_format=data_format,
        is_training=is_training,
    )  # fmt: skip


# ---- local response normalisation, over the channels of [N, H, W, C]

_LRN: dict[str, Any] = dict(
    T=Type((float16, float32), float32), depth_radius=5, bias=1.0, alpha=1.0, beta=0.5
)
op("LRN", "input: T -> output: T", unchanged, **_LRN)
op(
    "LRNGrad",
    "input_grads: T, input_image: T, output_image: T -> output: T",
    unchanged,
    **_LRN,
)


def _window_sum(xp: Any, x: Any, radius: int) -> Any:
    """The sum over each channel and its `radius` neighbours on both sides."""
    if x.ndim != 4:
        raise invalid("in must be 4-dimensional")
    out = x.copy()
    for k in range(1, min(radius, x.shape[-1] - 1) + 1):
        out[..., k:] += x[..., :-k]
        out[..., :-k] += x[..., k:]
    return out


@kernel("LRN")
def lrn(xp: Any, x: Any, *, depth_radius: int, bias: float, alpha: float, beta: float) -> Any:
    return x * (bias + alpha * _window_sum(xp, x * x, depth_radius)) ** -beta


@kernel("LRNGrad")
def lrn_grad(
    xp: Any, dy: Any, x: Any, y: Any, *, depth_radius: int, bias: float, alpha: float, beta: float
) -> Any:
    norm = bias + alpha * _window_sum(xp, x * x, depth_radius)
    shared = _window_sum(xp, dy * y / norm, depth_radius)
    return dy * norm**-beta - 2 * alpha * beta * x * shared
