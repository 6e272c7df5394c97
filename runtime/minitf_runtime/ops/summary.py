"""Ops that make serialised Summary messages: what event files hold and TensorBoard shows."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from minitf_runtime.errors import invalid
from minitf_runtime.ops.registry import Attr, Count, Type, kernel, op, scalar
from minitf_runtime.ops.strings import string_scalar
from minitf_runtime.storage.media import png_bytes, wav_bytes
from minitf_runtime.storage.protobuf import (
    DecodeError,
    bytes_field,
    double_field,
    fields,
    float_field,
    int_field,
    packed_doubles_field,
)
from minitf_runtime.storage.tensors import tensor_bytes
from minitf_runtime.types import (
    REALS,
    DType,
    bool_,
    float16,
    float32,
    float64,
    show_shape,
    uint8,
)

op("ScalarSummary", "tags: string, values: T -> summary: string", scalar, T=Type(REALS))
op(
    "HistogramSummary",
    "tag: string, values: T -> summary: string",
    scalar,
    T=Type((*REALS, bool_), default=float32),
)
op(
    "ImageSummary",
    "tag: string, tensor: T -> summary: string",
    scalar,
    max_images=Attr("int", 3, minimum=1),
    T=Type((uint8, float32, float16, float64), default=float32),
    bad_color=Attr("tensor", np.array([255, 0, 0, 255], np.uint8)),
)
op(
    "AudioSummaryV2",
    "tag: string, tensor: float32, sample_rate: float32 -> summary: string",
    scalar,
    max_outputs=Attr("int", 3, minimum=1),
)
op(
    "TensorSummaryV2",
    "tag: string, tensor: T, serialized_summary_metadata: string -> summary: string",
    scalar,
    T=Type(),
)
op("MergeSummary", "inputs: N * string -> summary: string", scalar, N=Count())


@kernel("ScalarSummary")
def scalar_summary(xp: Any, tags: Any, values: Any) -> Any:
    """One simple value for each tag."""
    tags = np.asarray(tags, object)
    if tags.shape != np.shape(values):
        raise invalid(
            f"tags and values not the same shape: {show_shape(tags.shape)} != "
            f"{show_shape(np.shape(values))}" + _tag_hint(tags)
        )
    numbers = np.ravel(values)
    return _summary(_value(tag, float_field(2, float(v))) for tag, v in zip(tags.ravel(), numbers))


def _tag_hint(tags: np.ndarray) -> str:
    return f" (tag '{tags.item().decode()}')" if tags.ndim == 0 else ""


@kernel("HistogramSummary")
def histogram_summary(xp: Any, tag: Any, values: Any, *, node: Any) -> Any:
    numbers = np.ravel(values).astype(np.float64)
    name = np.asarray(tag, object).item()
    if not np.isfinite(numbers).all():
        bad = "Nan" if np.isnan(numbers).any() else "Infinity"
        raise invalid(f"{bad} in summary histogram for: {node.name}")
    return _summary([_value(name, bytes_field(5, _histogram(numbers)))])


def _bucket_limits() -> np.ndarray:
    """TF's buckets: limits that grow by 10 % from 1e-12 to 1e20, and their negatives."""
    positive = []
    limit = 1.0e-12
    while limit < 1.0e20:
        positive.append(limit)
        limit *= 1.1
    largest = np.finfo(np.float64).max
    positive.append(largest)
    return np.array([-v for v in reversed(positive)] + [0.0] + positive)


_LIMITS = _bucket_limits()


def _histogram(values: np.ndarray) -> bytes:
    """A HistogramProto. Of several empty buckets in a row only the last is told."""
    buckets = np.searchsorted(_LIMITS[:-1], values, side="right")
    counts = np.bincount(buckets, minlength=len(_LIMITS))
    told = np.flatnonzero((counts > 0) | np.append(counts[1:] > 0, True))
    largest = _LIMITS[-1]
    stats = (
        values.min(initial=largest), values.max(initial=-largest), values.size,
        _sum(values), _sum(values * values),
    )  # fmt: skip
    out = b"".join(double_field(n, float(v)) for n, v in enumerate(stats, 1) if v)
    out += packed_doubles_field(6, _LIMITS[told].tolist())
    return out + packed_doubles_field(7, counts[told].astype(float).tolist())


def _sum(values: np.ndarray) -> float:
    """One after the other, as TF adds: NumPy's sum rounds otherwise."""
    return float(values.cumsum()[-1]) if values.size else 0.0


