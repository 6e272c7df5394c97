"""tf.py_func: Python functions as ops of the graph. They run in the process that made them."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

from minitf.default import get_default_graph
from minitf.graph import Graph
from minitf.ops.apply import apply_op
from minitf_runtime.ops.script import register

__all__ = ["numpy_function", "py_func"]

# A function lives as long as the graph that calls it.
_used: weakref.WeakKeyDictionary[Graph, list[Callable[..., Any]]] = weakref.WeakKeyDictionary()


def py_func(
    func: Callable[..., Any],
    inp: Sequence[Any],
    Tout: Any,  # noqa: N803
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """Calls `func` with NumPy arrays; it returns arrays of the types `Tout` (one type, or a list).

    A stateless function may be called once for many uses, or not at all. Raises ValueError for a
    func that cannot be called.
    """
    if not callable(func):
        raise ValueError(f"Expected func to be callable, got func of type {type(func)}")
    many = isinstance(Tout, (list, tuple))
    _used.setdefault(get_default_graph().outermost, []).append(func)
    result = apply_op(
        "PyFunc" if stateful else "PyFuncStateless",
        inp,
        token=register(func),
        Tout=list(Tout) if many else [Tout],
        name=name,
    )
    return result if many else result[0]


def numpy_function(
    func: Callable[..., Any],
    inp: Sequence[Any],
    Tout: Any,
    name: str | None = None,  # noqa: N803
) -> Any:
    """py_func of a function with side effects."""
    return py_func(func, inp, Tout, name=name)
