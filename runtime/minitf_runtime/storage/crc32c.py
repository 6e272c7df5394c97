"""CRC-32C (Castagnoli), the checksum of checkpoints and record files.

A CRC is linear, so the parts of a buffer can be summed side by side, in NumPy lanes, and joined:
crc(a + b) = shift(crc(a), len(b)) ^ crc(b), where `shift` feeds zero bytes.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

_POLYNOMIAL = 0x82F63B78
_ONES = 0xFFFFFFFF
_LANE = 256  # bytes that one lane sums
_BLOCK = 1 << 20  # bytes summed in lanes at once: they stay in the processor's cache
_MASK_DELTA = 0xA282EAD8

Bytes = Any  # bytes, bytearray, memoryview, or a contiguous array of bytes


def crc32c(data: Bytes) -> int:
    """The checksum of a buffer."""
    view = memoryview(data).cast("B")
    state = _ONES
    start = 0
    while len(view) - start >= _LANE * 8:
        size = min(_BLOCK, (len(view) - start) // _LANE * _LANE)
        block = np.frombuffer(view[start : start + size], np.uint8)
        state = _shift(state, size) ^ _sum_lanes(block)
        start += size
    table = _byte_table()
    for byte in view[start:]:
        state = table[(state ^ byte) & 255] ^ (state >> 8)
    return state ^ _ONES


def masked_crc32c(data: Bytes) -> int:
    """The checksum as files keep it: a file may hold checksums of data that hold checksums."""
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + _MASK_DELTA) & _ONES


@cache
def _byte_table() -> list[int]:
    """The state that a byte leaves, for each byte."""
    table = []
    for byte in range(256):
        state = byte
        for _ in range(8):
            state = state >> 1 ^ (_POLYNOMIAL if state & 1 else 0)
        table.append(state)
    return table


def _sum_lanes(block: np.ndarray) -> int:
    """The state after a block, from state 0: lanes of _LANE bytes, joined in pairs."""
    words = np.ascontiguousarray(block.reshape(-1, _LANE).view("<u8").T)
    tables = [_zeros_table(n) for n in (6, 4, 2, 0)]
    states = np.zeros(words.shape[1], np.uint64)
    for word in words:
        mixed = word ^ states
        states = np.zeros_like(states)
        for i, table in enumerate(tables):
            states ^= table[(mixed >> np.uint64(16 * i)) & np.uint64(0xFFFF)]
    return _join(states.tolist())


def _join(states: list[int]) -> int:
    size = _LANE
    while len(states) > 1:
        if len(states) % 2:
            states.insert(0, 0)  # zero bytes in front leave a zero state as it is
        joined = _shift_all(np.array(states[::2], np.uint64), size) ^ np.array(
            states[1::2], np.uint64
        )
        states = joined.tolist()
        size *= 2
    return states[0]


@cache
def _zeros_table(zeros: int) -> np.ndarray:
    """The state that two bytes leave after so many zero bytes more, for each pair of bytes."""
    table = _byte_table()
    basis = []
    for bit in range(16):
        state = 1 << bit
        for _ in range(zeros + 2):
            state = table[state & 255] ^ (state >> 8)
        basis.append(state)
    return _combinations(basis)


def _combinations(basis: list[int]) -> np.ndarray:
    """What a linear map makes of each number, given what it makes of each bit."""
    out = np.zeros(1, np.uint64)
    for image in basis:
        out = np.concatenate([out, out ^ np.uint64(image)])
    return out


@cache
def _shift_tables(size: int) -> tuple[np.ndarray, np.ndarray]:
    """The map that feeds `size` zero bytes, on the lower and on the upper half of a state."""
    images = [1 << bit for bit in range(32)]
    if size == 1:
        table = _byte_table()
        images = [table[state & 255] ^ (state >> 8) for state in images]
    elif size:
        half = np.array(images, np.uint64)
        for part in (size // 2, size - size // 2):
            half = _shift_all(half, part)
        images = half.tolist()
    return _combinations(images[:16]), _combinations(images[16:])


def _shift_all(states: np.ndarray, size: int) -> np.ndarray:
    low, high = _shift_tables(size)
    return low[states & np.uint64(0xFFFF)] ^ high[states >> np.uint64(16)]


def _shift(state: int, size: int) -> int:
    return int(_shift_all(np.array([state], np.uint64), size)[0])
