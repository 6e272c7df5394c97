"""Iterators: resources of a task that give the elements of a dataset to steps, one to each call."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from minitf_runtime.errors import FailedPreconditionError, OutOfRangeError, invalid
from minitf_runtime.ops.datasets.base import OUTPUTS, Dataset, Element, Run, dataset, dataset_op
from minitf_runtime.ops.datasets.order import Repeat, Shuffle
from minitf_runtime.ops.queue import resource
from minitf_runtime.ops.registry import Attr, ShapeContext, Types, kernel, no_outputs, op, scalar
from minitf_runtime.ops.strings import string_scalar
from minitf_runtime.types import DType, Shape, c_name, merge_shapes, show_shape

KIND = "iterator"


class Iterator:
    """A pass over a dataset; steps that ask for elements take turns."""

    def __init__(
        self, container: str, name: str, types: Sequence[DType], shapes: Sequence[Shape]
    ) -> None:
        self.container = container
        self.name = name
        self.types = tuple(types)
        self.shapes = tuple(shapes)
        self._run: Run | None = None
        self._pull: Any = None
        self._taken = False
        self._condition = threading.Condition()

    def start(self, source: Dataset, run: Run) -> None:
        """Begins a pass; one that goes on ends."""
        with self._turn(run.step):
            self._start(source, run)

    def start_once(self, make: Callable[[], Dataset], run: Run) -> None:
        """Begins the only pass, unless it has begun."""
        with self._turn(run.step):
            if self._run is None:
                self._start(make(), run)

    def _start(self, source: Dataset, run: Run) -> None:
        self.release()
        self._pull = source.open(run)
        self._run = run

    def next(self, step: Any) -> Element:
        """The next element. Raises OutOfRangeError at the end, and what making it raised."""
        with self._turn(step):
            run = self._run
            if run is None:
                raise FailedPreconditionError(
                    None,
                    None,
                    "GetNext() failed because the iterator has not been initialized. Ensure that "
                    "you have run the initializer operation for this iterator before getting the "
                    "next element.",
                )
            run.step = step
            try:
                return self._pull()  # type: ignore[no-any-return]
            except StopIteration:
                pass
        raise OutOfRangeError(None, None, "End of sequence")

    def release(self) -> None:
        """Ends what works for the pass."""
        if self._run is not None:
            self._run.close()

    def _turn(self, step: Any) -> _Turn:
        return _Turn(self, step)

    def __del__(self) -> None:
        self.release()


class _Turn:
    """The block in which one step has the iterator for itself."""

    __slots__ = ("_iterator", "_step")

    def __init__(self, iterator: Iterator, step: Any) -> None:
        self._iterator = iterator
        self._step = step

    def __enter__(self) -> None:
        of = self._iterator
        with of._condition:
            if of._taken:
                self._step.wait_for(
                    of._condition,
                    lambda: not of._taken,
                    lambda: (KIND, of.name, "is in use by another step"),
                )
            of._taken = True

    def __exit__(self, *exc: object) -> None:
        of = self._iterator
        with of._condition:
            of._taken = False
            of._condition.notify()


# ---- handles

_SHARED: dict[str, Any] = dict(shared_name="", container="")
_HANDLES = dict(output_types=Types([]), output_shapes=Attr("list(shape)", []))
op("Iterator", "-> handle: resource", scalar, stateful=True, **_SHARED, **OUTPUTS)
op("IteratorV2", "-> handle: resource", scalar, stateful=True, **_SHARED, **OUTPUTS)
op("OneShotIterator", "-> handle: resource", scalar, stateful=True,
   dataset_factory=Attr("func"), **OUTPUTS, **_SHARED)  # fmt: skip
op("IteratorToStringHandle", "resource_handle: resource -> string_handle: string", scalar,
   stateful=True)  # fmt: skip
for _version in ("", "V2"):
    op(f"IteratorFromStringHandle{_version}", "string_handle: string -> resource_handle: resource",
       scalar, stateful=True, **_HANDLES)  # fmt: skip


def _iterator(node: Any) -> Iterator:
    """The iterator of a handle op: of its shared name, else the op's own."""
    attrs = node.attrs
    types, shapes = attrs["output_types"], attrs["output_shapes"]
    container = attrs["container"]
    name = attrs["shared_name"] or node.resources.private_name(node.name)
    found = node.resources.lookup_or_create(
        container, KIND, name, lambda: Iterator(container, name, types, shapes)
    )
    _check_types(found.types, types)
    _check_shapes(found.shapes, shapes)
    return found  # type: ignore[no-any-return]


def _check_types(have: Sequence[DType], wanted: Sequence[DType]) -> None:
    if len(have) != len(wanted):
        raise invalid(
            f"Number of components does not match: expected {len(wanted)} types but got "
            f"{len(have)}."
        )
    for i, (found, expected) in enumerate(zip(have, wanted)):
        if found is not expected:
            raise invalid(
                f"Data type mismatch at component {i}: expected {c_name(expected)} but got "
                f"{c_name(found)}."
            )


def _check_shapes(have: Sequence[Shape], wanted: Sequence[Shape]) -> None:
    for i, (found, expected) in enumerate(zip(have, wanted)):
        try:
            merge_shapes(found, expected)
        except ValueError:
            raise invalid(
                f"Incompatible shapes at component {i}: expected {show_shape(expected)} but got "
                f"{show_shape(found)}."
            ) from None


