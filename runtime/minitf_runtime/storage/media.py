"""Pictures and sounds as the bytes of files: PNG and WAV. Written only."""

from __future__ import annotations

import struct
import zlib

import numpy as np

_PNG_COLOURS = {1: 0, 3: 2, 4: 6}  # channels: grey, RGB, RGBA
_NO_FILTER = b"\0"  # before each row


def png_bytes(pixels: np.ndarray) -> bytes:
    """A PNG of uint8 pixels [height, width, channels], of 1, 3 or 4 channels."""
    height, width, channels = pixels.shape
    rows = b"".join(_NO_FILTER + row.tobytes() for row in pixels)
    header = struct.pack(">IIBBBBB", width, height, 8, _PNG_COLOURS[channels], 0, 0, 0)
    chunks = (b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(_png_chunk(kind, data) for kind, data in chunks)


def _png_chunk(kind: bytes, data: bytes) -> bytes:
    checksum = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", checksum)


def wav_bytes(sound: np.ndarray, rate: int) -> bytes:
    """A WAV of 16-bit samples, from floats [frames, channels] between -1 and 1."""
    channels = sound.shape[1]
    scaled = sound.astype(np.float32) * np.float32(1 << 15)
    rounded = np.copysign(np.floor(np.abs(scaled) + np.float32(0.5)), scaled)
    data = np.clip(rounded, -(1 << 15), (1 << 15) - 1).astype("<i2").tobytes()
    form = struct.pack("<HHIIHH", 1, channels, rate, rate * channels * 2, channels * 2, 16)
    chunks = _wav_chunk(b"fmt ", form) + _wav_chunk(b"data", data)
    return _wav_chunk(b"RIFF", b"WAVE" + chunks)


def _wav_chunk(kind: bytes, data: bytes) -> bytes:
    return kind + struct.pack("<I", len(data)) + data
