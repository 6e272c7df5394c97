"""Depthwise convolutions of tf.nn: each channel is convolved by itself."""

from __future__ import annotations

from typing import Any

from minitf.convert import to_tensor
from minitf.default import name_scope
from minitf.operation import Tensor
from minitf.ops import array
from minitf.ops.apply import apply_op
from minitf.ops.arguments import renamed
from minitf.ops.conv import conv2d
from minitf.ops.raw import passthrough
from minitf.ops.spatial import with_space_to_batch

depthwise_conv2d_native = passthrough("DepthwiseConv2dNative", "depthwise_conv2d_native")
depthwise_conv2d_native_backprop_input = passthrough(
    "DepthwiseConv2dNativeBackpropInput", "depthwise_conv2d_native_backprop_input"
)
depthwise_conv2d_native_backprop_filter = passthrough(
    "DepthwiseConv2dNativeBackpropFilter", "depthwise_conv2d_native_backprop_filter"
)


def depthwise_conv2d(
    input: Any,  # noqa: A002
    filter: Any,  # noqa: A002
    strides: Any,
    padding: str,
    rate: Any = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: Any = None,
) -> Tensor:
    """Convolves each channel with its own `multiplier` filters [h, w, channels, multiplier]."""
    rate = renamed("dilations", dilations, "rate", rate)
    with name_scope(name, "depthwise", [input, filter]) as name:
        input = to_tensor(input, name="tensor_in")  # noqa: A001
        filter = to_tensor(filter, name="filter_in")  # noqa: A001
        return _depthwise(input, filter, strides, padding, rate, data_format, name)


def _depthwise(
    x: Tensor, filters: Tensor, strides: Any, padding: str, rate: Any,
    data_format: str | None, name: str,
) -> Tensor:  # fmt: skip
    def op(split: Tensor, _: int, padding: str) -> Tensor:
        return apply_op(  # type: ignore[no-any-return]
            "DepthwiseConv2dNative", split, filters, strides=strides, padding=padding,
            data_format=data_format, name=name,
        )  # fmt: skip

    rate = [1, 1] if rate is None else rate
    shape = array.shape(filters)
    return with_space_to_batch(x, rate, padding, op, filter_shape=shape, data_format=data_format)


def separable_conv2d(
    input: Any,  # noqa: A002
    depthwise_filter: Any,
    pointwise_filter: Any,
    strides: Any,
    padding: str,
    rate: Any = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: Any = None,
) -> Tensor:
    """A depthwise convolution, and one of size 1x1 that mixes its channels."""
    rate = renamed("dilations", dilations, "rate", rate)
    values = [input, depthwise_filter, pointwise_filter]
    with name_scope(name, "separable_conv2d", values) as name:
        x = to_tensor(input, name="tensor_in")
        depthwise_filter = to_tensor(depthwise_filter, name="depthwise_filter")
        pointwise_filter = to_tensor(pointwise_filter, name="pointwise_filter")
        for size in pointwise_filter.shape.with_rank(4)[:2]:
            size.assert_is_compatible_with(1)
        mixed = _depthwise(x, depthwise_filter, strides, padding, rate, data_format, "depthwise")
        return conv2d(
            mixed, pointwise_filter, [1, 1, 1, 1], "VALID", data_format=data_format, name=name
        )