@kernel("Iterator", "IteratorV2", device="CPU")
def iterator_handle(xp: Any, *, node: Any) -> Iterator:
    return node.keep(lambda: _iterator(node))  # type: ignore[no-any-return]


@kernel("OneShotIterator", device="CPU")
def one_shot_iterator(xp: Any, *, node: Any, step: Any) -> Iterator:
    def begun() -> Iterator:
        made = _iterator(node)
        run = Run(node.functions, step)
        factory = run.bound(node.attrs["dataset_factory"], ())
        made.start_once(lambda: dataset(factory(())[0]), run)
        return made

    return node.keep(begun)  # type: ignore[no-any-return]


@kernel("IteratorToStringHandle", device="CPU")
def iterator_to_string_handle(xp: Any, handle: Any, *, node: Any) -> Any:
    found = _of(handle)
    return string_scalar(f"{node.device};{found.container};{found.name}".encode())


@kernel("IteratorFromStringHandle", "IteratorFromStringHandleV2", device="CPU")
def iterator_from_string_handle(
    xp: Any, text: Any, *, output_types: Any, output_shapes: Any, node: Any
) -> Iterator:
    told = text[()].decode("utf-8", "replace")
    device, _, key = told.partition(";")
    if device != node.device:
        raise invalid(
            f"Attempted to access an iterator on the wrong device: '{told}' on {node.device}."
        )
    container, _, name = key.partition(";")
    found = node.resources.find(container, KIND, name)
    if found is None:
        raise invalid(f"The iterator '{told}' does not exist (any more).")
    if output_types:
        _check_types(found.types, output_types)
    if output_shapes:
        _check_shapes(found.shapes, output_shapes)
    return found  # type: ignore[no-any-return]


def _of(handle: Any) -> Iterator:
    return resource(handle, Iterator, "an iterator")  # type: ignore[no-any-return]


# ---- elements


def _shapes(c: ShapeContext) -> list[Shape]:
    return list(c["output_shapes"])


op("MakeIterator", "dataset: variant, iterator: resource ->", no_outputs, stateful=True)
for _name in ("IteratorGetNext", "IteratorGetNextSync"):
    op(_name, "iterator: resource -> components: output_types", _shapes, stateful=True, **OUTPUTS)
op("DatasetToSingleElement", "dataset: variant -> components: output_types", _shapes,
   stateful=True, **OUTPUTS)  # fmt: skip


@kernel("MakeIterator", device="CPU")
def make_iterator(xp: Any, source: Any, handle: Any, *, node: Any, step: Any) -> None:
    _of(handle).start(dataset(source), Run(node.functions, step))


@kernel("IteratorGetNext", "IteratorGetNextSync", device="CPU")
def iterator_get_next(xp: Any, handle: Any, *, step: Any) -> Element:
    return _of(handle).next(step)


@kernel("DatasetToSingleElement", device="CPU")
def dataset_to_single_element(xp: Any, source: Any, *, node: Any, step: Any) -> Element:
    run = Run(node.functions, step)
    pull = dataset(source).open(run)
    try:
        element: Element = pull()
    except StopIteration:
        raise invalid("Dataset was empty.") from None
    try:
        pull()
    except StopIteration:
        return element
    finally:
        run.close()
    raise invalid("Dataset had more than one element.")


# ---- what TensorFlow puts between a dataset and its iterator

dataset_op("OptimizeDataset", "input_dataset: variant, optimizations: string", **OUTPUTS,
           optimization_configs=Attr("list(string)", []))  # fmt: skip
dataset_op("ModelDataset", "input_dataset: variant", algorithm=0, cpu_budget=0, **OUTPUTS)
dataset_op("MaxIntraOpParallelismDataset",
           "input_dataset: variant, max_intra_op_parallelism: int64", **OUTPUTS)  # fmt: skip
dataset_op("PrivateThreadPoolDataset", "input_dataset: variant, num_threads: int64", **OUTPUTS)


@kernel("OptimizeDataset", device="CPU")
def optimize_dataset(xp: Any, source: Any, optimizations: Any) -> Dataset:
    """Of TensorFlow's rewrites the one that changes the order of elements is done here, too."""
    found = dataset(source)
    return fused(found) if b"shuffle_and_repeat_fusion" in optimizations.tolist() else found


def fused(found: Dataset) -> Dataset:
    """The dataset with each repeat of a reshuffling made one with it."""
    inputs = tuple([fused(source) for source in found.inputs])
    if any(new is not old for new, old in zip(inputs, found.inputs)):
        found = copied(found, inputs)
    if isinstance(found, Repeat):
        (source,) = found.inputs
        if isinstance(source, Shuffle) and source.reshuffle:
            return source.repeated(found.count)
    return found


def copied(found: Dataset, inputs: tuple[Dataset, ...]) -> Dataset:
    """The same dataset over others."""
    made = object.__new__(type(found))
    made.__dict__.update(found.__dict__)
    made.inputs = inputs
    return made


@kernel("ModelDataset", device="CPU")
def model_dataset(xp: Any, source: Any) -> Dataset:
    return dataset(source)


@kernel("MaxIntraOpParallelismDataset", "PrivateThreadPoolDataset", device="CPU")
def threading_dataset(xp: Any, source: Any, threads: Any) -> Dataset:
    return dataset(source)
