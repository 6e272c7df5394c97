"""What a dataset is: a value that opens passes over its elements. The kinds are in the files
beside this one.

A pass is a function that gives the next element, a tuple of arrays, and raises StopIteration when
there is none left. It is no generator, since it goes on after an error.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitf_runtime.errors import OpError, invalid
from minitf_runtime.graph import Function
from minitf_runtime.ops.registry import Attr, Types, op, scalar
from minitf_runtime.ops.strings import string_scalar

Element = tuple[Any, ...]
Pull = Callable[[], Any]  # the next element, or the number of its row

OUTPUTS: dict[str, Any] = dict(output_types=Types(minimum=1), output_shapes=Attr("list(shape)"))
COMPONENTS: dict[str, Any] = dict(Toutput_types=Types(minimum=1), output_shapes=Attr("list(shape)"))
ARGUMENTS: dict[str, Any] = dict(Targuments=Types())


def dataset_op(name: str, inputs: str, *, stateful: bool = False, **attrs: Any) -> None:
    """Declares an op that gives a dataset."""
    op(name, f"{inputs} -> handle: variant", scalar, stateful=stateful, **attrs)


class Run:
    """What the passes below one iterator share: the step that asks, the functions compiled for
    it, and what has to be stopped with it."""

    def __init__(self, functions: Any, step: Any) -> None:
        self.functions = functions  # plan/function.py: Functions
        self.step = step
        self._compiled: dict[int, tuple[Function, Any]] = {}
        self._stops: dict[int, Callable[[], None]] = {}
        self._lock = threading.Lock()

    def beside(self) -> Run:
        """The same for a thread that works ahead, in a step of its own."""
        made = Run(self.functions, self.functions.step())
        made._compiled = self._compiled
        return made

    def bound(self, function: Function, captured: Sequence[Any]) -> Callable[[Element], Element]:
        """The function of an element alone. It raises the OpError of the op that failed."""
        compiled = self._compiled.get(id(function))
        if compiled is None:
            compiled = function, self.functions.compiled(function)
            self._compiled[id(function)] = compiled
        call = compiled[1]
        if not captured:
            return lambda element: call(self.step, element)
        rest = tuple(captured)
        return lambda element: call(self.step, (*element, *rest))

    def check(self) -> None:
        """Raises the error of a step that was cancelled: for passes that may take long."""
        if self.step.error is not None:
            raise self.step.error

    def on_close(self, stop: Callable[[], None]) -> Callable[[], None]:
        """Calls `stop` at the end of the run; the result takes that back."""
        key = id(stop)
        with self._lock:
            self._stops[key] = stop
        return lambda: self._forget(key)

    def _forget(self, key: int) -> None:
        with self._lock:
            self._stops.pop(key, None)

    def close(self) -> None:
        with self._lock:
            stops = list(self._stops.values())
            self._stops.clear()
        for stop in stops:
            stop()


class Dataset:
    """Elements, of which any number of passes can be opened.

    table: where the elements are rows of arrays, these; a pass over row numbers is then cheaper,
    and a batch is one gather.
    """

    table: Element | None = None
    inputs: tuple[Dataset, ...] = ()

    def open(self, run: Run) -> Pull:
        """A pass over the elements. Of a table: the rows of a pass over row numbers."""
        table = self.table
        if table is None:
            raise NotImplementedError
        rows = self.open_rows(run)
        if len(table) == 1:
            (only,) = table
            if only.ndim > 1 or only.dtype != object:
                return lambda: (only[rows()],)

        def pull() -> Element:
            i = rows()
            return tuple([row(a, i) for a in table])

        return pull

    def open_rows(self, run: Run) -> Pull:
        """A pass over the numbers of rows of the table."""
        raise NotImplementedError


class Reordered(Dataset):
    """Elements of another dataset: fewer, more often, or in another order."""

    def __init__(self, source: Dataset) -> None:
        self.inputs = (source,)
        self.table = source.table

    def open(self, run: Run) -> Pull:
        if self.table is not None:
            return super().open(run)
        (source,) = self.inputs
        return self.over(lambda: source.open(run), run)

    def open_rows(self, run: Run) -> Pull:
        (source,) = self.inputs
        return self.over(lambda: source.open_rows(run), run)

    def over(self, reopen: Callable[[], Pull], run: Run) -> Pull:
        """A pass made of passes over the other dataset, of elements or of row numbers."""
        raise NotImplementedError


def row(array: Any, i: int) -> Any:
    """Row i of an array; a string stays a tensor."""
    item = array[i]
    return string_scalar(item) if isinstance(item, bytes) else item


def dataset(value: Any) -> Dataset:
    """The dataset that a variant tensor holds. Raises InvalidArgumentError."""
    if isinstance(value, np.ndarray) and value.dtype == object and value.ndim == 0:
        value = value[()]
    if not isinstance(value, Dataset):
        raise invalid("Tensor must be a Dataset object.")
    return value


def number(value: Any, told: str, at_least: int | None = None) -> int:
    """A scalar argument. Raises InvalidArgumentError if it is none, or too small."""
    if np.ndim(value):
        raise invalid(f"{told} must be a scalar")
    found = int(value)
    if at_least is not None and found < at_least:
        words = "greater than zero" if at_least == 1 else f"greater than or equal to {at_least}"
        raise invalid(f"{told} must be {words}.")
    return found


def ends(error: OpError) -> bool:
    """Whether an error of a function says that there is no more data."""
    return error.code == 11
