"""Conditional accumulators: they sum gradients of workers until enough have come to be taken."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from minitf_runtime.errors import invalid
from minitf_runtime.ops.queue import resource, shared
from minitf_runtime.ops.registry import (
    Attr,
    ShapeContext,
    Type,
    kernel,
    no_outputs,
    op,
    scalar,
    unknown,
)
from minitf_runtime.types import NUMBERS, Shape, show_shape

_log = logging.getLogger(__name__)


class Accumulator:
    """Gradients since the last take. Takers are served in the order they came."""

    def __init__(self, shape: Shape, mean: bool, name: str = "") -> None:
        self.shape = shape
        self.name = name
        self.mean = mean
        self.count = 0
        self.global_step = 0
        self.condition = threading.Condition()
        self._takers: deque[object] = deque()

    def apply(self, local_step: int, gradient: Any) -> None:
        """Adds a gradient; one that is older than the accumulator's step is dropped."""
        with self.condition:
            self.check(gradient)
            if local_step >= self.global_step:
                self.add(gradient)
                self.count += 1
                self.condition.notify_all()

    def take(self, required: int, step: Any) -> Any:
        """Waits for `required` gradients; gives the mean (or sum) of all and starts anew."""
        if required <= 0:
            raise invalid(f"Argument num_required must be positive, but was {required}")
        ticket = object()
        with self.condition:
            self._takers.append(ticket)
            try:
                step.wait_for(
                    self.condition,
                    lambda: self._takers[0] is ticket and self.count >= required,
                    lambda: ("accumulator", self.name, f"has {self.count} of {required} gradients"),
                )
                out = self.result()
                self.count = 0
                self.global_step += 1
            finally:
                self._takers.remove(ticket)
                self.condition.notify_all()
        return out

    def set_global_step(self, new: int) -> None:
        with self.condition:
            if new < self.global_step:
                _log.warning(
                    "Attempt to set current_global_step_ to smaller value: "
                    "current_global_step_ = %d >= %d = new_global_step.", self.global_step, new,
                )  # fmt: skip
            self.global_step = new

    def check(self, gradient: Any) -> None:
        """Raises InvalidArgumentError for a gradient that does not fit."""
        raise NotImplementedError

    def add(self, gradient: Any) -> None:
        raise NotImplementedError

    def result(self) -> Any:
        raise NotImplementedError


class DenseAccumulator(Accumulator):
    def __init__(self, shape: Shape, mean: bool, name: str = "") -> None:
        super().__init__(shape, mean, name)
        self._sum: Any = None

    def check(self, gradient: Any) -> None:
        expected = self.shape
        if self._sum is not None:
            expected = self._sum.shape
        if expected is not None and not _compatible(gradient.shape, expected):
            raise invalid(
                f"Shape mismatch: expected {show_shape(expected)}, got {show_shape(gradient.shape)}"
            )

    def add(self, gradient: Any) -> None:
        if self.count:
            self._sum += gradient
        else:
            self._sum = gradient.copy()

    def result(self) -> Any:
        total = self._sum / self.count if self.mean else self._sum.copy()
        return total.astype(self._sum.dtype, copy=False)


class SparseAccumulator(Accumulator):
    """The mean of a row is over the gradients that had it."""

    def __init__(self, shape: Shape, mean: bool, name: str = "") -> None:
        super().__init__(shape, mean, name)
        self._gradients: list[tuple[Any, Any]] = []

    def check(self, gradient: Any) -> None:
        indices, values, dense = gradient
        _check_rows(indices, values)
        declared = self.shape or ()
        if dense is not None:
            _check_sizes("shape", declared, tuple(int(n) for n in dense), 0)
        if declared and declared[0] is not None:
            _check_limit(indices, declared[0])
        if not self._gradients:
            _check_sizes("values", declared, values.shape, 1)
            return
        first = self._gradients[0][1]
        if first.ndim != values.ndim:
            raise invalid(f"Shape mismatch: expected values rank {first.ndim}, got {values.ndim}")
        _check_sizes("values", first.shape, values.shape, 1)

    def add(self, gradient: Any) -> None:
        self._gradients.append(gradient[:2])

    def result(self) -> Any:
        taken, self._gradients = self._gradients, []
        indices, at = np.unique(np.concatenate([i for i, _ in taken]), return_inverse=True)
        values = np.concatenate([v for _, v in taken])
        total = np.zeros((len(indices), *values.shape[1:]), values.dtype)
        np.add.at(total, at, values)
        if self.mean:
            seen = np.concatenate([np.unique(i) for i, _ in taken])
            counts = np.bincount(np.searchsorted(indices, seen), minlength=len(indices))
            total /= counts.astype(values.dtype).reshape(-1, *(1,) * (values.ndim - 1))
        rows = self.shape[0] if self.shape else None
        shape = (-1 if rows is None else rows, *values.shape[1:])
        return indices, total, np.array(shape, np.int64)


def _check_rows(indices: Any, values: Any) -> None:
    if indices.ndim != 1:
        raise invalid(
            f"Input indices should be vector but received shape: {show_shape(indices.shape)}"
        )
    if not values.ndim:
        raise invalid("Values cannot be 0-dimensional.")
    if len(indices) != len(values):
        raise invalid(f"Expected {len(indices)} non-empty input values, got {len(values)}")


def _check_limit(indices: Any, limit: int) -> None:
    for i, index in enumerate(indices.tolist()):
        if not 0 <= index < limit:
            raise invalid(
                f"Shape mismatch: index of slice {i} exceeded limits of shape; "
                f"index is {index} exceeded {limit}"
            )


