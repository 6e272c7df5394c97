"""What convolution and pooling share: numbers per dimension, paddings, gaps in the window."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitf.convert import to_tensor
from minitf.operation import Tensor
from minitf.ops import array
from minitf.ops.apply import apply_op
from minitf.ops.constant_value import constant_value
from minitf.tensor_shape import TensorShape
from minitf_runtime.types import int32


def channels_first(data_format: str | None) -> bool:
    return data_format is not None and data_format.startswith("NC")


def per_dimension(value: Any, n: int, channel_index: int, name: str) -> list[Any]:
    """One number, n numbers or n + 2 numbers, as one for each of n + 2 dimensions."""
    if value is None:
        value = [1]
    elif not hasattr(value, "__len__"):
        value = [value]
    size = len(value)
    if size == n + 2:
        return value  # type: ignore[no-any-return]
    if size == 1:
        value = [value[0]] * n
    elif size != n:
        raise ValueError(f"{name} should be of length 1, {n} or {n + 2} but was {size}")
    return [1, 1, *value] if channel_index == 1 else [1, *value, 1]


def explicit_padding(padding: Any) -> tuple[Any, list[int]]:
    """The op's two attributes for `padding`, which may be a list of pairs. Raises ValueError."""
    if padding == "EXPLICIT":
        raise ValueError(
            '"EXPLICIT" is not a valid value for the padding parameter. To use explicit padding, '
            "the padding parameter must be a list."
        )
    if not isinstance(padding, (list, tuple)):
        return padding, []
    prefix = "When padding is a list, "
    each = f"{prefix}each element of padding must be a list/tuple of size 2. Element with index"
    for i, pair in enumerate(padding):
        if not isinstance(pair, (list, tuple)):
            raise ValueError(f"{each} {i} of padding is not a list/tuple")
        if len(pair) != 2:
            raise ValueError(f"{each} {i} of padding has size {len(pair)}")
    if len(padding) != 4:
        raise ValueError(f"{prefix}it must be of size 4. Got padding of size: {len(padding)}")
    return "EXPLICIT", [n for pair in padding for n in pair]


def strides_and_dilations(
    n: int, strides: Any, dilations: Any
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Both for n spatial dimensions. Raises ValueError when they do not go together."""
    if dilations is not None and len(dilations) != n:
        raise ValueError(f"len(dilation_rate)={len(dilations)} but should be {n}")
    if strides is not None and len(strides) != n:
        raise ValueError(f"len(strides)={len(strides)} but should be {n}")
    rates = np.array([1] * n if dilations is None else dilations, np.int32)
    steps = np.array([1] * n if strides is None else strides, np.int32)
    if np.any(rates < 1):
        raise ValueError("all values of dilation_rate must be positive")
    if np.any(steps < 1):
        raise ValueError("all values of strides must be positive")
    if np.any(steps > 1) and np.any(rates > 1):
        raise ValueError("strides > 1 not supported in conjunction with dilation_rate > 1")
    return steps, rates


def with_space_to_batch(
    input: Any,  # noqa: A002
    dilation_rate: Any,
    padding: str,
    op: Callable[[Tensor, int, str], Tensor],
    filter_shape: Any = None,
    spatial_dims: Sequence[int] | None = None,
    data_format: str | None = None,
) -> Tensor:
    """op(input, spatial dimensions, padding) as if its windows had gaps of `dilation_rate`.

    The gaps become batches before the op, and space again after it. Raises ValueError.
    """
    x = to_tensor(input, name="input")
    run = gaps_as_batches(
        x.shape, dilation_rate, padding, op, filter_shape, spatial_dims, data_format
    )
    return run(x)


def gaps_as_batches(
    shape: TensorShape,
    dilation_rate: Any,
    padding: str,
    op: Callable[[Tensor, int, str], Tensor],
    filter_shape: Any = None,
    spatial_dims: Sequence[int] | None = None,
    data_format: str | None = None,
) -> Callable[[Tensor], Tensor]:
    """with_space_to_batch for inputs of a shape, prepared once and called for each input."""
    rate = to_tensor(dilation_rate, int32, name="dilation_rate")
    if rate.shape.ndims != 1:
        raise ValueError("rate must be rank 1")
    n = rate.shape.dims[0].value  # type: ignore[index]
    if n is None:
        raise ValueError("rate must have known shape")
    first = 2 if channels_first(data_format) else 1
    axes = _spatial_dims(shape, n, first, spatial_dims, data_format)
    known = constant_value(rate)
    if known is not None:
        if np.any(known < 1):
            raise ValueError("dilation_rate must be positive")
        if np.all(known == 1):
            return lambda x: op(x, n, padding)
    base = _base_paddings(padding, filter_shape, n, rate if known is None else known)

    def run(x: Tensor) -> Tensor:
        paddings, crops = array.required_space_to_batch_paddings(
            input_shape=_sizes(x, axes), base_paddings=base, block_shape=rate
        )
        block = _spread(rate, 1, axes)
        paddings = _spread(paddings, 0, axes)
        crops = _spread(crops, 0, axes)
        split = apply_op("SpaceToBatchND", x, block, paddings)
        result = op(split, n, "VALID")
        return apply_op("BatchToSpaceND", result, block, crops)  # type: ignore[no-any-return]

    return run


def _spatial_dims(
    shape: TensorShape, n: int, first: int, asked: Sequence[int] | None, data_format: str | None
) -> list[int]:
    given = list(range(first, first + n) if asked is None else asked)
    axes = sorted({int(a) for a in given})
    if axes != given or axes[0] < 1:
        raise ValueError(
            "spatial_dims must be a montonically increasing sequence of positive integers"
        )
    rank = axes[-1] if channels_first(data_format) else axes[-1] + 1
    try:
        shape.with_rank_at_least(rank)
    except ValueError:
        raise ValueError(f"input tensor must have rank {rank} at least") from None
    return axes


def _base_paddings(padding: str, filter_shape: Any, n: int, rate: Any) -> Any:
    """The padding that the op itself would have made, before dilation: [n, 2]."""
    if padding == "VALID":
        return np.zeros([n, 2], np.int32)
    if padding != "SAME":
        raise ValueError(f"Invalid padding method {padding!r}")
    if filter_shape is None:
        raise ValueError("filter_shape must be specified for SAME padding")
    sizes = to_tensor(filter_shape, name="filter_shape")
    known = constant_value(sizes)
    window = (sizes if known is None else known)[:n]
    extra = window + (window - 1) * (rate - 1) - 1
    before = extra // 2
    after = extra - before
    return array.stack([[before[i], after[i]] for i in range(n)])


def _sizes(x: Tensor, axes: list[int]) -> Any:
    shape = x._shape_tuple
    if shape is not None and all(shape[a] is not None for a in axes):
        return [shape[a] for a in axes]
    sizes = array.shape(x)
    return array.stack([sizes[a] for a in axes])


def _spread(rows: Tensor, fill: int, axes: list[int]) -> Any:
    """Rows for some axes as rows for all axes from 1 on, `fill` for the others."""
    known = constant_value(rows)
    values: Any = rows if known is None else known
    rest = rows._shape_tuple[1:]  # type: ignore[index]
    parts: list[Any] = []
    done = i = 0
    while i < len(axes):
        start = i
        if axes[i] > 1:
            parts.append(np.full([axes[i] - 1 - done, *rest], fill, rows.dtype.as_numpy_dtype))
        while i + 1 < len(axes) and axes[i + 1] == axes[i] + 1:
            i += 1
        parts.append(values[start : i + 1])
        done = axes[i]
        i += 1
    return array.concat(parts, 0) if known is None else np.concatenate(parts)
