"""tf.contrib.data: names that moved to tf.data.experimental."""

from __future__ import annotations

from minitf.data.dataset import AUTOTUNE
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


def batch_and_drop_remainder(batch_size):  # type: ignore[no-untyped-def]
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)
