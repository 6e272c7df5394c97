"""What the elements of a dataset are: a nested structure of specs, each of some flat tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from minitf.convert import dtype_of, to_array, to_tensor
from minitf.data import nest
from minitf.default import name_scope
from minitf.operation import Tensor
from minitf.ops.apply import apply_op
from minitf.sparse_tensor import SparseTensor, SparseTensorSpec, is_sparse
from minitf.tensor_shape import TensorShape
from minitf.tensor_spec import TensorSpec
from minitf_runtime.types import DType, as_dtype, variant


@dataclass(frozen=True)
class DatasetSpec:
    """A component that is a dataset itself (TF: DatasetSpec)."""

    element_spec: Any

    def __repr__(self) -> str:
        return f"DatasetSpec({self.element_spec!r}, TensorShape([]))"


class Structured:
    """What a dataset and an iterator tell of their elements, whose specs are `_spec`."""

    _spec: Any

    @property
    def element_spec(self) -> Any:
        return self._spec

    @property
    def output_types(self) -> Any:
        return types_of(self._spec)

    @property
    def output_shapes(self) -> Any:
        return shapes_of(self._spec)

    @property
    def output_classes(self) -> Any:
        return classes_of(self._spec)


def is_dense(spec: Any) -> bool:
    """Whether a component is a tensor; a dataset and a sparse tensor are put in one first."""
    return isinstance(spec, TensorSpec)


def spec_of(value: Any) -> Any:
    """The structure of specs of an element. Raises TypeError for what no component can be."""
    return nest.map_structure(_spec_of, value)


def _spec_of(value: Any) -> Any:
    element_spec = getattr(value, "element_spec", None)
    if element_spec is not None:
        return DatasetSpec(element_spec)
    if is_sparse(value):
        sparse = SparseTensor.from_value(value)
        return SparseTensorSpec(sparse.shape, sparse.dtype)
    if isinstance(value, np.ndarray):
        return TensorSpec(value.shape, dtype_of(to_array(value)))
    tensor = to_tensor(value)
    return TensorSpec(tensor.shape, tensor.dtype.base)


def to_tensors(spec: Any, value: Any) -> list[Tensor]:
    """The flat tensors of an element."""
    return [_to_tensor(s, v) for s, v in zip(nest.flatten(spec), nest.flatten(value))]


def _to_tensor(spec: Any, value: Any) -> Tensor:
    if isinstance(spec, DatasetSpec):
        return value._variant_tensor  # type: ignore[no-any-return]
    return _boxed("SerializeSparse", value) if is_sparse(value) else to_tensor(value)


def _boxed(op: str, value: Any) -> Tensor:
    """A sparse tensor, or the rows of one, as values of a tensor."""
    sparse = SparseTensor.from_value(value)
    parts = sparse.indices, sparse.values, sparse.dense_shape
    return apply_op(op, *parts, out_type=variant)  # type: ignore[no-any-return]


def to_batched_tensors(spec: Any, value: Any) -> list[Tensor]:
    """The flat tensors of an element whose first dimension is that of a batch.

    Raises ValueError for a scalar.
    """
    pairs = zip(nest.flatten(spec), nest.flatten(value))
    return [_to_batched_tensor(s, v) for s, v in pairs]


def _to_batched_tensor(spec: Any, value: Any) -> Tensor:
    if is_sparse(value):
        if spec.shape.ndims == 0:
            raise ValueError("Unbatching a sparse tensor is only supported for rank >= 1")
        return _boxed("SerializeManySparse", value)
    tensor = _to_tensor(spec, value)
    if tensor.shape.ndims == 0:
        raise ValueError(f"Value {tensor} has insufficient rank for batching.")
    return tensor


def from_tensors(spec: Any, tensors: Sequence[Tensor]) -> Any:
    """The element that flat tensors are."""
    parts = [_from_tensor(s, t) for s, t in zip(nest.flatten(spec), tensors)]
    return nest.pack_sequence_as(spec, parts)


def _from_tensor(spec: Any, tensor: Tensor) -> Any:
    if isinstance(spec, DatasetSpec):
        from minitf.data.dataset import DatasetV1Adapter  # a dataset within another

        return DatasetV1Adapter(tensor, spec.element_spec)
    if isinstance(spec, SparseTensorSpec):
        indices, values, dense_shape = apply_op("DeserializeSparse", tensor, dtype=spec.dtype)
        indices.set_shape([None, spec.shape.ndims])
        dense_shape.set_shape([spec.shape.ndims])
        return SparseTensor(indices, values, dense_shape)
    tensor.set_shape(spec.shape)
    return tensor


def flat_types(spec: Any) -> list[DType]:
    return [s.dtype if is_dense(s) else variant for s in nest.flatten(spec)]


def flat_shapes(spec: Any) -> list[TensorShape]:
    return [_flat_shape(s) for s in nest.flatten(spec)]


def _flat_shape(spec: Any) -> TensorShape:
    if is_dense(spec):
        return spec.shape  # type: ignore[no-any-return]
    return TensorShape(() if isinstance(spec, DatasetSpec) else None)


def outputs(spec: Any) -> dict[str, Any]:
    """The attributes of a dataset op that tell its elements."""
    return {"output_shapes": flat_shapes(spec), "output_types": flat_types(spec)}


def normalized(element: Any) -> Any:
    """An element with its components made tensors (TF: normalize_element)."""
    with name_scope("normalize_element"):
        parts = [
            _normalized(part, f"component_{i}") for i, part in enumerate(nest.flatten(element))
        ]
    return nest.pack_sequence_as(element, parts)


def _normalized(part: Any, name: str) -> Any:
    if hasattr(part, "element_spec"):
        return part
    return SparseTensor.from_value(part) if is_sparse(part) else to_tensor(part, name=name)


def batched(spec: Any, size: int | None) -> Any:
    """The structure of a batch of elements."""
    return nest.map_structure(lambda s: shaped(s, TensorShape([size]).concatenate(s.shape)), spec)


def shaped(spec: Any, shape: Any) -> Any:
    """The spec of a tensor of the same kind and another shape."""
    return type(spec)(shape, spec.dtype)


def unbatched(spec: Any) -> Any:
    """The structure of the rows of elements. Raises ValueError for scalars."""
    return nest.map_structure(_unbatched, spec)


def _unbatched(spec: Any) -> Any:
    if spec.shape.ndims == 0:
        raise ValueError("Unbatching a tensor is only supported for rank >= 1")
    return shaped(spec, spec.shape[1:])


def widened(first: Any, second: Any) -> Any:
    """The structure that has room for elements of both; types must agree."""
    return nest.map_structure(lambda a, b: shaped(a, common_shape(a.shape, b.shape)), first, second)


def common_shape(a: TensorShape, b: TensorShape) -> TensorShape:
    """What is known of a shape that may be either (TF: most_specific_compatible_shape)."""
    if a.ndims is None or a.ndims != b.ndims:
        return TensorShape(None)
    return TensorShape([m if m == n else None for m, n in zip(a.as_list(), b.as_list())])


def of_legacy(types: Any, shapes: Any, classes: Any = None) -> Any:
    """The structure of specs for nested types, shapes (None: unknown) and classes (tensors)."""
    types = nest.map_structure(as_dtype, types)
    if shapes is None:
        shapes = nest.map_structure(lambda _: TensorShape(None), types)
    if classes is None:
        classes = nest.map_structure(lambda _: Tensor, types)
    shapes = nest.map_structure_up_to(types, TensorShape, shapes)
    return nest.map_structure_up_to(types, _of_legacy, types, shapes, classes)


def _of_legacy(dtype: DType, shape: TensorShape, kind: Any) -> Any:
    if isinstance(kind, DatasetSpec):
        return kind
    return SparseTensorSpec(shape, dtype) if kind is SparseTensor else TensorSpec(shape, dtype)


def types_of(spec: Any) -> Any:
    """The nested types (TF: output_types)."""
    return nest.map_structure(
        lambda s: types_of(s.element_spec) if isinstance(s, DatasetSpec) else s.dtype, spec
    )


def shapes_of(spec: Any) -> Any:
    return nest.map_structure(
        lambda s: shapes_of(s.element_spec) if isinstance(s, DatasetSpec) else s.shape, spec
    )


def classes_of(spec: Any) -> Any:
    return nest.map_structure(_class_of, spec)


def _class_of(spec: Any) -> Any:
    if isinstance(spec, DatasetSpec):
        return spec
    return Tensor if is_dense(spec) else SparseTensor
