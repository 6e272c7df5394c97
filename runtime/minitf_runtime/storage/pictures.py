"""Files of pictures: JPEG, PNG, GIF and BMP. The only file that names Pillow, an extra (`image`).

PNG with 16 bits, which Pillow does not read in colours, and BMP are read here. PNG is written in
media.py.
"""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

import numpy as np

from minitf_runtime.errors import UnimplementedError

JPEG, PNG, GIF, BMP = b"\xff\xd8\xff", b"\x89PN", b"GIF", b"BM"
_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
_PNG_CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}  # by the type of colours; 3: a palette


class PictureError(ValueError):
    """Bytes that are no picture of their kind."""


def _pillow() -> Any:
    """Pillow's module Image. Raises UnimplementedError."""
    try:
        from PIL import Image
    except ImportError:
        raise UnimplementedError(
            None,
            None,
            "Files of pictures are read and written by Pillow, which is not installed: "
            "pip install 'minitf-graph[image]'",
        ) from None
    return Image


def _open(data: bytes) -> Any:
    """The file, of which only the head has been read. Raises PictureError."""
    pillow = _pillow()
    try:
        return pillow.open(io.BytesIO(data))
    except (OSError, SyntaxError, ValueError, pillow.DecompressionBombError) as e:
        raise PictureError(str(e)) from None


def _pixels(picture: Any, mode: str) -> np.ndarray:
    """[height, width, channels] of uint8. Raises PictureError."""
    try:
        array = np.asarray(picture if picture.mode == mode else picture.convert(mode))
    except (OSError, SyntaxError, ValueError, struct.error, EOFError) as e:
        raise PictureError(str(e)) from None
    return array if array.ndim == 3 else array[:, :, None]


