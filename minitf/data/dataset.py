"""tf.data.Dataset: elements of one structure, and what can be made of them. Each method adds one
op; those with rules of their own are in the files beside this one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitf.convert import constant, to_tensor
from minitf.data import batching, functional, nest, structure
from minitf.data.generator import generated
from minitf.data.iterator import Iterator, initializable, one_shot
from minitf.data.options import Options
from minitf.data.seeds import seed_tensors
from minitf.default import control_dependencies, get_default_graph, name_scope
from minitf.operation import Tensor
from minitf.ops.apply import apply_op
from minitf_runtime.types import DType, int64, string

AUTOTUNE = -1


class Dataset(structure.Structured):
    """Elements of one structure (TF: tf.data.Dataset). A graph has them as the output of an op."""

    def __init__(
        self,
        variant_tensor: Tensor,
        element_spec: Any,
        inputs: Sequence[Dataset] = (),
        captured: Sequence[Tensor] = (),
        options: Options | None = None,
    ) -> None:
        self._variant_tensor = variant_tensor
        self._spec = element_spec
        self._sources = tuple(inputs)
        self._captured = tuple(captured)  # by its own functions
        self._options = options
        self._graph = get_default_graph()

    # ---- what it is

    def options(self) -> Options:
        """The options of this dataset and of those that it is made of."""
        if self._options is not None:
            return self._options
        found = Options()
        for source in self._inputs():
            found = found.merge(source.options())
        return found

    def _inputs(self) -> list[Dataset]:
        return list(self._sources)

    def _has_captured_ref(self) -> bool:
        """Whether a function captured a variable by reference, or what was read of one."""
        own = any(_comes_of_ref(t) for t in self._captured)
        return own or any(source._has_captured_ref() for source in self._inputs())

    def __iter__(self) -> Any:
        raise RuntimeError(
            "__iter__() is only supported inside of tf.function or when eager execution is enabled."
        )

    def __repr__(self) -> str:
        shapes = str(nest.map_structure(str, self.output_shapes)).replace("'", "")
        types = str(nest.map_structure(repr, self.output_types)).replace("'", "")
        return f"<{type(self).__name__} shapes: {shapes}, types: {types}>"

    def _made(
        self, op: str, *args: Any, spec: Any = None, captured: Sequence[Tensor] = (), **attrs: Any
    ) -> Dataset:
        """The dataset of an op on this one; elements of the same structure unless `spec` tells."""
        spec = self._spec if spec is None else spec
        variant = apply_op(op, self._variant_tensor, *args, **structure.outputs(spec), **attrs)
        return DatasetV1Adapter(variant, spec, [self], captured)

    def _of_components(self, op: str, *args: Any, spec: Any) -> Dataset:
        """The same for an op that is told the shapes of what comes out only."""
        shapes = structure.flat_shapes(spec)
        variant = apply_op(op, self._variant_tensor, *args, output_shapes=shapes)
        return DatasetV1Adapter(variant, spec, [self])

    # ---- sources

    @staticmethod
    def from_tensors(tensors: Any) -> Dataset:
        """One element."""
        element = structure.normalized(tensors)
        spec = structure.spec_of(element)
        shapes = structure.flat_shapes(spec)
        flat = structure.to_tensors(spec, element)
        variant = apply_op("TensorDataset", flat, output_shapes=shapes)
        return DatasetV1Adapter(variant, spec)

    @staticmethod
    def from_tensor_slices(tensors: Any) -> Dataset:
        """The slices of tensors along their first dimension, which must have one size."""
        element = structure.normalized(tensors)
        whole = structure.spec_of(element)
        flat = structure.to_batched_tensors(whole, element)
        spec = structure.unbatched(whole)
        size = flat[0].shape[0]
        for t in flat[1:]:
            size.assert_is_compatible_with(t.shape[0])
        shapes = structure.flat_shapes(spec)
        variant = apply_op("TensorSliceDataset", flat, output_shapes=shapes)
        return DatasetV1Adapter(variant, spec)

    @staticmethod
    def from_generator(
        generator: Callable[..., Any],
        output_types: Any,
        output_shapes: Any = None,
        args: Any = None,
    ) -> Dataset:
        """What a Python generator yields, each pass anew. It runs in the process of the program."""
        return generated(generator, output_types, output_shapes, args)  # type: ignore[no-any-return]

    @staticmethod
    def range(*args: Any) -> Dataset:
        """Numbers as Python's range has them. Raises ValueError for no arguments, or too many."""
        if not 1 <= len(args) <= 3:
            raise ValueError(f"Invalid arguments to RangeDataset: {args}")
        start, stop = (0, args[0]) if len(args) == 1 else args[:2]
        named = {"start": start, "stop": stop, "step": args[2] if len(args) == 3 else 1}
        bounds = [to_tensor(value, int64, name=name) for name, value in named.items()]
        spec = structure.TensorSpec([], int64)
        return DatasetV1Adapter(apply_op("RangeDataset", *bounds, **structure.outputs(spec)), spec)

    @staticmethod
    def zip(datasets: Any) -> Dataset:
        """The elements of several datasets side by side, in the structure that they are given."""
        flat = nest.flatten(datasets)
        for d in flat:
            if not isinstance(d, Dataset):
                lists = (
                    " Nested structures do not support Python lists; please use a tuple instead."
                )
                raise TypeError(
                    "The argument to `Dataset.zip()` must be a nested structure of `Dataset` "
                    f"objects.{lists if isinstance(d, list) else ''}"
                )
        spec = nest.map_structure(lambda d: d.element_spec, datasets)
        variants = [d._variant_tensor for d in flat]
        return DatasetV1Adapter(
            apply_op("ZipDataset", variants, **structure.outputs(spec)), spec, flat
        )

    @staticmethod
    def list_files(file_pattern: Any, shuffle: bool | None = None, seed: Any = None) -> Dataset:
        """The names of the files that match, in random order unless `shuffle` is False."""
        from minitf.ops.files import matching_files
        from minitf.ops.strings import reduce_join

        with name_scope("list_files"):
            pattern = to_tensor(file_pattern, string, name="file_pattern")
            files = matching_files(pattern)
            count = apply_op("Shape", files)[0]
            found = apply_op("Greater", count, 0, name="match_not_empty")
            joined = reduce_join(pattern, separator=", ")
            message = apply_op("Add", "No files matched pattern: ", joined, name="message")
            check = apply_op("Assert", found, [message], summarize=1, name="assert_not_empty")
            with control_dependencies([check]):
                files = apply_op("Identity", files)
            names = Dataset.from_tensor_slices(files)
            if shuffle is None or shuffle:
                size = apply_op("Shape", files, out_type=int64)[0]
                return names.shuffle(apply_op("Maximum", size, 1), seed=seed)
            return names

    def concatenate(self, dataset: Dataset) -> Dataset:
        """The elements of this one, then those of the other. Raises TypeError for other types."""
        for what in ("types", "classes"):
            own, theirs = getattr(self, f"output_{what}"), getattr(dataset, f"output_{what}")
            if own != theirs:
                raise TypeError(
                    f"Two datasets to concatenate have different {what} {own} and {theirs}"
                )
        spec = structure.widened(self._spec, dataset.element_spec)
        made = self._made("ConcatenateDataset", dataset._variant_tensor, spec=spec)
        made._sources = (self, dataset)
        return made

    def enumerate(self, start: Any = 0) -> Dataset:
        """Pairs of a number and an element."""
        return Dataset.zip((Dataset.range(start, np.iinfo(np.int64).max), self))

    # ---- number and order

    def repeat(self, count: Any = None) -> Dataset:
        """The elements `count` times; without end for None or -1."""
        return self._made("RepeatDataset", _count(-1 if count is None else count))

    def take(self, count: Any) -> Dataset:
        return self._made("TakeDataset", _count(count))

    def skip(self, count: Any) -> Dataset:
        return self._made("SkipDataset", _count(count))

    def shard(self, num_shards: Any, index: Any) -> Dataset:
        """Every num_shards-th element, from that index on."""
        shards = to_tensor(num_shards, int64, name="num_shards")
        return self._made("ShardDataset", shards, to_tensor(index, int64, name="index"))

    def shuffle(
        self, buffer_size: Any, seed: Any = None, reshuffle_each_iteration: bool | None = None
    ) -> Dataset:
        """Each element drawn from a buffer of that many; every pass in another order, unless
        reshuffle_each_iteration is False."""
        size = to_tensor(buffer_size, int64, name="buffer_size")
        again = True if reshuffle_each_iteration is None else reshuffle_each_iteration
        return self._made(
            "ShuffleDataset", size, *seed_tensors(seed), reshuffle_each_iteration=again
        )

    def cache(self, filename: Any = "") -> Dataset:
        """Keeps the elements of the first whole pass in memory."""
        return self._made("CacheDataset", to_tensor(filename, string, name="filename"))

    def prefetch(self, buffer_size: Any) -> Dataset:
        """A thread makes that many elements ahead."""
        size = AUTOTUNE if buffer_size is None else buffer_size
        return self._made("PrefetchDataset", to_tensor(size, int64, name="buffer_size"))

    # ---- batches

    def batch(self, batch_size: Any, drop_remainder: Any = False) -> Dataset:
        """Elements of one shape put together; the last ones are fewer, or dropped."""
        return batching.batch(self, batch_size, drop_remainder)  # type: ignore[no-any-return]

    def padded_batch(
        self,
        batch_size: Any,
        padded_shapes: Any,
        padding_values: Any = None,
        drop_remainder: Any = False,
    ) -> Dataset:
        """Elements put together after each is filled up to a shape; None in it: to the largest."""
        return batching.padded_batch(  # type: ignore[no-any-return]
            self, batch_size, padded_shapes, padding_values, drop_remainder
        )

    def unbatch(self) -> Dataset:
        """The rows of the elements."""
        return batching.unbatch(self)  # type: ignore[no-any-return]

    def window(
        self, size: Any, shift: Any = None, stride: Any = 1, drop_remainder: Any = False
    ) -> Dataset:
        """Datasets of `size` elements each, which may overlap."""
        shift = size if shift is None else shift
        return batching.window(self, size, shift, stride, drop_remainder)  # type: ignore[no-any-return]

    # ---- functions

    def map(self, map_func: Callable[..., Any], num_parallel_calls: Any = None) -> Dataset:
        """The function of each element, in order."""
        return functional.map_(self, map_func, num_parallel_calls)  # type: ignore[no-any-return]

    def map_with_legacy_function(
        self, map_func: Callable[..., Any], num_parallel_calls: Any = None
    ) -> Dataset:
        return self.map(map_func, num_parallel_calls)

    def flat_map(self, map_func: Callable[..., Any]) -> Dataset:
        """The elements of the datasets that the function gives, one after the other."""
        return functional.flat_map(self, map_func)  # type: ignore[no-any-return]

    def interleave(
        self,
        map_func: Callable[..., Any],
        cycle_length: Any = AUTOTUNE,
        block_length: Any = 1,
        num_parallel_calls: Any = None,
    ) -> Dataset:
        """The elements of the datasets that the function gives, of several of them in turn."""
        return functional.interleave(  # type: ignore[no-any-return]
            self, map_func, cycle_length, block_length, num_parallel_calls
        )

    def filter(self, predicate: Callable[..., Any]) -> Dataset:
        """The elements of which the function is true."""
        return functional.filter_(self, predicate)  # type: ignore[no-any-return]

    def filter_with_legacy_function(self, predicate: Callable[..., Any]) -> Dataset:
        return self.filter(predicate)

    def reduce(self, initial_state: Any, reduce_func: Callable[..., Any]) -> Any:
        """The state after a function of it and each element: tensors."""
        return functional.reduce(self, initial_state, reduce_func)

    def apply(self, transformation_func: Callable[[Dataset], Dataset]) -> Dataset:
        """What a function makes of this dataset. Raises TypeError if that is none."""
        made = transformation_func(self)
        if not isinstance(made, Dataset):
            raise TypeError(f"`transformation_func` must return a Dataset. Got {made}.")
        made._input_datasets = [self]  # type: ignore[attr-defined]
        return made

    # ---- options and iterators

    def with_options(self, options: Options) -> Dataset:
        """The same dataset with options, which add to its own."""
        own = self.options().merge(options)
        return DatasetV1Adapter(self._variant_tensor, self._spec, [self], options=own)

    def make_one_shot_iterator(self) -> Iterator:
        """An iterator that needs no initializer. Raises ValueError if the dataset has a state."""
        return one_shot(self)

    def make_initializable_iterator(self, shared_name: str | None = None) -> Iterator:
        """An iterator whose `initializer` begins a pass."""
        return initializable(self, shared_name)


class DatasetV1Adapter(Dataset):
    """What all methods of datasets give."""


def _count(value: Any) -> Tensor:
    if value is None:
        return constant(-1, int64, name="count")
    return to_tensor(value, int64, name="count")


def _comes_of_ref(tensor: Tensor) -> bool:
    dtype: DType = tensor.dtype
    return dtype.is_ref or any(_comes_of_ref(t) for t in tensor.op.inputs)
