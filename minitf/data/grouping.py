"""Elements gathered by a key: group_by_window, and buckets of sequences of like length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitf.convert import constant, to_tensor
from minitf.data import nest, structure
from minitf.data.tracing import Traced
from minitf.default import control_dependencies, name_scope
from minitf.ops.apply import apply_op
from minitf.ops.check import assert_less
from minitf.ops.reduction import reduce_min
from minitf.ops.sorting import where
from minitf.tensor_shape import TensorShape
from minitf.tensor_spec import TensorSpec
from minitf_runtime.types import int64

Func = Callable[..., Any]
_NAME = "tf.data.experimental.group_by_window()"
_KEY = TensorSpec([], int64)


def group_by_window(
    key_func: Func, reduce_func: Func, window_size: Any = None, window_size_func: Any = None
) -> Func:
    """The datasets that `reduce_func` makes of a key and window_size elements of that key.

    Raises ValueError unless one of window_size and window_size_func is given.
    """
    if (window_size is None) == (window_size_func is None):
        raise ValueError("Must pass either window_size or window_size_func.")
    size_of = window_size_func or (lambda _key: to_tensor(window_size, int64))
    return lambda dataset: _grouped(dataset, key_func, reduce_func, size_of)


def _grouped(dataset: Any, key_func: Func, reduce_func: Func, size_of: Func) -> Any:
    elements = dataset.element_spec
    key = Traced(lambda *args: to_tensor(key_func(*args), int64), _NAME, elements)
    group = (_KEY, structure.DatasetSpec(elements))
    reduced = Traced(reduce_func, _NAME, group)
    if not isinstance(reduced.spec, structure.DatasetSpec):
        raise TypeError("`reduce_func` must return a `Dataset` object.")
    size = Traced(lambda key: to_tensor(size_of(key), int64), _NAME, _KEY)
    for name, traced in (("key_func", key), ("window_size_func", size)):
        if not traced.spec.is_compatible_with(_KEY):
            raise ValueError(f"`{name}` must return a single tf.int64 scalar tensor.")
    return dataset._made(
        "GroupByWindowDataset",
        key.captured,
        reduced.captured,
        size.captured,
        spec=reduced.spec.element_spec,
        captured=[*key.captured, *reduced.captured, *size.captured],
        key_func=key.function,
        reduce_func=reduced.function,
        window_size_func=size.function,
    )


def bucket_by_sequence_length(
    element_length_func: Func,
    bucket_boundaries: Sequence[int],
    bucket_batch_sizes: Sequence[int],
    padded_shapes: Any = None,
    padding_values: Any = None,
    pad_to_bucket_boundary: bool = False,
    no_padding: bool = False,
    drop_remainder: bool = False,
) -> Func:
    """Padded batches of elements of like length. Raises ValueError for a wrong number of sizes."""
    with name_scope("bucket_by_seq_length"):
        if len(bucket_batch_sizes) != len(bucket_boundaries) + 1:
            raise ValueError("len(bucket_batch_sizes) must equal len(bucket_boundaries) + 1")
        sizes = constant(bucket_batch_sizes, int64)

    def bucket(*args: Any) -> Any:
        length = element_length_func(*args)
        limits = np.iinfo(np.int32)
        least = apply_op("LessEqual", [limits.min, *bucket_boundaries], length)
        below = apply_op("Less", length, [*bucket_boundaries, limits.max])
        return reduce_min(where(apply_op("LogicalAnd", least, below)))

    def batched(number: Any, group: Any) -> Any:
        size = sizes[number]
        if no_padding:
            return group.batch(size, drop_remainder)
        filler = None
        if pad_to_bucket_boundary:
            text = (
                "When pad_to_bucket_boundary=True, elements must have length < "
                "max(bucket_boundaries)."
            )
            last = constant(len(bucket_batch_sizes) - 1, int64)
            with control_dependencies([assert_less(number, last, message=text)]):
                filler = constant(bucket_boundaries, int64)[number] - 1
        wanted = padded_shapes or group.output_shapes
        flat = [_filled(shape, filler) for shape in nest.flatten(wanted)]
        shapes = nest.pack_sequence_as(wanted, flat)
        return group.padded_batch(size, shapes, padding_values, drop_remainder)

    return group_by_window(bucket, batched, window_size_func=lambda number: sizes[number])


def _filled(shape: Any, filler: Any) -> list[Any]:
    return [filler if n is None else n for n in TensorShape(shape).as_list()]
