"""Stacks of defaults, one per thread: the innermost `with graph.as_default()` and the like."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class DefaultStack(threading.local, Generic[T]):
    """A stack of defaults, one per thread."""

    def __init__(self) -> None:
        self.items: list[T] = []

    def top(self) -> T | None:
        return self.items[-1] if self.items else None

    @contextmanager
    def push(self, item: T) -> Iterator[T]:
        items = self.items
        items.append(item)
        try:
            yield item
        finally:
            if not items or items[-1] is not item:
                raise AssertionError(f"Nesting violated for default stack of {type(item)} objects")
            items.pop()


graph_stack: DefaultStack[Any] = DefaultStack()
session_stack: DefaultStack[Any] = DefaultStack()
