"""The queues themselves: elements, and the attempts of steps that wait to add or take some.

As in TF, waiters are served strictly in the order they came, and a batch is added or taken element
by element as there is room or supply. The ops are in queue.py.
"""

from __future__ import annotations

import heapq
import threading
from collections import deque
from collections.abc import Sequence
from itertools import count
from typing import Any

import numpy as np

from minitf_runtime.errors import CancelledError, OutOfRangeError, invalid
from minitf_runtime.ops.philox import PhiloxState
from minitf_runtime.types import DType, Shape, show_shape

Element = tuple[Any, ...]
_SAMPLES = 64  # of 128 bits, that a shuffling queue draws at a time: few calls of NumPy


class Attempt:
    """Something that a step wants of a queue; `advance` does what can be done of it now."""

    def __init__(self) -> None:
        self.done = False
        self.error: Exception | None = None

    def advance(self, queue: Queue) -> bool:
        """Whether anything changed. Sets `done` when nothing is left to do."""
        raise NotImplementedError

    def give_up(self, queue: Queue) -> None:
        """Takes back what a cancelled attempt has done."""

    def lacks(self, queue: Queue) -> str:
        """The state of the queue that keeps it waiting."""
        return f"has no room: {queue.size()} of {queue.capacity} elements"

    def finish(self, error: Exception | None = None) -> bool:
        self.done = True
        self.error = error
        return True


class Enqueue(Attempt):
    def __init__(self, elements: Sequence[Element]) -> None:
        super().__init__()
        self.left = deque(elements)

    def advance(self, queue: Queue) -> bool:
        if queue.closed:
            return self.finish(_cancelled(f"{queue.kind} '{queue.name}' is closed."))
        room = queue.capacity - queue.size()
        for _ in range(min(room, len(self.left))):
            queue.push(self.left.popleft())
        return self.finish() if not self.left else False


class Close(Attempt):
    """Waits for the enqueues that came before it."""

    def advance(self, queue: Queue) -> bool:
        if queue.closed:
            return self.finish(_cancelled(f"Queue '{queue.name}' is already closed."))
        queue.closed = True
        return self.finish()


class Dequeue(Attempt):
    """Takes `wanted` elements; a closed queue may give `up_to` that many instead."""

    def __init__(self, wanted: int, up_to: bool = False) -> None:
        super().__init__()
        self.wanted = wanted
        self.up_to = up_to
        self.taken: list[Element] = []

    def advance(self, queue: Queue) -> bool:
        size = queue.size()
        missing = self.wanted - len(self.taken)
        if queue.closed and size < missing:
            self.give_up(queue)
            rest = queue.size()
            if not (self.up_to and rest):
                return self.finish(_exhausted(queue, missing, size))
            self.wanted = missing = rest
        available = min(queue.available(), missing)
        if queue.all_at_once and available < missing:
            return False
        self.taken += [queue.pop() for _ in range(available)]
        return self.finish() if len(self.taken) == self.wanted else available > 0

    def give_up(self, queue: Queue) -> None:
        queue.put_back(self.taken)
        self.taken = []

    def lacks(self, queue: Queue) -> str:
        have = queue.size() + len(self.taken)
        kept = f", of which {keep} are to stay" if (keep := queue.min_after_dequeue) else ""
        return f"has {have} element{'' if have == 1 else 's'}{kept}; {self.wanted} wanted"


def _cancelled(text: str) -> CancelledError:
    return CancelledError(None, None, text)


def _exhausted(queue: Queue, requested: int, size: int) -> OutOfRangeError:
    return OutOfRangeError(
        None,
        None,
        f"{queue.kind} '{queue.name}' is closed and has insufficient elements "
        f"(requested {requested}, current size {size})",
    )


