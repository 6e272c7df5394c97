"""State that outlives a step: variables and other resources of a task, by container and name.

The one rule on shared buffers lives here. A variable's buffer is read-only while it is shared.
Reading hands
out the buffer itself; whoever holds a reference to it holds a lease. An update writes in place if
nobody
does, else into a fresh copy, so no reader, fetch or zero-copy send ever sees a half-written tensor.
On a GPU a reference counts from the moment its kernel was asked for: the device's one stream keeps
the order.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from minitf_runtime.errors import FailedPreconditionError, NotFoundError, OpError
from minitf_runtime.types import DType, Shape

Array = np.ndarray  # what has a guard against writing; arrays of a GPU have none
HANDLE_KIND = "N10tensorflow3VarE"  # how TF's texts call the variable behind a handle


class Variable:
    """A tensor that kernels read and update. `label` is how errors call it."""

    __slots__ = ("label", "dtype", "shape", "_value", "_lock")

    def __init__(self, label: str, dtype: DType, shape: Shape) -> None:
        self.label = label
        self.dtype = dtype
        self.shape = shape
        self._value: Any = None
        self._lock = threading.RLock()

    @property
    def initialized(self) -> bool:
        return self._value is not None

    def read(self) -> Any:
        """The current value, read-only. Raises FailedPreconditionError if there is none."""
        with self._lock:
            value = self._value
        if value is None:
            raise self._uninitialized()
        return value

    def assign(self, value: Any) -> None:
        """Stores a copy of `value`; the shape may change."""
        with self._lock:
            mine = self._value
            if (
                not isinstance(value, np.generic)
                and mine is not None
                and value.shape == mine.shape
                and value.dtype == mine.dtype
                and value is not mine
                and _unshared(self)
            ):
                if isinstance(mine, Array):
                    mine.setflags(write=True)
                mine[...] = value
            else:
                mine = value.copy() if not isinstance(value, np.generic) else np.array(value)
            if isinstance(mine, Array):
                mine.setflags(write=False)
            self._value = mine

    def writable(self) -> _Lease:
        """`with v.writable() as array:` changes the value in place; nobody else sees it until the
        block ends."""
        return _Lease(self)

    def lend(self) -> Any:
        """The value as an array to be changed in place; nobody else sees it until `take_back`."""
        self._lock.acquire()
        try:
            if self._value is None:
                raise self._uninitialized()
            mine = self._value if _unshared(self) else self._value.copy()
            if isinstance(mine, Array):
                mine.setflags(write=True)
        except BaseException:
            self._lock.release()
            raise
        return mine

    def take_back(self, mine: Any) -> None:
        """The array that was lent becomes the value again."""
        if isinstance(mine, Array):
            mine.setflags(write=False)
        self._value = mine
        self._lock.release()

    def clear(self) -> None:
        """Makes the variable uninitialized again."""
        with self._lock:
            self._value = None

    def _uninitialized(self) -> OpError:
        return FailedPreconditionError(
            None, None, f"Attempting to use uninitialized value {self.label}"
        )


class _Lease:
    """The block in which a variable's array may be changed."""

    __slots__ = ("_variable", "_array")

    def __init__(self, variable: Variable) -> None:
        self._variable = variable

    def __enter__(self) -> Any:
        self._array = self._variable.lend()
        return self._array

    def __exit__(self, *exc: object) -> None:
        self._variable.take_back(self._array)


class ResourceVariable(Variable):
    """A variable behind a handle: until it has a value it does not exist."""

    __slots__ = ("container", "name")

    def __init__(self, container: str, name: str, dtype: DType, shape: Shape) -> None:
        super().__init__(name, dtype, shape)
        self.container = container
        self.name = name

    def _uninitialized(self) -> OpError:
        return no_resource(self.container, HANDLE_KIND, self.name)


def _unshared(variable: Variable) -> bool:
    """Whether the variable itself holds the only reference to its buffer."""
    return sys.getrefcount(variable._value) <= _ALONE


