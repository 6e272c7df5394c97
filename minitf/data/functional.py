"""Datasets that call a function of their elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitf.convert import to_tensor
from minitf.data import nest, structure
from minitf.data.tracing import Traced
from minitf.default import name_scope
from minitf.ops.apply import apply_op
from minitf.tensor_spec import TensorSpec
from minitf_runtime.types import bool_, int32, int64

Func = Callable[..., Any]


def map_(dataset: Any, func: Func, num_parallel_calls: Any, **attrs: Any) -> Any:
    traced = Traced(func, "Dataset.map()", dataset.element_spec)
    parallel = () if num_parallel_calls is None else (
        to_tensor(num_parallel_calls, int32, name="num_parallel_calls"),
    )  # fmt: skip
    op = "ParallelMapDataset" if parallel else "MapDataset"
    return _called(dataset, op, traced, *parallel, spec=traced.spec, **attrs)


def _called(
    dataset: Any, op: str, traced: Traced, *args: Any, spec: Any, attr: str = "f", **attrs: Any
) -> Any:
    attrs[attr] = traced.function
    captured = traced.captured
    return dataset._made(op, captured, *args, spec=spec, captured=captured, **attrs)


def flat_map(dataset: Any, func: Func) -> Any:
    traced = Traced(func, "Dataset.flat_map()", dataset.element_spec)
    return _called(dataset, "FlatMapDataset", traced, spec=_inner(traced))


def _inner(traced: Traced) -> Any:
    """The structure of the elements of the datasets that a function gives. Raises TypeError."""
    if not isinstance(traced.spec, structure.DatasetSpec):
        raise TypeError(f"`map_func` must return a `Dataset` object. Got {type(traced.spec)}")
    return traced.spec.element_spec


def interleave(
    dataset: Any, func: Func, cycle_length: Any, block_length: Any, num_parallel_calls: Any
) -> Any:
    traced = Traced(func, "Dataset.interleave()", dataset.element_spec)
    spec = _inner(traced)
    named = {"cycle_length": cycle_length, "block_length": block_length}
    op = "InterleaveDataset"
    if num_parallel_calls is not None:
        named["num_parallel_calls"] = num_parallel_calls
        op = "ParallelInterleaveDatasetV2"
    numbers = [to_tensor(value, int64, name=name) for name, value in named.items()]
    return _called(dataset, op, traced, *numbers, spec=spec)


def parallel_interleave(
    dataset: Any, func: Func, cycle_length: Any, block_length: Any, sloppy: Any, output: Any,
    prefetched: Any,
) -> Any:  # fmt: skip
    """The older form, which tf.data.experimental has."""
    name = "tf.data.experimental.parallel_interleave()"
    traced = Traced(func, name, dataset.element_spec)
    numbers = [
        to_tensor(cycle_length, int64, name="cycle_length"),
        to_tensor(block_length, int64, name="block_length"),
        to_tensor(sloppy, bool_, name="sloppy"),
        to_tensor(2 * block_length if output is None else output, int64,
                  name="buffer_output_elements"),
        to_tensor(2 * cycle_length if prefetched is None else prefetched, int64,
                  name="prefetch_input_elements"),
    ]  # fmt: skip
    return _called(dataset, "ParallelInterleaveDataset", traced, *numbers, spec=_inner(traced))


def filter_(dataset: Any, predicate: Func) -> Any:
    """Raises ValueError for a function that gives no scalar bool."""
    traced = Traced(predicate, "Dataset.filter()", dataset.element_spec)
    spec = traced.spec
    if not isinstance(spec, TensorSpec) or not spec.is_compatible_with(TensorSpec([], bool_)):
        raise ValueError(
            f"`predicate` return type must be convertible to a scalar boolean tensor. Was {spec}."
        )
    return _called(dataset, "FilterDataset", traced, spec=dataset.element_spec, attr="predicate")


def take_while(dataset: Any, predicate: Func) -> Any:
    name = "tf.data.experimental.take_while()"
    traced = Traced(predicate, name, dataset.element_spec)
    if not traced.spec.is_compatible_with(TensorSpec([], bool_)):
        raise ValueError(
            "`predicate` return type must be convertible to a scalar boolean tensor. Was "
            f"{traced.spec}."
        )
    return _called(dataset, "TakeWhileDataset", traced, spec=dataset.element_spec, attr="predicate")


def reduce(dataset: Any, initial_state: Any, func: Func) -> Any:
    """Raises TypeError if the function gives a state of other types."""
    with name_scope("initial_state"):
        state = structure.normalized(initial_state)
    traced, spec = _stateful(dataset, structure.spec_of(state), func, "reduce()", lambda s: s)
    flat = apply_op(
        "ReduceDataset",
        dataset._variant_tensor,
        structure.to_tensors(spec, state),
        traced.captured,
        f=traced.function,
        **structure.outputs(spec),
    )
    return structure.from_tensors(spec, flat)


def scan(dataset: Any, initial_state: Any, func: Func) -> Any:
    """A function of a state and an element, which gives the next state and an element."""
    state = structure.normalized(initial_state)
    name = "tf.data.experimental.scan()"
    traced, spec = _stateful(dataset, structure.spec_of(state), func, name, lambda s: s[0])
    flat = structure.to_tensors(spec, state)
    made = traced.spec[1]
    return dataset._made(
        "ScanDataset", flat, traced.captured,
        spec=made, captured=traced.captured, f=traced.function,
        preserve_cardinality=True,
    )  # fmt: skip


def _stateful(
    dataset: Any, spec: Any, func: Func, name: str, state_of: Callable[[Any], Any]
) -> tuple[Traced, Any]:
    """The function of a state and an element, and the structure of a state that keeps its form:
    what changes from call to call of its shape is left open."""
    while True:
        traced = Traced(func, name, (spec, dataset.element_spec))
        after = state_of(traced.spec)
        types = structure.types_of(spec)
        if structure.types_of(after) != types:
            raise TypeError(
                "The element types for the new state must match the initial state. Expected "
                f"{types}; got {structure.types_of(after)}."
            )
        weaker = structure.widened(spec, after)
        if nest.flatten(weaker) == nest.flatten(spec):
            return traced, spec
        spec = weaker
