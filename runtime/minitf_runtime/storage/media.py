"""Pictures and sounds as the bytes of files: PNG and WAV. Written only; pictures.py reads."""

from __future__ import annotations

import struct
import zlib

import numpy as np

_PNG_COLOURS = {1: 0, 2: 4, 3: 2, 4: 6}  # channels: grey, grey with alpha, RGB, RGBA


def png_bytes(pixels: np.ndarray, level: int = zlib.Z_DEFAULT_COMPRESSION) -> bytes:
    """A PNG of uint8 or uint16 pixels [height, width, channels], of 1 to 4 channels."""
    height, width, channels = pixels.shape
    bits = pixels.itemsize * 8
    octets = pixels.astype(f">u{bits // 8}").reshape(height, -1).view(np.uint8)
    rows = _filtered(octets, channels * bits // 8).tobytes()
    header = struct.pack(">IIBBBBB", width, height, bits, _PNG_COLOURS[channels], 0, 0, 0)
    chunks = (b"IHDR", header), (b"IDAT", zlib.compress(rows, level)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(_png_chunk(kind, data) for kind, data in chunks)


def _filtered(rows: np.ndarray, step: int) -> np.ndarray:
    """Each row as what differs from a guess by the pixel before (`step` bytes), by the row above,
    or by both, whichever leaves least; before it stands which guess it was."""
    known = np.pad(rows.astype(np.int16), ((1, 0), (step, 0)))
    left, above, corner = known[1:, :-step], known[:-1, step:], known[:-1, :-step]
    guesses = (0 * left, left, above, (left + above) // 2, _nearest(left, above, corner))
    told = np.stack([(rows - guess).astype(np.uint8) for guess in guesses])
    sizes = np.abs(told.view(np.int8).astype(np.int64)).sum(axis=2)
    best = sizes.argmin(axis=0)
    return np.hstack([best[:, None].astype(np.uint8), told[best, np.arange(len(rows))]])


def _nearest(left: np.ndarray, above: np.ndarray, corner: np.ndarray) -> np.ndarray:
    """The one of three neighbours that is nearest to the plane through them (Paeth)."""
    plane = left + above - corner
    to_left, to_above, to_corner = (np.abs(plane - x) for x in (left, above, corner))
    other = np.where(to_above <= to_corner, above, corner)
    return np.where((to_left <= to_above) & (to_left <= to_corner), left, other)


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
