"""tf.data.experimental: transformations for Dataset.apply, and what has no other place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from minitf.convert import to_tensor
from minitf.data import batching, functional, structure
from minitf.data.dataset import AUTOTUNE, Dataset, DatasetV1Adapter
from minitf.data.grouping import bucket_by_sequence_length, group_by_window
from minitf.data.options import (
    DistributeOptions,
    MapVectorizationOptions,
    OptimizationOptions,
    StatsOptions,
    ThreadingOptions,
)
from minitf.data.seeds import seed_tensors
from minitf.data.structure import DatasetSpec as DatasetStructure
from minitf.data.tracing import Traced
from minitf.default import name_scope
from minitf.operation import Tensor
from minitf.ops.apply import apply_op
from minitf.tensor_spec import TensorSpec
from minitf_runtime.types import bool_, int64

__all__ = [
    "AUTOTUNE", "Counter", "DatasetStructure", "DistributeOptions", "MapVectorizationOptions",
    "OptimizationOptions", "StatsOptions", "ThreadingOptions", "bucket_by_sequence_length",
    "choose_from_datasets", "enumerate_dataset", "from_variant", "get_single_element",
    "get_structure", "group_by_window", "ignore_errors", "map_and_batch",
    "map_and_batch_with_legacy_function", "parallel_interleave", "scan", "shuffle_and_repeat",
    "take_while", "to_variant", "unbatch",
]  # fmt: skip

Transformation = Callable[[Dataset], Any]


def map_and_batch(
    map_func: Callable[..., Any],
    batch_size: Any,
    num_parallel_batches: int | None = None,
    drop_remainder: Any = False,
    num_parallel_calls: Any = None,
) -> Transformation:
    """map and batch in one. Raises ValueError if both numbers are given."""
    if num_parallel_batches is not None and num_parallel_calls is not None:
        raise ValueError(
            "The `num_parallel_batches` and `num_parallel_calls` arguments are mutually exclusive."
        )
    calls = num_parallel_calls
    if calls is None:
        calls = batch_size * (1 if num_parallel_batches is None else num_parallel_batches)

    def apply(dataset: Dataset) -> Any:
        name = "tf.data.experimental.map_and_batch()"
        traced = Traced(map_func, name, dataset.element_spec)
        size = to_tensor(batch_size, int64, name="batch_size")
        parallel = to_tensor(calls, int64, name="num_parallel_calls")
        drop = to_tensor(drop_remainder, bool_, name="drop_remainder")
        return dataset._made(
            "MapAndBatchDataset", traced.captured, size, parallel, drop,
            spec=structure.batched(traced.spec, batching.known_size(size, drop)),
            captured=traced.captured, f=traced.function, preserve_cardinality=True,
        )  # fmt: skip

    return apply


map_and_batch_with_legacy_function = map_and_batch


def shuffle_and_repeat(buffer_size: Any, count: Any = None, seed: Any = None) -> Transformation:
    """shuffle and repeat in one: the buffer fills with the next pass before this one has ended."""

    def apply(dataset: Dataset) -> Any:
        size = to_tensor(buffer_size, int64, name="buffer_size")
        times = to_tensor(-1 if count is None else count, int64, name="count")
        return dataset._made("ShuffleAndRepeatDataset", size, *seed_tensors(seed), times)

    return apply


def parallel_interleave(
    map_func: Callable[..., Any],
    cycle_length: Any,
    block_length: Any = 1,
    sloppy: Any = False,
    buffer_output_elements: Any = None,
    prefetch_input_elements: Any = None,
) -> Transformation:
    return lambda dataset: functional.parallel_interleave(
        dataset, map_func, cycle_length, block_length, sloppy, buffer_output_elements,
        prefetch_input_elements,
    )  # fmt: skip


def unbatch() -> Transformation:
    return lambda dataset: dataset.unbatch()


def enumerate_dataset(start: Any = 0) -> Transformation:
    return lambda dataset: dataset.enumerate(start)


def ignore_errors() -> Transformation:
    """Leaves out the elements that fail."""
    return lambda dataset: dataset._made("IgnoreErrorsDataset")


def take_while(predicate: Callable[..., Any]) -> Transformation:
    """The elements before the first one of which the function is false."""
    return lambda dataset: functional.take_while(dataset, predicate)


def scan(initial_state: Any, scan_func: Callable[..., Any]) -> Transformation:
    """What a function of a state and an element gives beside the next state."""
    return lambda dataset: functional.scan(dataset, initial_state, scan_func)


def Counter(start: Any = 0, step: Any = 1, dtype: Any = int64) -> Dataset:  # noqa: N802
    """Numbers without end."""
    with name_scope("counter"):
        first = to_tensor(start, dtype, name="start")
        by = to_tensor(step, dtype, name="step")
        numbers = scan(first, lambda state, _: (state + by, state))
        return Dataset.from_tensors(0).repeat(None).apply(numbers)


def choose_from_datasets(datasets: Sequence[Dataset], choice_dataset: Dataset) -> Dataset:
    """The next element of that dataset which a dataset of numbers tells each time."""
    spec = choice_dataset.element_spec
    if not isinstance(spec, TensorSpec) or not spec.is_compatible_with(TensorSpec([], int64)):
        raise TypeError("`choice_dataset` must be a dataset of scalar `tf.int64` tensors.")
    made = datasets[0].element_spec
    for other in datasets[1:]:
        if other.output_types != datasets[0].output_types:
            raise TypeError("All datasets must have the same type and class.")
        made = structure.widened(made, other.element_spec)
    variants = [d._variant_tensor for d in datasets]
    op = "DirectedInterleaveDataset"
    variant = apply_op(op, choice_dataset._variant_tensor, variants, **structure.outputs(made))
    return DatasetV1Adapter(variant, made, [choice_dataset, *datasets])


def get_single_element(dataset: Dataset) -> Any:
    """The only element of a dataset. Raises TypeError for anything else."""
    if not isinstance(dataset, Dataset):
        raise TypeError("`dataset` must be a `tf.data.Dataset` object.")
    spec = dataset.element_spec
    op = "DatasetToSingleElement"
    flat = apply_op(op, dataset._variant_tensor, **structure.outputs(spec))
    return structure.from_tensors(spec, flat)


def get_structure(dataset_or_iterator: Any) -> Any:
    return dataset_or_iterator.element_spec


def to_variant(dataset: Dataset) -> Tensor:
    return dataset._variant_tensor


def from_variant(variant: Tensor, structure: Any) -> Dataset:
    return DatasetV1Adapter(variant, structure)
