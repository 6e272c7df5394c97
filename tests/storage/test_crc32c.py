"""CRC-32C against its definition."""

from __future__ import annotations

import numpy as np
import pytest

from minitf_runtime.storage.crc32c import crc32c, masked_crc32c


def by_definition(data):
    state = 0xFFFFFFFF
    for byte in data:
        state ^= byte
        for _ in range(8):
            state = state >> 1 ^ (0x82F63B78 if state & 1 else 0)
    return state ^ 0xFFFFFFFF


def test_known_values():
    assert crc32c(b"") == 0
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(bytes(32)) == 0x8A9136AA  # RFC 3720
    assert crc32c(b"\xff" * 32) == 0x62A8AB43
    assert masked_crc32c(b"foo") != crc32c(b"foo")


@pytest.mark.parametrize("size", [1, 255, 2047, 2048, 2049, 2304, 9999, 30000])
def test_any_length(size):
    data = np.random.default_rng(size).bytes(size)
    assert crc32c(data) == by_definition(data)


def test_parts_join_across_blocks():
    data = np.random.default_rng(1).integers(0, 256, (1 << 20) + 5000, np.uint8)
    whole = crc32c(data)
    data[1 << 19] ^= 1
    assert crc32c(data) != whole
    data[1 << 19] ^= 1
    assert crc32c(data.tobytes()) == whole == crc32c(data.reshape(-1, 1))
