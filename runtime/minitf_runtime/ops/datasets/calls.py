"""Datasets that call functions of the graph: map, filter, flat_map, interleave and their kin."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitf_runtime.errors import OpError, invalid
from minitf_runtime.graph import Function
from minitf_runtime.ops.datasets.base import (
    ARGUMENTS,
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
from minitf_runtime.ops.datasets.batches import Batch
from minitf_runtime.ops.registry import Attr, Types, kernel, op
from minitf_runtime.types import Shape

AUTOTUNE = -1


class Calling(Dataset):
    """A dataset that calls a function of each element of its input."""

    def __init__(self, source: Dataset, function: Function, captured: Sequence[Any]) -> None:
        self.inputs = (source,)
        self.function = function
        self.captured = tuple(captured)

    def parts(self, run: Run) -> tuple[Pull, Callable[[Element], Element]]:
        """A pass over the input, and the function."""
        return self.inputs[0].open(run), run.bound(self.function, self.captured)


class Map(Calling):
    """The function of each element. `preserve`: it may not end the data by an OutOfRangeError."""

    def __init__(self, *args: Any, preserve: bool = False) -> None:
        super().__init__(*args)
        self.preserve = preserve

    def open(self, run: Run) -> Pull:
        pull, call = self.parts(run)

        def following() -> Element:
            element = pull()
            try:
                return call(element)
            except OpError as e:
                if not ends(e):
                    raise
                if self.preserve:
                    raise invalid(
                        f"Function invocation produced OutOfRangeError: {e.message}"
                    ) from e
            raise StopIteration

        return following


class Filter(Calling):
    def open(self, run: Run) -> Pull:
        pull, call = self.parts(run)

        def following() -> Element:
            while True:
                element: Element = pull()
                (kept,) = call(element)
                if np.ndim(kept):
                    raise invalid("Filter predicate `f` must return a scalar bool.")
                if kept:
                    return element
                run.check()

        return following


class TakeWhile(Calling):
    def open(self, run: Run) -> Pull:
        pull, call = self.parts(run)
        over = False

        def following() -> Element:
            nonlocal over
            if over:
                raise StopIteration
            element: Element = pull()
            (kept,) = call(element)
            if not kept:
                over = True
                raise StopIteration
            return element

        return following


class FlatMap(Calling):
    def open(self, run: Run) -> Pull:
        pull, call = self.parts(run)
        inner: Pull | None = None

        def following() -> Element:
            nonlocal inner
            while True:
                if inner is None:
                    inner = dataset(call(pull())[0]).open(run)
                    run.check()
                try:
                    return inner()  # type: ignore[no-any-return]
                except StopIteration:
                    inner = None

        return following


class Interleave(Calling):
    """The datasets of `cycle` elements at a time, `block` elements of each in turn."""

    def __init__(self, *args: Any, cycle: int, block: int) -> None:
        super().__init__(*args)
        self.cycle = cycle
        self.block = block

    def open(self, run: Run) -> Pull:
        pull, call = self.parts(run)
        inner: list[Pull | None] = [None] * self.cycle
        at, given, more = 0, 0, True

        def turn() -> None:
            nonlocal at, given
            at, given = (at + 1) % self.cycle, 0

        def following() -> Element:
            nonlocal given, more
            while more or any(inner):
                current = inner[at]
                if current is not None:
                    if given == self.block:
                        turn()
                        continue
                    try:
                        element: Element = current()
                    except StopIteration:
                        inner[at] = None
                        turn()
                        continue
                    given += 1
                    return element
                if not more:
                    turn()
                    continue
                try:
                    outer = pull()
                except StopIteration:
                    more = False
                    continue
                inner[at] = dataset(call(outer)[0]).open(run)
                run.check()
            raise StopIteration

        return following


class Scan(Calling):
    """A function of a state and an element, which gives the next state and what comes out."""

    def __init__(self, *args: Any, state: Sequence[Any]) -> None:
        super().__init__(*args)
        self.state = tuple(state)

    def open(self, run: Run) -> Pull:
        pull, call = self.parts(run)
        state = self.state

        def following() -> Element:
            nonlocal state
            out = call((*state, *pull()))
            state = out[: len(state)]
            return out[len(state) :]

        return following


_MAP = dict(use_inter_op_parallelism=True, preserve_cardinality=False)
_F = Attr("func")
dataset_op(
    "MapDataset", "input_dataset: variant, other_arguments: Targuments",
    f=_F, **ARGUMENTS, **OUTPUTS, **_MAP,
)  # fmt: skip
dataset_op(
    "ParallelMapDataset",
    "input_dataset: variant, other_arguments: Targuments, num_parallel_calls: int32",
    f=_F, **ARGUMENTS, **OUTPUTS, **_MAP, sloppy=False,
)  # fmt: skip
dataset_op(
    "MapAndBatchDataset",
    "input_dataset: variant, other_arguments: Targuments, batch_size: int64, "
    "num_parallel_calls: int64, drop_remainder: bool",
    f=_F, **ARGUMENTS, **OUTPUTS, preserve_cardinality=False,
)  # fmt: skip
for _name in ("FilterDataset", "TakeWhileDataset"):
    dataset_op(
        _name, "input_dataset: variant, other_arguments: Targuments",
        predicate=_F, **ARGUMENTS, **OUTPUTS,
    )  # fmt: skip
dataset_op(
    "FlatMapDataset", "input_dataset: variant, other_arguments: Targuments",
    f=_F, **ARGUMENTS, **OUTPUTS,
)  # fmt: skip
_INTERLEAVE = (
    "input_dataset: variant, other_arguments: Targuments, cycle_length: int64, block_length: int64"
)
dataset_op("InterleaveDataset", _INTERLEAVE, f=_F, **ARGUMENTS, **OUTPUTS)
dataset_op(
    "ParallelInterleaveDatasetV2", f"{_INTERLEAVE}, num_parallel_calls: int64",
    f=_F, **ARGUMENTS, **OUTPUTS, sloppy=False,
)  # fmt: skip
dataset_op(
    "ParallelInterleaveDataset",
    f"{_INTERLEAVE}, sloppy: bool, buffer_output_elements: int64, prefetch_input_elements: int64",
    f=_F, **ARGUMENTS, **OUTPUTS,
)  # fmt: skip
_STATE: dict[str, Any] = dict(f=_F, Tstate=Types(minimum=1), **ARGUMENTS, **OUTPUTS)
dataset_op(
    "ScanDataset",
    "input_dataset: variant, initial_state: Tstate, other_arguments: Targuments",
    **_STATE,
    preserve_cardinality=False,
)


@kernel("MapDataset", device="CPU")
def map_dataset(
    xp: Any, source: Any, captured: Any, *, f: Any, preserve_cardinality: bool
) -> Dataset:
    return Map(dataset(source), f, captured, preserve=preserve_cardinality)


@kernel("ParallelMapDataset", device="CPU")
def parallel_map_dataset(
    xp: Any, source: Any, captured: Any, num_parallel_calls: Any, *, f: Any,
    preserve_cardinality: bool,
) -> Dataset:  # fmt: skip
    _parallel(num_parallel_calls)
    return Map(dataset(source), f, captured, preserve=preserve_cardinality)


def _parallel(calls: Any) -> None:
    """Calls follow each other whatever their number; it is checked as TensorFlow does."""
    count = number(calls, "num_parallel_calls")
    if count != AUTOTUNE and count < 1:
        raise invalid("num_parallel_calls must be greater than zero.")


@kernel("MapAndBatchDataset", device="CPU")
def map_and_batch_dataset(
    xp: Any, source: Any, captured: Any, batch_size: Any, num_parallel_calls: Any,
    drop_remainder: Any, *, f: Any, preserve_cardinality: bool,
) -> Dataset:  # fmt: skip
    _parallel(num_parallel_calls)
    mapped = Map(dataset(source), f, captured, preserve=preserve_cardinality)
    return Batch(mapped, number(batch_size, "Batch size", 1), bool(drop_remainder))


@kernel("FilterDataset", device="CPU")
def filter_dataset(xp: Any, source: Any, captured: Any, *, predicate: Any) -> Dataset:
    return Filter(dataset(source), predicate, captured)


@kernel("TakeWhileDataset", device="CPU")
def take_while_dataset(xp: Any, source: Any, captured: Any, *, predicate: Any) -> Dataset:
    return TakeWhile(dataset(source), predicate, captured)


@kernel("FlatMapDataset", device="CPU")
def flat_map_dataset(xp: Any, source: Any, captured: Any, *, f: Any) -> Dataset:
    return FlatMap(dataset(source), f, captured)


def _interleaved(source: Any, f: Any, captured: Any, cycle: Any, block: Any) -> Dataset:
    length = number(cycle, "cycle_length")
    if length == AUTOTUNE:
        length = os.cpu_count() or 1
    if length < 1:
        raise invalid("cycle_length must be greater than zero.")
    turn = number(block, "block_length", 1)
    return Interleave(dataset(source), f, captured, cycle=length, block=turn)


@kernel("InterleaveDataset", device="CPU")
def interleave_dataset(
    xp: Any, source: Any, captured: Any, cycle: Any, block: Any, *, f: Any
) -> Dataset:
    return _interleaved(source, f, captured, cycle, block)


@kernel("ParallelInterleaveDatasetV2", device="CPU")
def parallel_interleave_dataset_v2(
    xp: Any, source: Any, captured: Any, cycle: Any, block: Any, num_parallel_calls: Any, *, f: Any
) -> Dataset:
    _parallel(num_parallel_calls)
    return _interleaved(source, f, captured, cycle, block)


@kernel("ParallelInterleaveDataset", device="CPU")
def parallel_interleave_dataset(
    xp: Any, source: Any, captured: Any, cycle: Any, block: Any, sloppy: Any, output: Any,
    prefetched: Any, *, f: Any,
) -> Dataset:  # fmt: skip
    return _interleaved(source, f, captured, cycle, block)


@kernel("ScanDataset", device="CPU")
def scan_dataset(xp: Any, source: Any, state: Any, captured: Any, *, f: Any) -> Dataset:
    return Scan(dataset(source), f, captured, state=state)


@op(
    "ReduceDataset",
    "input_dataset: variant, initial_state: Tstate, other_arguments: Targuments "
    "-> components: output_types",
    stateful=True,
    **_STATE,
    use_inter_op_parallelism=True,
)
def reduce_shape(c: Any) -> list[Shape]:
    """The state after a function of it and each element in turn."""
    return list(c["output_shapes"])


@kernel("ReduceDataset", device="CPU")
def reduce_dataset(
    xp: Any, source: Any, state: Any, captured: Any, *, f: Any, node: Any, step: Any
) -> Element:
    run = Run(node.functions, step)
    pull, call = dataset(source).open(run), run.bound(f, captured)
    state = tuple(state)
    try:
        while True:
            state = call((*state, *pull()))
            run.check()
    except StopIteration:
        return state
    finally:
        run.close()