class Queue:
    """A first-in-first-out queue. `shapes` is empty if elements may have any shape."""

    kind = "FIFOQueue"
    all_at_once = False  # a batch is taken as a whole
    min_after_dequeue = 0

    def __init__(
        self, name: str, types: Sequence[DType], shapes: Sequence[Shape], capacity: int
    ) -> None:
        self.name = name
        self.types = tuple(types)
        self.shapes = tuple(shapes)
        self.asked_capacity = capacity
        self.capacity = capacity if capacity >= 0 else 2**31 - 1
        self.closed = False
        self.condition = threading.Condition()
        self._elements: Any = deque()
        self._enqueues: deque[Attempt] = deque()
        self._dequeues: deque[Attempt] = deque()

    # ---- what the kinds of queue differ in

    def size(self) -> int:
        return len(self._elements)

    def available(self) -> int:
        """How many elements may be taken now."""
        return self.size()

    def push(self, element: Element) -> None:
        self._elements.append(element)

    def pop(self) -> Element:
        return self._elements.popleft()  # type: ignore[no-any-return]

    def put_back(self, elements: Sequence[Element]) -> None:
        self._elements.extendleft(reversed(elements))

    def batch(self, values: Sequence[Any], dtype: DType) -> Any:
        """One component of several elements as one tensor."""
        out = np.empty((len(values), *np.shape(values[0])), dtype.as_numpy_dtype)
        for i, value in enumerate(values):
            out[i] = value if np.ndim(value) else value[()]
        return out

    # ---- waiting

    def attempt(self, attempt: Attempt, step: Any) -> None:
        """Waits until it is done. Raises its error, or that of a step that is cancelled."""
        line = self._dequeues if isinstance(attempt, Dequeue) else self._enqueues
        with self.condition:
            line.append(attempt)
            self._serve()
            try:
                step.wait_for(
                    self.condition,
                    lambda: attempt.done,
                    lambda: (self.kind, self.name, attempt.lacks(self)),
                )
            except BaseException:
                if not attempt.done:
                    line.remove(attempt)
                    attempt.give_up(self)
                    self._serve()
                raise
        if attempt.error is not None:
            raise attempt.error

    def close_now(self) -> None:
        """Closes the queue and cancels the enqueues that wait."""
        with self.condition:
            self.closed = True
            for attempt in self._enqueues:
                attempt.finish(_cancelled("Enqueue operation was cancelled"))
            self._enqueues.clear()
            self.condition.notify_all()
            self._serve()

    def _serve(self) -> None:
        """Advances the first attempt of both lines as long as anything changes."""
        changed = True
        while changed:
            changed = False
            for line in (self._enqueues, self._dequeues):
                while line:
                    changed |= line[0].advance(self)
                    if not line[0].done:
                        break
                    line.popleft()
                    self.condition.notify_all()


class RandomShuffleQueue(Queue):
    """Gives its elements in random order, and keeps `min_after_dequeue` until it is closed."""

    kind = "RandomShuffleQueue"

    def __init__(self, *args: Any, min_after_dequeue: int, seeds: tuple[int, int]) -> None:
        super().__init__(*args)
        self.min_after_dequeue = min_after_dequeue
        self.seeds = seeds
        self._random = PhiloxState(*seeds)
        self._drawn: list[int] = []
        self._elements = []

    def available(self) -> int:
        return self.size() if self.closed else max(0, self.size() - self.min_after_dequeue)

    def pop(self) -> Element:
        """One draw of 32 bits; the last element takes the place of the one given."""
        if not self._drawn:
            drawn = self._random.reserve(_SAMPLES).samples(_SAMPLES)
            self._drawn = drawn.reshape(-1)[::-1].tolist()
        at = self._drawn.pop() % len(self._elements)
        elements = self._elements
        elements[at], elements[-1] = elements[-1], elements[at]
        return elements.pop()  # type: ignore[no-any-return]

    def put_back(self, elements: Sequence[Element]) -> None:
        self._elements += elements


class PaddingFIFOQueue(Queue):
    """Pads the elements of a batch with zeros to the largest size of each dimension."""

    kind = "PaddingFIFOQueue"

    def batch(self, values: Sequence[Any], dtype: DType) -> Any:
        sizes = np.max([np.shape(v) for v in values], axis=0).astype(int)
        shape = (len(values), *sizes)
        if dtype.as_numpy_dtype is object:
            out: Any = np.full(shape, b"", object)
        else:
            out = np.zeros(shape, dtype.as_numpy_dtype)
        for i, value in enumerate(values):
            out[(i, *map(slice, np.shape(value)))] = value if np.ndim(value) else value[()]
        return out


class PriorityQueue(Queue):
    """Gives the element of the smallest priority, its first component."""

    kind = "PriorityQueue"
    all_at_once = True  # else a smaller priority could come after part of a batch was taken

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._elements = []
        self._order = count()

    def push(self, element: Element) -> None:
        heapq.heappush(self._elements, (int(element[0]), next(self._order), element))

    def pop(self) -> Element:
        return heapq.heappop(self._elements)[-1]  # type: ignore[no-any-return]

    def put_back(self, elements: Sequence[Element]) -> None:
        for element in elements:
            self.push(element)


def check_element(queue: Queue, components: Sequence[Any], many: bool) -> None:
    """Raises InvalidArgumentError for components that are not an element (or a batch of some)."""
    lead: tuple[int, ...] = ()
    if many:
        first = np.shape(components[0])
        if not first:
            raise invalid("EnqueueMany needs tensors of at least one dimension")
        lead = first[:1]
    for i, value in enumerate(components):
        shape = np.shape(value)
        rest = queue.shapes[i] if queue.shapes else shape[len(lead) :]
        expected = None if rest is None else (*lead, *rest)
        if expected is not None and not _fits(shape, expected):
            raise invalid(
                f"Shape mismatch in tuple component {i}. Expected {show_shape(expected)}, "
                f"got {show_shape(shape)}"
            )


def _fits(shape: tuple[int, ...], expected: tuple[int | None, ...]) -> bool:
    return len(shape) == len(expected) and all(n == m or m is None for n, m in zip(shape, expected))
