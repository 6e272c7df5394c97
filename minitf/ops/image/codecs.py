"""Pictures as the bytes of files."""

from __future__ import annotations

from typing import Any

import minitf_runtime.ops.image_codecs  # noqa: F401  (declares the ops)
from minitf.convert import to_tensor
from minitf.default import control_dependencies, name_scope
from minitf.operation import Operation, Tensor
from minitf.ops import array, math
from minitf.ops.apply import apply_op
from minitf.ops.control_flow import cond
from minitf.ops.debug import Assert
from minitf.ops.image.checks import is_tensor
from minitf.ops.image.colours import convert_image_dtype
from minitf.ops.random import random_uniform
from minitf.ops.raw import passthrough
from minitf.ops.strings import substr
from minitf_runtime.types import as_dtype, int32, uint8, uint16

decode_and_crop_jpeg = passthrough("DecodeAndCropJpeg", "decode_and_crop_jpeg")
decode_bmp = passthrough("DecodeBmp", "decode_bmp")
decode_gif = passthrough("DecodeGif", "decode_gif")
decode_jpeg = passthrough("DecodeJpeg", "decode_jpeg")
decode_png = passthrough("DecodePng", "decode_png")
encode_jpeg = passthrough("EncodeJpeg", "encode_jpeg")
encode_png = passthrough("EncodePng", "encode_png")
extract_jpeg_shape = passthrough("ExtractJpegShape", "extract_jpeg_shape")


def is_jpeg(contents: Any, name: str | None = None) -> Tensor:
    """Whether the bytes begin as those of a JPEG."""
    return _begins_with(contents, b"\xff\xd8\xff", "is_jpeg", name)


def _begins_with(contents: Any, start: bytes, scope: str, name: str | None = None) -> Tensor:
    with name_scope(name, scope):
        return math.equal(substr(contents, 0, 3), start, name=name)


def decode_image(
    contents: Any, channels: int | None = None, dtype: Any = uint8, name: str | None = None,
    expand_animations: bool = True,
) -> Tensor:  # fmt: skip
    """A picture of any kind; of GIFs all frames, or the first. Its shape is not known."""
    with name_scope(name, "decode_image"):
        if channels not in (None, 0, 1, 3, 4):
            raise ValueError("channels must be in (None, 0, 1, 3, 4)")
        dtype = as_dtype(dtype)
        start = substr(contents, 0, 3)
        given = channels or 0

        def jpeg() -> Tensor:
            fits = math.not_equal(given, 4, name="check_jpeg_channels")
            with control_dependencies([_needs(fits, "0, 1, 3", "JPEG")]):
                return convert_image_dtype(decode_jpeg(contents, channels), dtype)

        def png() -> Tensor:
            bits = uint8 if dtype is uint8 else uint16
            return convert_image_dtype(decode_png(contents, channels, dtype=bits), dtype)

        def gif() -> Tensor:
            fits = math.logical_and(
                math.not_equal(given, 1, name="check_gif_channels"),
                math.not_equal(given, 4, name="check_gif_channels"),
            )
            with control_dependencies([_needs(fits, "0, 3", "GIF")]):
                frames = convert_image_dtype(decode_gif(contents), dtype)
                return frames if expand_animations else array.gather(frames, 0)

        def bmp() -> Tensor:
            is_bmp = math.equal(substr(contents, 0, 2), "BM", name="is_bmp")
            known = Assert(is_bmp, ["Unable to decode bytes as JPEG, PNG, GIF, or BMP"])
            fits = math.not_equal(given, 1, name="check_channels")
            with control_dependencies([known, _needs(fits, "0, 3", "BMP")]):
                return convert_image_dtype(decode_bmp(contents), dtype)

        def gif_or_bmp() -> Tensor:
            return cond(math.equal(start, b"GIF", name="is_gif"), gif, bmp, name="cond_gif")

        def not_jpeg() -> Tensor:
            is_png = _begins_with(contents, b"\x89PN", "is_png")
            return cond(is_png, png, gif_or_bmp, name="cond_png")

        return cond(is_jpeg(contents), jpeg, not_jpeg, name="cond_jpeg")


def _needs(fits: Tensor, allowed: str, kind: str) -> Operation:
    return Assert(fits, [f"Channels must be in (None, {allowed}) when decoding {kind} images"])


def adjust_jpeg_quality(image: Any, jpeg_quality: Any, name: str | None = None) -> Tensor:
    """The picture as a JPEG of that quality shows it."""
    with name_scope(name, "adjust_jpeg_quality", [image]):
        image = to_tensor(image, name="image")
        bytes_ = convert_image_dtype(image, uint8)
        if not is_tensor(jpeg_quality):
            jpeg_quality = to_tensor(jpeg_quality, int32)
        contents = apply_op("EncodeJpegVariableQuality", bytes_, jpeg_quality)
        return convert_image_dtype(decode_jpeg(contents), image.dtype)


def random_jpeg_quality(
    image: Any, min_jpeg_quality: int, max_jpeg_quality: int, seed: int | None = None
) -> Tensor:
    """adjust_jpeg_quality by a whole number from [min, max)."""
    limits = min_jpeg_quality, max_jpeg_quality
    if not all(0 <= limit <= 100 for limit in limits):
        raise ValueError("jpeg encoding range must be between 0 and 100.")
    if min_jpeg_quality >= max_jpeg_quality:
        raise ValueError("`min_jpeg_quality` must be less than `max_jpeg_quality`.")
    return adjust_jpeg_quality(image, random_uniform([], *limits, seed=seed, dtype=int32))
