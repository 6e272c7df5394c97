"""tf.data.Iterator: a resource that gives a step the next element of a dataset."""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from minitf.convert import to_tensor
from minitf.data import nest, structure
from minitf.default import (
    add_to_collection,
    colocate_with,
    device,
    get_default_graph,
    name_scope,
)
from minitf.func_graph import FuncGraph, function_name
from minitf.operation import Operation, Tensor
from minitf.ops.apply import apply_op, make_op
from minitf.ops.random import get_seed
from minitf_runtime.types import int64, string

GLOBAL_ITERATORS = "iterators"
MANY_CALLS = 32
_SEED_LIMIT = 2**63 - 1


class Iterator(structure.Structured):
    """The elements of a dataset, one for each step that takes one (TF: tf.data.Iterator)."""

    def __init__(self, resource: Tensor, initializer: Operation | None, spec: Any) -> None:
        self._iterator_resource = resource
        self._initializer = initializer
        self._spec = spec
        self._calls = 0
        self._string_handle = apply_op("IteratorToStringHandle", resource)
        add_to_collection(GLOBAL_ITERATORS, resource)

    @staticmethod
    def from_structure(
        output_types: Any,
        output_shapes: Any = None,
        shared_name: str | None = None,
        output_classes: Any = None,
    ) -> Iterator:
        """An iterator for any dataset of these types and shapes; `make_initializer` binds one."""
        spec = structure.of_legacy(output_types, output_shapes, output_classes)
        with _on_cpu():
            resource = apply_op(
                "IteratorV2",
                container="",
                shared_name=shared_name or "",
                **structure.outputs(spec),
            )
        return Iterator(resource, None, spec)

    @staticmethod
    def from_string_handle(
        string_handle: Any, output_types: Any, output_shapes: Any = None, output_classes: Any = None
    ) -> Iterator:
        """The iterator whose handle is fed: `handle = session.run(other.string_handle())`."""
        spec = structure.of_legacy(output_types, output_shapes, output_classes)
        handle = to_tensor(string_handle, string)
        with _on_cpu():
            resource = apply_op("IteratorFromStringHandleV2", handle, **structure.outputs(spec))
        return Iterator(resource, None, spec)

    @property
    def initializer(self) -> Operation:
        """The op that begins a pass. Raises ValueError if there is none."""
        if self._initializer is None:
            raise ValueError("Iterator does not have an initializer.")
        return self._initializer

    def make_initializer(self, dataset: Any, name: str | None = None) -> Operation:
        """An op that begins a pass over a dataset. Raises TypeError or ValueError if its elements
        do not fit."""
        with name_scope(name, "make_initializer") as scope:
            self._check(dataset.element_spec)
        with colocate_with(self._iterator_resource):
            variant = dataset._variant_tensor
            return make_op("MakeIterator", variant, self._iterator_resource, name=scope)

    def _check(self, spec: Any) -> None:
        for of in (structure.types_of, structure.classes_of):
            nest.assert_same_structure(of(self._spec), of(spec))
        own, other = structure.classes_of(self._spec), structure.classes_of(spec)
        if own != other:
            raise TypeError(
                f"Expected output classes {own!r} but got dataset with output class {other!r}."
            )
        types, others = structure.types_of(self._spec), structure.types_of(spec)
        if types != others:
            raise TypeError(
                f"Expected output types {types!r} but got dataset with output types {others!r}."
            )
        shapes, others = structure.shapes_of(self._spec), structure.shapes_of(spec)
        for own, other in zip(nest.flatten(shapes), nest.flatten(others)):
            if not own.is_compatible_with(other):
                raise TypeError(
                    f"Expected output shapes compatible with {shapes!r} but got dataset with "
                    f"output shapes {others!r}."
                )

    def get_next(self, name: str | None = None) -> Any:
        """The next element, another one in each step that runs it. At the end of the data a step
        fails with OutOfRangeError."""
        self._calls += 1
        if self._calls > MANY_CALLS:
            warnings.warn(
                "An unusually high number of `Iterator.get_next()` calls was detected. Call it "
                "once, outside of the training loop: each call adds ops to the graph.",
                stacklevel=2,
            )
        flat = apply_op(
            "IteratorGetNext", self._iterator_resource, name=name, **structure.outputs(self._spec)
        )
        return structure.from_tensors(self._spec, flat)

    def string_handle(self, name: str | None = None) -> Tensor:
        """What `from_string_handle` takes; only a session can tell it."""
        if name is None:
            return self._string_handle  # type: ignore[no-any-return]
        return apply_op("IteratorToStringHandle", self._iterator_resource, name=name)  # type: ignore[no-any-return]


def _on_cpu() -> AbstractContextManager[Any]:
    """The CPU, unless the program says where."""
    return nullcontext() if get_default_graph()._device_stack else device("/cpu:0")


def with_options(dataset: Any) -> Any:
    """The dataset with what TensorFlow puts between it and an iterator: the rewrites and the tuning
    that its options ask for."""
    options = dataset.options()
    for op, attr, value in options._threading():
        dataset = dataset._made(op, to_tensor(value, int64, name=attr))
    rewrites = options._static_optimizations()
    if rewrites and dataset._has_captured_ref():
        warnings.warn(
            "tf.data static optimizations are not compatible with tf.Variable. The following "
            f"optimizations will be disabled: {', '.join(rewrites)}. To enable optimizations, use "
            "resource variables instead by calling `tf.enable_resource_variables()` at the start "
            "of the program.",
            stacklevel=3,
        )
    elif rewrites:
        names = to_tensor(rewrites, string, name="optimizations")
        configs = options._static_optimization_configs()
        dataset = dataset._made("OptimizeDataset", names, optimization_configs=configs)
    tuning = options._tuning()
    return dataset if tuning is None else dataset._made("ModelDataset", **tuning)


def initializable(dataset: Any, shared_name: str | None) -> Iterator:
    source = with_options(dataset)
    spec = source.element_spec
    resource = apply_op(
        "IteratorV2", container="", shared_name=shared_name or "", **structure.outputs(spec)
    )
    with colocate_with(resource):
        initializer = make_op("MakeIterator", source._variant_tensor, resource)
    return Iterator(resource, initializer, spec)


def one_shot(dataset: Any) -> Iterator:
    """The dataset's ops become those of a function, which the iterator calls when it is used first.

    Raises ValueError for a dataset that depends on a variable, or on what is fed.
    """
    graph_seed, op_seed = get_seed(None)
    name = function_name("_make_dataset")
    graph = FuncGraph(name, get_default_graph(), by_value=True)
    graph.seed = None
    if graph_seed is not None and op_seed is not None:
        graph.seed = (graph_seed + 87654321 * op_seed) % _SEED_LIMIT
    try:
        with graph.as_default():
            result = with_options(dataset)._variant_tensor
            result = result if result.graph is graph else graph.capture(result)
    except ValueError as e:
        if "Cannot capture a stateful node" not in str(e):
            raise
        raise ValueError(
            "Failed to create a one-shot iterator for a dataset. "
            "`Dataset.make_one_shot_iterator()` does not support datasets that capture stateful "
            "objects, such as a `Variable` or `LookupTable`. In these cases, use "
            f"`Dataset.make_initializable_iterator()`. (Original error: {e})"
        ) from None
    resource = apply_op(
        "OneShotIterator",
        dataset_factory=graph.function([result]),
        **structure.outputs(dataset.element_spec),
    )
    return Iterator(resource, None, dataset.element_spec)