class _Probe:
    __slots__ = ("_value",)


def _count_alone() -> int:
    probe: Any = _Probe()
    probe._value = np.zeros(1)
    return sys.getrefcount(probe._value)


_ALONE = _count_alone()


def no_resource(container: str, kind: str, name: str) -> NotFoundError:
    return NotFoundError(None, None, f"Resource {container}/{name}/{kind} does not exist.")


class Resources:
    """All resources of a task (or of one isolated session), keyed by (container, kind, name)."""

    def __init__(self, default_container: str) -> None:
        self.default_container = default_container
        self._table: dict[tuple[str, str, str], Any] = {}
        self._lock = threading.Lock()
        self._private = 0

    def lookup_or_create(
        self, container: str, kind: str, name: str, make: Callable[[], Any]
    ) -> Any:
        """The resource of that key, made by `make()` if it is new."""
        key = (container or self.default_container, kind, name)
        with self._lock:
            if key not in self._table:
                self._table[key] = make()
            return self._table[key]

    def find(self, container: str, kind: str, name: str) -> Any:
        """The resource of that key, None if there is none."""
        with self._lock:
            return self._table.get((container or self.default_container, kind, name))

    def private_name(self, node_name: str) -> str:
        """The name of a resource without shared_name: its own for each session (TF: _2_q)."""
        with self._lock:
            self._private += 1
            return f"_{self._private - 1}_{node_name}"

    def variable(
        self, container: str, name: str, label: str, dtype: DType, shape: Shape
    ) -> Variable:
        return self.lookup_or_create(  # type: ignore[no-any-return]
            container, "variable", name, lambda: Variable(label, dtype, shape)
        )

    def temporary(self, label: str, dtype: DType, shape: Shape) -> Variable:
        """A variable that is in no table."""
        return Variable(label, dtype, shape)

    def resource_variable(
        self, container: str, name: str, dtype: DType, shape: Shape
    ) -> ResourceVariable:
        container = container or self.default_container
        return self.lookup_or_create(  # type: ignore[no-any-return]
            container, HANDLE_KIND, name, lambda: ResourceVariable(container, name, dtype, shape)
        )

    def clear(self, containers: list[str]) -> None:
        """Drops the resources of these containers (of the default one when none are named)."""
        names = set(containers) or {self.default_container}
        with self._lock:
            for key in [k for k in self._table if k[0] in names]:
                del self._table[key]

    def release(self, resource: Any = None) -> None:
        """Drops this resource, or all: those that have threads end them."""
        with self._lock:
            dropped = {k: v for k, v in self._table.items() if resource in (None, v)}
            for key in dropped:
                del self._table[key]
        for value in dropped.values():
            if hasattr(value, "release"):
                value.release()

    def items(self) -> list[tuple[tuple[str, str, str], Any]]:
        with self._lock:
            return list(self._table.items())


class KernelNode:
    """What a kernel may know of its node: one object per (session, node), so `state` lasts.

    functions: compiles the functions among its attributes (plan/function.py).
    """

    __slots__ = (
        "name",
        "op",
        "attrs",
        "device",
        "resources",
        "state",
        "lock",
        "source",
        "functions",
    )

    def __init__(
        self,
        name: str,
        op: str,
        attrs: Any,
        device: str,
        resources: Resources,
        source: str = "",
        functions: Any = None,
    ) -> None:
        self.name = name
        self.op = op
        self.attrs = attrs
        self.device = device
        self.resources = resources
        self.source = source
        self.functions = functions
        self.state: Any = None
        self.lock = threading.Lock()

    def keep(self, make: Callable[[], Any]) -> Any:
        """The node's own state, made by `make()` at the first call."""
        if self.state is None:
            with self.lock:
                if self.state is None:
                    self.state = make()
        return self.state

    def release(self) -> None:
        """Drops the resource that only this node had."""
        if hasattr(self.state, "release") and not self.attrs.get("shared_name"):
            self.resources.release(self.state)
