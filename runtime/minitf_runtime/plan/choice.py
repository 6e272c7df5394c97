"""Which passes may work on programs after the cut."""

from __future__ import annotations

import os

from minitf_runtime.errors import InvalidArgumentError

# What makes programs fast and changes no value; each is one file of this folder.
PASSES = ("fold", "pool", "batch", "fuse", "hoist", "specialize")
VARIABLE = "MINITF_PASSES"


def chosen_passes() -> tuple[str, ...]:
    """All passes, or those that MINITF_PASSES lists. Raises InvalidArgumentError for others."""
    names = os.environ.get(VARIABLE)
    if names is None:
        return PASSES
    chosen = tuple(name.strip() for name in names.split(",") if name.strip())
    for name in chosen:
        if name not in PASSES:
            known = ", ".join(PASSES)
            text = f"{VARIABLE} names the pass '{name}'; expected some of: {known}"
            raise InvalidArgumentError(None, None, text)
    return chosen
