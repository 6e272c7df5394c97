"""Python's cyclic garbage collector, and when it only costs time."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

FEWEST = 300_000  # new objects that are worth a look at all
PATIENCE = 4  # times as many may come before a moment that suits


class _Old:
    """The oldest generation, and how many came to it since all of it was looked at."""

    new = 0
    limit = FEWEST

    def take_all(self) -> None:
        """Moves all objects there, unlooked at: both calls only join lists."""
        if gc.get_freeze_count():
            return  # what the user has frozen stays so
        young, middle, old = gc.get_count()
        per_young, per_middle, _ = gc.get_threshold()
        self.new += young + per_young * (middle + per_middle * old)
        gc.freeze()  # also sets the counts to zero: Python's own full collection rarely comes
        gc.unfreeze()

    def collect(self, patience: int) -> None:
        """Looks at all objects once their number may have doubled, so at each but a few times."""
        if gc.isenabled() and self.new > self.limit * patience:
            gc.collect()
            self.new = 0
            self.limit = max(FEWEST, len(gc.get_objects()))


_old = _Old()


def collect_if_due() -> None:
    """For a moment when much may just have become garbage: a new graph often follows a dead one."""
    _old.collect(1)


@contextmanager
def collection_paused() -> Iterator[None]:
    """No collection inside the block, for work that makes many objects and keeps them all.

    Each pass over all objects finds nothing there; on a graph of 30,000 nodes these passes are a
    third of the time of its gradient, placement and compilation. What was made there is old from
    then on, and the passes over young objects leave it out.
    """
    if not gc.isenabled():  # also when another thread has paused it: the first to end resumes
        yield
        return
    _old.collect(PATIENCE)
    gc.disable()
    try:
        yield
    finally:
        _old.take_all()
        gc.enable()
