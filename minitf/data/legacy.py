"""tf.compat.v1.data's functions of a dataset or an iterator."""

from __future__ import annotations

from typing import Any

from minitf.data.iterator import Iterator


def make_one_shot_iterator(dataset: Any) -> Iterator:
    return dataset.make_one_shot_iterator()  # type: ignore[no-any-return]


def make_initializable_iterator(dataset: Any, shared_name: str | None = None) -> Iterator:
    return dataset.make_initializable_iterator(shared_name)  # type: ignore[no-any-return]


def get_output_types(dataset_or_iterator: Any) -> Any:
    return dataset_or_iterator.output_types


def get_output_shapes(dataset_or_iterator: Any) -> Any:
    return dataset_or_iterator.output_shapes


def get_output_classes(dataset_or_iterator: Any) -> Any:
    return dataset_or_iterator.output_classes
