"""Parsing of tf.train.Example and SequenceExample into tensors by the features' names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import minitf_runtime.ops.examples
import minitf_runtime.ops.sequence_examples  # noqa: F401  (declare the ops)
from minitf.convert import to_tensor
from minitf.default import name_scope
from minitf.operation import Tensor
from minitf.ops import array, math
from minitf.ops.apply import apply_op
from minitf.ops.debug import Assert
from minitf.ops.features import (
    Features,
    FixedLenFeature,
    FixedLenSequenceFeature,
    SparseFeature,
    VarLenFeature,
    Wanted,
    index_keys,
    node_name,
    wanted,
)
from minitf.ops.group import with_dependencies
from minitf.ops.sparse_forms import sparse_merge
from minitf.sparse_tensor import SparseTensor

__all__ = [
    "FixedLenFeature",
    "FixedLenSequenceFeature",
    "SparseFeature",
    "VarLenFeature",
    "parse_example",
    "parse_single_example",
    "parse_single_sequence_example",
]

_ANY = VarLenFeature, SparseFeature, FixedLenFeature, FixedLenSequenceFeature
Parsed = dict[str, Any]


# ---- examples


def parse_example(
    serialized: Any, features: Features, name: str | None = None, example_names: Any = None
) -> Parsed:
    """A batch of examples: a Tensor or SparseTensor for each feature. Raises ValueError."""
    if not features:
        raise ValueError(f"Missing: features was {features}.")
    features = _with_steps(features)
    found = _parse_batch(serialized, example_names, wanted(features, _ANY), name)
    return _with_sparse_features(features, found)


def parse_single_example(
    serialized: Any, features: Features, name: str | None = None, example_names: Any = None
) -> Parsed:
    """One example; its sparse features are vectors. Raises ValueError."""
    if not features:
        raise ValueError("Missing features.")
    features = _with_steps(features)
    parse = _parse_one if example_names is None else _parse_batch_of_one
    return _with_sparse_features(
        features, parse(serialized, example_names, wanted(features, _ANY), name)
    )


def _with_steps(features: Features) -> Features:
    """FixedLenSequenceFeatures with the size of their sequence, which is not known."""
    out = dict(features)
    for key, feature in features.items():
        if isinstance(feature, FixedLenSequenceFeature):
            if not feature.allow_missing:
                raise ValueError(
                    "Unsupported: FixedLenSequenceFeature requires allow_missing to be True."
                )
            out[key] = feature._replace(shape=[None, *feature.shape])
    return out


def _parse_batch(serialized: Any, names: Any, want: Wanted, name: str | None) -> Parsed:
    with name_scope(name, "ParseExample", [serialized, names]):
        found = apply_op(
            "ParseExample", serialized, [] if names is None else names, list(want.sparse),
            list(want.dense), want.default_tensors(), sparse_types=list(want.sparse.values()),
            Tdense=list(want.dense.values()), dense_shapes=list(want.shapes.values()), name=name,
        )  # fmt: skip
        return _named(want, *found)


def _named(
    want: Wanted,
    indices: Sequence[Tensor],
    values: Sequence[Tensor],
    shapes: Sequence[Tensor],
    dense: Sequence[Tensor],
) -> Parsed:
    """The outputs of a parser by their features' names."""
    sparse = [SparseTensor(*parts) for parts in zip(indices, values, shapes)]
    return {**dict(zip(want.sparse, sparse)), **dict(zip(want.dense, dense))}


def _parse_one(serialized: Any, names: None, want: Wanted, name: str | None) -> Parsed:
    with name_scope(name, "ParseSingleExample", [serialized]):
        text = to_tensor(serialized, name="serialized")
        found = apply_op(
            "ParseSingleExample", text, want.default_tensors(), num_sparse=len(want.sparse),
            sparse_keys=list(want.sparse), dense_keys=list(want.dense),
            sparse_types=list(want.sparse.values()), Tdense=list(want.dense.values()),
            dense_shapes=list(want.shapes.values()), name=name,
        )  # fmt: skip
        return _named(want, *found)


def _parse_batch_of_one(serialized: Any, names: Any, want: Wanted, name: str | None) -> Parsed:
    """TF's way for an example with a name."""
    with name_scope(name, "ParseSingleExample", [serialized, names]):
        text = array.expand_dims(_checked_scalar(serialized, "serialized", "Serialized"), 0)
        names = array.expand_dims(_checked_scalar(names, "names", "Names"), 0)
        found = _parse_batch(text, names, want, name)
        for key in want.dense:
            found[key] = array.squeeze(found[key], [0], name=f"Squeeze_{node_name(key)}")
        for key in want.sparse:
            found[key] = _first_row(found[key], node_name(key))
        return found