@kernel("ImageSummary")
def image_summary(xp: Any, tag: Any, tensor: Any, *, max_images: int, bad_color: Any) -> Any:
    """One PNG for each of the first images [height, width, channels]."""
    shape = np.shape(tensor)
    if len(shape) != 4 or shape[3] not in (1, 3, 4):
        text = show_shape(shape)
        raise invalid(f"Tensor must be 4-D with last dim 1, 3, or 4, not {text}")
    if 0 in shape[1:]:
        raise invalid(f"input tensor must have non-zero dims. Found: {list(shape)}.")
    images = [_image(_pixels(image, bad_color)) for image in tensor[:max_images]]
    values = (bytes_field(4, image) for image in images)
    return _numbered(_scalar_tag(tag), "image", max_images, values)


def _image(pixels: np.ndarray) -> bytes:
    sizes = b"".join(int_field(n, size) for n, size in enumerate(pixels.shape, 1))
    return sizes + bytes_field(4, png_bytes(pixels))


def _pixels(image: np.ndarray, bad_color: np.ndarray) -> np.ndarray:
    """Numbers as colours: 0 to the largest as 0 to 255; around 128 if one is negative."""
    if image.dtype == np.uint8:
        return image
    finite = np.isfinite(image).all(axis=-1)
    known = image[finite]
    low = np.float32(known.min(initial=np.inf))
    largest = np.float32(known.max(initial=-np.inf))
    top, zero = np.float32(255), 0
    if low < 0:
        top, zero = np.float32(127), 128
        largest = max(abs(low), abs(largest))
    scale = top / largest if largest >= 1e-6 else 0
    out = np.empty(image.shape, np.uint8)
    out[finite] = known * image.dtype.type(scale) + image.dtype.type(zero)
    out[~finite] = bad_color[: image.shape[-1]]
    return out


@kernel("AudioSummaryV2")
def audio_summary(xp: Any, tag: Any, tensor: Any, sample_rate: Any, *, max_outputs: int) -> Any:
    """One WAV for each of the first sounds [frames, channels] or [frames]."""
    shape = np.shape(tensor)
    if len(shape) not in (2, 3):
        raise invalid(f"Tensor must be 3-D or 2-D, got: {show_shape(shape)}")
    if np.ndim(sample_rate):
        raise invalid(f"sample_rate must be scalar, got: {show_shape(np.shape(sample_rate))}")
    if not sample_rate > 0:
        raise invalid("sample_rate must be > 0")
    if 0 in shape[1:]:
        raise invalid("audio is null")
    sounds = np.reshape(tensor, (*shape[:2], -1))[:max_outputs]
    values = (bytes_field(6, _sound(sound, float(sample_rate))) for sound in sounds)
    return _numbered(_scalar_tag(tag), "audio", max_outputs, values)


def _sound(sound: np.ndarray, rate: float) -> bytes:
    frames, channels = sound.shape
    return (
        float_field(1, rate)
        + int_field(2, channels)
        + int_field(3, frames)
        + bytes_field(4, wav_bytes(sound, int(rate)))
        + bytes_field(5, b"audio/wav")
    )


def _numbered(tag: bytes, kind: str, most: int, contents: Any) -> np.ndarray:
    """A value for each item: TAG/image, or TAG/image/0 and so on if there may be several."""
    names = (f"/{kind}/{i}" if most > 1 else f"/{kind}" for i in itertools.count())
    return _summary(_value(tag + name.encode(), data) for name, data in zip(names, contents))


@kernel("TensorSummaryV2")
def tensor_summary(xp: Any, tag: Any, tensor: Any, metadata: Any, *, T: DType) -> Any:  # noqa: N803
    content = bytes_field(8, tensor_bytes(np.asarray(tensor), T))
    return _summary([_value(_scalar_tag(tag), content + bytes_field(9, _scalar_tag(metadata)))])


def _scalar_tag(tag: Any) -> bytes:
    tag = np.asarray(tag, object)
    if tag.ndim:
        raise invalid(f"tag must be scalar, got: {show_shape(tag.shape)}")
    return tag.item()  # type: ignore[no-any-return]


@kernel("MergeSummary")
def merge_summary(xp: Any, inputs: list[Any]) -> Any:
    """All values of the given summaries. A tag may occur only once."""
    seen: set[bytes] = set()
    merged = []
    for data in (item for x in inputs for item in np.asarray(x, object).ravel()):
        for value in _values_of(data):
            tag = next((v for n, _, v in fields(value) if n == 1), b"")
            if tag in seen:
                raise invalid(f"Duplicate tag {tag.decode()} found in summary inputs")
            seen.add(tag)
            merged.append(bytes_field(1, value))
    return _summary(merged)


def _values_of(data: bytes) -> list[bytes]:
    try:
        return [value for number, _, value in fields(data) if number == 1]
    except DecodeError:
        raise invalid("Could not parse one of the summary inputs") from None


def _value(tag: bytes, content: bytes) -> bytes:
    """A field of Summary: the Summary.Value of a tag."""
    return bytes_field(1, bytes_field(1, tag) + content)


def _summary(values: Any) -> np.ndarray:
    return string_scalar(b"".join(values))
