"""Pooling of tf.nn: the largest or mean element of sliding windows."""

from __future__ import annotations

from collections.abc import Callable
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
    per_dimension,
    strides_and_dilations,
    with_space_to_batch,
)
from minitf_runtime.types import int64


def _apply(
    op_type: str,
    n: int,
    x: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str,
    name: Any,
) -> Tensor:
    """The op, with window and stride given per spatial dimension or for all."""
    channel = 1 if channels_first(data_format) else n + 1
    return apply_op(  # type: ignore[no-any-return]
        op_type,
        x,
        ksize=per_dimension(ksize, n, channel, "ksize"),
        strides=per_dimension(strides, n, channel, "strides"),
        padding=padding,
        data_format=data_format,
        name=name,
    )


def max_pool(
    value: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str | None = "NHWC",
    name: str | None = None,
    input: Any = None,  # noqa: A002
) -> Tensor:
    """The largest element of each window of images."""
    value = renamed("input", input, "value", value)
    with name_scope(name, "MaxPool", [value]) as name:
        if np.any(np.equal(ksize, 0)):
            raise ValueError("ksize cannot be zero.")
        return _apply("MaxPool", 2, value, ksize, strides, padding, data_format or "NHWC", name)


def avg_pool(
    value: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str | None = "NHWC",
    name: str | None = None,
    input: Any = None,  # noqa: A002
) -> Tensor:
    """The mean of each window of images; padding does not count."""
    with name_scope(name, "AvgPool", [value]) as name:
        value = renamed("input", input, "value", value)
        return _apply("AvgPool", 2, value, ksize, strides, padding, data_format or "NHWC", name)


def max_pool2d(
    input: Any,  # noqa: A002
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str | None = "NHWC",
    name: str | None = None,
) -> Tensor:
    """The largest element of each window of images."""
    with name_scope(name, "MaxPool2d", [input]) as name:
        return _apply("MaxPool", 2, input, ksize, strides, padding, data_format or "NHWC", name)


def _rows(op_type: str, scope: str, public: str, doc: str) -> Callable[..., Tensor]:
    def pool(
        input: Any,  # noqa: A002
        ksize: Any,
        strides: Any,
        padding: str,
        data_format: str | None = "NWC",
        name: str | None = None,
    ) -> Tensor:
        with name_scope(name, scope, [input]) as name:
            first = channels_first(data_format)
            channel, axis = (1, 2) if first else (2, 1)
            result = apply_op(
                op_type,
                array.expand_dims(input, axis),
                ksize=[1, *per_dimension(ksize, 1, channel, "ksize")],
                strides=[1, *per_dimension(strides, 1, channel, "strides")],
                padding=padding,
                data_format="NCHW" if first else "NHWC",
                name=name,
            )
            return array.squeeze(result, axis)

    return _named(pool, public, doc)


def _volumes(op_type: str, public: str, doc: str) -> Callable[..., Tensor]:
    def pool(
        input: Any,  # noqa: A002
        ksize: Any,
        strides: Any,
        padding: str,
        data_format: str | None = "NDHWC",
        name: str | None = None,
    ) -> Tensor:
        with name_scope(name, op_type, [input]) as name:
            return _apply(op_type, 3, input, ksize, strides, padding, data_format or "NDHWC", name)

    return _named(pool, public, doc)


def _named(fn: Callable[..., Tensor], name: str, doc: str) -> Callable[..., Tensor]:
    fn.__name__ = fn.__qualname__ = name
    fn.__doc__ = doc
    return fn


_LARGEST = "The largest element of each window of "
_MEAN = "The mean of each window of "
max_pool1d = _rows("MaxPool", "MaxPool1d", "max_pool1d", _LARGEST + "rows.")
max_pool3d = _volumes("MaxPool3D", "max_pool3d", _LARGEST + "volumes.")
avg_pool1d = _rows("AvgPool", "AvgPool1D", "avg_pool1d", _MEAN + "rows.")
avg_pool2d = avg_pool  # in 1.15 the new name gives the old function
avg_pool3d = _volumes("AvgPool3D", "avg_pool3d", _MEAN + "volumes.")


