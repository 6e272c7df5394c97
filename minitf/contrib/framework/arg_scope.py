"""arg_scope: defaults for arguments of functions, for the calls inside a `with`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from minitf.stacks import DefaultStack

Defaults = dict[Any, dict[str, Any]]  # key of a function -> argument -> value

_scopes: DefaultStack[Defaults] = DefaultStack()


def current_arg_scope() -> Defaults:
    """The defaults that hold here; `arg_scope` takes them later, elsewhere."""
    return _scopes.top() or {}


@contextmanager
def arg_scope(list_ops_or_scope: Any, **kwargs: Any) -> Iterator[Defaults]:
    """`with arg_scope([conv2d, fully_connected], trainable=False) as scope:` (TF: arg_scope).

    An outer scope's defaults go on; those of a scope that is given whole replace them all.
    Raises ValueError for a function without @add_arg_scope.
    """
    if isinstance(list_ops_or_scope, dict):
        if kwargs:
            raise ValueError(
                "When attempting to re-use a scope by suppling adictionary, kwargs must be empty."
            )
        scope = dict(list_ops_or_scope)
    elif isinstance(list_ops_or_scope, (list, tuple)):
        scope = dict(current_arg_scope())
        for fn in list_ops_or_scope:
            if not has_arg_scope(fn):
                name = fn.__module__, fn.__name__
                raise ValueError("%s is not decorated with @add_arg_scope", name)
            scope[_key(fn)] = {**scope.get(_key(fn), {}), **kwargs}
    else:
        raise TypeError("list_ops_or_scope must either be a list/tuple or reused scope (i.e. dict)")
    with _scopes.push(scope):
        yield scope


def add_arg_scope(func: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator: the function takes defaults from arg_scope."""

    @functools.wraps(func)
    def with_defaults(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **{**current_arg_scope().get(func, {}), **kwargs})

    with_defaults._arg_scope_key = func  # type: ignore[attr-defined]
    return with_defaults


def _key(fn: Any) -> Any:
    return getattr(fn, "_arg_scope_key", None)


def has_arg_scope(func: Any) -> bool:
    return _key(func) is not None


def arg_scoped_arguments(func: Any) -> tuple[str, ...]:
    """The arguments for which arg_scope can give a function defaults."""
    parameters = inspect.signature(_key(func)).parameters.values()
    return tuple(p.name for p in parameters if p.default is not p.empty)
