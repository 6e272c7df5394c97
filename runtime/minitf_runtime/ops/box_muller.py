"""Uniform numbers and normal pairs from random bits, to the last bit as TensorFlow on Linux x86-64.

TF's float32 normals go through the C library's logf and sincosf, which round about 1 % of all
results otherwise than a correctly rounded function does. So both are done here as glibc 2.28 and
later do them: in double arithmetic, with the constants of ARM's Optimized Routines (MIT licence).
All 2**23 possible arguments agree.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

_EPSILON = 1.0e-7  # keeps the logarithm finite
_ONE32 = np.uint32(0x3F800000)
_ONE64 = np.uint64(0x3FF0000000000000)


def uniform16(bits: Array) -> Array:
    """float16 in [0, 1) of the same shape as `bits` (uint32)."""
    fraction: Array = (bits & np.uint32(0x3FF)).astype(np.float32) * np.float32(2**-10)
    return fraction.astype(np.float16)


def uniform32(bits: Array) -> Array:
    """float32 in [0, 1) of the same shape as `bits` (uint32)."""
    ones_and_fraction: Array = bits & np.uint32(0x7FFFFF)
    ones_and_fraction |= _ONE32
    out = ones_and_fraction.view(np.float32)
    out -= np.float32(1)
    return out


def uniform64(bits: Array) -> Array:
    """float64 in [0, 1), half as many as `bits` (uint32, C order) along the last axis."""
    pairs: Array = np.ascontiguousarray(bits).view("<u8")
    ones_and_fraction = (pairs & np.uint64(0xFFFFF)) << np.uint64(32)
    ones_and_fraction |= pairs >> np.uint64(32)
    ones_and_fraction |= _ONE64
    out: Array = ones_and_fraction.view(np.float64)
    out -= 1.0
    return out


def normal32(bits: Array) -> Array:
    """float32 normals (Box-Muller), one for each uint32; neighbours make a pair."""
    u = uniform32(bits)
    radius = np.sqrt(np.float32(-2) * log32(np.maximum(u[..., 0::2], np.float32(_EPSILON))))
    sine, cosine = sincos32((2 * math.pi * u[..., 1::2].astype(np.float64)).astype(np.float32))
    out = np.empty_like(u)
    np.multiply(sine, radius, out=out[..., 0::2])
    np.multiply(cosine, radius, out=out[..., 1::2])
    return out


def normal64(bits: Array) -> Array:
    """float64 normals (Box-Muller), half as many as `bits`; four uint32 make a pair."""
    u = uniform64(bits)
    radius = np.sqrt(-2.0 * libm(math.log, np.maximum(u[..., 0::2], _EPSILON)))
    angle = 2 * math.pi * u[..., 1::2]
    out = np.empty_like(u)
    np.multiply(libm(math.sin, angle), radius, out=out[..., 0::2])
    np.multiply(libm(math.cos, angle), radius, out=out[..., 1::2])
    return out


def libm(function: Callable[..., float], *operands: Array) -> Array:
    """A double function of the C library over arrays (NumPy's own differ in the last bit)."""
    flat = (x.ravel().tolist() for x in operands)
    out = np.fromiter(map(function, *flat), np.float64, operands[0].size)
    return out.reshape(operands[0].shape)


_LOG_TABLE = tuple(
    (float.fromhex(inverse), float.fromhex(log))
    for inverse, log in (
        ("0x1.661ec79f8f3bep+0", "-0x1.57bf7808caadep-2"),
        ("0x1.571ed4aaf883dp+0", "-0x1.2bef0a7c06ddbp-2"),
        ("0x1.49539f0f010bp+0", "-0x1.01eae7f513a67p-2"),
        ("0x1.3c995b0b80385p+0", "-0x1.b31d8a68224e9p-3"),
        ("0x1.30d190c8864a5p+0", "-0x1.6574f0ac07758p-3"),
        ("0x1.25e227b0b8eap+0", "-0x1.1aa2bc79c81p-3"),
        ("0x1.1bb4a4a1a343fp+0", "-0x1.a4e76ce8c0e5ep-4"),
        ("0x1.12358f08ae5bap+0", "-0x1.1973c5a611cccp-4"),
        ("0x1.0953f419900a7p+0", "-0x1.252f438e10c1ep-5"),
        ("0x1p+0", "0x0p+0"),
        ("0x1.e608cfd9a47acp-1", "0x1.aa5aa5df25984p-5"),
        ("0x1.ca4b31f026aap-1", "0x1.c5e53aa362eb4p-4"),
        ("0x1.b2036576afce6p-1", "0x1.526e57720db08p-3"),
        ("0x1.9c2d163a1aa2dp-1", "0x1.bc2860d22477p-3"),
        ("0x1.886e6037841edp-1", "0x1.1058bc8a07ee1p-2"),
        ("0x1.767dcf5534862p-1", "0x1.4043057b6ee09p-2"),
    )
)
_LOG_INVERSE, _LOG_VALUE = np.array(_LOG_TABLE).T
_LOG_SERIES = tuple(
    map(
        float.fromhex,
        ("-0x1.00ea348b88334p-2", "0x1.5575b0be00b6ap-2", "-0x1.ffffef20a4123p-2"),
    )
)
_LOG_START = np.int32(0x3F330000)  # the table covers [0.7, 1.4)
_LN2 = math.log(2)


def log32(x: Array) -> Array:
    """logf of positive, finite, normal float32."""
    bits = x.view(np.int32)
    above = bits - _LOG_START
    exponent = above >> 23
    row = (above >> 19) & 15
    z = (bits - (exponent << 23)).view(np.float32).astype(np.float64)
    r = z * _LOG_INVERSE[row] - 1
    start = _LOG_VALUE[row] + exponent * _LN2
    square = r * r
    a, b, c = _LOG_SERIES
    tail = a * square + (b * r + c)
    out: Array = (tail * square + (start + r)).astype(np.float32)
    return out


_COS_SERIES = tuple(
    map(
        float.fromhex,
        (
            "-0x1.ffffffd0c621cp-2",
            "0x1.55553e1068f19p-5",
            "-0x1.6c087e89a359dp-10",
            "0x1.99343027bf8c3p-16",
        ),
    )
)
_SIN_SERIES = tuple(
    map(
        float.fromhex,
        ("-0x1.555545995a603p-3", "0x1.1107605230bc4p-7", "-0x1.994eb3774cf24p-13"),
    )
)


def sincos32(angle: Array) -> tuple[Array, Array]:
    """sinf and cosf of float32 in [0, 120)."""
    x = angle.astype(np.float64)
    quarter = np.floor(x * (2 / math.pi) + 0.5)
    x -= quarter * (math.pi / 2)
    turn = quarter.astype(np.int8)
    square = x * x
    cube = square * x
    a, b, c = _SIN_SERIES
    sine = (x + cube * a) + (cube * square) * (b + square * c)
    a, b, c, d = _COS_SERIES
    fourth = square * square
    cosine = ((1 + square * a) + fourth * b) + (fourth * square) * (c + square * d)
    odd = (turn & 1).astype(np.bool_)
    sine_sign = (1 - (turn & 2)).astype(np.float32)
    cosine_sign = (1 - ((turn + 1) & 2)).astype(np.float32)
    s, c = sine.astype(np.float32), cosine.astype(np.float32)
    return np.where(odd, c, s) * sine_sign, np.where(odd, s, c) * cosine_sign
