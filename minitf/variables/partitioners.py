"""Who decides how a variable is cut into parts, and what an initializer is told of its part."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from minitf.tensor_shape import TensorShape
from minitf_runtime.types import DType, string

Partitioner = Callable[..., Sequence[int]]


class PartitionInfo:
    """Which part of the whole an initializer is asked for."""

    def __init__(self, full_shape: Sequence[int], var_offset: Sequence[int]) -> None:
        if len(var_offset) != len(full_shape):
            raise ValueError(
                f"Expected equal length, but `var_offset` is of length {len(var_offset)} while "
                f"full_shape is of length {len(full_shape)}."
            )
        if any(not 0 <= o < n for o, n in zip(var_offset, full_shape)):
            raise ValueError(
                f"Expected 0 <= offset < shape for var_offset={var_offset}, full_shape={full_shape}"
            )
        self.full_shape = full_shape
        self.var_offset = var_offset

    def single_offset(self, shape: Sequence[int]) -> int:
        """Where the part of this shape begins, along the axis that is cut."""
        axis = self.single_slice_dim(shape)
        return 0 if axis is None else self.var_offset[axis]

    def single_slice_dim(self, shape: Sequence[int]) -> int | None:
        """The one axis that is cut, if any. Raises ValueError if several are."""
        if len(shape) != len(self.full_shape):
            raise ValueError(
                f"Expected equal length, but received shape={shape} of length {len(shape)} while "
                f"self.full_shape={self.full_shape} is of length {len(self.full_shape)}."
            )
        for i, (offset, n, whole) in enumerate(zip(self.var_offset, shape, self.full_shape)):
            if offset + n > whole:
                raise ValueError(
                    f"With self.var_offset={self.var_offset}, a partition of shape={shape} would "
                    f"exceed self.full_shape={self.full_shape} in dimension {i}."
                )
        cut = [i for i, (n, whole) in enumerate(zip(shape, self.full_shape)) if n != whole]
        if len(cut) > 1:
            raise ValueError(
                f"Cannot use single_slice_dim() with shape={shape} and "
                f"self.full_shape={self.full_shape} since slice dim could be either dimension "
                f"{cut[0]} or {cut[1]}."
            )
        return cut[0] if cut else None


def fixed_size_partitioner(num_shards: int, axis: int = 0) -> Partitioner:
    """Cuts `axis` into that many parts."""

    def partitioner(shape: TensorShape, **_: Any) -> list[int]:
        return _cut(shape, axis, min(num_shards, shape.as_list()[axis] or 1))

    return partitioner


def min_max_variable_partitioner(
    max_partitions: int = 1,
    axis: int = 0,
    min_slice_size: int = 256 << 10,
    bytes_per_string_element: int = 16,
) -> Partitioner:
    """Cuts `axis` into at most `max_partitions` parts of at least `min_slice_size` bytes."""

    def partitioner(shape: TensorShape, dtype: DType) -> list[int]:
        if axis >= len(shape):
            raise ValueError(
                f"Can not partition variable along axis {axis} when shape is only {shape}"
            )
        size = bytes_per_string_element if dtype.base is string else dtype.size
        parts = math.ceil((shape.num_elements() or 0) * size / min_slice_size)
        return _cut(shape, axis, max(1, min(shape.as_list()[axis] or 1, max_partitions, parts)))

    return partitioner


def variable_axis_size_partitioner(
    max_shard_bytes: int,
    axis: int = 0,
    bytes_per_string_element: int = 16,
    max_shards: int | None = None,
) -> Partitioner:
    """Cuts `axis` into as few parts as keep each within `max_shard_bytes`."""
    if max_shard_bytes < 1 or bytes_per_string_element < 1:
        raise ValueError("Both max_shard_bytes and bytes_per_string_element must be positive.")
    if max_shards and max_shards < 1:
        raise ValueError("max_shards must be positive.")

    def partitioner(shape: TensorShape, dtype: DType) -> list[int]:
        if not isinstance(shape, TensorShape) or not shape.is_fully_defined():
            raise ValueError(f"shape is not fully defined: {shape}")
        length = shape.as_list()[axis] or 0
        size = bytes_per_string_element if dtype.base is string else dtype.size
        slice_bytes = (shape.num_elements() or 0) / max(length, 1) * size
        per_shard = max(1, math.floor(max_shard_bytes / slice_bytes)) if slice_bytes else length
        shards = math.ceil(length / max(per_shard, 1))
        return _cut(shape, axis, min(max_shards, shards) if max_shards else shards)

    return partitioner


def _cut(shape: TensorShape, axis: int, parts: int) -> list[int]:
    partitions = [1] * len(shape)
    partitions[axis] = parts
    return partitions


def call_partitioner(partitioner: Partitioner, shape: TensorShape, dtype: DType) -> Sequence[int]:
    """The number of parts of each axis. Raises ValueError unless at most one axis is cut."""
    if not shape.is_fully_defined():
        raise ValueError(
            f"Shape of a new partitioned variable must be fully defined, but instead was {shape}."
        )
    if len(shape) < 1:
        raise ValueError(f"A partitioned Variable must have rank at least 1, shape: {shape}")
    parts = partitioner(shape=shape, dtype=dtype)
    if not isinstance(parts, Sequence):
        raise ValueError(f"Partitioner must return a sequence, but saw: {parts}")
    if len(parts) != len(shape):
        raise ValueError(
            "Partitioner returned a partition list that does not match the Variable's rank: "
            f"{parts} vs. {shape}"
        )
    if any(p < 1 for p in parts):
        raise ValueError(f"Partitioner returned zero partitions for some axes: {parts}")
    if sum(p > 1 for p in parts) > 1:
        raise ValueError(
            f"Can only slice a variable along one dimension: shape: {shape}, partitioning: {parts}"
        )
    return parts


def cut_axis(partitions: Sequence[int]) -> tuple[int, int]:
    """The axis that is cut, and into how many parts."""
    return next(((axis, n) for axis, n in enumerate(partitions) if n > 1), (0, 1))


def parts_of(shape: Sequence[int], axis: int, count: int) -> Iterator[tuple[list[int], list[int]]]:
    """Offset and shape of each part; the first ones are larger if it does not come out even."""
    least, larger = divmod(shape[axis], count)
    offset = [0] * len(shape)
    for i in range(count):
        part = list(shape)
        part[axis] = least + (i < larger)
        yield list(offset), part
        offset[axis] += part[axis]
