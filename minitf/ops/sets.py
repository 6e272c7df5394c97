"""Set operations on the values of each row (tf.sets)."""

from __future__ import annotations

from typing import Any

from minitf.operation import Tensor
from minitf.ops.apply import apply_op
from minitf.sparse_tensor import SparseTensor, convert_to_tensor_or_sparse_tensor

__all__: list[str] = []


def set_size(a: Any, validate_indices: bool = True) -> Tensor:
    """The number of different values of each row of a sparse tensor."""
    a = convert_to_tensor_or_sparse_tensor(a, name="a")
    if not isinstance(a, SparseTensor):
        raise TypeError(f"Expected `SparseTensor`, got {a}.")
    return apply_op("SetSize", *a._components(), validate_indices=validate_indices)


def set_intersection(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """The values that each row of a shares with that of b."""
    a, b, _ = _operands(a, b)
    return _operation(a, b, "intersection", validate_indices)


def set_difference(
    a: Any, b: Any, aminusb: bool = True, validate_indices: bool = True
) -> SparseTensor:
    """The values of each row of a that are not in that of b, or the other way round."""
    a, b, exchanged = _operands(a, b)
    return _operation(a, b, "a-b" if aminusb != exchanged else "b-a", validate_indices)


def set_union(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """The values of each row of a or b."""
    a, b, _ = _operands(a, b)
    return _operation(a, b, "union", validate_indices)


def _operands(a: Any, b: Any) -> tuple[Any, Any, bool]:
    """Both as tensors, the dense one first, and whether that exchanged them."""
    a = convert_to_tensor_or_sparse_tensor(a, name="a")
    b = convert_to_tensor_or_sparse_tensor(b, name="b")
    if a.dtype.base is not b.dtype.base:
        raise TypeError(f"Types don't match, {a.dtype} vs {b.dtype}.")
    if isinstance(a, SparseTensor) and not isinstance(b, SparseTensor):
        return b, a, True
    return a, b, False


def _operation(a: Any, b: Any, how: str, validate: bool) -> SparseTensor:
    names = ["Sparse" if isinstance(x, SparseTensor) else "Dense" for x in (a, b)]
    parts = [p for x in (a, b) for p in (x._components() if isinstance(x, SparseTensor) else [x])]
    op = f"{names[0]}To{names[1]}SetOperation"
    found = apply_op(op, *parts, set_operation=how, validate_indices=validate)
    return SparseTensor(*found)
