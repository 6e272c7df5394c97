"""Gradients of pooling ops."""

from __future__ import annotations

from typing import Any

from minitf.gradients.registry import gradient
from minitf.ops.apply import apply_op
from minitf.ops.array import shape, zeros

_ATTRS = ("ksize", "strides", "padding", "data_format")


def _same(op: Any, names: tuple[str, ...] = _ATTRS) -> dict[str, Any]:
    return {k: op.get_attr(k) for k in names}


def _zeros(value: Any) -> Any:
    return zeros(shape(value), value.dtype)


def _average(op_type: str) -> None:
    @gradient(op_type)
    def average(op: Any, grad: Any) -> Any:
        return apply_op(op_type + "Grad", shape(op.inputs[0]), grad, **_same(op))

    @gradient(op_type + "Grad")
    def average_grad(op: Any, grad: Any) -> Any:
        stopped = apply_op("StopGradient", op.inputs[0])
        return stopped, apply_op(op_type, grad, **_same(op))


def _maximum(op_type: str) -> None:
    once, twice = op_type + "Grad", op_type + "GradGrad"

    @gradient(op_type)
    def maximum(op: Any, grad: Any) -> Any:
        return apply_op(once, op.inputs[0], op.outputs[0], grad, **_same(op))

    def again(made: str, op: Any, grad: Any) -> Any:
        x, y = op.inputs[:2]
        return _zeros(x), _zeros(y), apply_op(made, x, y, grad, **_same(op))

    gradient(once)(lambda op, grad: again(twice, op, grad))
    gradient(twice)(lambda op, grad: again(once, op, grad))


for _name in ("AvgPool", "AvgPool3D"):
    _average(_name)
for _name in ("MaxPool", "MaxPool3D"):
    _maximum(_name)


@gradient("MaxPoolWithArgmax")
def max_pool_with_argmax(op: Any, grad: Any, _: Any) -> Any:
    same = _same(op, ("ksize", "strides", "padding", "include_batch_in_index"))
    return apply_op("MaxPoolGradWithArgmax", op.inputs[0], grad, op.outputs[1], **same)


@gradient("MaxPoolV2")
def max_pool_v2(op: Any, grad: Any) -> Any:
    same = _same(op, ("padding", "data_format"))
    ksize, strides = op.inputs[1:3]
    x, y = op.inputs[0], op.outputs[0]
    return apply_op("MaxPoolGradV2", x, y, grad, ksize, strides, **same), None, None


@gradient("MaxPoolGradV2")
def max_pool_grad_v2(op: Any, grad: Any) -> Any:
    same = _same(op, ("padding", "data_format"))
    x, y, _, ksize, strides = op.inputs
    again = apply_op("MaxPoolGradGradV2", x, y, grad, ksize, strides, **same)
    return _zeros(x), _zeros(y), again, None, None
