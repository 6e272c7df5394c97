"""tf.nn: activations, softmax, biases, dropout. Losses are in cross_entropy.py, normalisation in
normalization.py, convolution in conv.py, pooling in pooling.py, look-ups in embedding.py.
"""

from __future__ import annotations

import numbers
from typing import Any

from minitf.convert import to_tensor
from minitf.default import name_scope
from minitf.operation import Tensor
from minitf.ops import array, math
from minitf.ops.apply import apply_op
from minitf.ops.arguments import renamed
from minitf.ops.constant_value import constant_value
from minitf.ops.control_flow import cond
from minitf.ops.random import random_uniform
from minitf.ops.raw import passthrough
from minitf.tensor_shape import TensorShape, as_shape
from minitf_runtime.errors import InvalidArgumentError
from minitf_runtime.types import float32, int32, int64

# ---- activations

elu = passthrough("Elu", "elu")
l2_loss = passthrough("L2Loss", "l2_loss")
relu = passthrough("Relu", "relu")
selu = passthrough("Selu", "selu")
softplus = passthrough("Softplus", "softplus")
softsign = passthrough("Softsign", "softsign")


def relu6(features: Any, name: str | None = None) -> Tensor:
    """min(max(features, 0), 6)."""
    with name_scope(name, "Relu6", [features]) as name:
        features = to_tensor(features, name="features")
        return apply_op("Relu6", features, name=name)  # type: ignore[no-any-return]


def leaky_relu(features: Any, alpha: float = 0.2, name: str | None = None) -> Tensor:
    """`features` where positive, `alpha * features` elsewhere."""
    with name_scope(name, "LeakyRelu", [features, alpha]) as name:
        features = to_tensor(features, name="features")
        if features.dtype.is_integer:
            features = math.cast(features, float32)
        alpha = alpha.item() if hasattr(alpha, "item") else alpha
        return apply_op("LeakyRelu", features, alpha=alpha, name=name)  # type: ignore[no-any-return]


def crelu(features: Any, name: str | None = None, axis: int = -1) -> Tensor:
    """relu of `features` and of its negation, side by side."""
    with name_scope(name, "CRelu", [features]) as name:
        features = to_tensor(features, name="features")
        return relu(array.concat([features, -features], axis, name=name))  # type: ignore[no-any-return]


def swish(features: Any) -> Tensor:
    """features * sigmoid(features)."""
    features = to_tensor(features, name="features")
    return features * math.sigmoid(features)  # type: ignore[no-any-return]


# ---- softmax


def _on_last_axis(logits: Any, op_type: str, axis: Any, name: str | None) -> Tensor:
    """The op over one axis; another axis than the last changes places with it."""
    logits = to_tensor(logits)
    shape = logits.shape
    if axis == -1 or axis == _minus_one(shape.ndims):
        return apply_op(op_type, logits, name=name)  # type: ignore[no-any-return]
    ndims = shape.ndims
    known = constant_value(axis)
    if known is not None and not -ndims <= known < ndims:
        raise InvalidArgumentError(
            None,
            None,
            f"Dimension ({int(known)}) must be in the range [{-ndims}, {ndims}) where {ndims} is "
            "the number of dimensions in the input.",
        )
    rank = array.rank(logits)
    if isinstance(axis, Tensor):
        axis = array.where(math.less(axis, 0), axis + rank, axis)
    elif axis < 0:
        axis += rank
    input_rank = array.rank(logits)
    axis = axis % ndims
    logits = _swap(logits, axis, math.subtract(input_rank, 1))
    output = apply_op(op_type, logits)
    output = _swap(output, axis, math.subtract(input_rank, 1), name)
    output.set_shape(shape)
    return output


def _minus_one(n: int | None) -> int | None:
    return None if n is None else n - 1


def _swap(x: Tensor, axis: Any, last: Any, name: str | None = None) -> Tensor:
    order = [math.range(axis), [last], math.range(axis + 1, last), [axis]]
    return array.transpose(x, array.concat(order, 0), name=name)


