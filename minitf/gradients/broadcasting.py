"""Undoing broadcasts: which axes of a gradient are summed for each input of an elementwise op.

As in TF, ops are saved where static shapes tell; graphs remember the pairs of shapes they saw.
"""

from __future__ import annotations

from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from minitf.default import get_default_graph
from minitf.graph import Graph
from minitf.operation import Tensor
from minitf.ops.apply import apply_op
from minitf.ops.array import reshape, shape
from minitf.ops.reduction import reduce_sum
from minitf_runtime.ops.math import broadcast_axes
from minitf_runtime.types import is_full

Sizes = tuple[int, ...]


class Side(NamedTuple):
    """How the gradient of a broadcast result becomes that of one input."""

    shape: Any
    axes: Any
    shrinks: bool = True

    def reduce(self, grad: Any) -> Tensor:
        """The sum over the broadcast axes, in the input's shape."""
        return reshape(reduce_sum(grad, self.axes), self.shape)  # type: ignore[no-any-return]

    def fit(self, grad: Any) -> Any:
        """`reduce` where it changes anything."""
        return self.reduce(grad) if self.shrinks else grad


def sides(x: Any, y: Any) -> tuple[Side, Side]:
    """Both inputs' sides, their axes found at run time."""
    return sides_of_shapes(shape(x), shape(y))


def smart_sides(x: Tensor, y: Tensor, grad: Any) -> tuple[Side, Side]:
    """Both inputs' sides, found now if the static shapes are known."""
    if not isinstance(grad, Tensor):
        return sides(x, y)
    if not (is_full(x._shape) and is_full(y._shape)):
        return sides_of_shapes(apply_op("Shape", x), apply_op("Shape", y))
    x_axes, y_axes = _known_axes(x._shape, y._shape)
    return (
        Side(x._shape, x_axes, x._shape != grad._shape),
        Side(y._shape, y_axes, y._shape != grad._shape),
    )


def same_static_shapes(x: Tensor, y: Tensor, grad: Any) -> bool:
    """Whether nothing was broadcast, for all that is known now."""
    return isinstance(grad, Tensor) and is_full(x._shape) and x._shape == y._shape == grad._shape


_seen: WeakKeyDictionary[Graph, dict[Any, tuple[Sizes, Sizes]]] = WeakKeyDictionary()


def _known_axes(x: Any, y: Any) -> tuple[Sizes, Sizes]:
    """The axes of two known shapes. TF leaves an op that nobody uses for the first such pair."""
    seen = _seen.setdefault(get_default_graph(), {})
    if (x, y) not in seen:
        apply_op("BroadcastGradientArgs", x, y)
        seen[x, y] = broadcast_axes(x, y)
    return seen[x, y]


def sides_of_shapes(x_shape: Any, y_shape: Any) -> tuple[Side, Side]:
    """`sides`, when the shapes are at hand as tensors."""
    x_axes, y_axes = apply_op("BroadcastGradientArgs", x_shape, y_shape)
    return Side(x_shape, x_axes), Side(y_shape, y_axes)
