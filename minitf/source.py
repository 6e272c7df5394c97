"""Finds the user's line: the first frame outside the two packages."""

from __future__ import annotations

import os
import sys

import minitf_runtime

_PACKAGES = (
    os.path.dirname(os.path.abspath(__file__)) + os.sep,
    os.path.dirname(os.path.abspath(minitf_runtime.__file__)) + os.sep,
)
_OURS = {"contextlib.py", "decorator.py", "functools.py"}
_known: dict[str, bool] = {}  # file -> whether it is the user's


def _is_user(name: str) -> bool:
    ours = name.startswith(_PACKAGES) or os.path.basename(name) in _OURS
    return not (ours or name.startswith("<frozen"))


def user_line() -> tuple[str, int, str]:
    """(file, line, function) of the user's code that called into minitf."""
    frame = sys._getframe(1)
    while True:
        code = frame.f_code
        user = _known.get(code.co_filename)
        if user is None:
            user = _known[code.co_filename] = _is_user(code.co_filename)
        if user or frame.f_back is None:
            return code.co_filename, frame.f_lineno, code.co_name
        frame = frame.f_back


def show(line: tuple[str, int, str]) -> str:
    """'train.py:31', '' for no line."""
    return f"{line[0]}:{line[1]}" if line[0] else ""
