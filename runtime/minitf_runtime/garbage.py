"""Python's cyclic garbage collector, and when it only costs time."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collection_paused() -> Iterator[None]:
    """No collection inside the block, for work that makes many objects and keeps them all.

    Each pass over all objects finds nothing there; on a graph of 30,000 nodes these passes are a
    third of the time of its gradient, placement and compilation.
    """
    if not gc.isenabled():  # also when another thread has paused it: the first to end resumes
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