def _by_rank(
    rows: Callable[..., Tensor], kind: str, public: str, doc: str
) -> Callable[..., Tensor]:
    def pool(
        input: Any,  # noqa: A002
        ksize: Any,
        strides: Any,
        padding: str,
        data_format: str | None = None,
        name: str | None = None,
    ) -> Tensor:
        n = len(input.shape) - 2
        if not 1 <= n <= 3:
            raise ValueError(f"Input tensor must be of rank 3, 4 or 5 but was {n + 2}.")
        if n == 1:
            return rows(input, ksize, strides, padding, data_format or "NWC", name)
        op_type, layout = (kind, "NHWC") if n == 2 else (kind + "3D", "NDHWC")
        return _apply(op_type, n, input, ksize, strides, padding, data_format or layout, name)

    return _named(pool, public, doc)


max_pool_v2 = _by_rank(max_pool1d, "MaxPool", "max_pool_v2", _LARGEST + "any rank.")
avg_pool_v2 = _by_rank(avg_pool1d, "AvgPool", "avg_pool_v2", _MEAN + "any rank.")


def max_pool_with_argmax(
    input: Any,  # noqa: A002
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str = "NHWC",
    Targmax: Any = None,  # noqa: N803
    name: str | None = None,
    output_dtype: Any = None,
    include_batch_in_index: bool = False,
) -> Any:
    """The largest element of each window, and its flat place in the image (or batch)."""
    if data_format != "NHWC":
        raise ValueError("Data formats other than 'NHWC' are not yet supported")
    argmax_type = renamed("output_dtype", output_dtype, "Targmax", Targmax)
    return apply_op(
        "MaxPoolWithArgmax",
        input,
        ksize=ksize,
        strides=strides,
        padding=padding,
        Targmax=int64 if argmax_type is None else argmax_type,
        include_batch_in_index=include_batch_in_index,
        name=name,
    )


def pool(
    input: Any,  # noqa: A002
    window_shape: Any,
    pooling_type: str,
    padding: str,
    dilation_rate: Any = None,
    strides: Any = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: Any = None,
) -> Tensor:
    """Pooling ("MAX" or "AVG") of one to three dimensions, perhaps with gaps in the window."""
    dilation_rate = renamed("dilations", dilations, "dilation_rate", dilation_rate)
    with name_scope(name, f"{pooling_type.lower()}_pool", [input]) as scope:
        x = to_tensor(input, name="input")
        n = len(window_shape)
        if not 1 <= n <= 3:
            raise ValueError("It is required that 1 <= num_spatial_dims <= 3.")
        x.shape.with_rank(n + 2)
        steps, rates = strides_and_dilations(n, strides, dilation_rate)
        _check_pool(pooling_type, n, window_shape, steps, rates, padding)
        first = 2 if channels_first(data_format) else 1

        def op(split: Tensor, _: int, padding: str) -> Tensor:
            return _pool_once(
                pooling_type, split, list(window_shape), list(steps), padding, data_format, scope
            )

        return with_space_to_batch(
            x, rates, padding, op, spatial_dims=range(first, first + n), filter_shape=window_shape
        )


def _check_pool(
    pooling_type: str, n: int, window: Any, steps: Any, rates: Any, padding: str
) -> None:
    if padding == "SAME" and np.any(rates > 1):
        raise ValueError("pooling with SAME padding is not implemented for dilation_rate > 1")
    if np.any(steps > window):
        raise ValueError(
            "strides > window_shape not supported due to inconsistency between CPU and GPU "
            "implementations"
        )
    if pooling_type not in ("MAX", "AVG"):
        raise ValueError(f"{n}-D {pooling_type} pooling is not supported.")


def _pool_once(
    kind: str, x: Tensor, window: list[Any], steps: list[Any], padding: str,
    data_format: str | None, scope: str,
) -> Tensor:  # fmt: skip
    n = len(window)
    if n == 3:
        op = max_pool3d if kind == "MAX" else avg_pool3d
        return op(x, window, steps, padding, data_format, scope)
    op = max_pool if kind == "MAX" else avg_pool
    if n == 2:
        return op(x, window, steps, padding, data_format, scope)
    if data_format not in (None, "NWC", "NCW"):
        raise ValueError('data_format must be either "NWC" or "NCW".')
    axis, layout = (2, "NCHW") if data_format == "NCW" else (1, "NHWC")
    x = array.expand_dims(x, axis)
    out = op(x, [1, *window], [1, *steps], padding, layout, scope)
    return array.squeeze(out, [axis])
