"""SparseTensor: values of a tensor with their indices. Its ops are in ops/sparse.py."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass
from typing import Any

from minitf.convert import to_tensor
from minitf.default import name_scope
from minitf.graph import Graph
from minitf.operation import Operation, Tensor
from minitf.ops.constant_value import constant_value_as_shape
from minitf.tensor_shape import TensorShape
from minitf_runtime.types import DType, as_dtype, float32, int64

SparseTensorValue = namedtuple("SparseTensorValue", ["indices", "values", "dense_shape"])


class SparseTensor:
    """`values` [n] at `indices` [n, rank] of a tensor of shape `dense_shape` (TF: the same)."""

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        with name_scope(None, "SparseTensor", [indices, values, dense_shape]):
            self.indices: Tensor = to_tensor(indices, int64, name="indices")
            self.values: Tensor = to_tensor(values, name="values")
            self.dense_shape: Tensor = to_tensor(dense_shape, int64, name="dense_shape")
        places = self.indices.shape.with_rank(2)
        count = self.values.shape.with_rank(1)
        sizes = self.dense_shape.shape.with_rank(1)
        places[0].merge_with(count[0])
        places[1].merge_with(sizes[0])

    @classmethod
    def from_value(cls, value: Any) -> SparseTensor:
        """A SparseTensor of a SparseTensorValue (or of itself). Raises TypeError."""
        if isinstance(value, cls):
            return value
        if isinstance(value, SparseTensorValue):
            return cls(*value)
        raise TypeError(f"Neither a SparseTensor nor SparseTensorValue: {value}.")

    @property
    def op(self) -> Operation:
        return self.values.op

    @property
    def name(self) -> str:
        return self.values.name

    @property
    def dtype(self) -> DType:
        return self.values.dtype

    @property
    def graph(self) -> Graph:
        return self.indices.graph

    @property
    def shape(self) -> TensorShape:
        """The static shape that `dense_shape` tells."""
        return constant_value_as_shape(self.dense_shape)

    def get_shape(self) -> TensorShape:
        return self.shape

    def eval(self, feed_dict: Any = None, session: Any = None) -> SparseTensorValue:
        """The value in `session` or in the default session."""
        parts = self.graph.session_for(session, "eval").run(self._components(), feed_dict)
        return SparseTensorValue(*parts)

    def _components(self) -> list[Tensor]:
        return [self.indices, self.values, self.dense_shape]

    def _from_components(self, parts: list[Any]) -> SparseTensor:
        return SparseTensor(*parts)

    def __str__(self) -> str:
        return (
            f"SparseTensor(indices={self.indices}, values={self.values}, "
            f"dense_shape={self.dense_shape})"
        )


@dataclass(frozen=True, init=False, repr=False)
class SparseTensorSpec:
    """What a sparse tensor must be (TF: SparseTensorSpec)."""

    shape: TensorShape
    dtype: DType

    def __init__(self, shape: Any = None, dtype: Any = float32) -> None:
        object.__setattr__(self, "shape", TensorShape(shape))
        object.__setattr__(self, "dtype", as_dtype(dtype))

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether another spec, or a sparse tensor, has this type and may have this shape."""
        other = spec_or_value
        if not isinstance(other, (SparseTensorSpec, SparseTensor)):
            return False
        return self.dtype is other.dtype and self.shape.is_compatible_with(other.shape)

    def __repr__(self) -> str:
        return f"SparseTensorSpec({self.shape!r}, {self.dtype!r})"


def is_sparse(value: Any) -> bool:
    return isinstance(value, (SparseTensor, SparseTensorValue))


def convert_to_tensor_or_sparse_tensor(
    value: Any, dtype: Any = None, name: str | None = None
) -> Tensor | SparseTensor:
    """A SparseTensor for sparse values, else a Tensor (TF: the same)."""
    if not is_sparse(value):
        return to_tensor(value, dtype, name)
    sparse = SparseTensor.from_value(value)
    if dtype is not None and not as_dtype(dtype).is_compatible_with(sparse.dtype):
        raise RuntimeError(
            f"Sparse dtype: requested = {as_dtype(dtype).name}, actual = {sparse.dtype.name}"
        )
    return sparse
