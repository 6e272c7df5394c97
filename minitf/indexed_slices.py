"""IndexedSlices: rows of a tensor with their indices, as gradients of gathers are, and its dense
form."""

from __future__ import annotations

import warnings
from collections import namedtuple
from typing import Any

from minitf.convert import register_tensor_conversion_function, to_tensor
from minitf.default import graph_of
from minitf.graph import Graph
from minitf.operation import Operation, Tensor
from minitf.ops.apply import apply_op
from minitf_runtime.types import DType, num_elements

__all__ = ["IndexedSlices", "convert_to_tensor_or_indexed_slices"]

LARGE_ELEMENTS = 100_000_000  # a dense form of so many elements is worth a warning

IndexedSlicesValue = namedtuple("IndexedSlicesValue", ["values", "indices", "dense_shape"])


class IndexedSlices:
    """Rows `values` of shape [n, ...] at `indices` of shape [n] of a larger tensor (TF: the
    same)."""

    def __init__(self, values: Any, indices: Any, dense_shape: Any = None) -> None:
        graph_of([values, indices, dense_shape])
        self.values = values
        self.indices = indices
        self.dense_shape = dense_shape

    @property
    def name(self) -> str:
        return self.values.name  # type: ignore[no-any-return]

    @property
    def device(self) -> str:
        return self.values.device  # type: ignore[no-any-return]

    @property
    def op(self) -> Operation:
        return self.values.op  # type: ignore[no-any-return]

    @property
    def dtype(self) -> DType:
        return self.values.dtype  # type: ignore[no-any-return]

    @property
    def graph(self) -> Graph:
        return self.values.graph  # type: ignore[no-any-return]

    def _components(self) -> list[Any]:
        parts = [self.values, self.indices]
        return parts if self.dense_shape is None else [*parts, self.dense_shape]

    def _from_components(self, parts: list[Any]) -> IndexedSlices:
        return IndexedSlices(*parts)

    def __neg__(self) -> IndexedSlices:
        return IndexedSlices(-self.values, self.indices, self.dense_shape)

    def __str__(self) -> str:
        shape = "" if self.dense_shape is None else f", dense_shape={self.dense_shape}"
        return f"IndexedSlices(indices={self.indices}, values={self.values}{shape})"


def convert_to_tensor_or_indexed_slices(value: Any, dtype: Any = None, name: Any = None) -> Any:
    """A Tensor, or the value itself if it is IndexedSlices (TF: the same)."""
    return tensor_or_slices(value, dtype, name)


def tensor_or_slices(
    value: Any, dtype: Any = None, name: Any = None, as_ref: bool = False
) -> Tensor | IndexedSlices:
    """convert_to_tensor_or_indexed_slices that may also hand out a variable's reference."""
    if not isinstance(value, IndexedSlices):
        return to_tensor(value, dtype, name, as_ref)
    if dtype is not None and value.dtype.base != dtype:
        raise ValueError(
            f"Tensor conversion requested dtype {dtype} for IndexedSlices with dtype {value.dtype}"
        )
    return value


def _to_dense(
    value: IndexedSlices, dtype: DType | None = None, name: Any = None, as_ref: bool = False
) -> Tensor:
    if dtype is not None and value.dtype.base is not dtype:
        raise ValueError(
            f"Tensor conversion requested dtype {dtype.name} for IndexedSlices with dtype "
            f"{value.dtype.name}"
        )
    if value.dense_shape is None:
        raise ValueError(
            f"Tensor conversion requested for IndexedSlices without dense_shape: {value}"
        )
    _warn_if_large(value)
    rows = value.dense_shape[0]
    return apply_op("UnsortedSegmentSum", value.values, value.indices, rows, name=name)  # type: ignore[no-any-return]


def _warn_if_large(value: IndexedSlices) -> None:
    shape = value.dense_shape
    sizes = shape.graph.static.shape_value(shape) if isinstance(shape, Tensor) else tuple(shape)
    count = num_elements(sizes)
    if count is None:
        warnings.warn(
            "Converting sparse IndexedSlices to a dense Tensor of unknown shape. "
            "This may consume a large amount of memory.",
            stacklevel=2,
        )
    elif count >= LARGE_ELEMENTS:
        warnings.warn(
            f"Converting sparse IndexedSlices to a dense Tensor with {count} elements. "
            "This may consume a large amount of memory.",
            stacklevel=2,
        )


register_tensor_conversion_function(IndexedSlices, _to_dense)
