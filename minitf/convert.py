"""convert_to_tensor and constants: Python and NumPy values as tensors of the default graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitf.default import get_default_graph
from minitf.operation import Operation, Tensor
from minitf.tensor_shape import Dimension, TensorShape, as_shape
from minitf_runtime.types import DType, as_dtype, int32, int64, string

MAX_CONST_BYTES = 2**31  # a GraphDef cannot hold more

Converter = Callable[..., Any]
_converters: list[tuple[int, int, Any, Converter]] = []


def register_tensor_conversion_function(
    base_type: Any, conversion_func: Converter, priority: int = 100
) -> None:
    """Makes values of `base_type` tensors by `conversion_func(value, dtype, name, as_ref)`."""
    _converters.append((priority, len(_converters), base_type, conversion_func))
    _converters.sort(key=lambda c: c[:2])


def convert_to_tensor(
    value: Any,
    dtype: Any = None,
    name: str | None = None,
    preferred_dtype: Any = None,
    dtype_hint: Any = None,
) -> Tensor:
    """A Tensor for any value that stands for one. Raises TypeError or ValueError (TF: the same)."""
    return to_tensor(value, dtype, name, preferred_dtype=preferred_dtype or dtype_hint)


def to_tensor(
    value: Any,
    dtype: Any = None,
    name: str | None = None,
    as_ref: bool = False,
    preferred_dtype: Any = None,
) -> Tensor:
    """convert_to_tensor that may also hand out a variable's reference."""
    wanted = None if dtype is None else as_dtype(dtype).base
    if isinstance(value, Tensor):
        if wanted is not None and value.dtype.base is not wanted:
            raise ValueError(
                f"Tensor conversion requested dtype {wanted.name} for Tensor with dtype "
                f"{value.dtype.name}: {value!r}"
            )
        return value
    if preferred_dtype is not None and wanted is None:
        try:
            return _convert(value, as_dtype(preferred_dtype).base, name, as_ref)
        except (TypeError, ValueError):
            return _convert(value, None, name, as_ref)
    return _convert(value, wanted, name, as_ref)


def _convert(value: Any, dtype: DType | None, name: str | None, as_ref: bool) -> Tensor:
    for _, _, base_type, fn in _converters:
        if isinstance(value, base_type):
            made = fn(value, dtype=dtype, name=name, as_ref=as_ref)
            if made is NotImplemented:
                continue
            if not isinstance(made, Tensor):
                raise RuntimeError(f"Conversion function {fn!r} returned a non-Tensor: {made!r}")
            if dtype is not None and made.dtype.base is not dtype:
                raise RuntimeError(
                    f"Conversion function {fn!r} returned incompatible dtype: requested = "
                    f"{dtype.name}, actual = {made.dtype.name}"
                )
            return made
    if isinstance(value, Operation):
        raise TypeError(f"Can't convert Operation '{value.name}' to Tensor")
    return constant(value, dtype, name=name or "Const")


def to_tensors(
    values: Sequence[Any],
    dtype: Any = None,
    name: str | None = None,
    as_ref: bool = False,
    preferred_dtype: Any = None,
) -> list[Tensor]:
    """Each value as a Tensor, constants being named name_0, name_1 ..."""
    if not isinstance(values, (list, tuple)):
        raise TypeError("values must be a sequence.")
    return [
        to_tensor(v, dtype, None if name is None else f"{name}_{i}", as_ref, preferred_dtype)
        for i, v in enumerate(values)
    ]


def constant(
    value: Any,
    dtype: Any = None,
    shape: Any = None,
    name: str = "Const",
    verify_shape: bool = False,
) -> Tensor:
    """A Const op holding `value` (TF: constant). A single value fills `shape`."""
    array = to_array(value, None if dtype is None else as_dtype(dtype).base)
    if shape is not None:
        array = _fill(array, as_shape(shape), verify_shape)
    return const_of(array, name)


def const_of(array: np.ndarray[Any, Any], name: str = "Const") -> Tensor:
    """A Const op of exactly this array. Raises ValueError at 2 GB."""
    if array.nbytes >= MAX_CONST_BYTES:
        raise ValueError("Cannot create a tensor proto whose content is larger than 2GB.")
    array = _frozen(array)
    attrs = {"value": array, "dtype": dtype_of(array)}
    return get_default_graph().create_op("Const", [], name=name, attrs=attrs).outputs[0]


