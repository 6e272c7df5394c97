"""TensorShape and Dimension: TF1's public view of the engine's plain shape tuples."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

from minitf_runtime import types
from minitf_runtime.types import Shape


class Dimension:
    """One size, perhaps unknown (`value` None). Arithmetic with an unknown one gives an unknown."""

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        if isinstance(value, Dimension):
            value = value.value
        self._value = None if value is None else int(value)
        if self._value is not None and self._value != value and not isinstance(value, (str, bytes)):
            raise ValueError(f"Ambiguous dimension: {value}")
        if self._value is not None and self._value < 0:
            raise ValueError(f"Dimension {self._value} must be >= 0")

    @property
    def value(self) -> int | None:
        return self._value

    def __int__(self) -> int:
        return self._value  # type: ignore[return-value]  # TypeError for unknown, as in TF

    __index__ = __int__

    def __eq__(self, other: object) -> bool:
        try:
            value = Dimension(other).value
        except (TypeError, ValueError):
            return NotImplemented
        return None if None in (self._value, value) else self._value == value  # type: ignore

    def __ne__(self, other: object) -> bool:
        same = self.__eq__(other)
        return same if same in (None, NotImplemented) else not same

    def __hash__(self) -> int:
        return hash(self._value)

    def __repr__(self) -> str:
        return f"Dimension({self._value!r})"

    def __str__(self) -> str:
        return "?" if self._value is None else str(self._value)

    def is_compatible_with(self, other: Any) -> bool:
        value = Dimension(other).value
        return None in (self._value, value) or self._value == value

    def assert_is_compatible_with(self, other: Any) -> None:
        if not self.is_compatible_with(other):
            raise ValueError(f"Dimensions {self} and {other} are not compatible")

    def merge_with(self, other: Any) -> Dimension:
        self.assert_is_compatible_with(other)
        return Dimension(other if self._value is None else self._value)


def _lift(name: str, wrap: Callable[[Any], Any], reflected: bool = True) -> None:
    fn = getattr(operator, name)

    def forward(self: Dimension, other: Any) -> Any:
        try:
            b = Dimension(other).value
        except (TypeError, ValueError):
            return NotImplemented
        return wrap(None if None in (self._value, b) else fn(self._value, b))

    def backward(self: Dimension, other: Any) -> Any:
        try:
            b = Dimension(other).value
        except (TypeError, ValueError):
            return NotImplemented
        return wrap(None if None in (self._value, b) else fn(b, self._value))

    setattr(Dimension, name, forward)
    if reflected:
        setattr(Dimension, "__r" + name[2:], backward)


for _name in ("__add__", "__sub__", "__mul__", "__floordiv__", "__mod__"):
    _lift(_name, Dimension)
for _name in ("__lt__", "__le__", "__gt__", "__ge__"):
    _lift(_name, lambda truth: truth, reflected=False)
Dimension.__div__ = Dimension.__floordiv__  # type: ignore[attr-defined]


class TensorShape:
    """A possibly partial shape (TF: TensorShape). `as_tuple` is the engine's form."""

    __slots__ = ("as_tuple",)

    def __init__(self, dims: Any = None) -> None:
        self.as_tuple: Shape = as_shape(dims)

    @classmethod
    def of(cls, shape: Shape) -> TensorShape:
        made = cls.__new__(cls)
        made.as_tuple = shape
        return made

    @property
    def dims(self) -> list[Dimension] | None:
        return None if self.as_tuple is None else [Dimension(n) for n in self.as_tuple]

    @property
    def ndims(self) -> int | None:
        return None if self.as_tuple is None else len(self.as_tuple)

    rank = ndims

    def __len__(self) -> int:
        if self.as_tuple is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return len(self.as_tuple)

    def __bool__(self) -> bool:
        return self.as_tuple is not None

    def __iter__(self) -> Iterator[Dimension]:
        if self.as_tuple is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return iter(self.dims or [])

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return TensorShape.of(self._cut(key))
        return Dimension(None if self.as_tuple is None else self.as_tuple[key])

    def _cut(self, key: slice) -> Shape:
        if self.as_tuple is not None:
            return self.as_tuple[key]
        start, stop = key.start or 0, key.stop
        if stop is None or stop < 0 or start < 0 or key.step not in (None, 1):
            return None
        return (None,) * max(0, stop - start)

    def num_elements(self) -> int | None:
        return types.num_elements(self.as_tuple)

    def merge_with(self, other: Any) -> TensorShape:
        try:
            return TensorShape.of(types.merge_shapes(self.as_tuple, as_shape(other)))
        except ValueError:
            raise ValueError(f"Shapes {self} and {TensorShape(other)} are not compatible") from None

    def concatenate(self, other: Any) -> TensorShape:
        tail = as_shape(other)
        if self.as_tuple is None or tail is None:
            return TensorShape.of(None)
        return TensorShape.of(self.as_tuple + tail)

    def assert_same_rank(self, other: Any) -> None:
        tail = TensorShape(other)
        if None not in (self.ndims, tail.ndims) and self.ndims != tail.ndims:
            raise ValueError(f"Shapes {self} and {tail} must have the same rank")

    def assert_has_rank(self, rank: int) -> None:
        if self.ndims not in (None, rank):
            raise ValueError(f"Shape {self} must have rank {rank}")

    def with_rank(self, rank: int) -> TensorShape:
        try:
            return self.merge_with((None,) * rank)
        except ValueError:
            raise ValueError(f"Shape {self} must have rank {rank}") from None

    def with_rank_at_least(self, rank: int) -> TensorShape:
        if self.ndims is not None and self.ndims < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank: int) -> TensorShape:
        if self.ndims is not None and self.ndims > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self

    def is_compatible_with(self, other: Any) -> bool:
        try:
            types.merge_shapes(self.as_tuple, as_shape(other))
        except ValueError:
            return False
        return True

    def assert_is_compatible_with(self, other: Any) -> None:
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {TensorShape(other)} are incompatible")

    def is_fully_defined(self) -> bool:
        return types.is_full(self.as_tuple)

    def assert_is_fully_defined(self) -> None:
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def as_proto(self) -> ShapeView:
        return ShapeView(self.as_tuple)

    def as_list(self) -> list[int | None]:
        if self.as_tuple is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self.as_tuple)

    def __eq__(self, other: object) -> bool:
        try:
            return self.as_tuple == as_shape(other)
        except (TypeError, ValueError):
            return NotImplemented

    def __ne__(self, other: object) -> bool:
        try:
            tail = as_shape(other)
        except (TypeError, ValueError):
            return NotImplemented
        if self.as_tuple is None or tail is None:
            raise ValueError("The inequality of unknown TensorShapes is undefined.")
        return self.as_tuple != tail

    def __hash__(self) -> int:
        return hash(self.as_tuple)

    def __repr__(self) -> str:
        return f"TensorShape({None if self.as_tuple is None else self.dims})"

    def __str__(self) -> str:
        if self.as_tuple is None:
            return "<unknown>"
        if len(self.as_tuple) == 1:
            return f"({self.dims[0]},)"  # type: ignore[index]
        return "(" + ", ".join(str(d) for d in self.dims or ()) + ")"


