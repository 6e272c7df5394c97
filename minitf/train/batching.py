"""tf.train.batch and its kin: batches of single elements, from a queue that threads fill."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from minitf.convert import to_tensor
from minitf.default import name_scope
from minitf.operation import Operation, Tensor
from minitf.ops import array, math
from minitf.ops.constant_value import constant_value
from minitf.ops.control_flow import cond
from minitf.ops.group import no_op
from minitf.ops.queue import FIFOQueue, PaddingFIFOQueue, QueueBase, RandomShuffleQueue
from minitf.sparse_tensor import SparseTensor, is_sparse
from minitf.tensor_shape import TensorShape
from minitf.train.input import report_fullness
from minitf.train.queue_runner import QueueRunner, add_queue_runner
from minitf.train.sparse_queue import restore, store_sets
from minitf_runtime.types import int32

# ---- what they have in common


class _Fifo(NamedTuple):
    capacity: int
    dynamic_pad: bool
    shared_name: str | None

    def make(self, dtypes: list[Any], shapes: list[Any]) -> QueueBase:
        kind = PaddingFIFOQueue if self.dynamic_pad else FIFOQueue
        return kind(self.capacity, dtypes, shapes, shared_name=self.shared_name)

    def report(self, queue: QueueBase) -> None:
        report_fullness(f"fraction_of_{self.capacity}_full", queue.size(), self.capacity)


class _Shuffled(NamedTuple):
    capacity: int
    min_after_dequeue: int
    seed: int | None
    shared_name: str | None

    def make(self, dtypes: list[Any], shapes: list[Any]) -> QueueBase:
        return RandomShuffleQueue(
            self.capacity,
            self.min_after_dequeue,
            dtypes,
            shapes,
            seed=self.seed,
            shared_name=self.shared_name,
        )

    def report(self, queue: QueueBase) -> None:
        least = self.min_after_dequeue
        room = self.capacity - least
        above = math.maximum(0, queue.size() - least)
        report_fullness(f"fraction_over_{least}_of_{room}_full", above, room)


class _Batching(NamedTuple):
    """How elements are put into the queue, and batches taken out."""

    batch_size: Any
    keep_input: Any
    threads: int
    enqueue_many: bool
    shapes: Any
    allow_smaller_final_batch: bool
    name: str | None


def _batched(tensors_list: Any, kind: _Fifo | _Shuffled, how: _Batching, default_name: str) -> Any:
    """A batch from a queue that threads fill: `how.threads` for each set of tensors."""
    if not tensors_list:
        raise ValueError("Expected at least one set of tensors")
    sets = _in_order(tensors_list)
    values = [*(t for tensors in sets for t in tensors), how.keep_input]
    with name_scope(how.name, default_name, values) as name:
        if isinstance(kind, _Shuffled) and kind.capacity <= kind.min_after_dequeue:
            raise ValueError(
                f"capacity {kind.capacity} must be bigger than min_after_dequeue "
                f"{kind.min_after_dequeue}."
            )
        sets = [_tensors(tensors) for tensors in sets]
        keep = _checked_keep_input(how.keep_input, how.enqueue_many)
        sets, stored = store_sets(sets, how.enqueue_many, keep)
        queue = kind.make(_dtypes(sets), _shapes(sets, how.shapes, how.enqueue_many))
        enqueues = [_enqueue(queue, tensors, how.enqueue_many, keep) for tensors in sets]
        add_queue_runner(QueueRunner(queue, [e for e in enqueues for _ in range(how.threads)]))
        kind.report(queue)
        if how.allow_smaller_final_batch:
            batch = queue.dequeue_up_to(how.batch_size, name=name)
        else:
            batch = queue.dequeue_many(how.batch_size, name=name)
        batch = restore(batch, stored)
    if not isinstance(tensors_list[0], dict):
        return batch
    parts = batch if isinstance(batch, list) else [batch]
    return dict(zip(sorted(tensors_list[0], key=str), parts))


def _in_order(tensors_list: Any) -> list[list[Any]]:
    """Each set as a list; dicts are ordered by key. Raises ValueError if the keys differ."""
    if not isinstance(tensors_list[0], dict):
        return [list(tensors) for tensors in tensors_list]
    if any(tensors.keys() != tensors_list[0].keys() for tensors in tensors_list):
        raise ValueError("All dictionaries in tensors_list must have the same keys")
    return [[tensors[k] for k in sorted(tensors, key=str)] for tensors in tensors_list]


def _tensors(values: list[Any]) -> list[Any]:
    if not values:
        raise ValueError("Expected at least one tensor in batch().")
    return [SparseTensor.from_value(v) if is_sparse(v) else to_tensor(v) for v in values]


def _checked_keep_input(keep_input: Any, enqueue_many: bool) -> Tensor:
    keep = to_tensor(keep_input)
    if keep.shape.ndims is None:
        raise ValueError("`keep_input` dimensions must be known at graph construction.")
    if not enqueue_many and keep.shape.ndims == 1:
        raise ValueError("`keep_input` cannot be a vector when `enqueue_many=False`.")
    if keep.shape.ndims > 1:
        raise ValueError("`keep_input` must be 0 or 1 dimensions.")
    return keep


def _dtypes(sets: list[list[Tensor]]) -> list[Any]:
    first = [t.dtype for t in sets[0]]
    for tensors in sets[1:]:
        others = [t.dtype for t in tensors]
        if others != first:
            mine, theirs = (", ".join(t.name for t in types) for types in (first, others))
            raise TypeError(f"Expected types to be consistent: {mine} vs. {theirs}.")
    return first


def _shapes(sets: list[list[Tensor]], shapes: Any, enqueue_many: bool) -> Any:
    """The shape of each component: as given, or as its tensors have it. Raises ValueError."""
    if shapes is not None:
        return shapes
    return [_common_shape(component, enqueue_many) for component in zip(*sets)]


def _common_shape(tensors: Sequence[Tensor], enqueue_many: bool) -> list[int | None]:
    shapes: list[TensorShape] = []
    for t in tensors:
        if t.shape.ndims is None:
            raise ValueError(f"Cannot infer Tensor's rank: {t}")
        shapes.append(t.shape.with_rank_at_least(1)[1:] if enqueue_many else t.shape)
        shapes[0].merge_with(shapes[-1])
    return shapes[0].as_list()


def _enqueue(
    queue: QueueBase, tensors: list[Tensor], enqueue_many: bool, keep: Tensor
) -> Operation:
    """Adds the elements that are to be kept."""
    add: Callable[[Any], Operation] = queue.enqueue_many if enqueue_many else queue.enqueue
    if keep.shape.ndims == 0:
        known = constant_value(keep)
        if known is None:
            return cond(keep, lambda: add(tensors), no_op)  # type: ignore[no-any-return]
        return add(tensors) if known else no_op()
    wanted = math.cast(keep, int32)
    return add([array.dynamic_partition(t, wanted, num_partitions=2)[1] for t in tensors])


# ---- batches


def batch(
    tensors: Any,
    batch_size: Any,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Batches of what the tensors give again and again, in that order."""
    return maybe_batch(
        tensors, True, batch_size, num_threads, capacity, enqueue_many, shapes, dynamic_pad,
        allow_smaller_final_batch, shared_name, name,
    )  # fmt: skip


