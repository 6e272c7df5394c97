"""The two seeds of a dataset that draws random numbers, as tensors."""

from __future__ import annotations

from typing import Any

from minitf.convert import constant, to_tensor
from minitf.default import name_scope
from minitf.operation import Tensor
from minitf.ops.apply import apply_op
from minitf.ops.random import get_seed
from minitf_runtime.types import int64

NOT_ZERO = 2**31 - 1  # two zeros would ask for numbers that differ each run


def seed_tensors(seed: Any) -> tuple[Tensor, Tensor]:
    """From an op's seed and that of the graph (TF: data.util.random_seed.get_seed)."""
    first, second = get_seed(seed)
    one = to_tensor(0 if first is None else first, int64, name="seed")
    if second is None:
        return one, constant(0, int64, name="seed2")
    with name_scope("seed2") as scope:
        two = to_tensor(second, int64)
        zero = apply_op("LogicalAnd", apply_op("Equal", one, 0), apply_op("Equal", two, 0))
        return one, apply_op("Select", zero, constant(NOT_ZERO, int64), two, name=scope)
