"""What kernels ask of an array module beyond NumPy's names."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np


def on_host(xp: Any, array: Any) -> Any:
    """The values as a NumPy array; waits for the device if they are on one."""
    return array if xp is np or isinstance(array, (np.ndarray, np.generic)) else xp.asnumpy(array)


def synchronised(xp: Any) -> AbstractContextManager[Any]:
    """A block that may wait for the device: the shape of a result depends on data."""
    allow = getattr(xp, "synchronised", nullcontext)
    return allow()  # type: ignore[no-any-return]
