"""Datasets whose elements are several of another one's, or parts of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minitf_runtime.errors import DataLossError, invalid
from minitf_runtime.ops.datasets.base import (
    COMPONENTS,
    OUTPUTS,
    Dataset,
    Element,
    Pull,
    Run,
    dataset,
    dataset_op,
    number,
    row,
)
from minitf_runtime.ops.registry import Count, kernel
from minitf_runtime.types import show_shape


def taken(pull: Pull, count: int) -> list[Any]:
    """The next elements: as many as there are, up to a number."""
    items = []
    try:
        for _ in range(count):
            items.append(pull())
    except StopIteration:
        return items
    return items


def stacked(elements: Sequence[Element]) -> Element:
    """Elements of one shape as a batch. Raises InvalidArgumentError for others."""
    return tuple([_stack(i, column) for i, column in enumerate(zip(*elements))])


def _stack(component: int, values: Sequence[Any]) -> Any:
    first = values[0]
    if isinstance(first, np.generic):
        for i, value in enumerate(values):
            if np.ndim(value):
                raise _unlike(component, i, first, value)
        return np.array(values)
    if not isinstance(first, np.ndarray):  # datasets
        return objects(values)
    out = np.empty((len(values), *first.shape), first.dtype)
    shape = first.shape
    for i, value in enumerate(values):
        if value.shape != shape:
            raise _unlike(component, i, first, value)
        out[i] = value if shape else value[()]
    return out


def objects(values: Sequence[Any]) -> Any:
    out = np.empty(len(values), object)
    for i, value in enumerate(values):
        out[i] = value
    return out


def _unlike(component: int, i: int, first: Any, value: Any) -> Exception:
    return invalid(
        f"Cannot batch tensors with different shapes in component {component}. First element had "
        f"shape {show_shape(np.shape(first))} and element {i} had shape "
        f"{show_shape(np.shape(value))}."
    )


class Batch(Dataset):
    def __init__(self, source: Dataset, size: int, drop_remainder: bool) -> None:
        self.inputs = (source,)
        self.size = size
        self.drop = drop_remainder

    def open(self, run: Run) -> Pull:
        (source,) = self.inputs
        table = source.table
        pull = source.open(run) if table is None else source.open_rows(run)

        def following() -> Element:
            items = taken(pull, self.size)
            if not items or (self.drop and len(items) < self.size):
                raise StopIteration
            if table is None:
                return self.together(items)
            return tuple([array.take(items, axis=0) for array in table])

        return following

    def together(self, elements: Sequence[Element]) -> Element:
        return stacked(elements)


class PaddedBatch(Batch):
    """Batches of elements filled up with `values` to `shapes`; -1: to the largest of the batch."""

    def __init__(
        self, source: Dataset, size: int, drop: bool, shapes: Sequence[Any], values: Sequence[Any]
    ) -> None:
        super().__init__(source, size, drop)
        self.shapes = [tuple(int(n) for n in shape) for shape in shapes]
        self.values = values

    def open(self, run: Run) -> Pull:
        (source,) = self.inputs
        pull = source.open(run)

        def following() -> Element:
            items = taken(pull, self.size)
            if not items or (self.drop and len(items) < self.size):
                raise StopIteration
            return self.together(items)

        return following

    def together(self, elements: Sequence[Element]) -> Element:
        columns = enumerate(zip(*elements))
        return tuple([self._padded(i, column) for i, column in columns])

    def _padded(self, component: int, values: Sequence[Any]) -> Any:
        wanted = self.shapes[component]
        shapes = [np.shape(v) for v in values]
        for shape in shapes:
            if len(shape) != len(wanted):
                raise invalid(
                    "All elements in a batch must have the same rank as the padded shape for "
                    f"component{component}: expected rank {len(wanted)} but got element with "
                    f"rank {len(shape)}"
                )
            if any(0 <= most < n for most, n in zip(wanted, shape)):
                raise _too_large(component, wanted, shape)
        sizes = [max(s) if most < 0 else most for most, s in zip(wanted, zip(*shapes))]
        fill = self.values[component]
        dtype = fill.dtype
        out = np.full((len(values), *sizes), fill[()], dtype)
        for i, value in enumerate(values):
            out[(i, *map(slice, np.shape(value)))] = value if np.ndim(value) else value[()]
        return out


def _too_large(component: int, wanted: Sequence[int], shape: Sequence[int]) -> Exception:
    at = next(i for i, (most, n) in enumerate(zip(wanted, shape)) if 0 <= most < n)
    text = (
        "Attempted to pad to a smaller size than the input element.\n  Component "
        f"{component} has {shape[at]} in dimension {at}, padded to {wanted[at]}."
    )
    return DataLossError(None, None, text)


class Unbatch(Dataset):
    """The rows of the elements."""

    def __init__(self, source: Dataset) -> None:
        self.inputs = (source,)

    def open(self, run: Run) -> Pull:
        pull = self.inputs[0].open(run)
        current: Element = ()
        at = size = 0

        def following() -> Element:
            nonlocal current, at, size
            while at == size:
                current = pull()
                sizes = {len(c) for c in current}
                if len(sizes) > 1:
                    raise invalid("Input element must have the same batch size in each component.")
                at, size = 0, sizes.pop()
                run.check()
            at += 1
            return tuple([row(c, at - 1) for c in current])

        return following


class Window(Dataset):
    """Elements that are datasets: `size` elements, each `stride` after the other; the next window
    begins `shift` elements later."""

    def __init__(self, source: Dataset, size: int, shift: int, stride: int, drop: bool) -> None:
        self.inputs = (source,)
        self.size, self.shift, self.stride, self.drop = size, shift, stride, drop

    def open(self, run: Run) -> Pull:
        pull = self.inputs[0].open(run)
        span = (self.size - 1) * self.stride + 1
        held: list[Element] = []

        def following() -> Element:
            nonlocal held
            held += taken(pull, span - len(held))
            if not held or (self.drop and len(held) < span):
                raise StopIteration
            members = held[:: self.stride]
            missing = self.shift - len(held)
            held = held[self.shift :]
            if missing > 0:
                taken(pull, missing)
            return tuple([Elements([(value,) for value in column]) for column in zip(*members)])

        return following


class Elements(Dataset):
    """Elements that are there already."""

    def __init__(self, elements: Sequence[Element]) -> None:
        self.elements = elements

    def open(self, run: Run) -> Pull:
        return iter(self.elements).__next__


dataset_op("BatchDataset", "input_dataset: variant, batch_size: int64", **OUTPUTS)
dataset_op(
    "BatchDatasetV2",
    "input_dataset: variant, batch_size: int64, drop_remainder: bool",
    parallel_copy=False,
    **OUTPUTS,
)
_PADDED = (
    "input_dataset: variant, batch_size: int64, padded_shapes: N * int64, "
    "padding_values: Toutput_types"
)
dataset_op("PaddedBatchDataset", _PADDED, **COMPONENTS, N=Count())
dataset_op(
    "PaddedBatchDatasetV2",
    f"{_PADDED}, drop_remainder: bool",
    parallel_copy=False,
    **COMPONENTS,
    N=Count(),
)
dataset_op("UnbatchDataset", "input_dataset: variant", **OUTPUTS)
dataset_op(
    "WindowDataset",
    "input_dataset: variant, size: int64, shift: int64, stride: int64, drop_remainder: bool",
    **OUTPUTS,
)


@kernel("BatchDataset", "BatchDatasetV2", device="CPU")
def batch_dataset(xp: Any, source: Any, batch_size: Any, drop_remainder: Any = False) -> Dataset:
    size = number(batch_size, "Batch size", 1)
    return Batch(dataset(source), size, bool(drop_remainder))


@kernel("PaddedBatchDataset", "PaddedBatchDatasetV2", device="CPU")
def padded_batch_dataset(
    xp: Any, source: Any, batch_size: Any, shapes: Any, values: Any, drop_remainder: Any = False
) -> Dataset:
    size = number(batch_size, "Batch size", 1)
    for value in values:
        if np.ndim(value):
            raise invalid("All padding values must be scalars")
    return PaddedBatch(dataset(source), size, bool(drop_remainder), shapes, values)


@kernel("UnbatchDataset", device="CPU")
def unbatch_dataset(xp: Any, source: Any) -> Dataset:
    return Unbatch(dataset(source))


@kernel("WindowDataset", device="CPU")
def window_dataset(
    xp: Any, source: Any, size: Any, shift: Any, stride: Any, drop_remainder: Any
) -> Dataset:
    sizes = {"Window size": size, "Window shift": shift, "Window stride": stride}
    found = [number(value, name, 1) for name, value in sizes.items()]
    return Window(dataset(source), *found, bool(drop_remainder))  # type: ignore[arg-type]
