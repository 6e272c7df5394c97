"""Element types of tensors, and static shapes as plain tuples.

A shape is None (unknown rank) or a tuple of sizes, None being an unknown size.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

Shape = tuple[int | None, ...] | None


class DType:
    """The type of a tensor's elements, or of a reference to a variable of that type (TF: DType)."""

    __slots__ = ("name", "number", "_numpy", "_twin", "is_ref")

    def __init__(self, name: str, number: int, numpy: Any, is_ref: bool = False) -> None:
        self.name = name
        self.number = number
        self._numpy = numpy
        self.is_ref = is_ref
        self._twin: DType = self if is_ref else DType(name + "_ref", number + 100, numpy, True)
        self._twin._twin = self

    @property
    def base(self) -> DType:
        return self._twin if self.is_ref else self

    @property
    def ref(self) -> DType:
        return self if self.is_ref else self._twin

    base_dtype = base
    _as_ref = ref

    @property
    def _is_ref_dtype(self) -> bool:
        return self.is_ref

    @property
    def as_numpy_dtype(self) -> Any:
        if self._numpy is None:
            raise TypeError(f"{self.name} has no NumPy equivalent")
        return self._numpy

    @property
    def as_datatype_enum(self) -> int:
        return self.number

    @property
    def real_dtype(self) -> DType:
        return {"complex64": float32, "complex128": float64}.get(self.base.name, self.base)

    @property
    def size(self) -> int:
        """Bytes of one element (1 for string and handles, as in TF)."""
        base = self.base
        if base is string or base._numpy is None:
            return 1
        return int(np.dtype(base._numpy).itemsize)

    @property
    def is_floating(self) -> bool:
        return self.base.name in ("float16", "float32", "float64")

    @property
    def is_complex(self) -> bool:
        return self.base.name in ("complex64", "complex128")

    @property
    def is_integer(self) -> bool:
        return (
            not self.is_ref
            and self.base._numpy not in (None, object)
            and (np.dtype(self.base._numpy).kind in "iu")
        )

    @property
    def is_bool(self) -> bool:
        return self.base is bool_

    @property
    def is_quantized(self) -> bool:
        return False

    @property
    def is_unsigned(self) -> bool:
        return self.is_integer and np.dtype(self._numpy).kind == "u"

    @property
    def is_numpy_compatible(self) -> bool:
        return self.base._numpy is not None

    @property
    def min(self) -> Any:
        return self._limits().min

    @property
    def max(self) -> Any:
        return self._limits().max

    @property
    def limits(self) -> tuple[Any, Any]:
        return self.min, self.max

    def _limits(self) -> Any:
        if self.is_floating:
            return np.finfo(self.base._numpy)
        if self.base.is_integer:
            return np.iinfo(self.base._numpy)
        raise TypeError(f"Cannot find the limits of {self.name}.")

    def is_compatible_with(self, other: Any) -> bool:
        other = as_dtype(other)
        return self is other or self is other.base

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if other is None or isinstance(other, DType):
            return False
        try:
            return self is as_dtype(other)
        except TypeError:
            return False

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return self.number

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __str__(self) -> str:
        return f"<dtype: {self.name!r}>"

    def __int__(self) -> int:
        return self.number

    def __reduce__(self) -> str | tuple[Any, ...]:
        return (as_dtype, (self.name,))


float32 = DType("float32", 1, np.float32)
float64 = DType("float64", 2, np.float64)
int32 = DType("int32", 3, np.int32)
uint8 = DType("uint8", 4, np.uint8)
int16 = DType("int16", 5, np.int16)
int8 = DType("int8", 6, np.int8)
string = DType("string", 7, object)
complex64 = DType("complex64", 8, np.complex64)
int64 = DType("int64", 9, np.int64)
bool_ = DType("bool", 10, np.bool_)
uint16 = DType("uint16", 17, np.uint16)
complex128 = DType("complex128", 18, np.complex128)
float16 = DType("float16", 19, np.float16)
resource = DType("resource", 20, None)
variant = DType("variant", 21, None)
uint32 = DType("uint32", 22, np.uint32)
uint64 = DType("uint64", 23, np.uint64)

