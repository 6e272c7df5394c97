"""Ops between strings and other types: numbers, raw bytes, base 64, printed tensors."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any

import numpy as np

from minitf_runtime.errors import invalid
from minitf_runtime.ops.registry import ShapeContext, Type, kernel, op, unchanged
from minitf_runtime.ops.strings import mapped
from minitf_runtime.types import (
    COMPLEX,
    FLOATS,
    Shape,
    bool_,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
)

# ---- numbers to strings and back


op(
    "AsString",
    "input: T -> output: string",
    unchanged,
    T=Type((int8, int16, int32, int64, *COMPLEX, float32, float64, bool_)),
    precision=-1,
    scientific=False,
    shortest=False,
    width=-1,
    fill="",
)


@kernel("AsString", device="CPU")
def as_string(
    xp: Any, x: Any,
    *, T: Any, precision: Any, scientific: Any, shortest: Any, width: Any, fill: Any,  # noqa: N803
) -> Any:  # fmt: skip
    if scientific and shortest:
        raise invalid("Cannot select both scientific and shortest notation")
    if len(fill) > 1:
        raise invalid("Fill string must be one or fewer characters")
    real = T.is_floating or T.is_complex
    if not real and (scientific or shortest):
        raise invalid(f"scientific and shortest format not supported for datatype {T.name}")
    if not real and precision >= 0:
        raise invalid(f"precision not supported for datatype {T.name}")
    if T is bool_:
        return mapped(lambda v: b"true" if v else b"false", x)
    flags = fill + (str(width) if width >= 0 else "")
    digits = f".{precision}" if precision >= 0 else ""
    kind = "d" if not real else "e" if scientific else "g" if shortest else "f"
    form = f"%{flags}{digits}{kind}"
    if T.is_complex:
        return mapped(lambda v: f"({form % v.real},{form % v.imag})".encode(), x)
    return mapped(lambda v: (form % v).encode(), x)


_HEX = re.compile(rb"\s*[+-]?0[xX]")
op(
    "StringToNumber",
    "string_tensor: string -> output: out_type",
    unchanged,
    out_type=Type((float32, float64, int32, int64), float32),
)


@kernel("StringToNumber", device="CPU")
def string_to_number(xp: Any, x: Any, *, out_type: Any) -> Any:
    dtype = out_type.as_numpy_dtype

    def convert(text: bytes) -> Any:
        try:
            if b"_" in text:
                raise ValueError("Python alone allows underscores in numbers")
            if not out_type.is_floating:
                return np.array(int(text), dtype)
            return dtype(int(text, 16) if _HEX.match(text) else float(text))
        except (ValueError, OverflowError):
            shown = text.decode("utf-8", "backslashreplace")
            raise invalid(f"StringToNumberOp could not correctly convert string: {shown}") from None

    return mapped(convert, x, dtype=dtype)


# ---- raw bytes


@op(
    "DecodeRaw",
    "bytes: string -> output: out_type",
    out_type=Type((*FLOATS, int32, uint16, uint8, int16, int8, int64, *COMPLEX, bool_)),
    little_endian=True,
)
def decode_raw_shape(c: ShapeContext) -> list[Shape]:
    """The bytes of strings of one length as a last axis of numbers."""
    x = c.shape(0)
    return [None if x is None else (*x, None)]


@kernel("DecodeRaw", device="CPU")
def decode_raw(xp: Any, x: Any, *, out_type: Any, little_endian: Any) -> Any:
    texts = x.reshape(-1)
    dtype = np.dtype(out_type.as_numpy_dtype)
    length = len(texts[0]) if len(texts) else 0
    for i, text in enumerate(texts):
        if len(text) != length:
            raise invalid(
                "DecodeRaw requires input strings to all be the same size, but element "
                f"{i} has size {length} != {len(text)}"
            )
    if length % dtype.itemsize:
        raise invalid(
            f"Input to DecodeRaw has length {length} that is not a multiple of {dtype.itemsize}, "
            f"the size of {out_type.name}"
        )
    read = np.frombuffer(b"".join(texts), dtype.newbyteorder("<" if little_endian else ">"))
    return read.astype(dtype).reshape(*x.shape, length // dtype.itemsize)


# ---- base 64, the variant that is safe in names


op("EncodeBase64", "input: string -> output: string", unchanged, pad=False)
op("DecodeBase64", "input: string -> output: string", unchanged)


@kernel("EncodeBase64", device="CPU")
def encode_base64(xp: Any, x: Any, *, pad: Any) -> Any:
    def encode(text: bytes) -> bytes:
        coded = base64.urlsafe_b64encode(text)
        return coded if pad else coded.rstrip(b"=")

    return mapped(encode, x)


@kernel("DecodeBase64", device="CPU")
def decode_base64(xp: Any, x: Any) -> Any:
    def decode(text: bytes) -> bytes:
        digits = text.rstrip(b"=")
        if len(digits) % 4 == 1:
            raise invalid("Base64 string length cannot be 1 modulo 4.")
        if b"+" in digits or b"/" in digits:
            raise invalid("Invalid character found in base64.")
        standard = digits.translate(bytes.maketrans(b"-_", b"+/")) + b"=" * (-len(digits) % 4)
        try:
            return base64.b64decode(standard, validate=True)
        except binascii.Error:
            raise invalid("Invalid character found in base64.") from None

    return mapped(decode, x)
