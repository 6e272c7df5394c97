"""Names of a namespace that are loaded when they are first used."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def lazily(
    namespace: dict[str, Any], homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """A module's `__getattr__` and `__dir__`, of {module: "name public=its_name ..."}.

    A module without names stands for itself, under the last part of its own name.
    """
    found: dict[str, tuple[str, str]] = {}
    for home, names in homes.items():
        if not names:
            found[home.rpartition(".")[2]] = home, ""
        for name in names.split():
            public, _, inner = name.partition("=")
            found[public] = home, inner or public

    def get(name: str) -> Any:
        if name not in found:
            raise AttributeError(f"module '{namespace['__name__']}' has no attribute {name!r}")
        home, inner = found[name]
        module = importlib.import_module(home)
        namespace[name] = value = getattr(module, inner) if inner else module
        return value

    def names_here() -> list[str]:
        return sorted({*namespace, *found})

    return get, names_here
