"""Tensors whose shape is checked: now as far as it is known, and in the run."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitf.convert import to_tensor
from minitf.default import control_dependencies, name_scope
from minitf.operation import Operation, Tensor
from minitf.ops import array, math
from minitf.ops.constant_value import is_tensor
from minitf.ops.debug import Assert
from minitf_runtime.types import int32


def with_same_shape(expected_tensor: Tensor, tensor: Tensor) -> Tensor:
    """The tensor, of the other one's shape. Raises ValueError as with_shape."""
    with name_scope(f"{tensor.op.name}/", values=[expected_tensor, tensor]):
        shape = expected_tensor.shape
        if shape.is_fully_defined():
            return with_shape(shape.as_list(), tensor)
        return with_shape(array.shape(expected_tensor, name="expected_shape"), tensor)


def with_shape(expected_shape: Any, tensor: Tensor) -> Tensor:
    """The tensor, of that shape; one element becomes a scalar if that is expected.

    Raises ValueError for a shape that is known to be another one, or is no vector of int32.
    """
    known = not is_tensor(expected_shape)
    if known:
        expected_shape = np.asarray(expected_shape, None if len(expected_shape) else int)
        if expected_shape.dtype == np.int64:
            expected_shape = expected_shape.astype(np.int32)
    _check_expected(expected_shape, known, tensor)
    actual = tensor.shape
    scalar = known and not len(expected_shape)
    if not known or not actual.is_fully_defined():
        with name_scope(f"{tensor.op.name}/", values=[tensor]):
            if scalar:
                return array.reshape(tensor, [])
            with control_dependencies([_assert_shape(expected_shape, tensor)]):
                result = array.identity(tensor)
            if known:
                result.set_shape(expected_shape)
            return result
    if not actual.is_compatible_with(expected_shape):
        if scalar and actual.is_compatible_with([1]):
            with name_scope(f"{tensor.op.name}/", values=[tensor]):
                return array.reshape(tensor, [])
        raise ValueError(
            f"Invalid shape for tensor {tensor.name}, expected {expected_shape}, got {actual}."
        )
    return tensor


def _check_expected(shape: Any, known: bool, tensor: Tensor) -> None:
    if known and shape.ndim > 1:
        raise ValueError(
            f"Invalid rank {shape.ndim} for shape {shape} expected of tensor {tensor.name}."
        )
    if (shape.dtype != np.int32) if known else (shape.dtype.base is not int32):
        raise ValueError(
            f"Invalid dtype {shape.dtype} for shape {shape} expected of tensor {tensor.name}."
        )


def _assert_shape(expected: Any, tensor: Tensor) -> Operation:
    with name_scope(None, "assert_shape", [tensor]) as scope:
        actual = array.shape(tensor, name="actual")
        text = f"Wrong shape for {tensor.name} [expected] [actual]."
        return Assert(_is_shape(expected, tensor, actual), [text, expected, actual], name=scope)


def _is_shape(expected: Any, tensor: Tensor, actual: Tensor) -> Tensor:
    with name_scope(None, "is_shape", [tensor]) as scope:
        size = array.size(expected)
        with name_scope(None, "is_rank", [tensor]) as rank_scope:
            expected_rank = to_tensor(size, name="expected")
            rank = array.rank(tensor, name="actual")
            same_rank = math.equal(expected_rank, rank, name=rank_scope)
        with name_scope(None, "shape_tensor_equal", [expected, actual]) as equal_scope:
            free = math.equal(expected, -1)
            equal = math.equal(expected, actual, "equal")
            either = math.logical_or(free, equal, name="exclude_partial_shape")
            fits = math.reduce_all(either, name=equal_scope)
        return math.logical_and(same_rank, fits, name=scope)