def maybe_batch(
    tensors: Any,
    keep_input: Any,
    batch_size: Any,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """batch() of those elements for which `keep_input` is true."""
    how = _Batching(
        batch_size, keep_input, num_threads, enqueue_many, shapes, allow_smaller_final_batch, name
    )
    return _batched([tensors], _Fifo(capacity, dynamic_pad, shared_name), how, "batch")


def batch_join(
    tensors_list: Any,
    batch_size: Any,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """batch() of several sets of tensors, with a thread for each."""
    return maybe_batch_join(
        tensors_list, True, batch_size, capacity, enqueue_many, shapes, dynamic_pad,
        allow_smaller_final_batch, shared_name, name,
    )  # fmt: skip


def maybe_batch_join(
    tensors_list: Any,
    keep_input: Any,
    batch_size: Any,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """batch_join() of those elements for which `keep_input` is true."""
    how = _Batching(
        batch_size, keep_input, 1, enqueue_many, shapes, allow_smaller_final_batch, name
    )
    return _batched(tensors_list, _Fifo(capacity, dynamic_pad, shared_name), how, "batch_join")


def shuffle_batch(
    tensors: Any,
    batch_size: Any,
    capacity: int,
    min_after_dequeue: int,
    num_threads: int = 1,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Batches of what the tensors give again and again, in random order."""
    return maybe_shuffle_batch(
        tensors, batch_size, capacity, min_after_dequeue, True, num_threads, seed, enqueue_many,
        shapes, allow_smaller_final_batch, shared_name, name,
    )  # fmt: skip


def maybe_shuffle_batch(
    tensors: Any,
    batch_size: Any,
    capacity: int,
    min_after_dequeue: int,
    keep_input: Any,
    num_threads: int = 1,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """shuffle_batch() of those elements for which `keep_input` is true."""
    how = _Batching(
        batch_size, keep_input, num_threads, enqueue_many, shapes, allow_smaller_final_batch, name
    )
    kind = _Shuffled(capacity, min_after_dequeue, seed, shared_name)
    return _batched([tensors], kind, how, "shuffle_batch")


def shuffle_batch_join(
    tensors_list: Any,
    batch_size: Any,
    capacity: int,
    min_after_dequeue: int,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """shuffle_batch() of several sets of tensors, with a thread for each."""
    return maybe_shuffle_batch_join(
        tensors_list, batch_size, capacity, min_after_dequeue, True, seed, enqueue_many, shapes,
        allow_smaller_final_batch, shared_name, name,
    )  # fmt: skip


def maybe_shuffle_batch_join(
    tensors_list: Any,
    batch_size: Any,
    capacity: int,
    min_after_dequeue: int,
    keep_input: Any,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """shuffle_batch_join() of those elements for which `keep_input` is true."""
    how = _Batching(
        batch_size, keep_input, 1, enqueue_many, shapes, allow_smaller_final_batch, name
    )
    kind = _Shuffled(capacity, min_after_dequeue, seed, shared_name)
    return _batched(tensors_list, kind, how, "shuffle_batch_join")
