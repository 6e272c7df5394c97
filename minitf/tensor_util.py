"""tf.make_tensor_proto and tf.make_ndarray: tensors as messages and back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minitf.convert import MAX_CONST_BYTES, dtype_of, to_array
from minitf.proto.tensor import TensorProto, array_of_proto, plain_tensor_proto
from minitf_runtime.types import as_dtype

__all__ = ["make_ndarray", "make_tensor_proto"]


def make_tensor_proto(
    values: Any,
    dtype: Any = None,
    shape: Any = None,
    verify_shape: bool = False,
    allow_broadcast: bool = False,
) -> TensorProto:
    """The TensorProto of a value (TF: make_tensor_proto); `shape` may have more elements than it.

    Raises TypeError or ValueError for values that do not fit.
    """
    if allow_broadcast and verify_shape:
        raise ValueError("allow_broadcast and verify_shape are not both allowed.")
    if isinstance(values, TensorProto):
        return values
    array = to_array(values, None if dtype is None else as_dtype(dtype).base)
    shape = array.shape if shape is None else tuple(int(n) for n in shape)
    size = math.prod(shape)
    unequal = verify_shape and array.shape != shape
    if unequal or (allow_broadcast and array.shape not in ((), (1,)) and array.size != size):
        raise TypeError(f"Expected Tensor's shape: {shape}, got {array.shape}.")
    if array.size > size:
        raise ValueError(
            f"Too many elements provided. Needed at most {size}, but received {array.size}"
        )
    if array.nbytes >= MAX_CONST_BYTES:
        raise ValueError("Cannot create a tensor proto whose content is larger than 2GB.")
    return plain_tensor_proto(array, dtype_of(array), shape)


def make_ndarray(tensor: TensorProto) -> np.ndarray[Any, Any]:
    """The array of a TensorProto, which may be written (TF: make_ndarray)."""
    return array_of_proto(tensor).copy()
