"""Ops that parse tf.train.SequenceExample: a context, and features that have a value per step.

Example is in examples.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minitf_runtime.errors import invalid
from minitf_runtime.ops.examples import (
    TYPES,
    columns,
    found_feature,
    key_bytes,
    padded,
    parsed,
    shapes_by_name,
    shown,
    sparse_rows,
    sparse_vector,
    stacked,
    under,
)
from minitf_runtime.ops.registry import Attr, ShapeContext, Types, kernel, op
from minitf_runtime.storage.examples import (
    Feature,
    FeatureLists,
    Features,
    read_example,
    read_feature,
    read_feature_lists,
)
from minitf_runtime.types import DType, Shape, c_name, num_elements, show_shape

_COUNT = Attr("int", 0)
_LIST = Types([], allowed=TYPES)
_SHAPES = Attr("list(shape)", [])
_KEYS = Attr("list(string)")
_TYPED: dict[str, Any] = dict(
    Ncontext_sparse=_COUNT, Ncontext_dense=_COUNT, Nfeature_list_sparse=_COUNT,
    Nfeature_list_dense=_COUNT, context_sparse_types=_LIST, Tcontext_dense=_LIST,
    feature_list_dense_types=_LIST, context_dense_shapes=_SHAPES, feature_list_sparse_types=_LIST,
    feature_list_dense_shapes=_SHAPES,
)  # fmt: skip
_OUTPUTS = (
    "context_sparse_indices: Ncontext_sparse * int64, context_sparse_values: "
    "context_sparse_types, context_sparse_shapes: Ncontext_sparse * int64, context_dense_values: "
    "Tcontext_dense, feature_list_sparse_indices: Nfeature_list_sparse * int64, "
    "feature_list_sparse_values: feature_list_sparse_types, feature_list_sparse_shapes: "
    "Nfeature_list_sparse * int64, feature_list_dense_values: feature_list_dense_types"
)


# ---- one feature


def _typed(feature: Feature, dtype: DType, where: str) -> np.ndarray:
    """The values. Raises InvalidArgumentError if they are of another type."""
    if feature.dtype is dtype:
        return feature.values
    kind = "" if feature.dtype is None else c_name(feature.dtype)
    raise invalid(
        f"{where}.  Data types don't match. Expected type: {c_name(dtype)}  Feature is: {kind}"
    )


def _shaped(values: np.ndarray, shape: Shape, dtype: DType, where: str) -> np.ndarray:
    if len(values) != num_elements(shape):
        raise invalid(
            f"{where}.  Number of {c_name(dtype)} values != expected.  "
            f"values size: {len(values)} but output shape: {show_shape(shape)}"
        )
    return values.reshape(shape)  # type: ignore[arg-type]


class _Sequence:
    """A SequenceExample, and how errors name it."""

    def __init__(self, data: bytes, name: str) -> None:
        self._context: Features = parsed(read_example, data)
        self._lists: FeatureLists = parsed(read_feature_lists, data)
        self._name = name

    def context_sparse(self, key: bytes, dtype: DType) -> np.ndarray:
        feature = found_feature(self._context, key)
        if feature is None:
            return np.empty(0, dtype.as_numpy_dtype)
        return _typed(feature, dtype, f"Name: {self._name}, Context feature: {shown(key)}")

    def context_dense(self, key: bytes, dtype: DType, shape: Shape, default: Any) -> np.ndarray:
        feature = found_feature(self._context, key)
        name = shown(key)
        if feature is None:
            if np.size(default) != num_elements(shape):
                raise invalid(
                    f"Name: {self._name}, Context feature '{name}' is required but could not be "
                    "found."
                )
            return np.reshape(default, shape)  # type: ignore[arg-type]
        values = _typed(feature, dtype, f"Name: {self._name}, Context feature: {name}")
        return _shaped(values, shape, dtype, f"Name: {self._name}, Key: {name}, Index: 0")

    def sparse_steps(self, key: bytes, dtype: DType) -> list[np.ndarray]:
        """The values of each step, none for a step without a list."""
        rows = []
        for i, data in enumerate(self._lists.get(key, ())):
            feature: Feature = parsed(read_feature, data)
            where = f"Name: {self._name}, Feature List: {shown(key)}, Index: {i}"
            rows.append(
                np.empty(0, dtype.as_numpy_dtype)
                if feature.dtype is None
                else _typed(feature, dtype, where)
            )
        return rows

    def dense_steps(self, key: bytes, dtype: DType, shape: Shape, may_miss: bool) -> np.ndarray:
        """A tensor [steps, *shape]."""
        name = shown(key)
        if key not in self._lists and not may_miss:
            raise invalid(
                f"Name: {self._name}, Feature list '{name}' is required but could not be found.  "
                "Did you mean to include it in feature_list_dense_missing_assumed_empty or "
                "feature_list_dense_defaults?"
            )
        steps = []
        for i, data in enumerate(self._lists.get(key, ())):
            place = f"{name}, Index: {i}"
            values = _typed(
                parsed(read_feature, data), dtype, f"Name: {self._name}, Feature list: {place}"
            )
            steps.append(_shaped(values, shape, dtype, f"Name: {self._name}, Key: {place}"))
        return stacked(steps, shape, dtype)


# ---- one sequence


@op(
    "ParseSingleSequenceExample",
    "serialized: string, feature_list_dense_missing_assumed_empty: string, context_sparse_keys: "
    "Ncontext_sparse * string, context_dense_keys: Ncontext_dense * string, "
    "feature_list_sparse_keys: Nfeature_list_sparse * string, feature_list_dense_keys: "
    "Nfeature_list_dense * string, context_dense_defaults: Tcontext_dense, debug_name: string -> "
    + _OUTPUTS,
    **_TYPED,
)
def parse_single_sequence_example_shape(c: ShapeContext) -> list[Shape]:
    """Features of one SequenceExample: of its context, and of its steps."""
    c.rank(0, 0)
    return shapes_by_name(
        c,
        context_sparse_indices=(None, 1),
        context_sparse_values=(None,),
        context_sparse_shapes=(1,),
        context_dense_values=list(c["context_dense_shapes"]),
        feature_list_sparse_indices=(None, 2),
        feature_list_sparse_values=(None,),
        feature_list_sparse_shapes=(2,),
        feature_list_dense_values=[under(None, s) for s in c["feature_list_dense_shapes"]],
    )


@kernel("ParseSingleSequenceExample", device="CPU")
def parse_single_sequence_example(
    xp: Any, serialized: Any, may_miss: Any, context_sparse_keys: Any, context_dense_keys: Any,
    sparse_keys: Any, dense_keys: Any, defaults: Any, debug_name: Any,
    *, context_sparse_types: Any, Tcontext_dense: Any, context_dense_shapes: Any,  # noqa: N803
    feature_list_sparse_types: Any, feature_list_dense_types: Any, feature_list_dense_shapes: Any,
) -> Any:  # fmt: skip
    text, name = key_bytes([serialized, debug_name])
    sequence = _Sequence(text, shown(name))
    context_sparse = [
        sparse_vector(sequence.context_sparse(key, dtype))
        for key, dtype in zip(key_bytes(context_sparse_keys), context_sparse_types)
    ]
    context_dense = [
        sequence.context_dense(*one)
        for one in zip(
            key_bytes(context_dense_keys), Tcontext_dense, context_dense_shapes, defaults
        )
    ]
    sparse = [
        sparse_rows(sequence.sparse_steps(key, dtype), dtype)
        for key, dtype in zip(key_bytes(sparse_keys), feature_list_sparse_types)
    ]
    missing = set(np.ravel(may_miss))
    dense = [
        sequence.dense_steps(key, dtype, shape, key in missing)
        for key, dtype, shape in zip(
            key_bytes(dense_keys), feature_list_dense_types, feature_list_dense_shapes
        )
    ]
    return (*columns(context_sparse), *context_dense, *columns(sparse), *dense)


# ---- a batch of sequences


@op(
    "ParseSequenceExample",
    "serialized: string, debug_name: string, context_dense_defaults: Tcontext_dense -> "
    f"{_OUTPUTS}, feature_list_dense_lengths: Nfeature_list_dense * int64",
    feature_list_dense_missing_assumed_empty=_KEYS,
    context_sparse_keys=_KEYS,
    context_dense_keys=_KEYS,
    feature_list_sparse_keys=_KEYS,
    feature_list_dense_keys=_KEYS,
    **_TYPED,
)
def parse_sequence_example_shape(c: ShapeContext) -> list[Shape]:
    """Features of a batch of SequenceExamples, their steps padded to the longest."""
    (batch,) = c.rank(0, 1)
    steps = [under(batch, under(None, s)) for s in c["feature_list_dense_shapes"]]
    return shapes_by_name(
        c,
        context_sparse_indices=(None, 2),
        context_sparse_values=(None,),
        context_sparse_shapes=(2,),
        context_dense_values=[under(batch, s) for s in c["context_dense_shapes"]],
        feature_list_sparse_indices=(None, 3),
        feature_list_sparse_values=(None,),
        feature_list_sparse_shapes=(3,),
        feature_list_dense_values=steps,
        feature_list_dense_lengths=(batch,),
    )


@kernel("ParseSequenceExample", device="CPU")
def parse_sequence_example(
    xp: Any, serialized: Any, debug_name: Any, defaults: Any,
    *, feature_list_dense_missing_assumed_empty: Any, context_sparse_keys: Any,
    context_dense_keys: Any, feature_list_sparse_keys: Any, feature_list_dense_keys: Any,
    context_sparse_types: Any, Tcontext_dense: Any, context_dense_shapes: Any,  # noqa: N803
    feature_list_sparse_types: Any, feature_list_dense_types: Any, feature_list_dense_shapes: Any,
) -> Any:  # fmt: skip
    if len(debug_name) not in (0, len(serialized)):
        raise invalid(
            "Expected len(debug_name) == len(serialized), but got: "
            f"{len(debug_name)} vs. {len(serialized)}"
        )
    names = [shown(n) for n in debug_name] or ["<unknown>"] * len(serialized)
    batch = [_Sequence(text, name) for text, name in zip(serialized, names)]
    context_sparse = [
        sparse_rows([s.context_sparse(key.encode(), dtype) for s in batch], dtype)
        for key, dtype in zip(context_sparse_keys, context_sparse_types)
    ]
    context_dense = [
        stacked([s.context_dense(key.encode(), dtype, *rest) for s in batch], rest[0], dtype)
        for key, dtype, *rest in zip(
            context_dense_keys, Tcontext_dense, context_dense_shapes, defaults
        )
    ]
    sparse = [
        _sparse_cube([s.sparse_steps(key.encode(), dtype) for s in batch], dtype)
        for key, dtype in zip(feature_list_sparse_keys, feature_list_sparse_types)
    ]
    missing = set(feature_list_dense_missing_assumed_empty)
    dense, lengths = [], []
    for key, dtype, shape in zip(
        feature_list_dense_keys, feature_list_dense_types, feature_list_dense_shapes
    ):
        rows = [s.dense_steps(key.encode(), dtype, shape, key in missing) for s in batch]
        dense.append(padded(rows, under(None, shape), dtype))
        lengths.append(np.array([len(row) for row in rows], np.int64))
    return (*columns(context_sparse), *context_dense, *columns(sparse), *dense, *lengths)


def _sparse_cube(batch: Sequence[Sequence[np.ndarray]], dtype: DType) -> tuple[np.ndarray, ...]:
    """Indices, values and shape of [batch, steps, values]."""
    steps = np.array([len(rows) for rows in batch], np.int64)
    indices, values, (_, longest) = sparse_rows([row for rows in batch for row in rows], dtype)
    of = np.repeat(np.arange(len(batch)), steps)
    step = np.arange(len(of)) - np.repeat(np.cumsum(steps) - steps, steps)
    row = indices[:, 0]
    cube = np.stack([of[row], step[row], indices[:, 1]], axis=1)
    return cube, values, np.array([len(batch), steps.max(initial=0), longest], np.int64)
