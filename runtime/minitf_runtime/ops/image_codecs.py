"""Ops that read and write pictures as the bytes of files; the formats: storage/pictures.py."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from minitf_runtime.errors import invalid
from minitf_runtime.ops.registry import Attr, ShapeContext, Type, kernel, op
from minitf_runtime.ops.strings import string_scalar
from minitf_runtime.storage import pictures
from minitf_runtime.storage.media import png_bytes
from minitf_runtime.storage.pictures import PictureError
from minitf_runtime.types import INDEX, DType, Shape, int32, show_shape, uint8, uint16

_JPEG: dict[str, Any] = dict(
    channels=0, ratio=1, fancy_upscaling=True, try_recover_truncated=False,
    acceptable_fraction=1.0, dct_method="",
)  # fmt: skip
_PIXELS = Type((uint8, uint16), uint8)


def _decoded_shape(c: ShapeContext) -> list[Shape]:
    c.rank(0, 0)
    channels = c["channels"]
    if channels < 0:
        raise ValueError(f"channels must be non-negative, got {channels}")
    return [(None, None, channels or None)]


def _cropped_shape(c: ShapeContext) -> list[Shape]:
    (shape,) = _decoded_shape(c)
    window = c.value(1)
    if window is None or shape is None:
        return [shape]
    if window.shape != (4,):
        raise ValueError(f"Dimension must be 4 but is {len(window)}")
    return [(int(window[2]), int(window[3]), shape[2])]


def _frames_shape(c: ShapeContext) -> list[Shape]:
    c.rank(0, 0)
    return [(None, None, None, 3)]


def _encoded_shape(c: ShapeContext) -> list[Shape]:
    c.rank(0, 3)
    for i in range(1, len(c.shapes)):
        c.rank(i, 0)
    return [()]


op("DecodePng", "contents: string -> image: dtype", _decoded_shape, channels=0, dtype=_PIXELS)
op("DecodeJpeg", "contents: string -> image: uint8", _decoded_shape, **_JPEG)
op("DecodeAndCropJpeg", "contents: string, crop_window: int32 -> image: uint8", _cropped_shape,
   **_JPEG)  # fmt: skip
op("DecodeBmp", "contents: string -> image: uint8", _decoded_shape, channels=0)
op("DecodeGif", "contents: string -> image: uint8", _frames_shape)
op("ExtractJpegShape", "contents: string -> image_shape: output_type", lambda c: [(3,)],
   output_type=Type(INDEX, int32))  # fmt: skip
op("EncodePng", "image: T -> contents: string", _encoded_shape, compression=-1, T=_PIXELS)
op(
    "EncodeJpeg", "image: uint8 -> contents: string", _encoded_shape,
    format=Attr("string", "", ("", "grayscale", "rgb")), quality=95, progressive=False,
    optimize_size=False, chroma_downsampling=True,
    density_unit=Attr("string", "in", ("in", "cm")), x_density=300, y_density=300,
    xmp_metadata="",
)  # fmt: skip
op("EncodeJpegVariableQuality", "images: uint8, quality: int32 -> contents: string",
   _encoded_shape)  # fmt: skip


# ---- reading


def _kind(data: bytes) -> str:
    """What a file is by its first bytes. Raises InvalidArgumentError."""
    if not data:
        raise invalid("Expected image (JPEG, PNG, or GIF), got empty file")
    for start, name in ((pictures.JPEG, "JPEG"), (pictures.PNG, "PNG"), (pictures.GIF, "GIF")):
        if data.startswith(start):
            return name
    shown = data[:16].decode("latin-1").encode("unicode_escape").decode()
    raise invalid(f"Expected image (JPEG, PNG, or GIF), got unknown format starting with '{shown}'")


def _read(data: bytes, channels: int, dtype: DType = uint8, ratio: int = 1) -> np.ndarray:
    """A picture of any of the three kinds, as TF's ops for each of them read them all."""
    if channels not in (0, 1, 3, 4):
        raise invalid(f"channels must be 0, 1, 3, or 4, got {channels}")
    kind = _kind(data)
    try:
        if kind == "PNG":
            read = pictures.read_png_16 if dtype is uint16 else pictures.read_png
            return read(data, channels)
        if kind == "GIF":
            return _single(pictures.read_gif(data))
        if channels == 4:
            raise invalid("channels must be 0, 1, or 3 for JPEG, got 4")
        return pictures.read_jpeg(data, channels, ratio)
    except PictureError:
        raise invalid(f"{_trouble(kind)}, data size {len(data)}") from None


def _trouble(kind: str) -> str:
    names = {"PNG": "Invalid PNG header", "JPEG": "Invalid JPEG data or crop window"}
    return names.get(kind, "Invalid GIF data")


def _single(frames: np.ndarray) -> np.ndarray:
    if len(frames) != 1:
        raise invalid(
            f"Got {len(frames)} frames, but animated gifs can only be decoded by "
            "tf.image.decode_gif"
        )
    return frames[0]  # type: ignore[no-any-return]


def _contents(text: Any) -> bytes:
    text = np.asarray(text, object)
    if text.ndim:
        raise invalid(f"contents must be scalar, got shape {show_shape(text.shape)}")
    return text.item()  # type: ignore[no-any-return]


