"""The CPU as a device: what a process sets up once before it computes."""

from __future__ import annotations

import ctypes
import os
from functools import cache

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
KEEP_BYTES = 1 << 30


@cache
def keep_freed_memory() -> bool:
    """Makes glibc keep freed memory for the next tensors; False on other C libraries.

    By default each array of 128 KiB or more is mapped afresh and its pages fault in one by one: on
    a chain of elementwise ops over 4 MB arrays more than half of the time (docs/performance.md).
    MINITF_MALLOC=default leaves the C library as it is.
    """
    if os.environ.get("MINITF_MALLOC") == "default":
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    return bool(mallopt(M_MMAP_THRESHOLD, KEEP_BYTES) and mallopt(M_TRIM_THRESHOLD, KEEP_BYTES))
