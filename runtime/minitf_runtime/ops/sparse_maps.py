"""Sparse tensors kept under handles, so that a queue can hold them: SparseTensorsMap."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from minitf_runtime.errors import invalid
from minitf_runtime.ops import dims
from minitf_runtime.ops.registry import ShapeContext, Type, kernel, op
from minitf_runtime.ops.sparse import check_inside, triple
from minitf_runtime.types import DType, Shape, as_dtype, c_name, show_shape

_SHARED: dict[str, Any] = dict(container="", shared_name="", stateful=True)
_PARTS = "sparse_indices: int64, sparse_values: T, sparse_shape: int64"
Sparse = tuple[Any, Any, Any]  # indices, values, dense shape


class SparseTensorsMap:
    """Sparse tensors by handle; each is taken once."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._lock = threading.Lock()
        self._kept: dict[int, Sparse] = {}
        self._next = 0

    def add(self, tensors: Sequence[Sparse]) -> list[int]:
        with self._lock:
            handles = list(range(self._next, self._next + len(tensors)))
            self._next += len(tensors)
            self._kept.update(zip(handles, tensors))
            return handles

    def take(self, handles: Sequence[int]) -> list[Sparse]:
        """Raises InvalidArgumentError for a handle that is not there (any more)."""
        with self._lock:
            for handle in handles:
                if handle not in self._kept:
                    raise invalid(f"Unable to find SparseTensor: {handle} in map: {self.name}")
            return [self._kept.pop(handle) for handle in handles]


def _map(node: Any) -> SparseTensorsMap:
    """The map of that shared name, else of the op's own name (also where another op asks)."""
    name = node.attrs["shared_name"] or node.name
    container = node.attrs["container"]
    made = node.resources.lookup_or_create(
        container, "sparse tensors map", name, lambda: SparseTensorsMap(name)
    )
    return made  # type: ignore[no-any-return]


def check_parts(indices: Any, values: Any, shape: Any) -> None:
    """Raises InvalidArgumentError for arrays that are no sparse tensor."""
    for part, what, rank in ((indices, "indices", 2), (values, "values", 1), (shape, "shape", 1)):
        if part.ndim != rank:
            form = "matrix" if rank == 2 else "vector"
            raise invalid(
                f"Input {what} should be a {form} but received shape {show_shape(part.shape)}"
            )
    if len(indices) != len(values):
        raise invalid(
            "indices and values rows (indexing dimension) must match. (indices = "
            f"{len(indices)}, values = {len(values)})"
        )
    if indices.shape[1] != len(shape):
        raise invalid("Order length must be SparseTensor rank.")


def rows_of(indices: Any, values: Any, shape: Any) -> list[Sparse]:
    """A batch cut into the sparse tensors of its rows. Raises InvalidArgumentError."""
    check_parts(indices, values, shape)
    if len(shape) < 2:
        raise invalid(f"Rank of input SparseTensor should be > 1, but saw rank: {len(shape)}")
    check_inside(indices, shape.tolist(), ordered=True)
    rows = indices[:, 0]
    ends = np.searchsorted(rows, np.arange(int(shape[0]) + 1))
    return [(indices[a:b, 1:], values[a:b], shape[1:]) for a, b in zip(ends, ends[1:])]


def stacked(tensors: Sequence[Sparse], dtype: DType) -> Sparse:
    """Sparse tensors of one rank and type as a batch. Raises InvalidArgumentError."""
    first = tensors[0][2]
    for i, (_, values, shape) in enumerate(tensors):
        found = _dtype_of(values)
        if found is not dtype:
            raise invalid(
                f"Requested SparseTensor of type {c_name(dtype)} but "
                f"SparseTensor[{i}].values.dtype() == {c_name(found)}"
            )
        if len(shape) != len(first):
            raise invalid(
                f"Inconsistent rank across SparseTensors: rank prior to SparseTensor[{i}] was: "
                f"{len(first) + 1} but rank of SparseTensor[{i}] is: {len(shape) + 1}"
            )
    rows = np.repeat(np.arange(len(tensors)), [len(values) for _, values, _ in tensors])
    inner = np.concatenate([indices for indices, _, _ in tensors])
    indices = np.column_stack([rows, inner]).astype(np.int64)
    values = np.concatenate([values for _, values, _ in tensors])
    largest = np.max([shape for _, _, shape in tensors], axis=0)
    return indices, values, np.concatenate([[len(tensors)], largest]).astype(np.int64)


def _dtype_of(values: Any) -> DType:
    return as_dtype("string" if values.dtype == object else values.dtype)


@op("AddSparseToTensorsMap", f"{_PARTS} -> sparse_handle: int64", T=Type(), **_SHARED)
def add_sparse_shape(c: ShapeContext) -> list[Shape]:
    """Keeps a sparse tensor; its handle."""
    triple(c, 0)
    return [()]


@kernel("AddSparseToTensorsMap")
def add_sparse(xp: Any, indices: Any, values: Any, shape: Any, *, node: Any) -> Any:
    check_parts(indices, values, shape)
    return np.int64(_map(node).add([(indices, values, shape)])[0])


@op("AddManySparseToTensorsMap", f"{_PARTS} -> sparse_handles: int64", T=Type(), **_SHARED)
def add_many_sparse_shape(c: ShapeContext) -> list[Shape]:
    """Keeps each row of a batch; their handles."""
    triple(c, 0)
    return [(None,)]


@kernel("AddManySparseToTensorsMap")
def add_many_sparse(xp: Any, indices: Any, values: Any, shape: Any, *, node: Any) -> Any:
    return np.array(_map(node).add(rows_of(indices, values, shape)), np.int64)


@op(
    "TakeManySparseFromTensorsMap",
    "sparse_handles: int64 -> sparse_indices: int64, sparse_values: dtype, sparse_shape: int64",
    dtype=Type(),
    **_SHARED,
)
def take_many_sparse_shape(c: ShapeContext) -> list[Shape]:
    """The sparse tensors of the handles as a batch, in that order; the handles end."""
    dims.with_rank(c.shape(0), 1)
    return [(None, None), (None,), (None,)]


@kernel("TakeManySparseFromTensorsMap")
def take_many_sparse(xp: Any, handles: Any, *, dtype: Any, node: Any) -> Any:
    if handles.ndim != 1:
        raise invalid(
            f"sparse_handles should be a vector but received shape {show_shape(handles.shape)}"
        )
    if not len(handles):
        raise invalid("Must have at least 1 serialized SparseTensor, but input matrix has 0 rows")
    return stacked(_map(node).take(handles.tolist()), dtype)