def _check_sizes(what: str, expected: Any, sizes: tuple[int, ...], start: int) -> None:
    """Sizes from axis `start` on are the expected ones; there may be more of them."""
    if len(sizes) < len(expected):
        raise invalid(
            f"Shape mismatch: expected {what} rank at least {len(expected)}, got {len(sizes)}"
        )
    for i, (want, got) in enumerate(zip(expected, sizes)):
        if i >= start and want is not None and want != got:
            raise invalid(f"Shape mismatch: expected {what} dim {i} to be {want}, got {got}")


def _compatible(shape: tuple[int, ...], expected: Any) -> bool:
    return len(shape) == len(expected) and all(n is None or m == n for m, n in zip(shape, expected))


# ---- ops. A dense accumulator's handle is a resource, or a string ref for the old form

_DTYPE = Type(NUMBERS)
_ACCUMULATOR: dict[str, Any] = dict(
    dtype=_DTYPE,
    shape=Attr("shape"),
    container="",
    shared_name="",
    reduction_type=Attr("string", "MEAN", ("MEAN", "SUM")),
)
_REF = "Ref(string)"


def _pair(c: ShapeContext) -> list[Shape]:
    """What TF says of a handle: once it was a container and a name."""
    return [(2,)]


op("ConditionalAccumulator", f"-> handle: {_REF}", _pair, stateful=True, **_ACCUMULATOR)
op("ResourceConditionalAccumulator", "-> handle: resource", _pair, stateful=True, **_ACCUMULATOR)
op("SparseConditionalAccumulator", f"-> handle: {_REF}", _pair, stateful=True, **_ACCUMULATOR)


def _taken_shape(c: ShapeContext) -> list[Shape]:
    """Known only to the accumulator."""
    return [None]


for _prefix, _handle in (("", _REF), ("Resource", "resource")):
    op(
        f"{_prefix}AccumulatorApplyGradient",
        f"handle: {_handle}, local_step: int64, gradient: dtype ->",
        no_outputs,
        stateful=True,
        dtype=_DTYPE,
    )
    op(
        f"{_prefix}AccumulatorTakeGradient",
        f"handle: {_handle}, num_required: int32 -> average: dtype",
        _taken_shape,
        stateful=True,
        blocking=True,
        dtype=_DTYPE,
    )
    op(
        f"{_prefix}AccumulatorNumAccumulated",
        f"handle: {_handle} -> num_accumulated: int32",
        scalar,
        stateful=True,
    )
    op(
        f"{_prefix}AccumulatorSetGlobalStep",
        f"handle: {_handle}, new_global_step: int64 ->",
        no_outputs,
        stateful=True,
    )
op(
    "SparseAccumulatorApplyGradient",
    f"handle: {_REF}, local_step: int64, gradient_indices: int64, gradient_values: dtype, "
    "gradient_shape: int64 ->",
    no_outputs,
    stateful=True,
    dtype=_DTYPE,
    has_known_shape=Attr("bool"),
)
op(
    "SparseAccumulatorTakeGradient",
    f"handle: {_REF}, num_required: int32 -> indices: int64, values: dtype, shape: int64",
    unknown,
    stateful=True,
    blocking=True,
    dtype=_DTYPE,
)


def _accumulator_of(kind: type[Accumulator]) -> Callable[..., Any]:
    def handle(xp: Any, *, node: Any) -> Any:
        attrs = node.attrs

        def make(name: str) -> Accumulator:
            return kind(attrs["shape"], attrs["reduction_type"] == "MEAN", name)

        return node.keep(lambda: shared(node, "accumulator", make))

    return handle


kernel("ConditionalAccumulator", "ResourceConditionalAccumulator")(
    _accumulator_of(DenseAccumulator)
)
kernel("SparseConditionalAccumulator")(_accumulator_of(SparseAccumulator))


def _accumulator(handle: Any, kind: type[Accumulator] = Accumulator) -> Any:
    return resource(handle, kind, "an accumulator")


@kernel("AccumulatorApplyGradient", "ResourceAccumulatorApplyGradient", host_inputs="local_step")
def apply_gradient(xp: Any, handle: Any, local_step: Any, gradient: Any) -> None:
    _accumulator(handle, DenseAccumulator).apply(int(local_step), gradient)


@kernel("AccumulatorTakeGradient", "ResourceAccumulatorTakeGradient", host_inputs="num_required")
def take_gradient(xp: Any, handle: Any, num_required: Any, *, step: Any) -> Any:
    return _accumulator(handle, DenseAccumulator).take(int(num_required), step)


@kernel("SparseAccumulatorApplyGradient",
        host_inputs="local_step gradient_indices gradient_values gradient_shape")  # fmt: skip
def sparse_apply_gradient(
    xp: Any, handle: Any, local_step: Any, indices: Any, values: Any, shape: Any, *,
    has_known_shape: bool,
) -> None:  # fmt: skip
    gradient = indices, values, shape if has_known_shape else None
    _accumulator(handle, SparseAccumulator).apply(int(local_step), gradient)


@kernel("SparseAccumulatorTakeGradient", host_inputs="num_required",
        host_outputs="indices values shape")  # fmt: skip
def sparse_take_gradient(xp: Any, handle: Any, num_required: Any, *, step: Any) -> Any:
    return _accumulator(handle, SparseAccumulator).take(int(num_required), step)


@kernel("AccumulatorNumAccumulated", "ResourceAccumulatorNumAccumulated",
        host_outputs="num_accumulated")  # fmt: skip
def num_accumulated(xp: Any, handle: Any) -> Any:
    return np.int32(_accumulator(handle).count)


@kernel("AccumulatorSetGlobalStep", "ResourceAccumulatorSetGlobalStep",
        host_inputs="new_global_step")  # fmt: skip
def set_global_step(xp: Any, handle: Any, new_global_step: Any) -> None:
    _accumulator(handle).set_global_step(int(new_global_step))
