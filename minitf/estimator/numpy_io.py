"""tf.estimator.inputs.numpy_input_fn: batches of NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minitf.estimator.feeding import enqueue_rows


def numpy_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool | None = None,
    queue_capacity: int = 1000,
    num_threads: int = 1,
) -> Callable[[], Any]:
    """An input_fn of an array or a dict of them, and of labels `y`, if given.

    It gives features, or features and labels. Raises ValueError if `shuffle` is not told; the
    input_fn raises it for arrays of several lengths, TypeError for what is no array.
    """
    check_shuffle(shuffle)

    def input_fn() -> Any:
        features = _columns(x)
        labels = {} if y is None else _label_columns(y, features)
        columns = {**features, **labels}
        _check_lengths(columns, features, y)
        rows = np.arange(len(next(iter(columns.values()))))
        queue = enqueue_rows(
            [rows, *columns.values()], queue_capacity, bool(shuffle), num_threads, batch_size,
            num_epochs,
        )  # fmt: skip
        batch = dequeue(queue, batch_size, num_epochs)[1:]
        found = dict(zip(features, batch)) if isinstance(x, dict) else batch[0]
        if y is None:
            return found
        taken = batch[len(features) :]
        return found, dict(zip(labels, taken)) if isinstance(y, dict) else taken[0]

    return input_fn


def check_shuffle(shuffle: Any) -> None:
    if not isinstance(shuffle, bool):
        raise ValueError(
            "shuffle must be provided and explicitly set as boolean (it is recommended to set it "
            f"as True for training); got {shuffle}"
        )


def dequeue(queue: Any, batch_size: int, num_epochs: int | None) -> Any:
    """A batch; the last one of all epochs may be smaller."""
    return queue.dequeue_many(batch_size) if num_epochs is None else queue.dequeue_up_to(batch_size)


def _columns(x: Any) -> dict[Any, np.ndarray]:
    if isinstance(x, dict):
        if not x:
            raise ValueError("x cannot be an empty dict")
        return dict(sorted(x.items(), key=lambda item: item[0]))
    if not isinstance(x, np.ndarray):
        raise TypeError(f"x must be a dict or array; got {type(x).__name__}")
    if x.size == 0:
        raise ValueError("x cannot be an empty array")
    return {"": x}


def _label_columns(y: Any, features: dict[Any, np.ndarray]) -> dict[Any, np.ndarray]:
    if not isinstance(y, dict):
        return {None: y}
    if not y:
        raise ValueError("y cannot be empty dict, use None instead.")
    both = set(y) & set(features)
    if both:
        raise ValueError(f"{len(both)} duplicate keys are found in both x and y: {both}")
    return dict(sorted(y.items(), key=lambda item: item[0]))


def _check_lengths(columns: dict[Any, Any], features: dict[Any, Any], y: Any) -> None:
    if len({column.shape[0] for column in columns.values()}) == 1:
        return
    shapes = {key: column.shape for key, column in features.items()}
    of_y = {k: v.shape for k, v in y.items()} if isinstance(y, dict) else getattr(y, "shape", None)
    raise ValueError(
        "Length of tensors in x and y is mismatched. All elements in x and y must have the same "
        f"length.\nShapes in x: {shapes}\nShapes in y: {of_y}\n"
    )
