"""tf.estimator.inputs.pandas_input_fn: batches of a pandas DataFrame."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minitf.estimator.feeding import enqueue_rows
from minitf.estimator.numpy_io import check_shuffle, dequeue


def pandas_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool | None = None,
    queue_capacity: int | None = 1000,
    num_threads: int = 1,
    target_column: str = "target",
) -> Callable[[], Any]:
    """An input_fn of a DataFrame, by its columns, and of labels `y`, a Series or a DataFrame.

    Raises ValueError for labels of other rows, TypeError for what is no DataFrame.
    """
    if not hasattr(x, "columns"):
        raise TypeError(f"x must be a pandas DataFrame; got {type(x).__name__}")
    check_shuffle(shuffle)
    if not isinstance(target_column, str):
        raise TypeError("target_column must be a string type")
    features = {name: x[name].to_numpy() for name in x.columns}
    labels = {} if y is None else _labels(x, y, target_column)
    if queue_capacity is None:
        queue_capacity = 4 * len(x) if shuffle else len(x)
    least = max(queue_capacity / 4, 1)
    columns = [x.index.to_numpy(), *features.values(), *labels.values()]

    def input_fn() -> Any:
        queue = enqueue_rows(
            columns, queue_capacity, bool(shuffle), num_threads, batch_size, num_epochs, least
        )
        batch = dequeue(queue, batch_size, num_epochs)[1:]
        found = dict(zip(features, batch))
        if y is None:
            return found
        taken = batch[len(features) :]
        return found, dict(zip(labels, taken)) if hasattr(y, "columns") else taken[0]

    return input_fn


def _labels(x: Any, y: Any, target_column: str) -> dict[Any, np.ndarray]:
    if target_column in x:
        raise ValueError(
            f"Cannot use name {target_column} for target column: DataFrame already has a column "
            f"with that name: {x.columns}"
        )
    if not np.array_equal(x.index, y.index):
        raise ValueError(
            f"Index for x and y are mismatched.\nIndex for x: {x.index}\nIndex for y: {y.index}\n"
        )
    if hasattr(y, "columns"):
        return {name: y[name].to_numpy() for name in y.columns}
    return {target_column: y.to_numpy()}