def _frozen(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A private read-only copy: the caller may change its array afterwards."""
    array = np.array(array, order="C")
    array.setflags(write=False)
    return array


def dtype_of(array: np.ndarray[Any, Any]) -> DType:
    return string if array.dtype == object else as_dtype(array.dtype)


def _fill(array: Any, shape: Any, verify_shape: bool) -> Any:
    if shape is None or None in shape:
        raise ValueError(f"A constant needs a fully defined shape, got {TensorShape(shape)}")
    if array.shape == shape:
        return array
    if verify_shape:
        raise TypeError(f"Expected Tensor's shape: {shape}, got {array.shape}.")
    size = int(np.prod(shape, dtype=np.int64))
    if size == 0:
        return np.empty(shape, array.dtype)
    flat = array.ravel()
    if flat.size > size:
        raise ValueError(
            f"Too many elements provided. Needed at most {size}, but received {flat.size}"
        )
    if flat.size == 0:
        raise ValueError("A constant needs at least one value to fill its shape")
    out = np.empty(size, array.dtype)
    out[: flat.size] = flat
    out[flat.size :] = flat[-1]
    return out.reshape(shape)


def to_array(value: Any, dtype: DType | None = None) -> np.ndarray[Any, Any]:
    """A value as an array of TF's choice of type: float32 and int32 for Python numbers.

    Raises TypeError when the value does not fit `dtype`, ValueError for ragged lists or None.
    """
    if value is None:
        raise ValueError("None values not supported.")
    if isinstance(value, (np.ndarray, np.generic)):
        return _cast_array(np.asarray(value), value, dtype)
    if isinstance(value, (TensorShape, Dimension)):
        value = value.as_list() if isinstance(value, TensorShape) else value.value
    if _has_dimension(value):
        if dtype is None:
            raise TypeError(
                f"Failed to convert object of type {type(value)} to Tensor. Contents: {value}. "
                "Consider casting elements to a supported type."
            )
        value = [int(v) for v in value]
    try:
        array = np.array(value)
    except ValueError:
        raise ValueError(
            f"Argument must be a dense tensor: {value!r} - got shape {[len(value)]}, but wanted "
            f"{_list_shape(value)}."
        ) from None
    if array.dtype.kind in "SUO":
        # NumPy's own strings lose the zero bytes at their end
        return _string_array(value, np.array(value, dtype=object), dtype)
    if list(array.shape) != _list_shape(value):
        raise ValueError(
            f"Argument must be a dense tensor: {value!r} - got shape {list(array.shape)}, but "
            f"wanted {_list_shape(value)}."
        )
    if dtype is None:
        if array.size == 0 and array.dtype == np.float64:
            return array.astype(np.float32)
        return array.astype(_python_dtype(array))
    _check_python(array, value, dtype)
    return array.astype(dtype.as_numpy_dtype)


def _has_dimension(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and any(isinstance(v, Dimension) for v in value)


def _python_dtype(array: Any) -> Any:
    """The type of a list of numbers, NumPy's among them: float32 and int32 for the widest."""
    if array.dtype == np.float64:
        return np.float32
    if array.dtype == np.int64:
        small = array.size == 0 or (array.min() >= -(2**31) and array.max() < 2**31)
        return np.int32 if small else np.int64
    return array.dtype


def _list_shape(value: Any) -> list[int]:
    """The sizes of nested lists, judged by their first entries."""
    sizes = []
    while isinstance(value, (list, tuple)):
        sizes.append(len(value))
        if not value:
            break
        value = value[0]
    return sizes


def _check_python(array: Any, value: Any, dtype: DType) -> None:
    """Python floats do not become ints, nor numbers strings or bools. Raises TypeError."""
    kind = array.dtype.kind
    if dtype is string or array.size == 0:
        if array.size:
            raise _expected(dtype, value)
        return
    fits = {
        "b": dtype.name == "bool",
        "i": dtype.name != "bool",
        "u": dtype.name != "bool",
        "f": dtype.is_floating or dtype.is_complex,
        "c": dtype.is_complex,
    }
    if not fits.get(kind, False):
        raise _expected(dtype, value)


def _expected(dtype: DType, value: Any) -> TypeError:
    while isinstance(value, (list, tuple)) and value:
        value = value[0]
    return TypeError(
        f"Expected {dtype.name}, got {value!r} of type '{type(value).__name__}' instead."
    )


def _string_array(value: Any, array: Any, dtype: DType | None) -> Any:
    out = np.empty(array.shape, object)
    for i, item in enumerate(array.astype(object).ravel()):
        if isinstance(item, Tensor):
            raise TypeError(f"List of Tensors when single Tensor expected, in {value!r}")
        if isinstance(item, str):
            item = item.encode()
        if not isinstance(item, bytes):
            raise TypeError(
                f"Failed to convert object of type {type(value)} to Tensor. Contents: {value!r}. "
                "Consider casting elements to a supported type."
            )
        out.ravel()[i] = item
    if dtype is not None and dtype is not string:
        raise _expected(dtype, value)
    return out


def _cast_array(array: Any, value: Any, dtype: DType | None) -> Any:
    if array.dtype.kind in "SUO":
        return _string_array(value, array, dtype)
    own = as_dtype(array.dtype)
    if dtype is None or own is dtype:
        return array
    if dtype is string:
        raise _expected(dtype, value)
    return array.astype(dtype.as_numpy_dtype)


def _from_shape(
    value: TensorShape, dtype: Any = None, name: Any = None, as_ref: bool = False
) -> Any:
    if not value.is_fully_defined():
        raise ValueError(f"Cannot convert a partially known TensorShape to a Tensor: {value}")
    sizes = value.as_list()
    if dtype is None:
        dtype = int64 if any(n >= 2**31 for n in sizes if n is not None) else int32
    if dtype not in (int32, int64):
        raise TypeError(f"Cannot convert a TensorShape to dtype {dtype.name}")
    return constant(sizes, dtype, name=name or "shape_as_tensor")


def _from_dimension(
    value: Dimension, dtype: Any = None, name: Any = None, as_ref: bool = False
) -> Any:
    if value.value is None:
        raise ValueError(f"Cannot convert an unknown Dimension to a Tensor: {value}")
    return constant(value.value, dtype or int32, name=name or "shape_as_tensor")


register_tensor_conversion_function(TensorShape, _from_shape)
register_tensor_conversion_function(Dimension, _from_dimension)
