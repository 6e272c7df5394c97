"""What the elements of a dataset are: a nested structure of specs, each of some flat tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from minitf.convert import to_tensor
from minitf.data import nest
from minitf.default import name_scope
from minitf.operation import Tensor
from minitf.tensor_shape import TensorShape
from minitf.tensor_spec import TensorSpec
from minitf_runtime.types import DType, as_dtype, variant


@dataclass(frozen=True)
class DatasetSpec:
    """A component that is a dataset itself (TF: DatasetSpec)."""

    element_spec: Any

    def __repr__(self) -> str:
        return f"DatasetSpec({self.element_spec!r}, TensorShape([]))"


Spec = TensorSpec | DatasetSpec


def spec_of(value: Any) -> Any:
    """The structure of specs of an element. Raises TypeError for what no component can be."""
    return nest.map_structure(_spec_of, value)


def _spec_of(value: Any) -> Spec:
    element_spec = getattr(value, "element_spec", None)
    if element_spec is not None:
        return DatasetSpec(element_spec)
    tensor = to_tensor(value)
    return TensorSpec(tensor.shape, tensor.dtype.base)


def to_tensors(spec: Any, value: Any) -> list[Tensor]:
    """The flat tensors of an element."""
    pairs = zip(nest.flatten(spec), nest.flatten(value))
    return [v._variant_tensor if isinstance(s, DatasetSpec) else to_tensor(v) for s, v in pairs]


def to_batched_tensors(spec: Any, value: Any) -> list[Tensor]:
    """The flat tensors of an element whose first dimension is that of a batch.

    Raises ValueError for a scalar.
    """
    tensors = to_tensors(spec, value)
    for t in tensors:
        if t.shape.ndims == 0:
            raise ValueError(f"Value {t} has insufficient rank for batching.")
    return tensors


def from_tensors(spec: Any, tensors: Sequence[Tensor]) -> Any:
    """The element that flat tensors are."""
    left = iter(tensors)
    parts = [_from_tensors(s, list(islice(left, 1))) for s in nest.flatten(spec)]
    return nest.pack_sequence_as(spec, parts)


def _from_tensors(spec: Spec, tensors: Sequence[Tensor]) -> Any:
    if isinstance(spec, DatasetSpec):
        from minitf.data.dataset import DatasetV1Adapter  # a dataset within another

        return DatasetV1Adapter(tensors[0], spec.element_spec)
    tensors[0].set_shape(spec.shape)
    return tensors[0]


def flat_types(spec: Any) -> list[DType]:
    return [variant if isinstance(s, DatasetSpec) else s.dtype for s in nest.flatten(spec)]


def flat_shapes(spec: Any) -> list[TensorShape]:
    return [TensorShape(()) if isinstance(s, DatasetSpec) else s.shape for s in nest.flatten(spec)]


def outputs(spec: Any) -> dict[str, Any]:
    """The attributes of a dataset op that tell its elements."""
    return {"output_shapes": flat_shapes(spec), "output_types": flat_types(spec)}


def normalized(element: Any) -> Any:
    """An element with its components made tensors (TF: normalize_element)."""
    with name_scope("normalize_element"):
        parts = [
            part if hasattr(part, "element_spec") else to_tensor(part, name=f"component_{i}")
            for i, part in enumerate(nest.flatten(element))
        ]
    return nest.pack_sequence_as(element, parts)


def batched(spec: Any, size: int | None) -> Any:
    """The structure of a batch of elements."""
    return nest.map_structure(
        lambda s: TensorSpec(TensorShape([size]).concatenate(s.shape), s.dtype), spec
    )


def unbatched(spec: Any) -> Any:
    """The structure of the rows of elements. Raises ValueError for scalars."""
    return nest.map_structure(_unbatched, spec)


def _unbatched(spec: Any) -> TensorSpec:
    if spec.shape.ndims == 0:
        raise ValueError("Unbatching a tensor is only supported for rank >= 1")
    return TensorSpec(spec.shape[1:], spec.dtype)


def widened(first: Any, second: Any) -> Any:
    """The structure that has room for elements of both; types must agree."""
    return nest.map_structure(
        lambda a, b: TensorSpec(common_shape(a.shape, b.shape), a.dtype), first, second
    )


def common_shape(a: TensorShape, b: TensorShape) -> TensorShape:
    """What is known of a shape that may be either (TF: most_specific_compatible_shape)."""
    if a.ndims is None or a.ndims != b.ndims:
        return TensorShape(None)
    return TensorShape([m if m == n else None for m, n in zip(a.as_list(), b.as_list())])


def of_legacy(types: Any, shapes: Any, classes: Any = None) -> Any:
    """The structure of specs for nested types, shapes (None: unknown) and classes (tensors)."""
    types = nest.map_structure(as_dtype, types)
    if shapes is None:
        return nest.map_structure(lambda t: TensorSpec(None, t), types)
    shapes = nest.map_structure_up_to(types, TensorShape, shapes)
    return nest.map_structure_up_to(types, lambda t, s: TensorSpec(s, t), types, shapes)


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
    return nest.map_structure(lambda s: s if isinstance(s, DatasetSpec) else Tensor, spec)
