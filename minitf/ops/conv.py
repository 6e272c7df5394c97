"""Convolutions of tf.nn, plain and depthwise, and the same with gaps (dilation)."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitf.convert import to_tensor
from minitf.default import name_scope
from minitf.operation import Tensor
from minitf.ops import array
from minitf.ops.apply import apply_op
from minitf.ops.arguments import renamed
from minitf.ops.spatial import (
    channels_first,
    explicit_padding,
    per_dimension,
    strides_and_dilations,
    with_space_to_batch,
)

_ONES = (1, 1, 1, 1)


def _filters(filter: Any, filters: Any) -> Any:  # noqa: A002
    return renamed("filters", filters, "filter", filter)


def _plan(data_format: str | None, strides: Any, dilations: Any) -> dict[str, Any]:
    """The attributes that tell how a two-dimensional window moves."""
    data_format = data_format or "NHWC"
    channel = 1 if channels_first(data_format) else 3
    return dict(
        strides=per_dimension(strides, 2, channel, "strides"),
        dilations=per_dimension(dilations, 2, channel, "dilations"),
        data_format=data_format,
    )


def conv2d(
    input: Any,  # noqa: A002
    filter: Any = None,  # noqa: A002
    strides: Any = None,
    padding: Any = None,
    use_cudnn_on_gpu: bool = True,
    data_format: str | None = "NHWC",
    dilations: Any = _ONES,
    name: str | None = None,
    filters: Any = None,
) -> Tensor:
    """Convolves images [n, h, w, c] with a filter [h, w, c, out]. `padding` may be four pairs."""
    padding, explicit = explicit_padding(padding)
    return apply_op(  # type: ignore[no-any-return]
        "Conv2D", input, _filters(filter, filters), padding=padding, explicit_paddings=explicit,
        use_cudnn_on_gpu=use_cudnn_on_gpu, **_plan(data_format, strides, dilations), name=name,
    )  # fmt: skip


def conv2d_backprop_filter(
    input: Any,  # noqa: A002
    filter_sizes: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC",
    dilations: Any = _ONES,
    name: str | None = None,
) -> Tensor:
    """The gradient of conv2d by its filter."""
    padding, explicit = explicit_padding(padding)
    return apply_op(  # type: ignore[no-any-return]
        "Conv2DBackpropFilter", input, filter_sizes, out_backprop, strides=strides,
        padding=padding, explicit_paddings=explicit, use_cudnn_on_gpu=use_cudnn_on_gpu,
        data_format=data_format, dilations=dilations, name=name,
    )  # fmt: skip


def conv2d_backprop_input(
    input_sizes: Any,
    filter: Any = None,  # noqa: A002
    out_backprop: Any = None,
    strides: Any = None,
    padding: Any = None,
    use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC",
    dilations: Any = _ONES,
    name: str | None = None,
    filters: Any = None,
) -> Tensor:
    """The gradient of conv2d by its input."""
    padding, explicit = explicit_padding(padding)
    return apply_op(  # type: ignore[no-any-return]
        "Conv2DBackpropInput", input_sizes, _filters(filter, filters), out_backprop,
        strides=strides, padding=padding, explicit_paddings=explicit,
        use_cudnn_on_gpu=use_cudnn_on_gpu, data_format=data_format, dilations=dilations, name=name,
    )  # fmt: skip


def conv2d_transpose(
    value: Any = None,
    filter: Any = None,  # noqa: A002
    output_shape: Any = None,
    strides: Any = None,
    padding: str = "SAME",
    data_format: str | None = "NHWC",
    name: str | None = None,
    input: Any = None,  # noqa: A002
    filters: Any = None,
    dilations: Any = None,
) -> Tensor:
    """conv2d turned round: what conv2d of the result would come from."""
    value = renamed("input", input, "value", value)
    filters = _filters(filter, filters)
    with name_scope(name, "conv2d_transpose", [value, filters, output_shape]) as name:
        return apply_op(  # type: ignore[no-any-return]
            "Conv2DBackpropInput", output_shape, filters, value, padding=padding,
            **_plan(data_format, strides, dilations), name=name,
        )  # fmt: skip


# ---- one dimension: an image of height one


def _flat_layout(data_format: str | None) -> tuple[str, int, int]:
    """The two-dimensional layout, the axis to insert, and where the channels are."""
    if data_format in (None, "NHWC", "NWC"):
        return "NHWC", 1, 2
    if data_format in ("NCHW", "NCW"):
        return "NCHW", 2, 1
    raise ValueError('data_format must be "NWC" or "NCW".')


def conv1d(
    value: Any = None,
    filters: Any = None,
    stride: Any = None,
    padding: Any = None,
    use_cudnn_on_gpu: bool | None = None,
    data_format: str | None = None,
    name: str | None = None,
    input: Any = None,  # noqa: A002
    dilations: Any = None,
) -> Tensor:
    """Convolves rows [n, w, c] with a filter [w, c, out]."""
    value = renamed("input", input, "value", value)
    with name_scope(name, "conv1d", [value, filters]) as name:
        data_format, axis, channel = _flat_layout(data_format)
        strides = [1, *per_dimension(stride, 1, channel, "stride")]
        dilations = [1, *per_dimension(dilations, 1, channel, "dilations")]
        value = array.expand_dims(value, axis)
        filters = array.expand_dims(filters, 0)
        result = apply_op(
            "Conv2D", value, filters, strides=strides, padding=padding,
            use_cudnn_on_gpu=use_cudnn_on_gpu, data_format=data_format, dilations=dilations,
            name=name,
        )  # fmt: skip
        return array.squeeze(result, [axis])


def conv1d_transpose(
    input: Any,  # noqa: A002
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: str = "SAME",
    data_format: str | None = "NWC",
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """conv1d turned round."""
    with name_scope(name, "conv1d_transpose", [input, filters, output_shape]) as name:
        if data_format not in (None, "NWC", "NCW"):
            raise ValueError('data_format must be "NWC" or "NCW".')
        data_format, axis, channel = _flat_layout(data_format)
        strides = [1, *per_dimension(strides, 1, channel, "stride")]
        dilations = [1, *per_dimension(dilations, 1, channel, "dilations")]
        input = array.expand_dims(input, axis)  # noqa: A001
        filters = array.expand_dims(filters, 0)
        sizes = output_shape if isinstance(output_shape, Tensor) else list(output_shape)
        sizes = array.concat([sizes[:axis], [1], sizes[axis:]], 0)
        result = apply_op(
            "Conv2DBackpropInput", sizes, filters, input, strides=strides, padding=padding,
            data_format=data_format, dilations=dilations, name=name,
        )  # fmt: skip
        return array.squeeze(result, axis)


# ---- three dimensions


def conv3d(
    input: Any,  # noqa: A002
    filter: Any = None,  # noqa: A002
    strides: Any = None,
    padding: Any = None,
    data_format: str = "NDHWC",
    dilations: Any = (1, 1, 1, 1, 1),
    name: str | None = None,
    filters: Any = None,
) -> Tensor:
    """Convolves volumes [n, d, h, w, c] with a filter [d, h, w, c, out]."""
    return apply_op(  # type: ignore[no-any-return]
        "Conv3D", input, _filters(filter, filters), strides=strides, padding=padding,
        data_format=data_format, dilations=dilations, name=name,
    )  # fmt: skip


def conv3d_backprop_filter_v2(
    input: Any,  # noqa: A002
    filter_sizes: Any,
    out_backprop: Any,
    strides: Any,
    padding: str,
    data_format: str = "NDHWC",
    dilations: Any = (1, 1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """The gradient of conv3d by its filter."""
    return apply_op(  # type: ignore[no-any-return]
        "Conv3DBackpropFilterV2", input, filter_sizes, out_backprop, strides=strides,
        padding=padding, data_format=data_format, dilations=dilations, name=name,
    )  # fmt: skip


def conv3d_transpose(
    value: Any,
    filter: Any = None,  # noqa: A002
    output_shape: Any = None,
    strides: Any = None,
    padding: str = "SAME",
    data_format: str | None = "NDHWC",
    name: str | None = None,
    input: Any = None,  # noqa: A002
    filters: Any = None,
    dilations: Any = None,
) -> Tensor:
    """conv3d turned round."""
    filters = _filters(filter, filters)
    value = renamed("input", input, "value", value)
    with name_scope(name, "conv3d_transpose", [value, filters, output_shape]) as name:
        data_format = data_format or "NDHWC"
        channel = 1 if channels_first(data_format) else 4
        return apply_op(  # type: ignore[no-any-return]
            "Conv3DBackpropInputV2", output_shape, filters, value, padding=padding,
            strides=per_dimension(strides, 3, channel, "strides"),
            dilations=per_dimension(dilations, 3, channel, "dilations"),
            data_format=data_format, name=name,
        )  # fmt: skip


def conv_transpose(
    input: Any,  # noqa: A002
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: str = "SAME",
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """A convolution of one to three dimensions turned round. Raises ValueError for others."""
    with name_scope(name, "conv_transpose", [input, filters, output_shape]) as name:
        if isinstance(output_shape, Tensor):
            n = int(output_shape.shape[0]) - 2
        elif hasattr(output_shape, "__len__"):
            n = len(output_shape) - 2
        else:
            raise ValueError("output_shape must be a tensor or sized collection.")
        if not 1 <= n <= 3:
            raise ValueError(f"output_shape must be of length 3, 4 or 5 but was {n + 2}.")
        op = (conv1d_transpose, conv2d_transpose, conv3d_transpose)[n - 1]
        return op(
            input, filters, output_shape, strides, padding=padding, data_format=data_format,
            dilations=dilations, name=name,
        )  # fmt: skip


# ---- any number of dimensions, with gaps


def convolution(
    input: Any,  # noqa: A002
    filter: Any = None,  # noqa: A002
    padding: Any = None,
    strides: Any = None,
    dilation_rate: Any = None,
    name: str | None = None,
    data_format: str | None = None,
    filters: Any = None,
    dilations: Any = None,
) -> Tensor:
    """A convolution of one to three spatial dimensions. Raises ValueError for other ranks."""
    filters = _filters(filter, filters)
    dilations = renamed("dilations", dilations, "dilation_rate", dilation_rate)
    n = _spatial_rank(input, filters)
    channel = 1 if channels_first(data_format) else n + 1
    strides = per_dimension(strides, n, channel, "strides")
    dilations = per_dimension(dilations, n, channel, "dilations")
    with name_scope(name, "convolution", [input, filters]) as name:
        if all(i == 1 for i in dilations):
            return convolve(n, input, filters, strides, dilations, padding, data_format, name)
        space = slice(2, None) if channel == 1 else slice(1, -1)
        return _dilated(
            input, filters, strides[space], dilations[space], padding, data_format, name
        )


def _spatial_rank(x: Any, filters: Any) -> int:
    for value in (x, filters):
        shape = value.shape
        if getattr(shape, "ndims", None) is not None or isinstance(shape, tuple):
            n = len(shape) - 2
            break
    else:
        raise ValueError("rank of input or filter must be known")
    if not 1 <= n <= 3:
        raise ValueError(f"Input tensor must be of rank 3, 4 or 5 but was {n + 2}.")
    return n


def convolve(
    n: int, x: Any, filters: Any, strides: Any, dilations: Any, padding: Any,
    data_format: str | None, name: str | None,
) -> Tensor:  # fmt: skip
    """The convolution op of n spatial dimensions."""
    if n == 1:
        return conv1d(
            x, filters, strides, padding, data_format=data_format, dilations=dilations, name=name
        )
    return apply_op(  # type: ignore[no-any-return]
        f"Conv{n}D", x, filters, strides=strides, padding=padding, data_format=data_format,
        dilations=dilations, name=name,
    )  # fmt: skip


def _dilated(
    x: Any, filters: Any, strides: Any, dilations: Any, padding: Any,
    data_format: str | None, name: str | None,
) -> Tensor:  # fmt: skip
    x = to_tensor(x, name="input")
    filters = to_tensor(filters, name="filter")
    n = len(dilations)
    depth = x.shape[1 if channels_first(data_format) else n + 1]
    if not depth.is_compatible_with(filters.shape[n]):
        raise ValueError(
            "number of input channels does not match corresponding dimension of filter, "
            f"{depth} != {filters.shape[n]}"
        )
    steps, rates = strides_and_dilations(n, strides, dilations)
    channel = 1 if channels_first(data_format) else n + 1

    def op(split: Tensor, _: int, padding: str) -> Tensor:
        window = per_dimension(list(steps), n, channel, "strides")
        return convolve(n, split, filters, window, None, padding, data_format, name)

    out = with_space_to_batch(
        x, rates, padding, op, filter_shape=filters.shape, data_format=data_format
    )
    if channels_first(data_format) and out.shape.ndims is not None:
        out.set_shape([None, filters.shape[-1], *[None] * n])
    return out


def atrous_conv2d(
    value: Any, filters: Any, rate: int, padding: str, name: str | None = None
) -> Tensor:
    """conv2d with gaps of `rate` in the filter."""
    return convolution(
        value, filters, padding, dilation_rate=np.broadcast_to(rate, (2,)), name=name
    )


def atrous_conv2d_transpose(
    value: Any, filters: Any, output_shape: Any, rate: int, padding: str, name: str | None = None
) -> Tensor:
    """atrous_conv2d turned round. Raises ValueError for shapes that do not fit."""
    with name_scope(name, "atrous_conv2d_transpose", [value, filters, output_shape]):
        value = to_tensor(value, name="value")
        filters = to_tensor(filters, name="filters")
        _check_channels(value, filters, output_shape, rate)
        if rate == 1:
            return conv2d_transpose(value, filters, output_shape, [1, 1, 1, 1], padding)
        to_tensor(output_shape, name="output_shape").shape.assert_is_compatible_with([4])
        before, after = _dilated_padding(filters, rate, padding)
        sizes = [output_shape[1 + i] + before[i] + after[i] for i in range(2)]
        extra = [(rate - n % rate) % rate for n in sizes]
        split = array.space_to_batch(value, [[0, n] for n in extra], block_size=rate)
        split_sizes = [(n + e) // rate for n, e in zip(sizes, extra)]
        made = apply_op(
            "Conv2DBackpropInput",
            [rate * rate * output_shape[0], *split_sizes, output_shape[3]],
            filters, split, strides=[1, 1, 1, 1], padding="VALID", data_format="NHWC",
        )  # fmt: skip
        crops = [[b, a + e] for b, a, e in zip(before, after, extra)]
        return array.batch_to_space(made, crops, block_size=rate)


def _check_channels(value: Tensor, filters: Tensor, output_shape: Any, rate: int) -> None:
    if not value.shape[3].is_compatible_with(filters.shape[3]):
        raise ValueError(
            "value's input channels does not match filters' input channels, "
            f"{value.shape[3]} != {filters.shape[3]}"
        )
    if rate < 1:
        raise ValueError(f"rate {rate} cannot be less than one")
    known = isinstance(output_shape, (list, tuple, np.ndarray))
    if known and not filters.shape[2].is_compatible_with(output_shape[3]):
        raise ValueError(
            "output_shape does not match filter's output channels, "
            f"{output_shape[3]} != {filters.shape[2]}"
        )


def _dilated_padding(filters: Tensor, rate: int, padding: str) -> tuple[list[Any], list[Any]]:
    """What SAME padding adds on both sides of height and width for a filter with gaps."""
    if padding == "VALID":
        return [0, 0], [0, 0]
    if padding != "SAME":
        raise ValueError(f"padding must be either VALID or SAME: {padding}")
    known = filters.shape.is_fully_defined()
    sizes: Any = filters.shape.as_list() if known else array.shape(filters)
    reach = [sizes[i] + (sizes[i] - 1) * (rate - 1) - 1 for i in range(2)]
    before = [n // 2 for n in reach]
    return before, [n - b for n, b in zip(reach, before)]
