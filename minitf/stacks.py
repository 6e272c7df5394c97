"""Stacks of defaults, one per thread: the innermost `with graph.as_default()` and the like."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class DefaultStack(threading.local, Generic[T]):
    """A stack of defaults, one per thread."""

    def __init__(self) -> None:
        self.items: list[T] = []

    def top(self) -> T | None:
        return self.items[-1] if self.items else None

    def push(self, item: T) -> Pushed[T]:
        return Pushed(self, item)


class Pushed(AbstractContextManager[T]):
    """One `with stack.push(item)`; a class, for a generator takes longer."""

    __slots__ = ("stack", "item", "items")

    def __init__(self, stack: DefaultStack[T], item: T) -> None:
        self.stack = stack
        self.item = item

    def __enter__(self) -> T:
        self.items = self.stack.items  # of this thread
        self.items.append(self.item)
        return self.item

    def __exit__(self, *exc: object) -> None:
        items = self.items
        if not items or items[-1] is not self.item:
            kind = type(self.item)
            raise AssertionError(f"Nesting violated for default stack of {kind} objects")
        items.pop()


graph_stack: DefaultStack[Any] = DefaultStack()
session_stack: DefaultStack[Any] = DefaultStack()