def dimension_value(dimension: Any) -> int | None:
    """A size as int or None, be it a Dimension or that already (TF: dimension_value)."""
    return dimension.value if isinstance(dimension, Dimension) else dimension


def dimension_at_index(shape: TensorShape, index: int) -> Dimension:
    """A size of a shape, unknown if the rank is (TF: dimension_at_index)."""
    return Dimension(None) if shape.as_tuple is None else shape[index]


class DimView:
    """A size under the field names of TensorShapeProto.Dim; -1 when it is not known."""

    __slots__ = ("size", "name")

    def __init__(self, size: int | None) -> None:
        self.size = -1 if size is None else size
        self.name = ""


class ShapeView:
    """A shape under the field names of the TensorShapeProto message."""

    __slots__ = ("as_tuple", "dim", "unknown_rank")

    def __init__(self, shape: Shape) -> None:
        self.as_tuple = shape
        self.dim = [DimView(n) for n in shape or ()]
        self.unknown_rank = shape is None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ShapeView) and self.as_tuple == other.as_tuple

    def __hash__(self) -> int:
        return hash(self.as_tuple)

    def __repr__(self) -> str:
        return f"ShapeView({types.show_shape(self.as_tuple)})"


def as_shape(value: Any) -> Shape:
    """The plain shape tuple that a user's shape-like value means. Raises TypeError, ValueError."""
    if value is None:
        return None
    if isinstance(value, (TensorShape, ShapeView)):
        return value.as_tuple
    if type(value) is tuple and all(n is None or (type(n) is int and n >= 0) for n in value):
        return value
    if isinstance(value, (str, bytes)):
        raise TypeError(f"A shape must be a sequence of sizes, got {value!r}")
    try:
        items = list(value)
    except TypeError:
        items = [value]
    return tuple(Dimension(n).value for n in items)


def unknown_shape(ndims: int | None = None) -> TensorShape:
    return TensorShape.of(None if ndims is None else (None,) * ndims)
