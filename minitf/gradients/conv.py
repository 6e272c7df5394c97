"""Gradients of convolutions, in both directions."""

from __future__ import annotations

from typing import Any

from minitf.gradients.registry import gradient
from minitf.ops.apply import apply_op
from minitf.ops.array import shape, shape_n

# A convolution is linear in its input and in its filter; so the three ops of a family (itself, its
# gradients by input and by filter) are each other's gradients.
_FAMILIES = {
    "Conv2D": (
        "Conv2DBackpropInput",
        "Conv2DBackpropFilter",
        "dilations strides padding explicit_paddings use_cudnn_on_gpu data_format",
    ),
    "DepthwiseConv2dNative": (
        "DepthwiseConv2dNativeBackpropInput",
        "DepthwiseConv2dNativeBackpropFilter",
        "dilations strides padding data_format",
    ),
    "Conv3D": (
        "Conv3DBackpropInputV2",
        "Conv3DBackpropFilterV2",
        "dilations strides padding data_format",
    ),
}


def _register(forward: str, by_input: str, by_filter: str, attrs: str) -> None:
    names = attrs.split()

    def same(op: Any) -> dict[str, Any]:
        return {k: op.get_attr(k) for k in names}

    @gradient(forward)
    def convolution(op: Any, grad: Any) -> Any:
        x, kernel = op.inputs
        if forward == "Conv2D":
            x_shape, kernel_shape = shape_n([x, kernel])
            return [
                apply_op(by_input, x_shape, kernel, grad, **same(op)),
                apply_op(by_filter, x, kernel_shape, grad, **same(op)),
            ]
        return [
            apply_op(by_input, shape(x), kernel, grad, **same(op)),
            apply_op(by_filter, x, shape(kernel), grad, **same(op)),
        ]

    @gradient(by_input)
    def backprop_input(op: Any, grad: Any) -> Any:
        _, kernel, out = op.inputs
        return [
            None,
            apply_op(by_filter, grad, shape(kernel), out, **same(op)),
            apply_op(forward, grad, kernel, **same(op)),
        ]

    @gradient(by_filter)
    def backprop_filter(op: Any, grad: Any) -> Any:
        x, _, out = op.inputs
        return [
            apply_op(by_input, shape(x), grad, out, **same(op)),
            None,
            apply_op(forward, x, grad, **same(op)),
        ]


for _forward, _rest in _FAMILIES.items():
    _register(_forward, *_rest)
