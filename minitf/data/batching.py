"""Datasets whose elements are several of another one's, or parts of one."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitf.convert import to_tensor
from minitf.data import nest, structure
from minitf.ops.constant_value import constant_value, constant_value_as_shape
from minitf.tensor_shape import TensorShape
from minitf.tensor_spec import TensorSpec
from minitf_runtime.types import bool_, int64, string


def batch(dataset: Any, batch_size: Any, drop_remainder: Any) -> Any:
    size = to_tensor(batch_size, int64, name="batch_size")
    drop = to_tensor(drop_remainder, bool_, name="drop_remainder")
    spec = structure.batched(dataset.element_spec, known_size(size, drop))
    return dataset._made("BatchDatasetV2", size, drop, spec=spec)


def known_size(batch_size: Any, drop_remainder: Any) -> int | None:
    """The size that all batches have, if that is known beforehand."""
    if not constant_value(drop_remainder):
        return None
    size = constant_value(batch_size)
    return None if size is None else int(size)


def padded_batch(
    dataset: Any, batch_size: Any, padded_shapes: Any, padding_values: Any, drop_remainder: Any
) -> Any:
    """Raises TypeError or ValueError for shapes and values that do not fit the elements."""
    spec = dataset.element_spec
    if any(not isinstance(s, TensorSpec) for s in nest.flatten(spec)):
        raise TypeError("Batching of padded sparse tensors is not currently supported")
    size = to_tensor(batch_size, int64, name="batch_size")
    if padding_values is None:
        padding_values = nest.map_structure(_zero, spec)
    wanted = nest.flatten_up_to(spec, padded_shapes)
    shapes = [_shape_tensor(w, s.shape) for w, s in zip(wanted, nest.flatten(spec))]
    values = [
        _padding_value(v, s.dtype)
        for v, s in zip(nest.flatten_up_to(spec, padding_values), nest.flatten(spec))
    ]
    drop = to_tensor(drop_remainder, bool_, name="drop_remainder")
    known = TensorShape([known_size(size, drop)])
    made = [
        TensorSpec(known.concatenate(constant_value_as_shape(shape)), s.dtype)
        for shape, s in zip(shapes, nest.flatten(spec))
    ]
    whole = nest.pack_sequence_as(spec, made)
    return dataset._of_components("PaddedBatchDatasetV2", size, shapes, values, drop, spec=whole)


def _zero(spec: TensorSpec) -> Any:
    if spec.dtype is string:
        return ""
    return np.zeros((), spec.dtype.as_numpy_dtype)


def _shape_tensor(wanted: Any, shape: TensorShape) -> Any:
    """The shape to fill up to as a tensor, -1 for unknown sizes."""
    try:
        told = TensorShape(wanted)
        tensor = to_tensor([-1 if n is None else n for n in told.as_list()], int64)
    except (TypeError, ValueError):
        tensor = to_tensor(wanted, preferred_dtype=int64)
        if tensor.shape.ndims not in (None, 1):
            raise ValueError(
                f"Padded shape {wanted} must be a 1-D tensor of tf.int64 values, but its shape was "
                f"{tensor.shape}."
            ) from None
        if tensor.dtype is not int64:
            raise TypeError(
                f"Padded shape {wanted} must be a 1-D tensor of tf.int64 values, but its element "
                f"type was {tensor.dtype.name}."
            ) from None
        told = constant_value_as_shape(tensor)
    if not _has_room(told, shape):
        raise ValueError(
            f"The padded shape {told} is not compatible with the corresponding input component "
            f"shape {shape}."
        )
    return tensor


def _has_room(padded: TensorShape, shape: TensorShape) -> bool:
    if padded.ndims is None or shape.ndims is None:
        return True
    if padded.ndims != shape.ndims:
        return False
    pairs = zip(padded.as_list(), shape.as_list())
    return all(None in (m, n) or m >= n for m, n in pairs)  # type: ignore[operator]


def _padding_value(value: Any, dtype: Any) -> Any:
    tensor = to_tensor(value, name="padding_value")
    if tensor.shape.ndims not in (None, 0):
        raise ValueError(f"Padding value should be a scalar, but is not: {tensor}")
    if tensor.dtype is not dtype:
        raise TypeError(
            f"Padding value tensor ({tensor}) does not match output type: <dtype: '{dtype.name}'>"
        )
    return tensor


def unbatch(dataset: Any) -> Any:
    """Raises ValueError for scalar components, or sizes that are known to differ."""
    spec = dataset.element_spec
    rows = dataset.map(lambda *parts: _batched_parts(spec, parts))
    flat = structure.flat_shapes(rows.element_spec)
    if any(shape.ndims == 0 for shape in flat):
        raise ValueError("Cannot unbatch an input with scalar components.")
    size = TensorShape([None])
    for shape in flat:
        if shape.ndims is not None:
            try:
                size = size.merge_with([shape[0]])
            except ValueError:
                raise ValueError(
                    "Cannot unbatch an input whose components have different batch sizes."
                ) from None
    return rows._made("UnbatchDataset", spec=structure.unbatched(spec))


def _batched_parts(spec: Any, parts: tuple[Any, ...]) -> Any:
    """The components of an element as tensors whose rows belong to the rows of the element."""
    return tuple(structure.to_batched_tensors(spec, parts if len(parts) > 1 else parts[0]))


def window(dataset: Any, size: Any, shift: Any, stride: Any, drop_remainder: Any) -> Any:
    named = {"size": size, "shift": shift, "stride": stride}
    sizes = [to_tensor(value, int64, name=name) for name, value in named.items()]
    drop = to_tensor(drop_remainder, bool_, name="drop_remainder")
    spec = nest.map_structure(structure.DatasetSpec, dataset.element_spec)
    return dataset._made("WindowDataset", *sizes, drop, spec=spec)
