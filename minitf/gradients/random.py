"""Gradients of random ops: samples depend on parameters only where TF has a formula."""

from __future__ import annotations

from typing import Any

from minitf.default import control_dependencies
from minitf.gradients.registry import gradient
from minitf.ops.apply import apply_op
from minitf.ops.array import concat, ones, shape
from minitf.ops.reduction import range as range_op
from minitf.ops.reduction import reduce_sum
from minitf_runtime.types import int32


@gradient("RandomGamma")
def random_gamma(op: Any, grad: Any) -> Any:
    """By alpha, by implicit differentiation of the sample."""
    sizes, alpha = op.inputs
    with control_dependencies([grad]):
        axes = shape(sizes)[0]
        form = concat([ones([axes], int32), shape(alpha)], axis=0)
        aligned = apply_op("Reshape", alpha, form)
        slope = apply_op("RandomGammaGrad", aligned, op.outputs[0])
        return None, reduce_sum(grad * slope, axis=range_op(axes))
