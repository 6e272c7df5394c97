"""tf.contrib.data: names that moved to tf.data.experimental."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitf.data.dataset import AUTOTUNE, Dataset
from minitf.data.experimental import (
    Counter,
    bucket_by_sequence_length,
    choose_from_datasets,
    enumerate_dataset,
    get_single_element,
    group_by_window,
    ignore_errors,
    map_and_batch,
    parallel_interleave,
    scan,
    shuffle_and_repeat,
    unbatch,
)

__all__ = [
    "AUTOTUNE", "Counter", "batch_and_drop_remainder", "bucket_by_sequence_length",
    "choose_from_datasets", "enumerate_dataset", "get_single_element", "group_by_window",
    "ignore_errors", "map_and_batch", "parallel_interleave", "scan", "shuffle_and_repeat",
    "unbatch",
]  # fmt: skip


def batch_and_drop_remainder(batch_size: Any) -> Callable[[Dataset], Dataset]:
    """Batches of that size only."""
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)
