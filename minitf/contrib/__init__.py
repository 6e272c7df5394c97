"""tf.contrib: the few parts of it that minitf has. Each is loaded when it is first used."""

from __future__ import annotations

import importlib
from typing import Any

_PARTS = (
    "data",
    "distributions",
    "factorization",
    "framework",
    "layers",
    "rnn",
    "seq2seq",
    "signal",
    "training",
)


def __getattr__(name: str) -> Any:
    if name not in _PARTS:
        raise AttributeError(f"module 'minitf.contrib' has no attribute {name!r}")
    return importlib.import_module(f"minitf.contrib.{name}")


def __dir__() -> list[str]:
    return list(_PARTS)
