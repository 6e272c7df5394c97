"""The random bits of TensorFlow's CPU kernels: Philox 4x32-10 (Salmon et al., 2011), vectorised.

A stream is counted in samples of 128 bits (four uint32). Distributions live in random_sampling.py.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]

BLOCK = 8192  # samples at a time: keeps to the L2 cache (100M uint32/s; 1024 at a time: half)
OUTPUT_SAMPLES = 256  # samples that TF sets aside for each output element

_LOW = 0xFFFFFFFF
_MASK = np.uint64(_LOW)
_HALF = np.uint64(32)
_MULTIPLIERS = np.array([[0xD2511F53], [0xCD9E8D57]], np.uint64)
_WEYL = (0x9E3779B9, 0xBB67AE85)  # what the two key words grow by each round
_ROUNDS = 10


class Stream(NamedTuple):
    """A place in the random sequence: 64 bits of key, 128 bits of counter."""

    key: int
    counter: int

    def skip(self, samples: int) -> Stream:
        return Stream(self.key, (self.counter + samples) % 2**128)

    def samples(self, count: int) -> Array:
        """The next `count` samples: uint32 [count, 4]."""
        out = np.empty((count, 4), np.uint32)
        for start, part in blocks(out):
            offsets = np.arange(start, start + len(part), dtype=np.uint64)
            self._generate(offsets, part)
        return out

    def samples_at(self, offsets: Array) -> Array:
        """The samples that lie `offsets` (uint64 [n]) after this place: uint32 [n, 4]."""
        out = np.empty((len(offsets), 4), np.uint32)
        for start, part in blocks(out):
            self._generate(offsets[start : start + len(part)], part)
        return out

    def _generate(self, offsets: Array, out: Array) -> None:
        low = offsets + np.uint64(self.counter % 2**64)
        high = (low < offsets).astype(np.uint64) + np.uint64(self.counter >> 64)
        n = len(offsets)
        # Row 0 holds word 0 (then 2 and so on, as the rounds cross them), row 1 word 2; `rest`
        # holds words 1 and 3. Each is a 32-bit number in 64 bits, so that products are exact.
        words = np.empty((2, n), np.uint64)
        rest = np.empty((2, n), np.uint64)
        product = np.empty((2, n), np.uint64)
        crossed = product[::-1]
        np.bitwise_and(low, _MASK, out=words[0])
        np.right_shift(low, _HALF, out=rest[0])
        np.bitwise_and(high, _MASK, out=words[1])
        np.right_shift(high, _HALF, out=rest[1])
        first_key = np.array([[self.key & _LOW], [self.key >> 32]], np.uint64)
        for key in (first_key + _KEY_STEPS) & _MASK:
            np.multiply(words, _MULTIPLIERS, out=product)
            np.bitwise_xor(rest, key, out=words)
            np.right_shift(crossed, _HALF, out=rest)
            np.bitwise_xor(words, rest, out=words)
            np.bitwise_and(crossed, _MASK, out=rest)
        np.left_shift(rest, _HALF, out=rest)
        np.bitwise_or(words, rest, out=out.view("<u8").T)


_KEY_STEPS = np.array([[[r * w] for w in _WEYL] for r in range(_ROUNDS)], np.uint64)


class PhiloxState:
    """The generator that one random op keeps between steps (TF: GuardedPhiloxRandom)."""

    def __init__(self, seed: int, seed2: int) -> None:
        """Two zero seeds ask for a start that differs from run to run."""
        if seed == 0 and seed2 == 0:
            seed, seed2 = (int.from_bytes(os.urandom(8), "little") for _ in range(2))
        self._stream = Stream(seed % 2**64, (seed2 % 2**64) << 64)
        self._lock = threading.Lock()

    def reserve(self, samples: int) -> Stream:
        """Takes `samples` out of the sequence and returns where they start."""
        with self._lock:
            taken = self._stream
            self._stream = taken.skip(samples)
        return taken

    def reserve_outputs(self, count: int) -> Stream:
        """Takes what TF reserves for `count` output elements, however many they will use."""
        return self.reserve(count * OUTPUT_SAMPLES)


def stateless_stream(seed: Array) -> Stream:
    """The stream of a stateless op from its two seeds, scrambled so that either may be weak."""
    low, high = (int(s) % 2**64 for s in seed)
    mixed = Stream(_SCRAMBLE_KEY, high << 64 | low).samples(1)[0]
    a, b, c, d = (int(word) for word in mixed)
    return Stream(b << 32 | a, (d << 32 | c) << 64)


_SCRAMBLE_KEY = 0x02461E293EC8F720


def blocks(out: Array) -> Iterator[tuple[int, Array]]:
    """Consecutive views of `out` small enough for the cache, with where each starts."""
    for start in range(0, len(out), BLOCK):
        yield start, out[start : start + BLOCK]
