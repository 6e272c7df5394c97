"""Gradients of activations, losses, biases, normalisation and selections of the nn family."""

from __future__ import annotations

from typing import Any

from minitf.default import control_dependencies
from minitf.gradients.registry import gradient
from minitf.operation import Tensor
from minitf.ops.apply import apply_op
from minitf.ops.array import (
    concat,
    expand_dims,
    gather,
    ones_like,
    rank,
    shape,
    size,
    squeeze,
    stack,
    zeros,
    zeros_like,
)
from minitf.ops.constant_value import constant_value
from minitf.ops.elementwise import cast
from minitf.ops.matmul import matmul
from minitf.ops.nn import log_softmax, softmax
from minitf.ops.reduction import range as range_op
from minitf.ops.reduction import reduce_prod, reduce_sum
from minitf_runtime.types import int32, int64

# ---- activations


def _by_output(op_type: str) -> None:
    gradient(op_type)(lambda op, grad: apply_op(op_type + "Grad", grad, op.outputs[0]))


for _name in ("Relu", "Relu6", "Elu", "Selu"):
    _by_output(_name)


@gradient("ReluGrad", "Relu6Grad")
def relu_grad(op: Any, grad: Any) -> Any:
    x = op.inputs[1]
    return apply_op(op.type, grad, x), zeros(shape(x), x.dtype)


@gradient("LeakyRelu")
def leaky_relu(op: Any, grad: Any) -> Any:
    return apply_op("LeakyReluGrad", grad, op.inputs[0], alpha=op.get_attr("alpha"))


@gradient("LeakyReluGrad")
def leaky_relu_grad(op: Any, grad: Any) -> Any:
    x = op.inputs[1]
    alpha = op.get_attr("alpha")
    return apply_op("LeakyReluGrad", grad, x, alpha=alpha), zeros(shape(x), x.dtype)


@gradient("EluGrad", "SeluGrad")
def elu_grad(op: Any, grad: Any) -> Any:
    y = op.inputs[1]
    first = apply_op(op.type, grad, y)
    return first, apply_op("Select", y < 0, grad * op.inputs[0], zeros_like(y))


@gradient("Softplus")
def softplus(op: Any, grad: Any) -> Any:
    return grad * apply_op("Sigmoid", op.inputs[0])


@gradient("SoftplusGrad")
def softplus_grad(op: Any, grad: Any) -> Any:
    dy, x = op.inputs
    with control_dependencies([grad]):
        first = apply_op("SoftplusGrad", grad, x)
        return first, grad * dy / (apply_op("Exp", -x) + 2.0 + apply_op("Exp", x))


@gradient("Softsign")
def softsign(op: Any, grad: Any) -> Any:
    return apply_op("SoftsignGrad", grad, op.inputs[0])


# ---- softmax and the losses on it


@gradient("Softmax")
def softmax_(op: Any, grad: Any) -> Any:
    y = op.outputs[0]
    total = reduce_sum(grad * y, -1, keepdims=True)
    return (grad - total) * y


@gradient("LogSoftmax")
def log_softmax_(op: Any, grad: Any) -> Any:
    y = apply_op("Exp", op.outputs[0])
    return grad - reduce_sum(grad, -1, keepdims=True) * y


def _each_row(per_row: Any, rows: Any) -> Any:
    return expand_dims(per_row, -1) * rows


@gradient("SoftmaxCrossEntropyWithLogits")
def softmax_cross_entropy_with_logits(op: Any, grad_loss: Any, grad_grad: Any) -> Any:
    """Through the loss, and through the op's other output, which is the loss's own gradient."""
    logits = op.inputs[0]
    grad = _each_row(grad_loss, op.outputs[1])
    if grad_grad is not None and not _is_zero(grad_grad):
        y = softmax(logits)
        product = matmul(expand_dims(grad_grad, 1), expand_dims(y, 2))
        grad = grad + (grad_grad - squeeze(product, axis=1)) * y
    return grad, _each_row(grad_loss, -log_softmax(logits))


def _is_zero(grad: Tensor) -> bool:
    if grad.op.type in ("ZerosLike", "Zeros"):
        return True
    known = constant_value(grad)
    return known is not None and not known.any()


@gradient("SparseSoftmaxCrossEntropyWithLogits")
def sparse_softmax_cross_entropy_with_logits(op: Any, grad: Any, _: Any) -> Any:
    first = apply_op(
        "PreventGradient",
        op.outputs[1],
        message="Currently there is no way to take the second derivative of "
        "sparse_softmax_cross_entropy_with_logits due to the fused implementation's interaction "
        "with tf.gradients()",
    )
    return _each_row(grad, first), None


@gradient("L2Loss")
def l2_loss(op: Any, grad: Any) -> Any:
    return op.inputs[0] * grad


# ---- biases


@gradient("BiasAdd")
def bias_add(op: Any, grad: Any) -> Any:
    return grad, apply_op("BiasAddGrad", grad, data_format=op.get_attr("data_format"))


@gradient("BiasAddGrad")
def bias_add_grad(op: Any, grad: Any) -> Any:
    """The bias's gradient, repeated over all axes but the channel's."""
    sizes = shape(op.inputs[0])
    channels = shape(grad)
    if op.get_attr("data_format") == b"NCHW":
        form = concat([ones_like(sizes[:1]), channels, ones_like(sizes[2:])], 0)
        multiples = concat([sizes[:1], [1], sizes[2:]], 0)
    else:
        form = concat([ones_like(sizes[:-1]), channels], 0)
        multiples = concat([sizes[:-1], [1]], 0)
    return apply_op("Tile", apply_op("Reshape", grad, form), multiples)


@gradient("BiasAddV1")
def bias_add_v1(op: Any, grad: Any) -> Any:
    axes = range_op(rank(grad) - 1)
    return grad, reduce_sum(grad, axes)


# ---- the largest of each row


@gradient("TopK", "TopKV2")
def top_k(op: Any, grad: Any, _: Any) -> Any:
    in_shape = shape(op.inputs[0])
    out_shape = shape(op.outputs[1])
    k = _last(out_shape)
    columns = apply_op("Reshape", op.outputs[1], stack([-1, k]))
    width = _last(in_shape)
    rows = shape(columns)[0]
    starts = range_op(0, cast(rows, int64) * width, width)
    places = apply_op("Reshape", columns + cast(expand_dims(starts, -1), int32), [-1])
    places = expand_dims(places, -1)
    flat = apply_op("Reshape", grad, [-1])
    whole = apply_op("ScatterNd", places, flat, [reduce_prod(in_shape)])
    back = apply_op("Reshape", whole, in_shape)
    return [back, zeros([], int32)][: len(op.inputs)]


def _last(sizes: Any) -> Any:
    wide = cast(sizes, int64)
    return gather(wide, size(sizes) - 1)


@gradient("NthElement")
def nth_element(op: Any, grad: Any) -> Any:
    """Shared evenly by the elements equal to the one chosen."""
    x, y = op.inputs[0], op.outputs[0]
    chosen = cast(apply_op("Equal", expand_dims(y, -1), x), grad.dtype)
    grad = expand_dims(grad, -1)
    count = expand_dims(reduce_sum(chosen, -1), -1)
    return apply_op("RealDiv", chosen, count, name="div") * grad, None
