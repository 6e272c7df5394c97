"""Fingerprints of byte strings, bit for bit those of TensorFlow's kernels. No op here: strings.py.

hash64: TF's variant of MurmurHash64A. fingerprint64: FarmHash na::Hash64 (Google, MIT licence).
siphash: SipHash-2-4 (Aumasson and Bernstein, 2012).
"""

from __future__ import annotations

from collections.abc import Sequence

_MASK = 2**64 - 1
_K0 = 0xC3A5C85C97CB3127
_K1 = 0xB492B66FBE98F273
_K2 = 0x9AE16A3B2F90404F


def hash64(data: bytes, seed: int = 0xDECAFCAFFE) -> int:
    m = 0xC6A4A7935BD1E995
    h = seed ^ (len(data) * m & _MASK)
    whole = len(data) & ~7
    for i in range(0, whole, 8):
        k = _u64(data, i) * m & _MASK
        k = (k ^ k >> 47) * m & _MASK
        h = (h ^ k) * m & _MASK
    if whole < len(data):
        h = (h ^ int.from_bytes(data[whole:], "little")) * m & _MASK
    h = (h ^ h >> 47) * m & _MASK
    return h ^ h >> 47


def fingerprint64(data: bytes) -> int:
    if len(data) <= 16:
        return _farm_to_16(data)
    if len(data) <= 32:
        return _farm_to_32(data)
    if len(data) <= 64:
        return _farm_to_64(data)
    return _farm_long(data)


def _u64(s: bytes, i: int) -> int:
    return int.from_bytes(s[i : i + 8], "little")


def _u32(s: bytes, i: int) -> int:
    return int.from_bytes(s[i : i + 4], "little")


def _rotate(v: int, by: int) -> int:
    """Right by `by` bits."""
    v &= _MASK
    return (v >> by | v << (64 - by)) & _MASK


def _left(v: int, by: int) -> int:
    return _rotate(v, 64 - by)


def _mix(v: int) -> int:
    v &= _MASK
    return v ^ v >> 47


def _pair(u: int, v: int, mul: int) -> int:
    a = _mix(((u ^ v) & _MASK) * mul)
    return _mix(((v & _MASK) ^ a) * mul) * mul & _MASK


def _farm_to_16(s: bytes) -> int:
    n = len(s)
    mul = _K2 + n * 2
    if n >= 8:
        a = _u64(s, 0) + _K2
        b = _u64(s, n - 8)
        c = _rotate(b, 37) * mul + a
        d = (_rotate(a, 25) + b) * mul
        return _pair(c, d, mul)
    if n >= 4:
        return _pair(n + (_u32(s, 0) << 3), _u32(s, n - 4), mul)
    if n > 0:
        y = s[0] + (s[n >> 1] << 8)
        z = n + (s[n - 1] << 2)
        return _mix(y * _K2 & _MASK ^ z * _K0 & _MASK) * _K2 & _MASK
    return _K2


def _farm_to_32(s: bytes) -> int:
    n = len(s)
    mul = _K2 + n * 2
    a = _u64(s, 0) * _K1
    b = _u64(s, 8)
    c = _u64(s, n - 8) * mul
    d = _u64(s, n - 16) * _K2
    return _pair(_rotate(a + b, 43) + _rotate(c, 30) + d, a + _rotate(b + _K2, 18) + c, mul)


def _farm_to_64(s: bytes) -> int:
    n = len(s)
    mul = _K2 + n * 2
    a = _u64(s, 0) * _K2
    b = _u64(s, 8)
    c = _u64(s, n - 8) * mul
    d = _u64(s, n - 16) * _K2
    y = _rotate(a + b, 43) + _rotate(c, 30) + d
    z = _pair(y, a + _rotate(b + _K2, 18) + c, mul)
    e = _u64(s, 16) * mul
    f = _u64(s, 24)
    g = (y + _u64(s, n - 32)) * mul
    h = (z + _u64(s, n - 24)) * mul
    return _pair(_rotate(e + f, 43) + _rotate(g, 30) + h, e + _rotate(f + a, 18) + g, mul)


def _weak(s: bytes, i: int, a: int, b: int) -> tuple[int, int]:
    """32 bytes at i with two seeds."""
    w, x, y, z = (_u64(s, i + 8 * k) for k in range(4))
    a += w
    b = _rotate(b + a + z, 21)
    c = a
    a += x + y
    b += _rotate(a, 44)
    return (a + z) & _MASK, (b + c) & _MASK


def _farm_long(s: bytes) -> int:
    n, seed = len(s), 81
    y = (seed * _K1 + 113) & _MASK
    z = _mix(y * _K2 + 113) * _K2 & _MASK
    x = (seed * _K2 + _u64(s, 0)) & _MASK
    v, w = (0, 0), (0, 0)
    for i in range(0, (n - 1) // 64 * 64, 64):
        x, y, z, v, w = _farm_round(s, i, x, y, z, v, w, _K1, 1)
    mul = _K1 + ((z & 0xFF) << 1)
    w = (w[0] + (n - 1 & 63), w[1])
    v = (v[0] + w[0], v[1])
    w = (w[0] + v[0], w[1])
    x, y, z, v, w = _farm_round(s, n - 64, x, y, z, v, w, mul, 9)
    first = _pair(v[0], w[0], mul) + _mix(y) * _K0 + z
    return _pair(first, _pair(v[1], w[1], mul) + x, mul)


def _farm_round(
    s: bytes, i: int, x: int, y: int, z: int, v: tuple[int, int], w: tuple[int, int],
    mul: int, scale: int,
) -> tuple[int, int, int, tuple[int, int], tuple[int, int]]:  # fmt: skip
    x = _rotate(x + y + v[0] + _u64(s, i + 8), 37) * mul & _MASK
    y = _rotate(y + v[1] + _u64(s, i + 48), 42) * mul & _MASK
    x ^= w[1] * scale & _MASK
    y = (y + v[0] * scale + _u64(s, i + 40)) & _MASK
    z = _rotate(z + w[0], 33) * mul & _MASK
    v = _weak(s, i, v[1] * mul, x + w[0])
    w = _weak(s, i + 32, z + w[1], y + _u64(s, i + 16))
    return z, y, x, v, w


def siphash(key: Sequence[int], data: bytes) -> int:
    v = [
        0x736F6D6570736575 ^ key[0],
        0x646F72616E646F6D ^ key[1],
        0x6C7967656E657261 ^ key[0],
        0x7465646279746573 ^ key[1],
    ]
    whole = len(data) & ~7
    last = int.from_bytes(data[whole:], "little") | (len(data) & 0xFF) << 56
    for word in [*(_u64(data, i) for i in range(0, whole, 8)), last]:
        v[3] ^= word
        _sip_round(v)
        _sip_round(v)
        v[0] ^= word
    v[2] ^= 0xFF
    for _ in range(4):
        _sip_round(v)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def _sip_round(v: list[int]) -> None:
    v[0] = (v[0] + v[1]) & _MASK
    v[2] = (v[2] + v[3]) & _MASK
    v[1] = _left(v[1], 13) ^ v[0]
    v[3] = _left(v[3], 16) ^ v[2]
    v[0] = _left(v[0], 32)
    v[2] = (v[2] + v[1]) & _MASK
    v[0] = (v[0] + v[3]) & _MASK
    v[1] = _left(v[1], 17) ^ v[2]
    v[3] = _left(v[3], 21) ^ v[0]
    v[2] = _left(v[2], 32)
