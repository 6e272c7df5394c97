"""GroupByWindowDataset: elements gathered by a key, and what a function makes of each group."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitf_runtime.errors import invalid
from minitf_runtime.ops.datasets.base import (
    OUTPUTS,
    Dataset,
    Element,
    Pull,
    Run,
    dataset,
    dataset_op,
)
from minitf_runtime.ops.datasets.batches import Elements
from minitf_runtime.ops.registry import Attr, Types, kernel

dataset_op(
    "GroupByWindowDataset",
    "input_dataset: variant, key_func_other_arguments: Tkey_func_other_arguments, "
    "reduce_func_other_arguments: Treduce_func_other_arguments, "
    "window_size_func_other_arguments: Twindow_size_func_other_arguments",
    key_func=Attr("func"),
    reduce_func=Attr("func"),
    window_size_func=Attr("func"),
    Tkey_func_other_arguments=Types(),
    Treduce_func_other_arguments=Types(),
    Twindow_size_func_other_arguments=Types(),
    **OUTPUTS,
)

Bind = Callable[[Run], Callable[[Element], Element]]


class GroupByWindow(Dataset):
    """The elements of the datasets that `reduce` makes of full groups; at the end, of the rest."""

    def __init__(self, source: Dataset, key: Bind, reduce: Bind, window: Bind) -> None:
        self.inputs = (source,)
        self.key, self.reduce, self.window = key, reduce, window

    def open(self, run: Run) -> Pull:
        pull = self.inputs[0].open(run)
        key_of, reduce, window = self.key(run), self.reduce(run), self.window(run)
        groups: dict[int, list[Element]] = {}
        sizes: dict[int, int] = {}
        inner: Pull | None = None

        def opened(key: Any) -> Pull:
            group = Elements(groups.pop(int(key)))
            return dataset(reduce((key, group))[0]).open(run)

        def full() -> Any:
            """The key of the next group that is full, or of one that is left at the end."""
            while True:
                run.check()
                try:
                    element = pull()
                except StopIteration:
                    if not groups:
                        raise
                    return np.int64(min(groups))
                (key,) = key_of(element)
                group = groups.setdefault(int(key), [])
                if not group:
                    sizes[int(key)] = _size(window((key,)))
                group.append(element)
                if len(group) == sizes[int(key)]:
                    return key

        def following() -> Element:
            nonlocal inner
            while True:
                if inner is None:
                    inner = opened(full())
                try:
                    return inner()  # type: ignore[no-any-return]
                except StopIteration:
                    inner = None

        return following


def _size(result: Element) -> int:
    size = int(result[0])
    if size <= 0:
        raise invalid(f"Window size must be greater than zero, but got {size}.")
    return size


def _bind(function: Any, captured: Sequence[Any]) -> Bind:
    return lambda run: run.bound(function, captured)


@kernel("GroupByWindowDataset", device="CPU")
def group_by_window_dataset(
    xp: Any, source: Any, for_key: Any, for_reduce: Any, for_window: Any, *,
    key_func: Any, reduce_func: Any, window_size_func: Any,
) -> Dataset:  # fmt: skip
    return GroupByWindow(
        dataset(source),
        _bind(key_func, for_key),
        _bind(reduce_func, for_reduce),
        _bind(window_size_func, for_window),
    )