def softmax(logits: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Tensor:
    """exp(logits), scaled to sum to one along `axis` (the last)."""
    axis = renamed("axis", axis, "dim", dim)
    return _on_last_axis(logits, "Softmax", -1 if axis is None else axis, name)


def log_softmax(logits: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Tensor:
    """The logarithm of softmax."""
    axis = renamed("axis", axis, "dim", dim)
    return _on_last_axis(logits, "LogSoftmax", -1 if axis is None else axis, name)


# ---- biases and layers


def bias_add(
    value: Any, bias: Any, data_format: str | None = None, name: str | None = None
) -> Tensor:
    """Adds a bias to each channel. Raises ValueError for a data_format other than N...C or NC..."""
    with name_scope(name, "BiasAdd", [value, bias]) as name:
        if data_format is not None:
            data_format = _two_dimensional(data_format)
        value = to_tensor(value, name="input")
        bias = to_tensor(bias, value.dtype, name="bias")
        return apply_op(  # type: ignore[no-any-return]
            "BiasAdd", value, bias, data_format=data_format, name=name
        )


def _two_dimensional(data_format: str) -> str:
    if data_format.startswith("NC"):
        return "NCHW"
    if data_format.startswith("N") and data_format.endswith("C"):
        return "NHWC"
    raise ValueError("data_format must be of the form `N...C` or `NC...`")


def xw_plus_b(x: Any, weights: Any, biases: Any, name: str | None = None) -> Tensor:
    """matmul(x, weights) + biases."""
    with name_scope(name, "xw_plus_b", [x, weights, biases]) as name:
        x, weights, biases = _layer(x, weights, biases)
        return bias_add(math.matmul(x, weights), biases, name=name)


def relu_layer(x: Any, weights: Any, biases: Any, name: str | None = None) -> Tensor:
    """relu(matmul(x, weights) + biases)."""
    with name_scope(name, "relu_layer", [x, weights, biases]) as name:
        x, weights, biases = _layer(x, weights, biases)
        return relu(bias_add(math.matmul(x, weights), biases), name=name)  # type: ignore[no-any-return]


def _layer(x: Any, weights: Any, biases: Any) -> list[Tensor]:
    given = {"x": x, "weights": weights, "biases": biases}
    return [to_tensor(value, name=name) for name, value in given.items()]


# ---- dropout


def dropout(
    x: Any,
    keep_prob: Any = None,
    noise_shape: Any = None,
    seed: int | None = None,
    name: str | None = None,
    rate: Any = None,
) -> Any:
    """Sets a share `rate` (or 1 - keep_prob) of the elements to zero and scales up the others.

    Raises ValueError unless exactly one of rate and keep_prob is given, or for integer x.
    """
    try:
        keep = None if keep_prob is None else 1.0 - keep_prob
    except TypeError:
        raise ValueError(
            f"keep_prob must be a floating point number or Tensor (got {keep_prob!r})"
        ) from None
    rate = renamed("rate", rate, "keep_prob", keep)
    if rate is None:
        raise ValueError("You must provide a rate to dropout.")
    with name_scope(name, "dropout", [x]):
        x = to_tensor(x, name="x")
        if not x.dtype.is_floating:
            raise ValueError(
                "x has to be a floating point tensor since it's going to be scaled. Got a "
                f"{x.dtype} tensor instead."
            )
        if isinstance(rate, numbers.Real) and not 0 <= rate < 1:
            raise ValueError(
                f"rate must be a scalar tensor or a float in the range [0, 1), got {rate:g}"
            )
        if isinstance(rate, numbers.Real) and rate == 0:
            return x
        return _dropout(x, rate, noise_shape, seed)


def _dropout(x: Tensor, rate: Any, noise_shape: Any, seed: int | None) -> Tensor:
    rate = to_tensor(rate, x.dtype, name="rate")
    rate.shape.assert_has_rank(0)
    if constant_value(rate) == 0:
        return x
    noise_shape = _noise_shape(x, noise_shape)
    drawn = random_uniform(noise_shape, seed=seed, dtype=x.dtype)
    keep_prob = 1 - rate
    scale = 1 / keep_prob
    keep_mask = drawn >= rate
    out: Tensor = x * scale * math.cast(keep_mask, x.dtype)
    out.set_shape(x.shape)
    return out


def _noise_shape(x: Tensor, noise_shape: Any) -> Any:
    """The shape of the noise, its unknown sizes taken from x."""
    if noise_shape is None:
        return array.shape(x)
    try:
        asked = as_shape(noise_shape)
    except (TypeError, ValueError):
        return noise_shape
    known = x._shape_tuple
    if asked is None or known is None or len(known) != len(asked):
        return noise_shape
    return TensorShape([m if n is None else n for m, n in zip(known, asked)])


# ---- counting


def zero_fraction(value: Any, name: str | None = None) -> Tensor:
    """The share of elements that are zero: float32 scalar."""
    with name_scope(name, "zero_fraction", [value]):
        value = to_tensor(value, name="value")
        size = array.size(value, out_type=int64)
        count = cond(
            size <= int32.max,
            lambda: math.cast(_count_nonzero(value, int32), int64),
            lambda: _count_nonzero(value, int64),
        )
        with name_scope("counts_to_fraction"):
            zeros = math.cast(size - count, float32)
            fraction = zeros / math.cast(size, float32)
        return array.identity(fraction, "fraction")


def _count_nonzero(value: Tensor, dtype: Any) -> Tensor:
    with name_scope("count_nonzero", values=[value]):
        zero = array.zeros([], dtype=value.dtype)
        nonzero = math.cast(math.not_equal(value, zero), dtype)
        return math.reduce_sum(nonzero, name="nonzero_count")
