"""Sparse tensors put into the elements of a tensor, three to each, as datasets hold them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minitf_runtime.errors import invalid
from minitf_runtime.ops import dims
from minitf_runtime.ops.registry import ShapeContext, Type, kernel, op
from minitf_runtime.ops.sparse import triple
from minitf_runtime.ops.sparse_maps import Sparse, check_parts, rows_of, stacked
from minitf_runtime.types import Shape, show_shape, variant

_PARTS = "sparse_indices: int64, sparse_values: T, sparse_shape: int64"
_BOXED: dict[str, Any] = dict(T=Type(), out_type=Type([variant], variant))


@op("SerializeSparse", f"{_PARTS} -> serialized_sparse: out_type", **_BOXED)
def serialize_sparse_shape(c: ShapeContext) -> list[Shape]:
    """A sparse tensor as a vector of its three parts."""
    triple(c, 0)
    return [(3,)]


@op("SerializeManySparse", f"{_PARTS} -> serialized_sparse: out_type", **_BOXED)
def serialize_many_sparse_shape(c: ShapeContext) -> list[Shape]:
    """The rows of a sparse tensor, each as its three parts."""
    triple(c, 0)
    return [(None, 3)]


@op(
    "DeserializeSparse",
    "serialized_sparse: Tserialized -> "
    "sparse_indices: int64, sparse_values: dtype, sparse_shape: int64",
    dtype=Type(),
    Tserialized=Type([variant]),
)
def deserialize_sparse_shape(c: ShapeContext) -> list[Shape]:
    """The sparse tensor of its parts; of several, the batch that they are."""
    shape = c.shape(0)
    if shape is not None:
        dims.merge_sizes(shape[-1] if shape else None, 3)
    return [(None, None), (None,), (None,)]


@kernel("SerializeSparse")
def serialize_sparse(xp: Any, indices: Any, values: Any, shape: Any) -> Any:
    check_parts(indices, values, shape)
    return _boxes([(indices, values, shape)])[0]


@kernel("SerializeManySparse")
def serialize_many_sparse(xp: Any, indices: Any, values: Any, shape: Any) -> Any:
    return _boxes(rows_of(indices, values, shape))


def _boxes(tensors: list[Sparse]) -> Any:
    made = np.empty((len(tensors), 3), object)
    for i, parts in enumerate(tensors):
        for k, part in enumerate(parts):
            made[i, k] = part
    return made


@kernel("DeserializeSparse")
def deserialize_sparse(xp: Any, boxes: Any, *, dtype: Any) -> Any:
    if not boxes.ndim or boxes.shape[-1] != 3:
        raise invalid(
            f"Serialized sparse should have 3 as the last dimension {show_shape(boxes.shape)}"
        )
    outer = boxes.shape[:-1]
    if not outer:
        return tuple(boxes)
    if not math.prod(outer):
        raise invalid("Must have at least 1 serialized SparseTensor, but input matrix has 0 rows")
    indices, values, shape = stacked([tuple(box) for box in boxes.reshape(-1, 3)], dtype)
    if len(outer) > 1:
        place = np.column_stack(np.unravel_index(indices[:, 0], outer))
        indices = np.concatenate([place, indices[:, 1:]], 1).astype(np.int64)
        shape = np.concatenate([outer, shape[1:]]).astype(np.int64)
    return indices, values, shape
