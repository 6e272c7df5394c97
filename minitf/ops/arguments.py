"""Arguments that TF renamed: both spellings are taken, one at a time."""

from __future__ import annotations

from typing import Any


def renamed(name: str, value: Any, old_name: str, old_value: Any) -> Any:
    """Whichever of the two was given. Raises ValueError for both."""
    if old_value is None:
        return value
    if value is not None:
        raise ValueError(f"Cannot specify both '{old_name}' and '{name}'")
    return old_value
