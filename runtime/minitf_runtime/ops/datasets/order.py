"""Datasets of the elements of another one: fewer, more often, or in another order."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from itertools import repeat
from typing import Any

from minitf_runtime.errors import UnimplementedError, invalid
from minitf_runtime.ops.datasets.ahead import Ahead
from minitf_runtime.ops.datasets.base import (
    OUTPUTS,
    Dataset,
    Pull,
    Reordered,
    Run,
    dataset,
    dataset_op,
    number,
)
from minitf_runtime.ops.philox import Stream
from minitf_runtime.ops.registry import kernel

Reopen = Callable[[], Pull]
AUTOTUNE = -1
AUTOTUNED = 8  # elements that wait in a buffer whose size is left to us
DRAWN = 64  # samples of random bits made at a time


# ---- how many


class Repeat(Reordered):
    def __init__(self, source: Dataset, count: int) -> None:
        super().__init__(source)
        self.count = count

    def over(self, reopen: Reopen, run: Run) -> Pull:
        if self.count == 1:
            return reopen()
        left = iter(repeat(None) if self.count < 0 else repeat(None, self.count))
        endless = self.count < 0
        pull: Pull | None = None
        fresh = True

        def following() -> Any:
            nonlocal pull, fresh
            while True:
                if pull is None:
                    next(left)
                    pull, fresh = reopen(), True
                try:
                    item = pull()
                    fresh = False
                    return item
                except StopIteration:
                    if endless and fresh:  # nothing in it: else this would never end
                        raise
                    pull = None

        return following


class Take(Reordered):
    def __init__(self, source: Dataset, count: int) -> None:
        super().__init__(source)
        self.count = count

    def over(self, reopen: Reopen, run: Run) -> Pull:
        pull = reopen()
        left = self.count

        def following() -> Any:
            nonlocal left
            if not left:
                raise StopIteration
            item = pull()
            left -= 1
            return item

        return following if left >= 0 else pull


class Skip(Reordered):
    def __init__(self, source: Dataset, count: int) -> None:
        super().__init__(source)
        self.count = count

    def over(self, reopen: Reopen, run: Run) -> Pull:
        if self.count < 0:
            return iter(()).__next__
        pull = reopen()
        left = self.count

        def following() -> Any:
            nonlocal left
            while left:
                pull()
                left -= 1
                run.check()
            return pull()

        return following


class Shard(Reordered):
    """Every `count`-th element, from number `index` on."""

    def __init__(self, source: Dataset, count: int, index: int) -> None:
        super().__init__(source)
        self.count = count
        self.index = index

    def over(self, reopen: Reopen, run: Run) -> Pull:
        pull = reopen()
        skipped = self.index

        def following() -> Any:
            nonlocal skipped
            while skipped:
                pull()
                skipped -= 1
            item = pull()
            skipped = self.count - 1
            return item

        return following


dataset_op("RepeatDataset", "input_dataset: variant, count: int64", **OUTPUTS)
dataset_op("TakeDataset", "input_dataset: variant, count: int64", **OUTPUTS)
dataset_op("SkipDataset", "input_dataset: variant, count: int64", **OUTPUTS)
dataset_op(
    "ShardDataset",
    "input_dataset: variant, num_shards: int64, index: int64",
    require_non_empty=False,
    **OUTPUTS,
)


@kernel("RepeatDataset", device="CPU")
def repeat_dataset(xp: Any, source: Any, count: Any) -> Dataset:
    return Repeat(dataset(source), number(count, "count"))


@kernel("TakeDataset", device="CPU")
def take_dataset(xp: Any, source: Any, count: Any) -> Dataset:
    return Take(dataset(source), number(count, "count"))


@kernel("SkipDataset", device="CPU")
def skip_dataset(xp: Any, source: Any, count: Any) -> Dataset:
    return Skip(dataset(source), number(count, "count"))


@kernel("ShardDataset", device="CPU")
def shard_dataset(xp: Any, source: Any, num_shards: Any, index: Any) -> Dataset:
    count, at = number(num_shards, "num_shards"), number(index, "index")
    if count <= 0:
        raise invalid(
            f"Number of shards must be greater than zero (currently num_shards = {count})."
        )
    if not 0 <= at < count:
        raise invalid(f"Index must be between 0 and {count - 1} (currently index = {at}).")
    return Shard(dataset(source), count, at)


# ---- in which order


class Draws:
    """Random numbers of 32 bits, one after the other, as TensorFlow draws them."""

    def __init__(self, seed: int, seed2: int) -> None:
        self._stream = Stream(seed % 2**64, (seed2 % 2**64) << 64)
        self._drawn: list[int] = []

    def __call__(self) -> int:
        if not self._drawn:
            self._drawn = self._stream.samples(DRAWN).ravel()[::-1].tolist()
            self._stream = self._stream.skip(DRAWN)
        return self._drawn.pop()


class Shuffle(Reordered):
    """Draws each element from a buffer that is filled up from the input.

    Two zero seeds ask for another order at each pass; other seeds for TensorFlow's order. With
    `reshuffle` the passes over one dataset differ. `count`: the repeats that the buffer sees: it
    is filled up from the next pass over the input before this one is given out.
    """

    def __init__(
        self, source: Dataset, size: int, seeds: tuple[int, int], reshuffle: bool, count: int = 1
    ) -> None:
        super().__init__(source)
        self.size = size
        self.seeds = seeds
        self.reshuffle = reshuffle
        self.count = count
        if seeds == (0, 0):
            self.seeds = int.from_bytes(os.urandom(8), "little"), 1
        self._seed = Draws(*self.seeds)
        self._lock = threading.Lock()

    def repeated(self, count: int) -> Shuffle:
        return Shuffle(self.inputs[0], self.size, self.seeds, False, count)

    def _draws(self) -> Draws:
        if not self.reshuffle:
            return Draws(*self.seeds)
        with self._lock:
            return Draws(self._seed(), self._seed())

    def over(self, reopen: Reopen, run: Run) -> Pull:
        draw, size = self._draws(), self.size
        source = _Refilled(reopen, self.count)
        buffer: list[Any] = []
        at = 0  # of the first element of the buffer, which is a ring once it is full
        epochs = deque([0])  # how many elements in the buffer are of each pass over the input

        def following() -> Any:
            nonlocal at
            held = sum(epochs)
            while held < size and source.more(epochs):
                item = source.item
                if len(buffer) < size:
                    buffer.append(item)
                else:
                    buffer[(at + held) % size] = item
                held += 1
                if not held % 1024:
                    run.check()
            while epochs and not epochs[0]:
                epochs.popleft()
            if not epochs:
                epochs.append(0)
                raise StopIteration
            i = (at + draw() % epochs[0]) % size
            item = buffer[i]
            buffer[i] = buffer[at]
            buffer[at] = None
            at = (at + 1) % size
            epochs[0] -= 1
            return item

        return following


class _Refilled:
    """The elements of several passes over a dataset."""

    def __init__(self, reopen: Reopen, count: int) -> None:
        self.item: Any = None
        self._reopen = reopen
        self._left = count
        self._pull: Pull | None = None
        self._fresh = True

    def more(self, epochs: deque[int]) -> bool:
        """Whether there is another `item`; counted with its pass."""
        if self._pull is None:
            self._pull = self._reopen()
        while self._left:
            try:
                self.item = self._pull()
            except StopIteration:
                if self._left < 0 and self._fresh:  # endless repeats of nothing
                    self._left = 1
                self._left -= 1
                # Also after the last one, as TensorFlow does: a shuffle below draws new seeds.
                self._pull, self._fresh = self._reopen(), True
                epochs.append(0)
                continue
            self._fresh = False
            epochs[-1] += 1
            return True
        return False


dataset_op(
    "ShuffleDataset",
    "input_dataset: variant, buffer_size: int64, seed: int64, seed2: int64",
    reshuffle_each_iteration=True,
    **OUTPUTS,
)
dataset_op(
    "ShuffleAndRepeatDataset",
    "input_dataset: variant, buffer_size: int64, seed: int64, seed2: int64, count: int64",
    **OUTPUTS,
)


@kernel("ShuffleDataset", device="CPU")
def shuffle_dataset(
    xp: Any, source: Any, buffer_size: Any, seed: Any, seed2: Any, *,
    reshuffle_each_iteration: bool,
) -> Dataset:  # fmt: skip
    size = number(buffer_size, "buffer_size", 1)
    seeds = number(seed, "seed"), number(seed2, "seed2")
    return Shuffle(dataset(source), size, seeds, reshuffle_each_iteration)


@kernel("ShuffleAndRepeatDataset", device="CPU")
def shuffle_and_repeat_dataset(
    xp: Any, source: Any, buffer_size: Any, seed: Any, seed2: Any, count: Any
) -> Dataset:
    size = number(buffer_size, "buffer_size", 1)
    seeds = number(seed, "seed"), number(seed2, "seed2")
    return Shuffle(dataset(source), size, seeds, False, number(count, "count"))


# ---- kept, or made ahead


class Cache(Reordered):
    """Keeps what the first whole pass gave, for the passes after it."""

    def __init__(self, source: Dataset) -> None:
        super().__init__(source)
        self._kept: list[Any] | None = None

    def over(self, reopen: Reopen, run: Run) -> Pull:
        if self._kept is not None:
            return iter(self._kept).__next__
        pull = reopen()
        seen: list[Any] = []

        def following() -> Any:
            try:
                item = pull()
            except StopIteration:
                self._kept = seen
                raise
            seen.append(item)
            return item

        return following


class Prefetch(Reordered):
    """Elements that a thread makes ahead of those who take them."""

    def __init__(self, source: Dataset, size: int) -> None:
        super().__init__(source)
        self.size = AUTOTUNED if size == AUTOTUNE else size
        self.table = None  # what is made ahead are the elements themselves

    def over(self, reopen: Reopen, run: Run) -> Pull:
        raise NotImplementedError

    def open(self, run: Run) -> Pull:
        (source,) = self.inputs
        return Ahead(source, self.size, run).take if self.size else source.open(run)


dataset_op("CacheDataset", "input_dataset: variant, filename: string", **OUTPUTS)
dataset_op(
    "PrefetchDataset",
    "input_dataset: variant, buffer_size: int64",
    **OUTPUTS,
    slack_period=0,
    legacy_autotune=True,
)


@kernel("CacheDataset", device="CPU")
def cache_dataset(xp: Any, source: Any, filename: Any) -> Dataset:
    if bytes(filename[()]):
        raise UnimplementedError(
            None, None, "CacheDataset: a cache is kept in memory, not in a file"
        )
    return Cache(dataset(source))


@kernel("PrefetchDataset", device="CPU")
def prefetch_dataset(xp: Any, source: Any, buffer_size: Any) -> Dataset:
    size = number(buffer_size, "buffer_size")
    if size < AUTOTUNE:
        raise invalid("buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning")
    return Prefetch(dataset(source), size)
