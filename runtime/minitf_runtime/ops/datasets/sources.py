"""Datasets that are made of tensors, of numbers, of a function of the program, or of others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minitf_runtime.errors import OpError, invalid
from minitf_runtime.ops.datasets.base import (
    COMPONENTS,
    OUTPUTS,
    Dataset,
    Element,
    Pull,
    Run,
    dataset,
    dataset_op,
    ends,
    number,
)
from minitf_runtime.ops.registry import Attr, Count, Types, kernel

dataset_op("TensorDataset", "components: Toutput_types", stateful=True, **COMPONENTS)
dataset_op("TensorSliceDataset", "components: Toutput_types", stateful=True, **COMPONENTS)
dataset_op("RangeDataset", "start: int64, stop: int64, step: int64", stateful=True, **OUTPUTS)
dataset_op("ZipDataset", "input_datasets: N * variant", **OUTPUTS, N=Count())
dataset_op("ConcatenateDataset", "input_dataset: variant, another_dataset: variant", **OUTPUTS)
dataset_op("IgnoreErrorsDataset", "input_dataset: variant", **OUTPUTS)
dataset_op(
    "DirectedInterleaveDataset",
    "selector_input_dataset: variant, data_input_datasets: N * variant",
    **OUTPUTS,
    N=Count(),
)
dataset_op(
    "GeneratorDataset",
    "init_func_other_args: Tinit_func_args, next_func_other_args: Tnext_func_args, "
    "finalize_func_other_args: Tfinalize_func_args",
    stateful=True,
    init_func=Attr("func"),
    next_func=Attr("func"),
    finalize_func=Attr("func"),
    Tinit_func_args=Types(),
    Tnext_func_args=Types(),
    Tfinalize_func_args=Types(),
    **OUTPUTS,
)


class Tensors(Dataset):
    """One element."""

    def __init__(self, components: Sequence[Any]) -> None:
        self.element = tuple(components)

    def open(self, run: Run) -> Pull:
        return iter((self.element,)).__next__


class Slices(Dataset):
    """The rows of arrays."""

    def __init__(self, components: Sequence[Any]) -> None:
        sizes = [np.shape(c)[:1] for c in components]
        if () in sizes:
            raise invalid("All components must be at least 1-dimensional")
        if len(set(sizes)) > 1:
            raise invalid("All components must have the same size in the 0th dimension")
        self.table: Element = tuple(components)
        self.size = sizes[0][0]

    def open_rows(self, run: Run) -> Pull:
        return iter(range(self.size)).__next__


class Range(Dataset):
    def __init__(self, numbers: range) -> None:
        self.numbers = numbers

    def open(self, run: Run) -> Pull:
        following = iter(self.numbers).__next__
        return lambda: (np.int64(following()),)


class Zip(Dataset):
    """One element of each input, until one of them has none."""

    def __init__(self, inputs: Sequence[Dataset]) -> None:
        self.inputs = tuple(inputs)

    def open(self, run: Run) -> Pull:
        pulls = [source.open(run) for source in self.inputs]
        return lambda: tuple([c for pull in pulls for c in pull()])


class Concatenate(Dataset):
    def __init__(self, first: Dataset, second: Dataset) -> None:
        self.inputs = (first, second)

    def open(self, run: Run) -> Pull:
        left = iter(self.inputs)
        pull = next(left).open(run)

        def following() -> Element:
            nonlocal pull
            while True:
                try:
                    return pull()  # type: ignore[no-any-return]
                except StopIteration:
                    pull = next(left).open(run)

        return following


class Generator(Dataset):
    """What a function gives until it says that there is no more: `init` makes its state."""

    def __init__(self, functions: Sequence[Any], captured: Sequence[Sequence[Any]]) -> None:
        self.calls = list(zip(functions, captured))

    def open(self, run: Run) -> Pull:
        (init, start), (step, more), (finalize, rest) = self.calls
        following, last = run.bound(step, more), run.bound(finalize, rest)
        state: Element | None = None
        over = False

        def pull() -> Element:
            nonlocal state, over
            if over:
                raise StopIteration
            if state is None:
                state = run.bound(init, ())(tuple(start))
            try:
                return following(state)
            except OpError as e:
                if not ends(e):
                    raise
            over = True
            last(state)
            raise StopIteration

        return pull


class Directed(Dataset):
    """The next element of that input which a dataset of numbers tells; ended ones are passed."""

    def __init__(self, selector: Dataset, inputs: Sequence[Dataset]) -> None:
        self.inputs = (selector, *inputs)

    def open(self, run: Run) -> Pull:
        select, *pulls = [source.open(run) for source in self.inputs]
        left = set(range(len(pulls)))

        def following() -> Element:
            while left:
                chosen = int(select()[0])
                if not 0 <= chosen < len(pulls):
                    raise invalid(f"Selector index out of range: {chosen} >= {len(pulls)}")
                if chosen in left:
                    try:
                        return pulls[chosen]()  # type: ignore[no-any-return]
                    except StopIteration:
                        left.discard(chosen)
            raise StopIteration

        return following


class IgnoreErrors(Dataset):
    """What can be made of the input."""

    def __init__(self, source: Dataset) -> None:
        self.inputs = (source,)

    def open(self, run: Run) -> Pull:
        pull = self.inputs[0].open(run)

        def following() -> Element:
            while True:
                try:
                    return pull()  # type: ignore[no-any-return]
                except OpError:
                    run.check()

        return following


def zipped(inputs: Sequence[Dataset]) -> Dataset:
    """Their elements side by side; arrays cut into rows stay so."""
    slices = [source for source in inputs if isinstance(source, Slices)]
    if len(slices) < len(inputs):
        return Zip(inputs)
    size = min(source.size for source in slices)
    return Slices([array[:size] for source in slices for array in source.table])


@kernel("TensorDataset", device="CPU")
def tensor_dataset(xp: Any, components: Any) -> Dataset:
    return Tensors(components)


@kernel("TensorSliceDataset", device="CPU")
def tensor_slice_dataset(xp: Any, components: Any) -> Dataset:
    return Slices(components)


@kernel("RangeDataset", device="CPU")
def range_dataset(xp: Any, start: Any, stop: Any, step: Any) -> Dataset:
    by = number(step, "step")
    if not by:
        raise invalid("step must be a non-zero integer.")
    return Range(range(number(start, "start"), number(stop, "stop"), by))


@kernel("ZipDataset", device="CPU")
def zip_dataset(xp: Any, inputs: Any) -> Dataset:
    return zipped([dataset(value) for value in inputs])


@kernel("ConcatenateDataset", device="CPU")
def concatenate_dataset(xp: Any, first: Any, second: Any) -> Dataset:
    return Concatenate(dataset(first), dataset(second))


@kernel("IgnoreErrorsDataset", device="CPU")
def ignore_errors_dataset(xp: Any, source: Any) -> Dataset:
    return IgnoreErrors(dataset(source))


@kernel("DirectedInterleaveDataset", device="CPU")
def directed_interleave_dataset(xp: Any, selector: Any, inputs: Any) -> Dataset:
    return Directed(dataset(selector), [dataset(value) for value in inputs])


@kernel("GeneratorDataset", device="CPU")
def generator_dataset(
    xp: Any,
    init_args: Any,
    next_args: Any,
    finalize_args: Any,
    *,
    init_func: Any,
    next_func: Any,
    finalize_func: Any,
) -> Dataset:
    functions = init_func, next_func, finalize_func
    return Generator(functions, (init_args, next_args, finalize_args))