DTYPES = (
    float32, float64, int32, uint8, int16, int8, string, complex64, int64, bool_,
    uint16, complex128, float16, resource, variant, uint32, uint64,
)  # fmt: skip
_BY_KEY: dict[Any, DType] = {"half": float16, "float": float32, "double": float64}
for _t in DTYPES:
    for _form in (_t, _t.ref):
        _BY_KEY[_form.name] = _form
        _BY_KEY[_form.number] = _form
_BY_NUMPY = {np.dtype(t._numpy): t for t in DTYPES if t._numpy not in (None, object)}

FLOATS = (float16, float32, float64)
COMPLEX = (complex64, complex128)
INTS = (int8, int16, int32, int64, uint8, uint16, uint32, uint64)
REALS = FLOATS + INTS
NUMBERS = REALS + COMPLEX
INDEX = (int32, int64)


def as_dtype(value: Any) -> DType:
    """The DType for a DType, its name, its number, or a NumPy or Python type. Raises TypeError."""
    if isinstance(value, DType):
        return value
    if isinstance(value, (str, int)) and not isinstance(value, bool):
        found = _BY_KEY.get(value)
        if found is not None:
            return found
    elif value is float:
        return float32
    elif value is int:
        return int32
    elif value is bool:
        return bool_
    elif value in (str, bytes, object):
        return string
    try:
        dtype = np.dtype(value)
    except TypeError:
        raise TypeError(f"Cannot convert value {value!r} to a TensorFlow DType.") from None
    if dtype.kind in "SUO":
        return string
    if dtype not in _BY_NUMPY:
        raise TypeError(f"Cannot convert value {value!r} to a TensorFlow DType.")
    return _BY_NUMPY[dtype]


def merge_shapes(a: Shape, b: Shape) -> Shape:
    """The most specific shape compatible with both. Raises ValueError if there is none."""
    if a is None or a is b:
        return b
    if b is None:
        return a
    if len(a) != len(b) or any(m != n and m is not None and n is not None for m, n in zip(a, b)):
        raise ValueError(f"Shapes {show_shape(a)} and {show_shape(b)} are not compatible")
    return tuple(n if m is None else m for m, n in zip(a, b))


def broadcast_shapes(a: Shape, b: Shape) -> Shape:
    """The static shape of an elementwise op over both (NumPy's rule). Raises ValueError."""
    if a is None or b is None:
        return None
    if a == b and None not in a:
        return a
    rank = max(len(a), len(b))
    out = []
    for m, n in zip((1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b):
        if m == 1:
            out.append(n)
        elif n == 1 or m == n:
            out.append(m)
        elif m is None or n is None:
            out.append(n if m is None else m)
        else:
            raise ValueError(f"Dimensions must be equal, but are {m} and {n}")
    return tuple(out)


def is_full(shape: Shape) -> bool:
    """Whether every size is known."""
    return shape is not None and None not in shape


def num_elements(shape: Shape) -> int | None:
    if shape is None:
        return None
    total = 1
    for n in shape:
        if n is None:
            return None
        total *= n
    return total


def nbytes(dtype: DType, shape: Shape) -> int | None:
    """Bytes of a tensor's contents; None where the shape is not fully known."""
    count = num_elements(shape)
    return None if count is None else count * dtype.size


_C_NAMES = {"float32": "float", "float64": "double", "float16": "half"}


def c_name(dtype: DType) -> str:
    """A type as TF's kernels name it in their errors."""
    return _C_NAMES.get(dtype.base.name, dtype.base.name)


def show_shape(shape: Shape | Sequence[Any] | Iterable[Any]) -> str:
    if shape is None:
        return "<unknown>"
    return "[" + ",".join("?" if n is None else str(n) for n in shape) + "]"


class Dead:
    """The value of a tensor on a branch not taken; as a predicate it is false."""

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "DEAD"


DEAD = Dead()
