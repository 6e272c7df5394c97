"""Gradient accumulators: objects that stand for one on a device."""

from __future__ import annotations

from typing import Any

from minitf.convert import to_tensor
from minitf.indexed_slices import IndexedSlices
from minitf.operation import Operation, Tensor
from minitf.ops import math
from minitf.ops.apply import apply_op
from minitf.tensor_shape import TensorShape, unknown_shape
from minitf_runtime.types import DType, as_dtype, int64

__all__ = ["ConditionalAccumulator", "ConditionalAccumulatorBase", "SparseConditionalAccumulator"]


class ConditionalAccumulatorBase:
    """Sums gradients that are not older than its step until enough can be taken (TF: the same)."""

    _prefix = "Resource"

    def __init__(self, dtype: Any, shape: Any, accumulator_ref: Tensor) -> None:
        self._dtype = as_dtype(dtype)
        self._shape = TensorShape(shape) if shape is not None else unknown_shape()
        self._accumulator_ref = accumulator_ref
        self._name = accumulator_ref.op.name.split("/")[-1]

    @property
    def accumulator_ref(self) -> Tensor:
        return self._accumulator_ref

    @property
    def name(self) -> str:
        return self._name

    @property
    def dtype(self) -> DType:
        return self._dtype

    def num_accumulated(self, name: str | None = None) -> Tensor:
        """How many gradients there are: int32 scalar."""
        name = name or f"{self._name}_NumAccumulated"
        return apply_op(  # type: ignore[no-any-return]
            f"{self._prefix}AccumulatorNumAccumulated", self._accumulator_ref, name=name
        )

    def set_global_step(self, new_global_step: Any, name: str | None = None) -> Operation:
        """Gradients of an earlier step are dropped from now on."""
        step = _as_step(new_global_step)
        return apply_op(  # type: ignore[no-any-return]
            f"{self._prefix}AccumulatorSetGlobalStep", self._accumulator_ref, step, name=name
        )


def _as_step(value: Any) -> Tensor:
    return math.cast(to_tensor(value), int64)


class ConditionalAccumulator(ConditionalAccumulatorBase):
    """Accumulates dense gradients (TF: ConditionalAccumulator)."""

    def __init__(
        self,
        dtype: Any,
        shape: Any = None,
        shared_name: str | None = None,
        name: str = "conditional_accumulator",
        reduction_type: str = "MEAN",
    ) -> None:
        handle = apply_op(
            "ResourceConditionalAccumulator", dtype=dtype, shape=TensorShape(shape),
            shared_name=shared_name, reduction_type=reduction_type, name=name,
        )  # fmt: skip
        super().__init__(dtype, shape, handle)

    def apply_grad(self, grad: Any, local_step: Any = 0, name: str | None = None) -> Operation:
        grad = to_tensor(grad, self._dtype)
        grad.shape.assert_is_compatible_with(self._shape)
        return apply_op(  # type: ignore[no-any-return]
            "ResourceAccumulatorApplyGradient", self._accumulator_ref, _as_step(local_step), grad,
            name=name,
        )  # fmt: skip

    def take_grad(self, num_required: Any, name: str | None = None) -> Tensor:
        """The mean (or sum) of the gradients, once there are `num_required`; then starts anew."""
        out: Tensor = apply_op(
            "ResourceAccumulatorTakeGradient", self._accumulator_ref, num_required,
            dtype=self._dtype, name=name,
        )  # fmt: skip
        out.set_shape(self._shape)
        return out


class SparseConditionalAccumulator(ConditionalAccumulatorBase):
    """Accumulates gradients of rows (TF: SparseConditionalAccumulator)."""

    _prefix = ""

    def __init__(
        self,
        dtype: Any,
        shape: Any = None,
        shared_name: str | None = None,
        name: str = "sparse_conditional_accumulator",
        reduction_type: str = "MEAN",
    ) -> None:
        handle = apply_op(
            "SparseConditionalAccumulator", dtype=dtype, shape=TensorShape(shape),
            shared_name=shared_name, reduction_type=reduction_type, name=name,
        )  # fmt: skip
        super().__init__(dtype, shape, handle)

    def apply_indexed_slices_grad(
        self, grad: IndexedSlices, local_step: Any = 0, name: str | None = None
    ) -> Operation:
        return self.apply_grad(grad.indices, grad.values, grad.dense_shape, local_step, name)

    def apply_grad(
        self,
        grad_indices: Any,
        grad_values: Any,
        grad_shape: Any = None,
        local_step: Any = 0,
        name: str | None = None,
    ) -> Operation:
        step = _as_step(local_step)
        return apply_op(  # type: ignore[no-any-return]
            "SparseAccumulatorApplyGradient", self._accumulator_ref, step,
            math.cast(grad_indices, int64), grad_values,
            math.cast([] if grad_shape is None else grad_shape, int64),
            has_known_shape=grad_shape is not None, name=name,
        )  # fmt: skip

    def take_grad(self, num_required: Any, name: str | None = None) -> Any:
        """Indices, values and dense shape."""
        return apply_op(
            "SparseAccumulatorTakeGradient", self._accumulator_ref, num_required,
            dtype=self._dtype, name=name,
        )  # fmt: skip

    def take_indexed_slices_grad(self, num_required: Any, name: str | None = None) -> IndexedSlices:
        taken = self.take_grad(num_required, name)
        return IndexedSlices(taken.values, taken.indices, taken.shape)
