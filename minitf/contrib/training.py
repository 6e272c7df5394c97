"""tf.contrib.training: strategies for replica_device_setter that look at the size of variables."""

from __future__ import annotations

from collections.abc import Callable

from minitf.operation import Operation
from minitf_runtime.types import num_elements, show_shape

__all__ = ["GreedyLoadBalancingStrategy", "byte_size_load_fn"]


class GreedyLoadBalancingStrategy:
    """Gives each op to the task with the least load so far (ties: the first)."""

    def __init__(self, num_tasks: int, load_fn: Callable[[Operation], float]) -> None:
        self._loads = [0.0] * num_tasks
        self._load_fn = load_fn

    def __call__(self, op: Operation) -> int:
        task = self._loads.index(min(self._loads))
        self._loads[task] += self._load_fn(op)
        return task


def byte_size_load_fn(op: Operation) -> int:
    """Bytes of an op's only output. Raises ValueError for several outputs or an unknown shape."""
    if len(op.outputs) != 1:
        raise ValueError(f"Op {op} must have a single output")
    output = op.outputs[0]
    count = num_elements(output._shape)
    if count is None:
        raise ValueError(f"Shape {show_shape(output._shape)} is not fully defined")
    return count * output.dtype.size