def _first_row(rows: SparseTensor, name: str) -> SparseTensor:
    indices = array.slice(rows.indices, [0, 1], [-1, -1], name=f"Slice_Indices_{name}")
    shape = array.slice(rows.dense_shape, [1], [-1], name=f"Squeeze_Shape_{name}")
    return SparseTensor(indices, rows.values, shape)


def _checked_scalar(value: Any, what: str, node: str) -> Tensor:
    message = f"Input {what} must be a scalar"
    tensor = to_tensor(value)
    if tensor._shape is not None:
        if tensor._shape:
            raise ValueError(message)
        return tensor
    is_scalar = Assert(math.equal(array.rank(tensor), 0), [message], name=f"{node}IsScalar")
    return with_dependencies([is_scalar], tensor, name=f"{node}Dependencies")


def _with_sparse_features(features: Features, found: Parsed) -> Parsed:
    """SparseFeatures put together of their parts; parts that nobody asked for are left out."""
    out = dict(found)
    for key in sorted(features):
        feature = features[key]
        if isinstance(feature, SparseFeature):
            ids = [out[index_key] for index_key in index_keys(feature)]
            out[key] = sparse_merge(
                ids[0] if isinstance(feature.index_key, str) else ids,
                out[feature.value_key],
                vocab_size=feature.size,
                already_sorted=feature.already_sorted,
            )
    return {key: value for key, value in out.items() if key in features}


# ---- sequences


def parse_single_sequence_example(
    serialized: Any,
    context_features: Features | None = None,
    sequence_features: Features | None = None,
    example_name: Any = None,
    name: str | None = None,
) -> tuple[Parsed, Parsed]:
    """The features of a context and of its steps. Raises ValueError."""
    context, steps, may_miss = _wanted_of_sequence(context_features, sequence_features)
    with name_scope(name, "ParseSingleSequenceExample", [serialized]):
        found = apply_op(
            "ParseSingleSequenceExample", serialized, may_miss, list(context.sparse),
            list(context.dense), list(steps.sparse), list(steps.dense), context.default_tensors(),
            "" if example_name is None else example_name, **_types(context, steps), name=name,
        )  # fmt: skip
        return _named(context, *found[:4]), _named(steps, *found[4:])


def parse_sequence_example(
    serialized: Any,
    context_features: Features | None = None,
    sequence_features: Features | None = None,
    example_names: Any = None,
    name: str | None = None,
) -> tuple[Parsed, Parsed, dict[str, Tensor]]:
    """A batch of them, padded; and the lengths of their dense features. Raises ValueError."""
    context, steps, may_miss = _wanted_of_sequence(context_features, sequence_features)
    with name_scope(name, "ParseSequenceExample", [serialized]):
        found = apply_op(
            "ParseSequenceExample", serialized, [] if example_names is None else example_names,
            context.default_tensors(reshaped=False),
            feature_list_dense_missing_assumed_empty=may_miss,
            context_sparse_keys=list(context.sparse), context_dense_keys=list(context.dense),
            feature_list_sparse_keys=list(steps.sparse), feature_list_dense_keys=list(steps.dense),
            Ncontext_sparse=len(context.sparse), Ncontext_dense=len(context.dense),
            Nfeature_list_sparse=len(steps.sparse), Nfeature_list_dense=len(steps.dense),
            **_types(context, steps), name=name,
        )  # fmt: skip
        lengths = dict(zip(steps.dense, found[8]))
        return _named(context, *found[:4]), _named(steps, *found[4:8]), lengths


def _wanted_of_sequence(
    context_features: Features | None, sequence_features: Features | None
) -> tuple[Wanted, Wanted, list[str]]:
    """What is asked for, and the dense features of steps that may be missing."""
    if not (context_features or sequence_features):
        raise ValueError("Missing features.")
    context = wanted(context_features, (VarLenFeature, FixedLenFeature))
    steps = wanted(sequence_features, (VarLenFeature, FixedLenSequenceFeature))
    for key, value in steps.defaults.items():
        if value is not None:
            raise ValueError(f"Value feature_list_dense_defaults[{key}] must be None")
    return context, steps, list(steps.defaults)


def _types(context: Wanted, steps: Wanted) -> dict[str, Any]:
    return dict(
        context_sparse_types=list(context.sparse.values()),
        Tcontext_dense=list(context.dense.values()),
        context_dense_shapes=list(context.shapes.values()),
        feature_list_sparse_types=list(steps.sparse.values()),
        feature_list_dense_types=list(steps.dense.values()),
        feature_list_dense_shapes=list(steps.shapes.values()),
    )
