"""Dataset.from_generator: a Python generator behind three functions of the graph, which begin it,
take one element, and forget it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from minitf.convert import to_tensors as n_to_tensors
from minitf.data import nest, structure
from minitf.data.tracing import Traced
from minitf.operation import Tensor
from minitf.ops.apply import apply_op
from minitf.ops.script import numpy_function
from minitf.tensor_spec import TensorSpec
from minitf_runtime.types import int64


class _Iterators:
    """The passes over a generator that go on, by number: a dataset may be repeated, or nested."""

    def __init__(self, generator: Callable[..., Any]) -> None:
        self._generator = generator
        self._lock = threading.Lock()
        self._begun = 0
        self._open: dict[int, Iterator[Any]] = {}

    def begin(self, *args: Any) -> Any:
        """The number of a new pass."""
        with self._lock:
            number = self._begun
            self._begun += 1
        self._open[number] = iter(self._generator(*args))
        return np.int64(number)

    def next(self, number: Any) -> Any:
        return next(self._open[int(number)])

    def forget(self, number: Any) -> Any:
        del self._open[int(number)]
        return np.int64(0)


def generated(
    generator: Callable[..., Any], output_types: Any, output_shapes: Any, args: Any
) -> Any:
    """Raises TypeError for a generator that cannot be called."""
    from minitf.data.dataset import Dataset, DatasetV1Adapter

    if not callable(generator):
        raise TypeError("`generator` must be callable.")
    spec = structure.of_legacy(output_types, output_shapes)
    inputs = () if args is None else tuple(n_to_tensors(args, name="args"))
    iterators = _Iterators(generator)
    name = "Dataset.from_generator()"

    def get_iterator_id_fn(_dummy: Any) -> Tensor:
        return numpy_function(iterators.begin, inputs, int64)  # type: ignore[no-any-return]

    def generator_next_fn(number: Tensor) -> Any:
        def generator_py_func(number: Any) -> list[Any]:
            return _arrays(spec, iterators.next(number))

        flat = numpy_function(generator_py_func, [number], structure.flat_types(spec))
        return structure.from_tensors(spec, flat)

    def finalize_fn(number: Tensor) -> Tensor:
        return numpy_function(iterators.forget, [number], int64)  # type: ignore[no-any-return]

    def flat_map_fn(dummy: Tensor) -> Any:
        init = Traced(get_iterator_id_fn, name, structure.spec_of(dummy))
        following = Traced(generator_next_fn, name, init.spec)
        last = Traced(finalize_fn, name, init.spec)
        variant = apply_op(
            "GeneratorDataset",
            [dummy, *init.captured],
            following.captured,
            last.captured,
            init_func=init.function,
            next_func=following.function,
            finalize_func=last.function,
            **structure.outputs(spec),
        )
        return DatasetV1Adapter(variant, spec)

    return Dataset.from_tensors(0).flat_map(flat_map_fn)


def _arrays(spec: Any, values: Any) -> list[Any]:
    """What a generator yielded as arrays of the types and shapes that were told.

    Raises TypeError or ValueError for anything else.
    """
    try:
        flat = nest.flatten_up_to(spec, values)
    except (TypeError, ValueError):
        raise TypeError(
            "`generator` yielded an element that did not match the expected structure. The "
            f"expected structure was {structure.types_of(spec)}, but the yielded element was "
            f"{values}."
        ) from None
    return [_array(s, value) for s, value in zip(nest.flatten(spec), flat)]


def _array(spec: TensorSpec, value: Any) -> Any:
    wanted = spec.dtype.as_numpy_dtype
    try:
        array = np.asarray(value, dtype=wanted)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(
            "`generator` yielded an element that could not be converted to the expected type. "
            f"The expected type was {spec.dtype.name}, but the yielded element was {value}."
        ) from None
    if not spec.shape.is_compatible_with(array.shape):
        raise ValueError(
            f"`generator` yielded an element of shape {array.shape} where an element of shape "
            f"{spec.shape} was expected."
        )
    return array
