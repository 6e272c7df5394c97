"""Ops of network layers that look at each element or row: activations, softmax, losses, bias.

Convolutions are in conv.py, pooling in pooling.py, normalisation in normalization.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minitf_runtime.errors import invalid
from minitf_runtime.ops import dims
from minitf_runtime.ops.indices import all_within
from minitf_runtime.ops.registry import (
    Attr,
    ShapeContext,
    Type,
    kernel,
    merged,
    op,
    scalar,
    unchanged,
)
from minitf_runtime.types import (
    FLOATS,
    INDEX,
    NUMBERS,
    REALS,
    Shape,
    broadcast_shapes,
    int64,
    show_shape,
)

DATA_FORMAT = Attr("string", "NHWC", ("NHWC", "NCHW"))
_SELU_SCALE = 1.0507009873554804934193349852946
_SELU_SCALE_ALPHA = _SELU_SCALE * 1.6732632423543772848170429916717


# ---- activations

for _name, _types in dict(Relu=REALS, Relu6=REALS, Softplus=FLOATS, Softsign=FLOATS).items():
    op(_name, "features: T -> activations: T", unchanged, T=Type(_types))
    op(f"{_name}Grad", "gradients: T, features: T -> backprops: T", merged, T=Type(_types))
for _name in ("Elu", "Selu"):
    op(_name, "features: T -> activations: T", unchanged, T=Type(FLOATS))
    op(f"{_name}Grad", "gradients: T, outputs: T -> backprops: T", merged, T=Type(FLOATS))
op("LeakyRelu", "features: T -> activations: T", unchanged, T=Type(FLOATS), alpha=0.2)
op("LeakyReluGrad", "gradients: T, features: T -> backprops: T", merged, T=Type(FLOATS), alpha=0.2)


@kernel("Relu", elementwise=True)
def relu(xp: Any, x: Any) -> Any:
    return xp.maximum(x, 0)


@kernel("ReluGrad", elementwise=True)
def relu_grad(xp: Any, g: Any, x: Any) -> Any:
    return g * (x > 0)


@kernel("Relu6", elementwise=True)
def relu6(xp: Any, x: Any) -> Any:
    return xp.minimum(xp.maximum(x, 0), 6)


@kernel("Relu6Grad", elementwise=True)
def relu6_grad(xp: Any, g: Any, x: Any) -> Any:
    return g * ((x > 0) & (x < 6))


@kernel("LeakyRelu", elementwise=True)
def leaky_relu(xp: Any, x: Any, *, alpha: float) -> Any:
    return xp.where(x > 0, x, x * alpha)


@kernel("LeakyReluGrad", elementwise=True)
def leaky_relu_grad(xp: Any, g: Any, x: Any, *, alpha: float) -> Any:
    return xp.where(x > 0, g, g * alpha)


@kernel("Elu", elementwise=True)
def elu(xp: Any, x: Any) -> Any:
    return xp.where(x < 0, xp.exp(x) - 1, x)


@kernel("EluGrad", elementwise=True)
def elu_grad(xp: Any, g: Any, y: Any) -> Any:
    return xp.where(y < 0, g * (y + 1), g)


@kernel("Selu", elementwise=True)
def selu(xp: Any, x: Any) -> Any:
    return xp.where(x < 0, _SELU_SCALE_ALPHA * (xp.exp(x) - 1), _SELU_SCALE * x)


@kernel("SeluGrad", elementwise=True)
def selu_grad(xp: Any, g: Any, y: Any) -> Any:
    return xp.where(y < 0, g * (y + _SELU_SCALE_ALPHA), g * _SELU_SCALE)


@kernel("Softplus", elementwise=True)
def softplus(xp: Any, x: Any) -> Any:
    return xp.logaddexp(x, x.dtype.type(0))


@kernel("SoftplusGrad", elementwise=True)
def softplus_grad(xp: Any, g: Any, x: Any) -> Any:
    return g / (xp.exp(-x) + 1)


@kernel("Softsign", elementwise=True)
def softsign(xp: Any, x: Any) -> Any:
    return x / (abs(x) + 1)


@kernel("SoftsignGrad", elementwise=True)
def softsign_grad(xp: Any, g: Any, x: Any) -> Any:
    return g / (abs(x) + 1) ** 2


# ---- softmax and the losses on it


def _rows(c: ShapeContext) -> list[Shape]:
    return [dims.at_least(c.shape(0), 1)]


op("Softmax", "logits: T -> softmax: T", _rows, T=Type(FLOATS))
op("LogSoftmax", "logits: T -> logsoftmax: T", _rows, T=Type(FLOATS))


def _shifted(x: Any) -> Any:
    """x less the maximum of its row, so that exp cannot overflow."""
    if not x.ndim:
        raise invalid("logits must have >= 1 dimension, got []")
    return x - x.max(axis=-1, keepdims=True) if x.size else x.copy()


def _softmax(xp: Any, shifted: Any) -> tuple[Any, Any]:
    """Softmax of rows, and the sum that it divides by."""
    out = xp.exp(shifted)
    total = out.sum(axis=-1, keepdims=True)
    out /= total
    return out, total


@kernel("Softmax")
def softmax(xp: Any, x: Any) -> Any:
    return _softmax(xp, _shifted(x))[0]


@kernel("LogSoftmax")
def log_softmax(xp: Any, x: Any) -> Any:
    out = _shifted(x)
    out -= xp.log(xp.exp(out).sum(axis=-1, keepdims=True))
    return out


@op(
    "SoftmaxCrossEntropyWithLogits",
    "features: T, labels: T -> loss: T, backprop: T",
    T=Type(FLOATS),
)
def softmax_cross_entropy_shape(c: ShapeContext) -> list[Shape]:
    try:
        both = dims.merge(dims.with_rank(c.shape(0), 2), c.shape(1))
    except ValueError:
        both = broadcast_shapes(c.shape(0), c.shape(1))
    if both is not None and len(both) != 2:
        raise ValueError(f"Shape must be broadcasted with rank 2, but is rank {len(both)}")
    rows = dims.with_rank(both, 2)
    return [rows[:1], rows]


@kernel("SoftmaxCrossEntropyWithLogits")
def softmax_cross_entropy(xp: Any, logits: Any, labels: Any) -> Any:
    if logits.shape != labels.shape:
        logits, labels = _broadcast(xp, logits, labels)
    if logits.ndim != 2:
        raise invalid(
            "logits and labels must be either 2-dimensional, or broadcasted to be 2-dimensional"
        )
    shifted = _shifted(logits)
    backprop, total = _softmax(xp, shifted)
    loss = (labels * (xp.log(total) - shifted)).sum(axis=-1)
    backprop -= labels
    return loss, backprop


def _broadcast(xp: Any, logits: Any, labels: Any) -> Any:
    try:
        return xp.broadcast_arrays(logits, labels)
    except ValueError:
        raise invalid(
            f"logits and labels must be broadcastable: logits_size={show_shape(logits.shape)} "
            f"labels_size={show_shape(labels.shape)}"
        ) from None


@op(
    "SparseSoftmaxCrossEntropyWithLogits",
    "features: T, labels: Tlabels -> loss: T, backprop: T",
    T=Type(FLOATS),
    Tlabels=Type(INDEX, int64),
)
def sparse_softmax_cross_entropy_shape(c: ShapeContext) -> list[Shape]:
    features = dims.with_rank(c.shape(0), 2)
    labels = dims.with_rank(c.shape(1), 1)
    rows = dims.merge_sizes(features[0], labels[0])
    return [(rows,), (rows, features[1])]


@kernel("SparseSoftmaxCrossEntropyWithLogits")
def sparse_softmax_cross_entropy(xp: Any, logits: Any, labels: Any) -> Any:
    _check_sparse_labels(xp, logits, labels)
    shifted = _shifted(xp.ascontiguousarray(logits))
    backprop, total = _softmax(xp, shifted)
    rows, classes = logits.shape
    places = labels + xp.arange(0, rows * classes, classes)  # of the labels in the flat logits
    loss = xp.log(total.reshape(-1)) - shifted.reshape(-1)[places]
    backprop.reshape(-1)[places] -= 1
    return loss, backprop


def _check_sparse_labels(xp: Any, logits: Any, labels: Any) -> None:
    if logits.ndim != 2:
        raise invalid(f"logits must be 2-D, but got shape {show_shape(logits.shape)}")
    if labels.ndim != 1:
        raise invalid(f"labels must be 1-D, but got shape {show_shape(labels.shape)}")
    if len(labels) != len(logits):
        raise invalid(
            "logits and labels must have the same first dimension, got logits shape "
            f"{show_shape(logits.shape)} and labels shape {show_shape(labels.shape)}"
        )
    classes = logits.shape[1]
    if not classes:
        shape = show_shape(logits.shape)
        raise invalid(f"Must have at least one class, but got logits shape {shape}")
    # looking at the values would make the host wait for a GPU
    if xp is np and not all_within(labels, classes):
        outside = (labels < 0) | (labels >= classes)
        raise invalid(
            f"Received a label value of {labels[outside][0]} which is outside the valid range of "
            f"[0, {classes}).  Label values: {' '.join(map(str, labels))}"
        )


# ---- bias and the L2 loss


op("L2Loss", "t: T -> output: T", scalar, T=Type(FLOATS))


@kernel("L2Loss")
def l2_loss(xp: Any, x: Any) -> Any:
    flat = x.reshape(-1)
    return xp.dot(flat, flat) / 2


def _channel_axis(data_format: str) -> int:
    return 1 if data_format == "NCHW" else -1


def bias_add_shape(c: ShapeContext) -> list[Shape]:
    data_format = c.attrs.get("data_format", "NHWC")
    value = dims.at_least(c.shape(0), 3 if data_format == "NCHW" else 2)
    (size,) = dims.with_rank(c.shape(1), 1)
    if value is None:
        return [None]
    axis = _channel_axis(data_format)
    return [dims.replaced(value, axis, dims.merge_sizes(value[axis], size))]


op(
    "BiasAdd",
    "value: T, bias: T -> output: T",
    bias_add_shape,
    T=Type(NUMBERS),
    data_format=DATA_FORMAT,
)
op("BiasAddV1", "value: T, bias: T -> output: T", bias_add_shape, T=Type(NUMBERS))


@kernel("BiasAddV1")
def bias_add_v1(xp: Any, value: Any, bias: Any) -> Any:
    return bias_add(xp, value, bias, data_format="NHWC")


@kernel("BiasAdd")
def bias_add(xp: Any, value: Any, bias: Any, *, data_format: str) -> Any:
    axis = _channel_axis(data_format)
    if value.ndim < 2:
        raise invalid(f"Input tensor must be at least 2D: {show_shape(value.shape)}")
    if bias.ndim != 1:
        raise invalid(f"Biases must be 1D: {show_shape(bias.shape)}")
    if bias.shape[0] != value.shape[axis]:
        raise invalid(
            "Must provide as many biases as the last dimension of the input tensor: "
            f"{show_shape(bias.shape)} vs. {show_shape(value.shape)}"
        )
    if axis == 1:
        bias = bias.reshape(-1, *(1,) * (value.ndim - 2))
    return value + bias


@op("BiasAddGrad", "out_backprop: T -> output: T", T=Type(NUMBERS), data_format=DATA_FORMAT)
def bias_add_grad_shape(c: ShapeContext) -> list[Shape]:
    shape = dims.at_least(c.shape(0), 3 if c["data_format"] == "NCHW" else 2)
    return [(None if shape is None else shape[_channel_axis(c["data_format"])],)]


@kernel("BiasAddGrad")
def bias_add_grad(xp: Any, g: Any, *, data_format: str) -> Any:
    channel = _channel_axis(data_format) % g.ndim
    return g.sum(axis=tuple(i for i in range(g.ndim) if i != channel), dtype=g.dtype)
