"""The function form of a layer class: `dense(x, 3)` is `Dense(3).apply(x)`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from minitf.layers.base import Layer

_KEYWORD = inspect.Parameter.POSITIONAL_OR_KEYWORD


def function_form(layer: type[Layer], name: str, shares: bool = True) -> Callable[..., Any]:
    """A function with the class's arguments, `inputs` before them and, if it has variables, `reuse`
    after them. Layers of one name then share their variables.
    """
    own = inspect.signature(layer).parameters.values()
    listed = [inspect.Parameter("inputs", _KEYWORD)]
    listed += [p for p in own if p.kind is _KEYWORD]
    if shares:
        listed.append(inspect.Parameter("reuse", _KEYWORD, default=None))
    signature = inspect.Signature(listed)

    def call(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs).arguments
        inputs = given.pop("inputs")
        if shares:
            given["_reuse"] = given.pop("reuse", None)
            given["_scope"] = given.get("name")
        return layer(**given).apply(inputs)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"The outputs of a new {layer.__name__} layer for `inputs`."
    call.__signature__ = signature  # type: ignore[attr-defined]
    return call
