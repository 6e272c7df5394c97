"""Producers: queues filled again and again with the rows of a tensor. Batches: batching.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minitf.convert import constant, to_tensor
from minitf.default import GraphKeys, control_dependencies, name_scope
from minitf.operation import Operation, Tensor
from minitf.ops import array, math
from minitf.ops.debug import Assert
from minitf.ops.files import matching_files
from minitf.ops.queue import FIFOQueue, QueueBase
from minitf.ops.random import random_shuffle
from minitf.summary.ops import scalar
from minitf.train.queue_runner import QueueRunner, add_queue_runner
from minitf.variables import Variable
from minitf_runtime.types import float32, int64, string


def report_fullness(name: str, full: Tensor, size: int) -> None:
    """A summary of how full a queue is."""
    scalar(name, math.cast(full, float32) * (1.0 / size))


# ---- producers


def match_filenames_once(pattern: Any, name: str | None = None) -> Variable:
    """The files that match a pattern when the local variables are initialized."""
    with name_scope(name, "matching_filenames", [pattern]) as name:
        return Variable(
            matching_files(pattern),
            trainable=False,
            collections=[GraphKeys.LOCAL_VARIABLES],
            validate_shape=False,
            name=name,
        )


def limit_epochs(tensor: Any, num_epochs: int | None = None, name: str | None = None) -> Any:
    """The tensor, which can be had `num_epochs` times; then OutOfRangeError.

    The count is a local variable.
    """
    if num_epochs is None:
        return tensor
    if num_epochs <= 0:
        raise ValueError(f"num_epochs must be > 0 not {num_epochs}.")
    with name_scope(name, "limit_epochs", [tensor]) as name:
        epochs = Variable(
            constant(0, int64),
            name="epochs",
            trainable=False,
            collections=[GraphKeys.LOCAL_VARIABLES],
        )
        with control_dependencies([epochs.count_up_to(num_epochs)]):
            return array.identity(tensor, name=name)


def input_producer(
    input_tensor: Any,
    element_shape: Any = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    summary_name: str | None = None,
    name: str | None = None,
    cancel_op: Operation | None = None,
) -> QueueBase:
    """A queue of the rows of a tensor, which a queue runner fills.

    Raises ValueError if the shape of a row is not known.
    """
    with name_scope(name, "input_producer", [input_tensor]):
        rows = to_tensor(input_tensor, name="input_tensor")
        element_shape = rows.shape[1:].merge_with(element_shape)
        if not element_shape.is_fully_defined():
            raise ValueError(
                "Either `input_tensor` must have a fully defined shape or `element_shape` must be "
                "specified"
            )
        if shuffle:
            rows = random_shuffle(rows, seed=seed)
        rows = limit_epochs(rows, num_epochs)
        dtypes = [rows.dtype.base]
        queue = FIFOQueue(capacity, dtypes, [element_shape], shared_name=shared_name, name=name)
        add_queue_runner(QueueRunner(queue, [queue.enqueue_many([rows])], cancel_op=cancel_op))
        if summary_name is not None:
            report_fullness(summary_name, queue.size(), capacity)
        return queue


def string_input_producer(
    string_tensor: Any,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
    cancel_op: Operation | None = None,
) -> QueueBase:
    """A queue of strings, such as file names. Raises ValueError if there are none."""
    message = "string_input_producer requires a non-null input tensor"
    if not isinstance(string_tensor, Tensor) and not string_tensor:
        raise ValueError(message)
    with name_scope(name, "input_producer", [string_tensor]) as name:
        strings = to_tensor(string_tensor, string)
        with control_dependencies([Assert(math.greater(array.size(strings), 0), [message])]):
            strings = array.identity(strings)
        return input_producer(
            strings, [], num_epochs, shuffle, seed, capacity, shared_name,
            f"fraction_of_{capacity}_full", name, cancel_op,
        )  # fmt: skip


def range_input_producer(
    limit: Any,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
) -> QueueBase:
    """A queue of the numbers from 0 to limit - 1."""
    with name_scope(name, "input_producer", [limit]) as name:
        return input_producer(
            math.range(limit), [], num_epochs, shuffle, seed, capacity, shared_name,
            f"fraction_of_{capacity}_full", name,
        )  # fmt: skip


def slice_input_producer(
    tensor_list: Sequence[Any],
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
) -> list[Tensor]:
    """One row of each tensor, the same for all. Raises ValueError without a tensor."""
    with name_scope(name, "input_producer", tensor_list):
        if not tensor_list:
            raise ValueError("Expected at least one tensor in slice_input_producer().")
        tensors = [to_tensor(t) for t in tensor_list]
        rows = array.shape(tensors[0])[0]
        queue = range_input_producer(rows, num_epochs, shuffle, seed, capacity, shared_name)
        index = queue.dequeue()
        return [array.gather(t, index) for t in tensors]
