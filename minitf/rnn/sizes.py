"""Sizes and types of states and outputs, and inputs with time before batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minitf import nest
from minitf.convert import constant
from minitf.operation import Tensor
from minitf.ops import array, math
from minitf.ops.constant_value import constant_value
from minitf.tensor_shape import TensorShape
from minitf_runtime.types import int32


def check_cell(argument: str, cell: Any) -> None:
    """Raises TypeError, which tells what is missing, for what is not like an RNNCell."""
    starts = hasattr(cell, "get_initial_state") or hasattr(cell, "zero_state")
    rules = [
        (hasattr(cell, "output_size"), "'output_size' property is missing"),
        (hasattr(cell, "state_size"), "'state_size' property is missing"),
        (starts, "either 'zero_state' or 'get_initial_state' method is required"),
        (callable(cell), "is not callable"),
    ]
    missing = [text for holds, text in rules if not holds]
    if missing:
        raise TypeError(
            f"The argument {argument!r} ({cell}) is not an RNNCell: {', '.join(missing)}."
        )


def joined_shape(prefix: Any, suffix: Any) -> Tensor:
    """Two shapes (numbers, shapes or tensors) one after the other, as a tensor.

    Raises ValueError if one is not known, or is a tensor that is no scalar or vector.
    """
    parts = _vector("prefix", prefix), _vector("suffix", suffix)
    if any(part is None for part in parts):
        raise ValueError(f"Provided a prefix or suffix of None: {prefix} and {suffix}")
    return array.concat(parts, 0)


def joined_static_shape(prefix: Any, suffix: Any) -> TensorShape:
    """The same, as far as it is known before any run. Makes the ops, too (TF: the same)."""
    _vector("prefix", prefix)
    _vector("suffix", suffix)
    return _static(prefix).concatenate(_static(suffix))  # type: ignore[no-any-return]


def _vector(what: str, size: Any) -> Tensor | None:
    if not isinstance(size, Tensor):
        shape = TensorShape(size)
        return constant(shape.as_list(), int32) if shape.is_fully_defined() else None
    if size.shape.ndims == 0:
        return array.expand_dims(size, 0)
    if size.shape.ndims != 1:
        raise ValueError(f"{what} tensor must be either a scalar or vector, but saw tensor: {size}")
    return size


def _static(size: Any) -> TensorShape:
    return TensorShape(constant_value(size) if isinstance(size, Tensor) else size)


def zero_state(state_size: Any, batch_size: Any, dtype: Any) -> Any:
    """Zeros for a state of that (nested) size."""

    def zeros(size: Any) -> Tensor:
        made = array.zeros(joined_shape(batch_size, size), dtype=dtype)
        made.set_shape(joined_static_shape(batch_size, size))
        return made

    return nest.map_structure(zeros, state_size)


def batch_size_of(inputs: Sequence[Tensor]) -> Any:
    """The batch size of inputs [time, batch, ...]: a number if one tells it, else a tensor."""
    for x in inputs:
        if x.shape.ndims is None:
            continue
        if x.shape.ndims < 2:
            raise ValueError(f"Expected input tensor {x} to have rank at least 2")
        if x.shape[1].value is not None:
            return x.shape[1].value
    return array.shape(inputs[0])[1]


def state_dtype(dtype: Any, state: Any) -> Any:
    """The type that is told, else the one type of all parts of a state. Raises ValueError."""
    if dtype is not None:
        return dtype
    if not nest.is_nested(state):
        return state.dtype
    dtypes = [part.dtype for part in nest.flatten(state)]
    if not dtypes:
        raise ValueError("Unable to infer dtype from empty state.")
    if any(t != dtypes[0] for t in dtypes):
        raise ValueError(
            "State has tensors of different inferred_dtypes. Unable to infer a single "
            "representative dtype."
        )
    return dtypes[0]


def transpose_batch_time(x: Tensor) -> Tensor:
    """The first two axes exchanged; a scalar or vector stays as it is."""
    shape = x.shape
    if shape.ndims is not None and shape.ndims < 2:
        return x
    order = array.concat(([1, 0], math.range(2, array.rank(x))), axis=0)
    turned = array.transpose(x, order)
    if shape.ndims is not None:
        turned.set_shape(TensorShape([shape[1], shape[0]]).concatenate(shape[2:]))
    return turned
