"""What an input_fn gives: features, labels, and the hook that an input of a dataset needs."""

from __future__ import annotations

from typing import Any

from minitf.default import GraphKeys, get_collection
from minitf.nest import flatten
from minitf.operation import Tensor
from minitf.train.session_run_hook import SessionRunHook

Inputs = tuple[Any, Any, list[SessionRunHook]]  # features, labels or None, hooks


class DatasetInitializerHook(SessionRunHook):
    """Begins a dataset anew in each session."""

    def __init__(self, iterator: Any) -> None:
        self._iterator = iterator

    def begin(self) -> None:
        self._initializer = self._iterator.initializer

    def after_create_session(self, session: Any, coord: Any) -> None:
        session.run(self._initializer)


def parse(result: Any) -> Inputs:
    """Takes an input_fn's result apart: a dataset of it, features, or a pair with labels.

    Raises ValueError for a list or tuple of another length.
    """
    hooks: list[SessionRunHook] = []
    if hasattr(result, "make_initializable_iterator"):
        iterator = result.make_initializable_iterator()
        hooks.append(DatasetInitializerHook(iterator))
        result = iterator.get_next()
    if not isinstance(result, (list, tuple)):
        return result, None, hooks
    if len(result) != 2:
        raise ValueError("input_fn should return (features, labels) as a len 2 tuple.")
    return result[0], result[1], hooks


def can_end(features: Any) -> bool:
    """Whether the features come from a dataset or a queue, and not the same again and again."""
    tensors = [x for x in flatten(features) if isinstance(x, Tensor)]
    is_dataset = any(x.op.type == "IteratorGetNext" for x in tensors)
    return is_dataset or bool(get_collection(GraphKeys.QUEUE_RUNNERS))
