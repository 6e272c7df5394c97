"""tf.hessians: second derivatives, one element of the gradient after the other in a loop."""

from __future__ import annotations

from typing import Any

from minitf.convert import constant
from minitf.gradients.driver import gradients
from minitf.operation import Tensor
from minitf.ops.apply import apply_op
from minitf.ops.array import concat, shape, size
from minitf.ops.control_flow import while_loop
from minitf.ops.tensor_array import TensorArray
from minitf_runtime.types import int32

__all__ = ["hessians"]


def hessians(
    ys: Any,
    xs: Any,
    name: str = "hessians",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
) -> list[Tensor]:
    """The second derivatives of the sum of `ys` by each x, of shape [*x.shape, *x.shape]."""
    xs = list(xs) if isinstance(xs, (list, tuple)) else [xs]
    grads = gradients(
        ys,
        xs,
        colocate_gradients_with_ops=colocate_gradients_with_ops,
        gate_gradients=gate_gradients,
        aggregation_method=aggregation_method,
    )
    return [_hessian(grad, x) for grad, x in zip(grads, xs)]


def _hessian(grad: Any, x: Any) -> Tensor:
    flat = apply_op("Reshape", grad, [-1])
    count = size(x)
    start = [constant(0, int32), TensorArray(x.dtype, count)]

    def row(i: Tensor, rows: TensorArray) -> Any:
        return i + 1, rows.write(i, gradients(flat[i], x)[0])

    _, rows = while_loop(lambda i, _: i < count, row, start)
    sizes = shape(x)
    stacked = rows.stack()
    return apply_op("Reshape", stacked, concat((sizes, sizes), 0))  # type: ignore[no-any-return]
