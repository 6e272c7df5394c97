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
Line = tuple[str, int, str]  # file, number, function
_known: dict[str, bool] = {}  # file -> whether it is the user's


def is_user(name: str) -> bool:
    """Whether a file is the user's."""
    found = _known.get(name)
    if found is None:
        found = _known[name] = _is_user(name)
    return found


def _is_user(name: str) -> bool:
    ours = name.startswith(_PACKAGES) or os.path.basename(name) in _OURS
    return not (ours or name.startswith("<frozen"))


def user_line() -> Line:
    """The line of the user's code that called into minitf."""
    frame = sys._getframe(1)
    while True:
        code = frame.f_code
        if is_user(code.co_filename) or frame.f_back is None:
            return code.co_filename, frame.f_lineno, code.co_name
        frame = frame.f_back


def show(line: Line) -> str:
    """'train.py:31', '' for no line."""
    return f"{line[0]}:{line[1]}" if line[0] else ""
