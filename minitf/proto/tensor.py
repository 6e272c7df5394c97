"""Messages of tensors and their shapes, and their conversion to and from NumPy arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minitf.proto.kinds import BOOL, BYTES, DOUBLE, FLOAT, INT32, INT64, STRING, UINT64, Enum
from minitf.proto.message import Message, Nested, Repeated, Scalar
from minitf_runtime.errors import UnimplementedError
from minitf_runtime.types import (
    DTYPES,
    DType,
    Shape,
    as_dtype,
    num_elements,
    resource,
    string,
    variant,
)

_OLD_NAMES = {"float32": "FLOAT", "float64": "DOUBLE", "float16": "HALF"}


def _enum_name(dtype: DType) -> str:
    return "DT_" + _OLD_NAMES.get(dtype.name, dtype.name.upper())


_NUMBERS = {_enum_name(t): t.number for t in DTYPES}
# Types that minitf has not, but that declarations of ops name.
_NUMBERS.update(
    DT_QINT8=11, DT_QUINT8=12, DT_QINT32=13, DT_BFLOAT16=14, DT_QINT16=15, DT_QUINT16=16
)
DataType = Enum(
    DT_INVALID=0, **_NUMBERS, **{f"{name}_REF": n + 100 for name, n in _NUMBERS.items()}
)


class TensorShapeProto(Message):
    """A shape of which the rank, or single sizes (-1), may be unknown."""

    class Dim(Message):
        size = Scalar(INT64, 1)
        name = Scalar(STRING, 2)

    dim = Repeated(Dim, 2)
    unknown_rank = Scalar(BOOL, 3)


class TensorProto(Message):
    """A tensor: its bytes, or its elements in the field of its type."""

    dtype = Scalar(DataType, 1)
    tensor_shape = Nested(TensorShapeProto, 2)
    version_number = Scalar(INT32, 3)
    tensor_content = Scalar(BYTES, 4)
    float_val = Repeated(FLOAT, 5)
    double_val = Repeated(DOUBLE, 6)
    int_val = Repeated(INT32, 7)
    string_val = Repeated(BYTES, 8)
    scomplex_val = Repeated(FLOAT, 9)
    int64_val = Repeated(INT64, 10)
    bool_val = Repeated(BOOL, 11)
    dcomplex_val = Repeated(DOUBLE, 12)
    half_val = Repeated(INT32, 13)
    uint32_val = Repeated(UINT64, 16)
    uint64_val = Repeated(UINT64, 17)


_VALUE_FIELDS = {
    "float32": "float_val",
    "float64": "double_val",
    "string": "string_val",
    "complex64": "scomplex_val",
    "int64": "int64_val",
    "bool": "bool_val",
    "complex128": "dcomplex_val",
    "float16": "half_val",
    "uint32": "uint32_val",
    "uint64": "uint64_val",
}  # all others: int_val
_NEVER_BYTES = {"bool", "float16", "uint16", "complex64", "complex128"}  # as TF writes them


def shape_proto(shape: Shape) -> TensorShapeProto:
    if shape is None:
        return TensorShapeProto(unknown_rank=True)
    return TensorShapeProto(dim=[{"size": -1 if n is None else n} for n in shape])


def shape_of_proto(proto: TensorShapeProto) -> Shape:
    if proto.unknown_rank:
        return None
    return tuple(None if d.size < 0 else d.size for d in proto.dim)


def tensor_proto(array: Any, dtype: DType | None = None) -> TensorProto:
    """The message of an array: strings in their field, numbers as bytes; one element, or one that
    all are equal to, in the field of its type."""
    array = np.asarray(array)
    dtype = as_dtype(array.dtype) if dtype is None else dtype.base
    shape = array.shape
    if dtype is not string and array.size > 1:
        array = np.ascontiguousarray(array, dtype.as_numpy_dtype)
        data = array.tobytes()
        if data == data[: array.itemsize] * array.size:
            array = array.ravel()[:1]
    return plain_tensor_proto(array, dtype, shape)


def plain_tensor_proto(array: np.ndarray, dtype: DType, shape: tuple[int, ...]) -> TensorProto:
    """The message of a tensor of that shape of which the array has the (first) elements."""
    field = _field(dtype)
    proto = TensorProto(dtype=dtype.number, tensor_shape=shape_proto(shape))
    if dtype is string:
        proto.string_val.extend(_octets(item) for item in array.ravel().tolist())
        return proto
    array = np.ascontiguousarray(array, dtype.as_numpy_dtype)
    if array.size == math.prod(shape) > 1 and dtype.name not in _NEVER_BYTES:
        proto.tensor_content = array.tobytes()
    else:
        getattr(proto, field).extend(_elements(array))
    return proto


def _octets(item: Any) -> bytes:
    return item.encode() if isinstance(item, str) else bytes(item)


def _field(dtype: DType) -> str:
    if dtype in (resource, variant):
        raise UnimplementedError(None, None, f"{dtype.name} tensors have no message")
    return _VALUE_FIELDS.get(dtype.name, "int_val")


def _elements(array: np.ndarray) -> list[Any]:
    flat = array.ravel()
    if flat.dtype == np.float16:
        return flat.view(np.uint16).tolist()
    if flat.dtype.kind == "c":
        return flat.view(flat.real.dtype).tolist()
    return flat.tolist()


def array_of_proto(proto: TensorProto) -> np.ndarray:
    """The array of a message; the last element given stands for all that follow.

    Raises ValueError for a message whose parts do not fit.
    """
    dtype = as_dtype(proto.dtype)
    shape = shape_of_proto(proto.tensor_shape)
    count = num_elements(shape)
    if shape is None or count is None:
        raise ValueError(f"a tensor must have a known shape, not {shape}")
    if proto.tensor_content:
        return _from_bytes(proto.tensor_content, dtype, shape)
    flat = _from_elements(getattr(proto, _field(dtype)), dtype)
    if len(flat) > count or (count and not len(flat)):
        if len(flat):
            raise ValueError(f"{len(flat)} elements do not fit the shape {list(shape)}")
        return np.zeros(shape, dtype.as_numpy_dtype) if dtype is not string else _empty(shape)
    last = np.repeat(flat[-1:], count - len(flat))
    return np.concatenate([flat, last]).reshape(shape)


def _from_bytes(data: bytes, dtype: DType, shape: tuple[Any, ...]) -> np.ndarray:
    if dtype is string or len(data) != math.prod(shape) * dtype.size:
        raise ValueError(f"{len(data)} bytes are no {dtype.name} tensor of shape {list(shape)}")
    return np.frombuffer(data, dtype.as_numpy_dtype).reshape(shape)


def _from_elements(items: Any, dtype: DType) -> np.ndarray:
    if dtype is string:
        out = np.empty(len(items), object)
        out[:] = list(items)
        return out
    kind = np.dtype(dtype.as_numpy_dtype)
    if kind == np.float16:
        return np.array(list(items), np.uint16).view(np.float16)
    if kind.kind == "c":
        parts = np.float32 if kind.itemsize == 8 else np.float64
        return np.array(list(items), parts).view(kind)
    return np.array(list(items), kind)


def _empty(shape: tuple[Any, ...]) -> np.ndarray:
    out = np.empty(shape, object)
    out.fill(b"")
    return out
