"""A queue that threads fill with rows of arrays, batch by batch, for so many epochs."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from minitf import tf_logging
from minitf.default import name_scope
from minitf.ops import math
from minitf.ops.filling import placeholder
from minitf.ops.queue import FIFOQueue, QueueBase, RandomShuffleQueue
from minitf.summary.ops import scalar
from minitf.train.queue_runner import QueueRunner, add_queue_runner
from minitf_runtime.errors import CancelledError, OutOfRangeError
from minitf_runtime.types import as_dtype, float32

Feeds = Mapping[Any, Any]


class FeedingQueueRunner(QueueRunner):
    """Each enqueue op is fed anew by a function of its own, which ends by OutOfRangeError."""

    def __init__(
        self, queue: QueueBase, enqueue_ops: Sequence[Any], feed_fns: Sequence[Callable[[], Feeds]]
    ) -> None:
        ended = (OutOfRangeError, CancelledError)
        super().__init__(queue, enqueue_ops, queue_closed_exception_types=ended)
        self._feed_fns = dict(zip(enqueue_ops, feed_fns))

    def _enqueuer(self, sess: Any, enqueue_op: Any) -> Callable[[], Any]:
        feed_fn = self._feed_fns[enqueue_op]
        return lambda: sess.run(enqueue_op, feed_fn())

    def to_proto(self, export_scope: str | None = None) -> Any:
        """Python functions cannot be saved. Raises NotImplementedError."""
        raise NotImplementedError(f"{type(self).__name__} does not support serialization to proto.")


def enqueue_rows(
    columns: Sequence[np.ndarray],
    capacity: int,
    shuffle: bool,
    num_threads: int,
    enqueue_size: int,
    num_epochs: int | None,
    min_after_dequeue: float | None = None,
) -> QueueBase:
    """A queue of the rows of columns of equal length, filled by queue runners."""
    _warn_of_threads(shuffle, num_threads, num_epochs)
    with name_scope("enqueue_input"):
        types = [as_dtype(column.dtype) for column in columns]
        shapes = [column.shape[1:] for column in columns]
        least = 0
        if shuffle:
            least = int(capacity / 4 if min_after_dequeue is None else min_after_dequeue)
        queue = (
            RandomShuffleQueue(capacity, least, dtypes=types, shapes=shapes)
            if shuffle
            else FIFOQueue(capacity, dtypes=types, shapes=shapes)
        )
        enqueue_ops, feed_fns = [], []
        for _ in range(num_threads):
            placeholders = [placeholder(dtype) for dtype in types]
            enqueue_ops.append(queue.enqueue_many(placeholders))
            batches = _batches(columns, enqueue_size, num_epochs, shuffle)
            feed_fns.append(_feeder(placeholders, batches))
        add_queue_runner(FeedingQueueRunner(queue, enqueue_ops, feed_fns))
        room = capacity - least
        full = math.cast(math.maximum(0, queue.size() - least), float32) * (1.0 / room)
        scalar(f"queue/{queue.name}fraction_over_{least}_of_{room}_full", full)
    return queue


def _feeder(
    placeholders: Sequence[Any], batches: Iterator[list[np.ndarray]]
) -> Callable[[], Feeds]:
    def feed() -> Feeds:
        batch = next(batches, None)
        if batch is None:
            raise OutOfRangeError(None, None, "All epochs have been emitted.")
        return dict(zip(placeholders, batch))

    return feed


def _batches(
    columns: Sequence[np.ndarray], size: int, num_epochs: int | None, random_start: bool
) -> Iterator[list[np.ndarray]]:
    """Rows in order, again from the first after the last; the last batch may be smaller."""
    count = len(columns[0])
    at = random.randrange(count) if random_start else 0
    end = None if num_epochs is None else at + count * num_epochs
    while end is None or at < end:
        stop = at + size if end is None else min(at + size, end)
        rows = np.arange(at, stop) % count
        yield [column[rows] for column in columns]
        at = stop


def _warn_of_threads(shuffle: bool, num_threads: int, num_epochs: int | None) -> None:
    if num_threads <= 1:
        return
    if num_epochs is not None:
        tf_logging.warning(
            "enqueue_data was called with num_epochs and num_threads > 1. num_epochs is applied "
            "per thread, so this will produce more epochs than you probably intend. If you want to "
            "limit epochs, use one thread."
        )
    if not shuffle:
        tf_logging.warning(
            "enqueue_data was called with shuffle=False and num_threads > 1. This will create "
            "multiple threads, all reading the array/dataframe in order. If you want examples read "
            "in order, use one thread; if you want multiple threads, enable shuffling."
        )