def read_jpeg(data: bytes, channels: int, ratio: int = 1) -> np.ndarray:
    """In a size divided by the ratio 1, 2, 4 or 8; channels 0: as many as the file has."""
    picture = _open(data)
    mode = _MODES[channels or (1 if picture.mode == "L" else 3)]
    if ratio > 1 or mode == "L":
        picture.draft(mode, tuple(max(1, n // ratio) for n in picture.size))
    return _pixels(picture, mode)


def jpeg_shape(data: bytes) -> tuple[int, int, int]:
    """Height, width and channels."""
    picture = _open(data)
    width, height = picture.size
    return height, width, len(picture.getbands())


def read_png(data: bytes, channels: int) -> np.ndarray:
    picture = _open(data)
    mode = picture.mode
    if mode == "P":
        mode = "RGBA" if "transparency" in picture.info else "RGB"
    elif mode not in _MODES.values():
        mode = "L"  # single bits, and grey of 16 bits
    if picture.mode.startswith("I"):
        return (read_png_16(data, channels) >> 8).astype(np.uint8)
    return _pixels(picture, _MODES[channels] if channels else mode)


def read_gif(data: bytes) -> np.ndarray:
    """All frames: [frames, height, width, 3]."""
    picture = _open(data)
    frames = []
    for i in range(getattr(picture, "n_frames", 1)):
        picture.seek(i)
        frames.append(_pixels(picture, "RGB"))
    return np.stack(frames)


def write_jpeg(pixels: np.ndarray, quality: int, **options: Any) -> bytes:
    """A JPEG of uint8 pixels [height, width, 1 or 3]; the options are Pillow's."""
    flat = pixels[:, :, 0] if pixels.shape[2] == 1 else pixels
    out = io.BytesIO()
    picture = _pillow().fromarray(np.ascontiguousarray(flat))
    picture.save(out, "JPEG", quality=quality, **options)
    return out.getvalue()


# ---- BMP


def read_bmp(data: bytes, channels: int) -> np.ndarray:
    """One of 1, 3 or 4 bytes for each pixel, without compression or palette."""
    if len(data) < 32 or not data.startswith(BMP):
        raise PictureError(
            "Incomplete bmp content, requires at least 32 bytes to find the header size, width, "
            f"height, and bpp, got {len(data)} bytes"
        )
    start, _, width, height, _, bits = struct.unpack_from("<IIiiHH", data, 10)
    depth = channels or bits // 8
    if depth not in (1, 3, 4):
        raise PictureError(f"Number of channels must be 1, 3 or 4, was {depth}")
    if depth != bits // 8:
        raise PictureError(
            f"channels attribute {channels} does not match bits per pixel from file {bits // 8}"
        )
    if width <= 0 or height == 0:
        raise PictureError(f"width and height must be positive, got {width} and {height}")
    stride = (bits * width + 31) // 32 * 4
    size = start + stride * abs(height)
    if len(data) < size:
        raise PictureError(
            f"Incomplete bmp content, requires at least {size} bytes, got {len(data)} bytes"
        )
    rows = np.frombuffer(data, np.uint8, stride * abs(height), start).reshape(-1, stride)
    pixels = rows[:, : width * depth].reshape(-1, width, depth)
    if height > 0:
        pixels = pixels[::-1]
    order = [2, 1, 0, 3][:depth] if depth >= 3 else [0]
    return np.ascontiguousarray(pixels[:, :, order])


# ---- PNG of 16 bits


def read_png_16(data: bytes, channels: int) -> np.ndarray:
    """uint16 pixels; those of a file with 8 bits fill the whole range."""
    width, height, bits, colours, interlaced = _png_head(data)
    if bits != 16:
        return read_png(data, channels).astype(np.uint16) * 257
    if interlaced:
        raise UnimplementedError(None, None, "An interlaced PNG of 16 bits is not read")
    depth = _PNG_CHANNELS.get(colours, 0)
    stride = width * depth * 2
    try:
        raw = zlib.decompress(b"".join(d for kind, d in _png_chunks(data) if kind == b"IDAT"))
    except zlib.error as e:
        raise PictureError(str(e)) from None
    if not depth or len(raw) < height * (stride + 1):
        raise PictureError("the data are cut off")
    rows = np.frombuffer(raw, np.uint8, height * (stride + 1)).reshape(height, stride + 1)
    plain = _unfiltered(rows, depth * 2)
    return _in_channels(plain.view(">u2").astype(np.uint16).reshape(height, width, depth), channels)


def _png_head(data: bytes) -> tuple[int, int, int, int, int]:
    if len(data) < 33 or data[12:16] != b"IHDR":
        raise PictureError("there is no head")
    width, height, bits, colours, _, _, interlaced = struct.unpack_from(">IIBBBBB", data, 16)
    return width, height, bits, colours, interlaced


def _png_chunks(data: bytes) -> list[tuple[bytes, bytes]]:
    at, out = 8, []
    while at + 12 <= len(data):
        (size,) = struct.unpack_from(">I", data, at)
        out.append((data[at + 4 : at + 8], data[at + 8 : at + 8 + size]))
        at += 12 + size
    return out


def _unfiltered(rows: np.ndarray, step: int) -> np.ndarray:
    """Each row begins with how it is told by the pixel before (`step` bytes) and the row above."""
    out = np.zeros((len(rows), rows.shape[1] - 1), np.uint8)
    above = np.zeros(rows.shape[1] - 1, np.uint8)
    for i, row in enumerate(rows):
        kind, told = row[0], row[1:]
        if kind == 0:
            above = told
        elif kind == 1:
            above = told.reshape(-1, step).cumsum(axis=0, dtype=np.uint8).ravel()
        elif kind == 2:
            above = told + above
        elif kind in (3, 4):
            above = _by_neighbours(told, above, step, kind == 4)
        else:
            raise PictureError(f"there is no filter {kind}")
        out[i] = above
    return out


def _by_neighbours(told: np.ndarray, above: np.ndarray, step: int, nearest: bool) -> np.ndarray:
    """Told by the mean of two neighbours, or by the one of three that is nearest to their plane."""
    out = [0] * step + told.tolist()
    over = [0] * step + above.tolist()
    for i in range(step, len(out)):
        a, b, c = out[i - step], over[i], over[i - step]
        if nearest:
            da, db, dc = abs(b - c), abs(a - c), abs(a + b - 2 * c)
            guess = a if da <= db and da <= dc else b if db <= dc else c
        else:
            guess = (a + b) // 2
        out[i] = (out[i] + guess) & 255
    return np.array(out[step:], np.uint8)


def _in_channels(pixels: np.ndarray, channels: int) -> np.ndarray:
    have = pixels.shape[2]
    if channels in (0, have):
        return pixels
    colours, opaque = pixels[:, :, : have - (have % 2 == 0)], np.iinfo(pixels.dtype).max
    if channels == 1 and colours.shape[2] == 3:
        weights = np.array([6968, 23434, 2366])  # libpng's, of 32768
        grey = (colours.astype(np.int64) @ weights + 16384) >> 15
        return grey.astype(pixels.dtype)[:, :, None]
    if channels >= 3 and colours.shape[2] == 1:
        colours = np.repeat(colours, 3, axis=2)
    if channels % 2:
        return colours
    alpha = pixels[:, :, -1:] if have % 2 == 0 else np.full_like(pixels[:, :, :1], opaque)
    return np.concatenate([colours, alpha], axis=2)
