"""confusion_matrix: how often each label was predicted as each class."""

from __future__ import annotations

from typing import Any

from minitf.convert import to_tensor
from minitf.default import name_scope
from minitf.operation import Tensor
from minitf.ops import array, check
from minitf.ops.apply import apply_op
from minitf.ops.elementwise import cast, maximum
from minitf.ops.group import with_dependencies
from minitf.ops.reduction import reduce_max
from minitf.ops.weights import remove_squeezable_dimensions
from minitf.sparse_tensor import SparseTensor
from minitf_runtime.types import as_dtype, int32, int64

__all__ = ["confusion_matrix"]


def confusion_matrix(
    labels: Any,
    predictions: Any,
    num_classes: Any = None,
    dtype: Any = int32,
    name: str | None = None,
    weights: Any = None,
) -> Tensor:
    """How often (or with what weight) each label (rows) was predicted as each class (columns)."""
    with name_scope(name, "confusion_matrix", [predictions, labels, num_classes, weights]):
        labels, predictions = remove_squeezable_dimensions(
            to_tensor(labels, name="labels"), to_tensor(predictions, name="predictions")
        )
        predictions = cast(predictions, int64)
        labels = cast(labels, int64)
        labels = _non_negative(labels, "labels")
        predictions = _non_negative(predictions, "predictions")
        if num_classes is None:
            num_classes = maximum(reduce_max(predictions), reduce_max(labels)) + 1
        else:
            bound = cast(num_classes, int64)
            labels = _below(labels, bound, "labels")
            predictions = _below(predictions, bound, "predictions")
        if weights is not None:
            weights = to_tensor(weights, name="weights")
            predictions.shape.assert_is_compatible_with(weights.shape)
            weights = cast(weights, dtype)
        shape = array.stack([num_classes, num_classes])
        places = array.stack([labels, predictions], axis=1)
        values = array.ones_like(predictions, dtype) if weights is None else weights
        counted = SparseTensor(indices=places, values=values, dense_shape=cast(shape, int64))
        zeros = array.zeros(cast(shape, int32), as_dtype(dtype))
        return apply_op(
            "SparseTensorDenseAdd", counted.indices, counted.values, counted.dense_shape, zeros
        )


def _non_negative(x: Tensor, what: str) -> Tensor:
    message = f"`{what}` contains negative values"
    return with_dependencies([check.assert_non_negative(x, message=message)], x)


def _below(x: Tensor, bound: Tensor, what: str) -> Tensor:
    return with_dependencies([check.assert_less(x, bound, message=f"`{what}` out of bound")], x)
