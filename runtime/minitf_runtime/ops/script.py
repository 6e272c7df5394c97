"""Ops that call a Python function of the client's process.

A function is found by its token, so the op runs only in tasks that live in that process.
"""

from __future__ import annotations

import itertools
import traceback
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from minitf_runtime.errors import (
    InternalError,
    InvalidArgumentError,
    OpError,
    OutOfRangeError,
    ResourceExhaustedError,
    UnimplementedError,
    UnknownError,
    invalid,
)
from minitf_runtime.ops.registry import Attr, Types, kernel, op, unknown
from minitf_runtime.types import DType, as_dtype, c_name, string

_functions: weakref.WeakValueDictionary[str, Callable[..., Any]] = weakref.WeakValueDictionary()
_numbers = itertools.count()

# The error that an exception of the function becomes; the first class that matches.
_ERRORS: tuple[tuple[Any, type[OpError]], ...] = (
    ((ValueError, TypeError), InvalidArgumentError),
    (StopIteration, OutOfRangeError),
    (MemoryError, ResourceExhaustedError),
    (NotImplementedError, UnimplementedError),
    (Exception, UnknownError),
)


def register(fn: Callable[..., Any]) -> str:
    """Gives a function a token. Only the caller keeps the function alive."""
    token = f"pyfunc_{next(_numbers)}"
    _functions[token] = fn
    return token


_PY_FUNC: dict[str, Any] = dict(token=Attr("string"), Tin=Types(), Tout=Types())
op("PyFunc", "input: Tin -> output: Tout", unknown, stateful=True, **_PY_FUNC)
op("PyFuncStateless", "input: Tin -> output: Tout", unknown, **_PY_FUNC)


@kernel("PyFunc", "PyFuncStateless", host_inputs="input", host_outputs="output")
def py_func(xp: Any, inputs: Any, *, token: str, Tout: Any) -> Any:  # noqa: N803
    try:
        results = _call(token, [_argument(x) for x in inputs])
    except Exception as e:
        error = next(error for matches, error in _ERRORS if isinstance(e, matches))
        raise error(None, None, _told(e)) from e
    if len(results) != len(Tout):
        raise invalid(
            f"{token} returns {len(results)} values, but expects to see {len(Tout)} values."
        )
    tensors = [_as_tensor(r) for r in results]
    for i, ((_, dtype), wanted) in enumerate(zip(tensors, Tout)):
        if dtype is not wanted:
            raise invalid(
                f"{i}-th value returned by {token} is {c_name(dtype)}, but expects {c_name(wanted)}"
            )
    return tuple(value for value, _ in tensors)


def _argument(x: Any) -> Any:
    """What the function is given: a copy it may write into, or a scalar."""
    return np.array(x) if np.ndim(x) else np.asarray(x)[()]


def _call(token: str, args: list[Any]) -> list[Any]:
    fn = _functions.get(token)
    if fn is None:
        raise ValueError(f"callback {token} is not found")
    with np.errstate(**_NUMPY_DEFAULT):  # plans run with warnings off; this is the user's code
        result = fn(*args)
        if result is None:
            return []
        values = result if isinstance(result, (list, tuple)) else [result]
        return [_array(v) for v in values]


_NUMPY_DEFAULT: dict[str, Any] = dict(divide="warn", over="warn", under="ignore", invalid="warn")


def _array(value: Any) -> Any:
    """A result as an array of its own; Python strings keep their trailing zeros only as objects."""
    array = np.array(value)
    if array.dtype.kind in "SU" and not isinstance(value, (np.ndarray, np.generic)):
        return np.array(value, object)
    return array


def _told(e: Exception) -> str:
    """The exception and where in the function it came from."""
    tb = e.__traceback__
    own = sum(1 for frame, _ in traceback.walk_tb(tb) if frame.f_code.co_filename == __file__)
    for _ in range(own):
        tb = tb and tb.tb_next
    lines = traceback.format_exception(type(e), e, tb, chain=False)
    return f"{type(e).__name__}: {e}\n{''.join(lines)}"


def _as_tensor(value: Any) -> tuple[Any, DType]:
    """A result in the form that tensors have, and its type."""
    try:
        dtype = as_dtype(value.dtype)
    except TypeError:
        raise InternalError(None, None, f"Unsupported numpy type: {value.dtype}") from None
    return (_strings(value) if dtype is string else value), dtype


def _strings(value: Any) -> Any:
    out = np.empty(value.shape, object)
    flat = out.reshape(-1)
    for i, item in enumerate(value.reshape(-1)):
        if isinstance(item, str):
            item = item.encode()
        if not isinstance(item, bytes):
            raise InternalError(None, None, f"Unsupported object type {type(item).__name__}")
        flat[i] = item
    return out