def _check_jpeg(ratio: int, dct_method: str) -> None:
    if ratio not in (1, 2, 4, 8):
        raise invalid(f"ratio must be 1, 2, 4, or 8, got {ratio}")
    if dct_method not in ("", "INTEGER_FAST", "INTEGER_ACCURATE"):
        raise invalid("dct_method must be one of {'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}")


@kernel("DecodePng", device="CPU")
def decode_png(xp: Any, contents: Any, *, channels: int, dtype: DType) -> Any:
    return _read(_contents(contents), channels, dtype)


@kernel("DecodeJpeg", device="CPU")
def decode_jpeg(xp: Any, contents: Any, *, channels: int, ratio: int, dct_method: str) -> Any:
    _check_jpeg(ratio, dct_method)
    return _read(_contents(contents), channels, ratio=ratio)


@kernel("DecodeAndCropJpeg", device="CPU")
def decode_and_crop_jpeg(
    xp: Any, contents: Any, window: Any, *, channels: int, ratio: int, dct_method: str
) -> Any:
    _check_jpeg(ratio, dct_method)
    data = _contents(contents)
    whole = _read(data, channels, ratio=ratio)
    top, left, height, width = (int(n) for n in window)
    fits = top >= 0 and left >= 0 and height > 0 and width > 0
    if not fits or top + height > whole.shape[0] or left + width > whole.shape[1]:
        raise invalid(f"Invalid JPEG data or crop window, data size {len(data)}")
    return whole[top : top + height, left : left + width].copy()


@kernel("DecodeGif", device="CPU")
def decode_gif(xp: Any, contents: Any) -> Any:
    """All frames; those of other kinds have one."""
    data = _contents(contents)
    if _kind(data) != "GIF":
        return _read(data, 3)[None]
    try:
        return pictures.read_gif(data)
    except PictureError:
        raise invalid(f"Invalid GIF data (size {len(data)}), failed to open gif file") from None


@kernel("DecodeBmp", device="CPU")
def decode_bmp(xp: Any, contents: Any, *, channels: int) -> Any:
    if channels not in (0, 1, 3, 4):
        raise invalid(f"channels must be 0, 1, 3 or 4, got {channels}")
    try:
        return pictures.read_bmp(_contents(contents), channels)
    except PictureError as e:
        raise invalid(str(e)) from None


@kernel("ExtractJpegShape", device="CPU")
def extract_jpeg_shape(xp: Any, contents: Any, *, output_type: DType) -> Any:
    data = _contents(contents)
    if data.startswith(pictures.JPEG):
        with suppress(PictureError):
            return np.array(pictures.jpeg_shape(data), output_type.as_numpy_dtype)
    raise invalid(f"Invalid JPEG data, size {len(data)}")


# ---- writing


@kernel("EncodePng", device="CPU")
def encode_png(xp: Any, image: Any, *, compression: int) -> Any:
    if not -1 <= compression <= 9:
        raise invalid(f"compression should be in [-1,9], got {compression}")
    _check_pixels(image, (1, 2, 3, 4), "1, 2, 3, or 4")
    return string_scalar(png_bytes(image, compression))


def _check_pixels(image: Any, channels: tuple[int, ...], told: str) -> None:
    if image.ndim != 3:
        raise invalid(f"image must be 3-dimensional{show_shape(image.shape)}")
    if image.shape[2] not in channels:
        raise invalid(f"image must have {told} channels, got {image.shape[2]}")
    if 0 in image.shape:
        raise invalid(f"image must not be empty, got shape {show_shape(image.shape)}")


@kernel("EncodeJpeg", device="CPU")
def encode_jpeg(xp: Any, image: Any, *, quality: int, node: Any) -> Any:
    attrs = node.attrs
    kind = attrs["format"]
    told = {"grayscale": ((1,), "1"), "rgb": ((3,), "3")}.get(kind, ((1, 3), "1 or 3"))
    _check_pixels(image, *told)
    density = [attrs["x_density"], attrs["y_density"]]
    if attrs["density_unit"] == "cm":
        density = [round(n * 2.54) for n in density]
    options = dict(
        progressive=attrs["progressive"],
        optimize=attrs["optimize_size"],
        subsampling="4:2:0" if attrs["chroma_downsampling"] else "4:4:4",
        dpi=tuple(density),
    )
    if attrs["xmp_metadata"]:
        options["xmp"] = attrs["xmp_metadata"].encode("latin-1")
    return _jpeg(image, quality, **options)


@kernel("EncodeJpegVariableQuality", device="CPU")
def encode_jpeg_variable_quality(xp: Any, image: Any, quality: Any) -> Any:
    _check_pixels(image, (1, 3), "1 or 3")
    return _jpeg(image, int(quality), subsampling="4:2:0")


def _jpeg(image: Any, quality: int, **options: Any) -> Any:
    if not 0 <= quality <= 100:
        raise invalid(f"quality must be in [0,100], got {quality}")
    return string_scalar(pictures.write_jpeg(image, max(quality, 1), **options))
