"""tf.TensorSpec: the shape, type and name of a tensor, without the tensor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from minitf.operation import Tensor
from minitf.tensor_shape import TensorShape
from minitf_runtime.types import DType, as_dtype, float32

__all__ = ["TensorSpec"]


@dataclass(frozen=True, init=False, repr=False)
class TensorSpec:
    """What a tensor must be (TF: TensorSpec). Its name plays no part in compatibility."""

    shape: TensorShape
    dtype: DType
    name: str | None

    def __init__(self, shape: Any, dtype: Any = float32, name: str | None = None) -> None:
        object.__setattr__(self, "shape", TensorShape(shape))
        object.__setattr__(self, "dtype", as_dtype(dtype))
        object.__setattr__(self, "name", name)

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> TensorSpec:
        return cls(spec.shape, spec.dtype, name or spec.name)

    @classmethod
    def from_tensor(cls, tensor: Tensor, name: str | None = None) -> TensorSpec:
        """The spec of a Tensor. Raises ValueError for anything else."""
        if not isinstance(tensor, Tensor):
            raise ValueError("`tensor` should be a tf.Tensor")
        return cls(tensor.shape, tensor.dtype, name or tensor.op.name)

    def is_compatible_with(self, spec_or_tensor: Any) -> bool:
        """Whether a tensor, an array or another spec has this type and may have this shape."""
        other = spec_or_tensor
        if isinstance(other, (np.ndarray, np.generic)):
            same_type = as_dtype(other.dtype) is self.dtype
        else:
            same_type = self.dtype.is_compatible_with(other.dtype)
        return same_type and self.shape.is_compatible_with(other.shape)

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r})"
