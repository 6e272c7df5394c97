"""Ops that parse tf.train.Example and SequenceExample. The messages are in storage/examples.py."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from minitf_runtime.errors import invalid
from minitf_runtime.ops.registry import (
    Attr,
    Count,
    ShapeContext,
    Types,
    arg_types,
    kernel,
    op,
)
from minitf_runtime.storage.examples import (
    Feature,
    Features,
    read_example,
    read_feature,
)
from minitf_runtime.storage.protobuf import DecodeError
from minitf_runtime.types import (
    DType,
    Shape,
    c_name,
    float32,
    int64,
    num_elements,
    show_shape,
    string,
)

TYPES = (float32, int64, string)


# ---- static shapes


def shapes_by_name(c: ShapeContext, **known: Sequence[Shape] | Shape) -> list[Shape]:
    """The shapes of the outputs by name: one for all of a list, or one for each (a list)."""
    out: list[Shape] = []
    for arg in c.opdef.outputs:
        count = len(arg_types([arg], c.attrs))
        shape = known[arg.name]
        out += shape if isinstance(shape, list) else [shape] * count  # type: ignore[list-item]
    return out


def under(size: int | None, shape: Shape) -> Shape:
    """The shape of so many."""
    return None if shape is None else (size, *shape)


# ---- one feature as a tensor


def _of_type(feature: Feature, dtype: DType, where: str, sparse: bool) -> np.ndarray:
    """The values. Raises InvalidArgumentError if they are of another type."""
    if feature.dtype is dtype:
        return feature.values
    got, wanted = c_name(feature.dtype or string), c_name(dtype)
    told = (
        f"Expected type: {wanted}, Actual type: {got}"
        if sparse
        else f"Data type: {got} but expected type: {wanted}"
    )
    raise invalid(f"{where}  Data types don't match. {told}")


def _shaped(values: np.ndarray, shape: Shape, dtype: DType, where: str) -> np.ndarray:
    """The values in a shape of which the first size may be unknown."""
    assert shape is not None
    if is_variable(shape):
        stride = num_elements(shape[1:]) or 1
        if len(values) % stride:
            raise invalid(
                f"{where}  Number of {_noun(dtype)} values is not a multiple of stride length. "
                f"Saw {len(values)} values but output shape is: {show_shape(shape)}"
            )
        return values.reshape(-1, *shape[1:])
    if len(values) != num_elements(shape):
        raise invalid(
            f"{where}  Number of {_noun(dtype)} values != expected.  Values size: {len(values)} "
            f"but output shape: {show_shape(shape)}"
        )
    return values.reshape(shape)


def _noun(dtype: DType) -> str:
    return "bytes" if dtype is string else c_name(dtype)


def is_variable(shape: Shape) -> bool:
    return shape is not None and shape[:1] == (None,)


def _default(value: np.ndarray, shape: Shape, feature: str, dtype: DType, whose: str) -> np.ndarray:
    """What stands for a feature that is not there. Raises InvalidArgumentError if it must be."""
    assert shape is not None
    if is_variable(shape):
        return np.empty((0, *shape[1:]), dtype.as_numpy_dtype)
    if np.size(value) != num_elements(shape):
        raise invalid(
            f"{whose}Feature: {feature} (data type: {c_name(dtype)}) is required but could not "
            "be found."
        )
    return np.reshape(value, shape)


def joined(parts: Sequence[np.ndarray], dtype: DType) -> np.ndarray:
    return np.concatenate([np.empty(0, dtype.as_numpy_dtype), *parts])


def stacked(rows: Sequence[np.ndarray], shape: Shape, dtype: DType) -> np.ndarray:
    """Rows of one shape as one tensor, which has a type even if there are none."""
    return joined([row.ravel() for row in rows], dtype).reshape(len(rows), *(shape or ()))


def sparse_rows(rows: Sequence[np.ndarray], dtype: DType) -> tuple[np.ndarray, ...]:
    """Indices, values and shape of the matrix of these rows."""
    sizes = np.array([len(row) for row in rows], np.int64)
    row_of = np.repeat(np.arange(len(rows)), sizes)
    place = np.arange(len(row_of)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    shape = np.array([len(rows), sizes.max(initial=0)], np.int64)
    return np.stack([row_of, place], axis=1), joined(rows, dtype), shape


def sparse_vector(values: np.ndarray) -> tuple[np.ndarray, ...]:
    return np.arange(len(values)).reshape(-1, 1), values, np.array([len(values)], np.int64)


def padded(rows: Sequence[np.ndarray], shape: Shape, dtype: DType, by: Any = None) -> np.ndarray:
    """Rows of different lengths as one tensor; what is missing is zero unless given."""
    assert shape is not None
    if by is None:
        by = b"" if dtype is string else 0
    longest = max(map(len, rows), default=0)
    out = np.full((len(rows), longest, *shape[1:]), by, dtype.as_numpy_dtype)
    for i, row in enumerate(rows):
        out[i, : len(row)] = row
    return out


def parsed(read: Any, data: bytes) -> Any:
    try:
        return read(data)
    except DecodeError:
        shown = data.decode("latin-1").encode("unicode_escape").decode()
        raise invalid(f"Could not parse example input, value: '{shown}'") from None


def found_feature(features: Features, key: bytes) -> Feature | None:
    """The feature of a key, if it has any values or an empty list."""
    if key not in features:
        return None
    feature: Feature = parsed(read_feature, features[key])
    return None if feature.dtype is None else feature


def key_bytes(tensors: Iterable[Any]) -> list[bytes]:
    return [np.asarray(key, object).item() for key in tensors]


# ---- a batch of examples


@op(
    "ParseExample",
    "serialized: string, names: string, sparse_keys: Nsparse * string, dense_keys: Ndense * "
    "string, dense_defaults: Tdense -> sparse_indices: Nsparse * int64, sparse_values: "
    "sparse_types, sparse_shapes: Nsparse * int64, dense_values: Tdense",
    Nsparse=Count(0),
    Ndense=Count(0),
    sparse_types=Types(allowed=TYPES),
    Tdense=Types(allowed=TYPES),
    dense_shapes=Attr("list(shape)"),
)
def parse_example_shape(c: ShapeContext) -> list[Shape]:
    """Sparse and dense features of a batch of examples."""
    (batch,) = c.rank(0, 1)
    c.rank(1, 1)
    dense = [under(batch, s) for s in c["dense_shapes"]]
    return shapes_by_name(c, sparse_indices=(None, 2), sparse_values=(None,), sparse_shapes=(2,),
                    dense_values=dense)  # fmt: skip


@kernel("ParseExample", device="CPU")
def parse_example(
    xp: Any, serialized: Any, names: Any, sparse_keys: Any, dense_keys: Any, defaults: Any,
    *, sparse_types: Any, Tdense: Any, dense_shapes: Any,  # noqa: N803
) -> Any:  # fmt: skip
    if len(names) not in (0, len(serialized)):
        raise invalid(
            f"Expected len(names) == len(serialized), but got: {len(names)} vs. {len(serialized)}"
        )
    batch = [parsed(read_example, text) for text in serialized]
    whose = [f"Name: {shown(name)}, " for name in names] or ["Name: <unknown>, "] * len(batch)
    wheres = [f"{name}Key: %s, Index: {i}." for i, name in enumerate(whose)]
    sparse = [
        sparse_rows([_values(f, key, dtype, w) for f, w in zip(batch, wheres)], dtype)
        for key, dtype in zip(key_bytes(sparse_keys), sparse_types)
    ]
    dense = []
    for key, dtype, shape, default in zip(key_bytes(dense_keys), Tdense, dense_shapes, defaults):
        rows = [
            _dense(features, key, dtype, shape, default, where, who)
            for features, where, who in zip(batch, wheres, whose)
        ]
        dense.append(
            padded(rows, shape, dtype, np.reshape(default, ()).item())
            if is_variable(shape)
            else stacked(rows, shape, dtype)
        )
    return (*columns(sparse), *dense)


def columns(sparse: list[tuple[np.ndarray, ...]]) -> list[np.ndarray]:
    """All indices, then all values, then all shapes."""
    return [one[i] for i in range(3) for one in sparse]


def shown(value: bytes) -> str:
    return value.decode("utf-8", "backslashreplace")


def _values(features: Features, key: bytes, dtype: DType, where: str) -> np.ndarray:
    """The values of a sparse feature, none if it is not there."""
    feature = found_feature(features, key)
    if feature is None:
        return np.empty(0, dtype.as_numpy_dtype)
    return _of_type(feature, dtype, where % shown(key), sparse=True)


def _dense(
    features: Features, key: bytes, dtype: DType, shape: Shape, default: Any, where: str, who: str
) -> np.ndarray:
    feature = found_feature(features, key)
    if feature is None:
        return _default(default, shape, shown(key), dtype, who)
    told = where % shown(key)
    return _shaped(_of_type(feature, dtype, told, sparse=False), shape, dtype, told)


# ---- one example


@op(
    "ParseSingleExample",
    "serialized: string, dense_defaults: Tdense -> sparse_indices: num_sparse * int64, "
    "sparse_values: sparse_types, sparse_shapes: num_sparse * int64, dense_values: Tdense",
    num_sparse=Count(0),
    sparse_keys=Attr("list(string)"),
    dense_keys=Attr("list(string)"),
    sparse_types=Types(allowed=TYPES),
    Tdense=Types(allowed=TYPES),
    dense_shapes=Attr("list(shape)"),
)
def parse_single_example_shape(c: ShapeContext) -> list[Shape]:
    """Sparse and dense features of one example."""
    c.rank(0, 0)
    return shapes_by_name(c, sparse_indices=(None, 1), sparse_values=(None,), sparse_shapes=(1,),
                    dense_values=list(c["dense_shapes"]))  # fmt: skip


@kernel("ParseSingleExample", device="CPU")
def parse_single_example(
    xp: Any, serialized: Any, defaults: Any,
    *, sparse_keys: Any, dense_keys: Any, sparse_types: Any, Tdense: Any, dense_shapes: Any,  # noqa: N803
) -> Any:  # fmt: skip
    features = parsed(read_example, np.asarray(serialized, object).item())
    sparse = [
        sparse_vector(_values(features, key.encode(), dtype, "Key: %s."))
        for key, dtype in zip(sparse_keys, sparse_types)
    ]
    dense = [
        _dense(features, key.encode(), dtype, shape, default, "Key: %s.", "")
        for key, dtype, shape, default in zip(dense_keys, Tdense, dense_shapes, defaults)
    ]
    return (*columns(sparse), *dense)
