"""tf.compat: text and bytes of Python 2 and 3; v1 is minitf itself, the only version there is."""

from __future__ import annotations

import importlib
import numbers
import os
from typing import Any

from minitf.tensor_shape import dimension_at_index as dimension_at_index
from minitf.tensor_shape import dimension_value as dimension_value

bytes_or_text_types = (bytes, str)
integral_types = (numbers.Integral,)
real_types = (numbers.Real,)
complex_types = (numbers.Complex,)


def as_bytes(bytes_or_text: bytes | bytearray | str, encoding: str = "utf-8") -> bytes:
    """Text, encoded. Raises TypeError for what is neither bytes nor text."""
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    if isinstance(bytes_or_text, (bytes, bytearray)):
        return bytes(bytes_or_text)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_text(bytes_or_text: bytes | bytearray | str, encoding: str = "utf-8") -> str:
    """Bytes, decoded. Raises TypeError for what is neither bytes nor text."""
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    return as_bytes(bytes_or_text).decode(encoding)


as_str = as_text


def as_str_any(value: Any) -> str:
    """Bytes, decoded; anything else as str() gives it."""
    return as_text(value) if isinstance(value, bytes) else str(value)


def path_to_str(path: Any) -> Any:
    """A path object as text; anything else as it is."""
    return as_str_any(os.fspath(path)) if hasattr(path, "__fspath__") else path


def __getattr__(name: str) -> Any:
    if name != "v1":
        raise AttributeError(f"module 'minitf.compat' has no attribute {name!r}")
    return importlib.import_module("minitf.compat.v1")
