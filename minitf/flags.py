"""tf.flags: absl's flags, loaded on first use, with TF1's old argument names and lazy parsing."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any

__all__ = """
DEFINE_bool DEFINE_boolean DEFINE_enum DEFINE_float DEFINE_integer DEFINE_list DEFINE_multi_float
DEFINE_multi_integer DEFINE_multi_string DEFINE_spaceseplist DEFINE_string FLAGS
mark_flag_as_required mark_flags_as_required register_validator
""".split()

_OLD_NAMES = {"flag_name": "name", "default_value": "default", "docstring": "help"}
_TAKE_OLD_NAMES = {
    "DEFINE_string",
    "DEFINE_boolean",
    "DEFINE_bool",
    "DEFINE_float",
    "DEFINE_integer",
}


class Flags:
    """absl's FLAGS, but reading a flag before parsing parses sys.argv."""

    def __init__(self, values: Any) -> None:
        self.__dict__["_absl"] = values

    def __getattr__(self, name: str) -> Any:
        if name in self._absl and not self._absl.is_parsed():
            self._absl(sys.argv)
        return getattr(self._absl, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._absl, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._absl, name)

    def __getitem__(self, name: str) -> Any:
        return self._absl[name]

    def __setitem__(self, name: str, flag: Any) -> None:
        self._absl[name] = flag

    def __contains__(self, name: str) -> bool:
        return name in self._absl

    def __iter__(self) -> Iterator[str]:
        return iter(self._absl)

    def __len__(self) -> int:
        return len(self._absl)

    def __dir__(self) -> list[str]:
        return dir(self._absl)

    def __str__(self) -> str:
        return str(self._absl)

    def __call__(self, argv: Any, known_only: bool = False) -> list[str]:
        """Parses a command line; gives what is left of it."""
        return self._absl(argv, known_only=known_only)  # type: ignore[no-any-return]


def _taking_old_names(define: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(define)
    def renamed(*args: Any, **kwargs: Any) -> Any:
        return define(*args, **{_OLD_NAMES.get(name, name): v for name, v in kwargs.items()})

    return renamed


def __getattr__(name: str) -> Any:
    """Anything that absl.flags has."""
    if name.startswith("__"):
        raise AttributeError(name)
    from absl import flags

    flags.disclaim_key_flags()  # a flag belongs to the module that calls us
    value = getattr(flags, name)
    if name == "FLAGS":
        value = Flags(value)
    elif name in _TAKE_OLD_NAMES:
        value = _taking_old_names(value)
    globals()[name] = value
    return value
