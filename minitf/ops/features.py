"""What a parser of examples looks for: the kinds of features, and their checks."""

from __future__ import annotations

import re
from collections import namedtuple
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from minitf import tf_logging
from minitf.convert import constant, to_tensor
from minitf.operation import Tensor
from minitf.ops.shapes import reshape
from minitf.tensor_shape import TensorShape
from minitf_runtime.types import DType, as_dtype, int64, string

VarLenFeature = namedtuple("VarLenFeature", ["dtype"])
SparseFeature = namedtuple(
    "SparseFeature",
    ["index_key", "value_key", "dtype", "size", "already_sorted"],
    defaults=[False],
)
FixedLenFeature = namedtuple(
    "FixedLenFeature", ["shape", "dtype", "default_value"], defaults=[None]
)
FixedLenSequenceFeature = namedtuple(
    "FixedLenSequenceFeature",
    ["shape", "dtype", "allow_missing", "default_value"],
    defaults=[False, None],
)
VarLenFeature.__doc__ = "Any number of values: a SparseTensor."
SparseFeature.__doc__ = "A SparseTensor whose indices and values are two features."
FixedLenFeature.__doc__ = "Values of one shape: a Tensor."
FixedLenSequenceFeature.__doc__ = "Any number of values of one shape: a padded Tensor."

Features = Mapping[str, Any]


@dataclass
class Wanted:
    """The features that an op is asked for."""

    sparse: dict[str, DType] = field(default_factory=dict)
    dense: dict[str, DType] = field(default_factory=dict)
    shapes: dict[str, TensorShape] = field(default_factory=dict)  # of the dense ones
    defaults: dict[str, Any] = field(default_factory=dict)

    def default_tensors(self, reshaped: bool = True) -> list[Tensor]:
        """What stands for each dense feature that an example lacks: empty if there must be one."""
        return [self._default(key, reshaped) for key in self.dense]

    def _default(self, key: str, reshaped: bool) -> Tensor:
        value, dtype, shape = self.defaults.get(key), self.dense[key], self.shapes[key]
        if shape.ndims and shape[0].value is None:
            if value is None:
                return to_tensor("" if dtype is string else 0, dtype)
            return reshape(to_tensor(value, dtype, f"padding_{node_name(key)}"), [])
        if value is None:
            return constant([], dtype)
        if isinstance(value, Tensor):
            return value
        tensor = to_tensor(value, dtype, f"key_{node_name(key)}")
        return reshape(tensor, shape) if reshaped else tensor


def node_name(key: str) -> str:
    """A key as part of a node's name."""
    return re.sub(r"[^A-Za-z0-9_.\-/]", "_", key)


def wanted(features: Features | None, kinds: Sequence[type]) -> Wanted:
    """What is asked for. Raises ValueError for features that are incomplete or of another kind."""
    out = Wanted()
    for key in sorted(features or {}):
        feature = features[key]  # type: ignore[index]
        if not isinstance(feature, (*_ADD,)):
            raise ValueError(f"Invalid feature {key}:{feature}.")
        if not isinstance(feature, tuple(kinds)):
            raise ValueError(f"Unsupported {type(feature).__name__} {feature}.")
        _ADD[type(feature)](out, key, feature)
    return out


def _need(value: Any, what: str, whose: Any) -> None:
    if not value and value != [] and value != ():
        raise ValueError(f"Missing {what} {whose}.")


def _add_var_len(out: Wanted, key: str, feature: Any) -> None:
    _need(feature.dtype, "type for feature", key)
    out.sparse[key] = as_dtype(feature.dtype)


def _add_sparse(out: Wanted, key: str, feature: Any) -> None:
    _need(feature.index_key, "index_key for SparseFeature", feature)
    _need(feature.value_key, "value_key for SparseFeature", feature)
    _need(feature.dtype, "type for feature", key)
    keys = index_keys(feature)
    if len(keys) > 1:
        tf_logging.warning(
            "SparseFeature is a complicated feature config and should only be used after careful "
            "consideration of VarLenFeature."
        )
    for index_key in sorted(keys):
        known = out.sparse.setdefault(index_key, int64)
        if known is not int64:
            raise ValueError(f"Conflicting type {known} vs int64 for feature {index_key}.")
    dtype = as_dtype(feature.dtype)
    known = out.sparse.setdefault(feature.value_key, dtype)
    if known is not dtype:
        raise ValueError(f"Conflicting type {known} vs {dtype} for feature {feature.value_key}.")


def index_keys(feature: Any) -> list[str]:
    """The keys of a SparseFeature's indices."""
    keys = feature.index_key
    return [keys] if isinstance(keys, str) else list(keys)


def _add_fixed(out: Wanted, key: str, feature: Any) -> None:
    _need(feature.dtype, "type for feature", key)
    if feature.shape is None:
        raise ValueError(f"Missing shape for feature {key}.")
    shape = TensorShape(feature.shape)
    if feature.shape and shape.ndims and shape[0].value is None:
        raise ValueError(
            f"First dimension of shape for feature {key} unknown. Consider using "
            "FixedLenSequenceFeature."
        )
    if not shape.is_fully_defined():
        raise ValueError(
            f"All dimensions of shape for feature {key} need to be known but received "
            f"{feature.shape}."
        )
    _add_dense(out, key, feature)


def _add_sequence(out: Wanted, key: str, feature: Any) -> None:
    _need(feature.dtype, "type for feature", key)
    if feature.shape is None:
        raise ValueError(f"Missing shape for feature {key}.")
    if feature.allow_missing:
        out.defaults[key] = None
    _add_dense(out, key, feature)


def _add_dense(out: Wanted, key: str, feature: Any) -> None:
    out.dense[key] = as_dtype(feature.dtype)
    out.shapes[key] = TensorShape(feature.shape)
    if feature.default_value is not None:
        out.defaults[key] = feature.default_value


_ADD: dict[type, Any] = {
    VarLenFeature: _add_var_len,
    SparseFeature: _add_sparse,
    FixedLenFeature: _add_fixed,
    FixedLenSequenceFeature: _add_sequence,
}
