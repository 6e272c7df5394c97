"""Tensors as short text, in the two forms that TF prints: Assert and Print, and tf.print."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

_ESCAPES = {10: "\\n", 13: "\\r", 9: "\\t", 34: '\\"', 39: "\\'", 92: "\\\\"}


def element(value: Any) -> str:
    """One element: floats with the digits that tell them apart, strings escaped as in C."""
    if isinstance(value, bytes):
        return "".join(_character(c) for c in value)
    kind = value.dtype.kind
    if kind == "b":
        return str(int(value))
    if kind == "f":
        return _number(value)
    return "?" if kind == "c" else str(value)


def _character(code: int) -> str:
    if code in _ESCAPES:
        return _ESCAPES[code]
    return chr(code) if 32 <= code < 127 else f"\\{code:03o}"


def _number(value: Any) -> str:
    few, all_digits = (15, 17) if value.dtype == np.float64 else (6, 9)
    number = float(value)
    text = f"{number:.{few}g}"
    exact = value.dtype.type if value.dtype == np.float64 else np.float32
    return text if exact(text) == number or number != number else f"{number:.{all_digits}g}"


def summarize(tensor: Any, limit: int) -> str:
    """The first `limit` elements (all if negative), rows in brackets: `[1 2][3...]...`"""
    array = np.asarray(tensor)
    if limit < 0 or limit > array.size:
        limit = array.size
    rest = "..." if array.size > limit else ""
    if not array.ndim:
        return element(array[()]) + rest if limit else rest
    budget = [limit]
    return "".join(_first_rows(array, budget, outermost=True)) + rest


def _first_rows(array: Any, budget: list[int], outermost: bool = False) -> Iterator[str]:
    """The text of an array as far as the budget of elements, which it uses up, goes."""
    for i, item in enumerate(array):
        if not budget[0]:
            if array.ndim == 1 and not outermost:
                yield "..."
            return
        if array.ndim > 1:
            yield "["
            yield from _first_rows(item, budget)
            yield "]"
        else:
            yield " " * (i > 0) + element(item)
            budget[0] -= 1


def summarize_ends(tensor: Any, ends: int) -> str:
    """The first and last `ends` entries of each dimension (all if negative), as NumPy shows it."""
    array = np.asarray(tensor)
    return _ends(array, array.size if ends < 0 else ends, array.ndim)


def _ends(array: Any, ends: int, ndim: int) -> str:
    if not array.ndim:
        value = array[()]
        return f'"{element(value)}"' if isinstance(value, bytes) else element(value)
    items = range(len(array))
    if len(items) > 2 * ends:
        shown = [*map(str, items[:ends]), "...", *map(str, items[len(items) - ends :])]
    else:
        shown = list(map(str, items))
    depth = ndim - array.ndim
    gap = " " if array.ndim == 1 else "\n" * (array.ndim - 1) + " " * (depth + 1)
    parts = [i if i == "..." else _ends(np.asarray(array[int(i)]), ends, ndim) for i in shown]
    return "[" + gap.join(parts) + "]"
