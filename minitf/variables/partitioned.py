"""PartitionedVariable: one tensor kept as several variables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from minitf.convert import register_tensor_conversion_function
from minitf.default import control_dependencies, name_scope
from minitf.operation import Tensor
from minitf.ops.apply import apply_op
from minitf.ops.array import concat, split
from minitf.tensor_shape import TensorShape
from minitf_runtime.types import DType


class PartitionedVariable:
    """Variables that each hold a slice of one tensor; as a tensor, their concatenation."""

    def __init__(
        self,
        name: str,
        shape: Any,
        dtype: DType,
        variable_list: Sequence[Any],
        partitions: Sequence[int],
    ) -> None:
        """Raises ValueError if the variables are not slices of that shape."""
        shape = TensorShape(shape)
        if not variable_list:
            raise ValueError("variable_list may not be empty")
        if any(p < 1 for p in partitions):
            raise ValueError(f"partition values must be positive: {partitions}")
        if len(shape) != len(partitions):
            raise ValueError(f"len(shape) != len(partitions): {shape} vs. {partitions}")
        slices = [v._get_save_slice_info() for v in variable_list]
        if None in slices:
            names = [v.name for v in variable_list]
            raise ValueError(f"All variables must have a save_slice_info available: {names}")
        if any(s.full_shape != shape.as_list() for s in slices):
            raise ValueError(
                f"All variables' full shapes must match shape: {shape}; but full shapes were: "
                f"{[s.full_shape for s in slices]}"
            )
        self.name = name
        self.shape = shape
        self.dtype = dtype
        self._partitions = partitions
        self._variables = sorted(variable_list, key=lambda v: v._get_save_slice_info().var_offset)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._variables)

    def __len__(self) -> int:
        axes = self._partition_axes()
        if len(axes) > 1:
            raise ValueError(f"Cannot get a length for {len(axes)} > 1 partition axes")
        return len(self._variables)

    def _partition_axes(self) -> list[int]:
        return [i for i, p in enumerate(self._partitions) if p > 1] or [0]

    def _axis(self, purpose: str) -> int:
        axes = self._partition_axes()
        if len(axes) > 1:
            raise NotImplementedError(f"Cannot {purpose} along more than one dimension: {axes}.")
        return axes[0]

    def as_tensor(self) -> Tensor:
        """The slices joined: read anew at each call."""
        with control_dependencies(None):
            whole = self._variables[0]
            if len(self._variables) > 1:
                axis = self._axis("concatenate")
                with name_scope(f"{self.name}/ConcatPartitions/"):
                    whole = concat(self._variables, axis)
            with name_scope(None):
                return apply_op("Identity", whole, name=self.name)  # type: ignore[no-any-return]

    def get_shape(self) -> TensorShape:
        return self.shape

    def _get_variable_list(self) -> list[Any]:
        return self._variables

    def _get_partitions(self) -> Sequence[int]:
        return self._partitions

    def assign(
        self, value: Any, use_locking: bool = False, name: Any = None, read_value: bool = True
    ) -> list[Any]:
        """Assigns to each variable its slice; gives the list of results."""
        return self._each("assign", value, use_locking, name, read_value)

    def assign_add(
        self, value: Any, use_locking: bool = False, name: Any = None, read_value: bool = True
    ) -> list[Any]:
        return self._each("assign_add", value, use_locking, name, read_value)

    def assign_sub(
        self, value: Any, use_locking: bool = False, name: Any = None, read_value: bool = True
    ) -> list[Any]:
        return self._each("assign_sub", value, use_locking, name, read_value)

    def _each(self, method: str, value: Any, *options: Any) -> list[Any]:
        axis = self._axis("do assign action")
        if isinstance(value, PartitionedVariable):
            parts = list(value)
        elif isinstance(value, list):
            parts = value
        else:
            sizes = [v.shape.as_list()[axis] for v in self._variables]
            parts = split(value, sizes, axis=axis)
        if len(parts) != len(self._variables):
            raise ValueError(f"Got {len(parts)} values for {len(self._variables)} partitions")
        return [getattr(v, method)(p, *options) for v, p in zip(self._variables, parts)]


def _to_tensor(
    value: PartitionedVariable, dtype: DType | None = None, name: Any = None, as_ref: bool = False
) -> Tensor:
    if dtype is not None and dtype is not value.dtype.base:
        raise ValueError(
            f"Incompatible type conversion requested to type '{dtype.name}' for variable of type "
            f"'{value.dtype.name}'"
        )
    if as_ref:
        raise NotImplementedError("PartitionedVariable doesn't support being used as a reference.")
    return value.as_tensor()


register_tensor_conversion_function(PartitionedVariable, _to_tensor)
