"""Which arguments the functions of a user take."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

_NAMED = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY


def argument_names(fn: Callable[..., Any]) -> tuple[str, ...]:
    """The arguments that can still be given by name; those of a partial that are bound are not."""
    bound = getattr(fn, "keywords", {})
    found = inspect.signature(fn).parameters.values()
    return tuple(p.name for p in found if p.kind in _NAMED and p.name not in bound)


def matching(fn: Callable[..., Any], **values: Any) -> dict[str, Any]:
    """Those of the values that the function has an argument for."""
    names = argument_names(fn)
    return {name: value for name, value in values.items() if name in names}
