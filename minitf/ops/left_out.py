"""Public functions of TF that minitf leaves out: calling one says so by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from minitf_runtime.errors import UnimplementedError


def left_out(name: str) -> Callable[..., Any]:
    """A function of that public name that raises UnimplementedError."""

    def missing(*_: Any, **__: Any) -> NoReturn:
        raise UnimplementedError(None, None, f"tf.{name} is not implemented in minitf")

    missing.__name__ = missing.__qualname__ = name.rpartition(".")[2]
    missing.__doc__ = f"Left out: tf.{name}."
    return missing
