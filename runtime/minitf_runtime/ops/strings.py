"""String ops. Strings are `bytes` in object arrays and live in host memory only.

Splitting is in string_split.py, conversions to and from other types in string_convert.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

import numpy as np

from minitf_runtime.errors import OutOfRangeError, invalid
from minitf_runtime.ops import dims
from minitf_runtime.ops.hashing import fingerprint64, hash64, siphash
from minitf_runtime.ops.registry import Attr, Count, ShapeContext, Type, kernel, op, unchanged
from minitf_runtime.types import INDEX, Shape, broadcast_shapes, show_shape

_UNIT = Attr("string", "BYTE", ("BYTE", "UTF8_CHAR"))


def mapped(fn: Callable[..., Any], *arrays: Any, dtype: Any = object) -> Any:
    """`fn` of the elements of arrays that broadcast together."""
    turned = np.broadcast_arrays(*arrays)
    out = np.empty(turned[0].shape, dtype)
    flat = out.reshape(-1)
    for i, values in enumerate(zip(*(a.reshape(-1) for a in turned))):
        flat[i] = fn(*values)
    return out


def string_scalar(value: bytes) -> np.ndarray:
    out = np.empty((), object)
    out[()] = value
    return out


def string_vector(values: Iterable[bytes]) -> np.ndarray:
    return np.array([*values, None], object)[:-1]  # NumPy alone would guess at nested ones


# ---- joining


@op("StringJoin", "inputs: N * string -> output: string", N=Count(), separator="")
def string_join_shape(c: ShapeContext) -> list[Shape]:
    """The inputs joined element by element; scalars go with every element."""
    out: Shape = ()
    for s in c.shapes:
        if s is None:
            return [None]
        if s != ():
            out = s if out == () else dims.merge(out, s)
    return [out]


@kernel("StringJoin", device="CPU")
def string_join(xp: Any, inputs: Any, *, separator: Any) -> Any:
    shape = next((x.shape for x in inputs if x.ndim), ())
    for x in inputs:
        if x.ndim and x.shape != shape:
            raise invalid(
                f"Input shapes do not match: {show_shape(shape)} vs. {show_shape(x.shape)}"
            )
    between = separator.encode("latin-1")
    return mapped(lambda *parts: between.join(parts), *inputs)


@op(
    "ReduceJoin",
    "inputs: string, reduction_indices: int32 -> output: string",
    keep_dims=False,
    separator="",
)
def reduce_join_shape(c: ShapeContext) -> list[Shape]:
    """Strings joined along axes, in the order in which these are given."""
    x, axes = c.shape(0), c.value(1)
    if x is None:
        return [None]
    if axes is None:
        return [(None,) * len(x) if c["keep_dims"] else None]
    away = set()
    for axis in axes.reshape(-1).tolist():
        if not -len(x) <= axis < len(x):
            raise ValueError(
                f"Invalid reduction dimension {axis} for input with {len(x)} dimensions."
            )
        away.add(axis % len(x))
    if c["keep_dims"]:
        return [tuple(1 if i in away else n for i, n in enumerate(x))]
    return [tuple(n for i, n in enumerate(x) if i not in away)]


@kernel("ReduceJoin", device="CPU")
def reduce_join(xp: Any, x: Any, axes: Any, *, keep_dims: Any, separator: Any) -> Any:
    order: list[int] = []
    for axis in axes.reshape(-1).tolist():
        if not -x.ndim <= axis < x.ndim:
            raise OutOfRangeError(
                None,
                None,
                f"Invalid reduction dimension {axis} for input with {x.ndim} dimension(s)",
            )
        if axis % x.ndim in order:
            raise invalid(f"Duplicate reduction dimension {axis}")
        order.append(axis % x.ndim)
    if not order:
        return x
    kept = [i for i in range(x.ndim) if i not in order]
    shape = [1 if i in order else n for i, n in enumerate(x.shape)]
    count = int(np.prod([x.shape[i] for i in kept], dtype=np.int64))
    size = int(np.prod([x.shape[i] for i in order], dtype=np.int64))
    rows = x.transpose(kept + order[::-1]).reshape(count, size)  # the first axis joins first
    out = np.empty(count, object)
    between = separator.encode("latin-1")
    for i, row in enumerate(rows):
        out[i] = between.join(row)
    return out.reshape(shape if keep_dims else [x.shape[i] for i in kept])


# ---- parts and lengths


op("StringLength", "input: string -> output: int32", unchanged, unit=_UNIT)


@kernel("StringLength", device="CPU")
def string_length(xp: Any, x: Any, *, unit: Any) -> Any:
    return mapped(len if unit == "BYTE" else _count_characters, x, dtype=np.int32)


def _count_characters(text: bytes) -> int:
    return sum(byte & 0xC0 != 0x80 for byte in text)


@op("Substr", "input: string, pos: T, len: T -> output: string", T=Type(INDEX), unit=_UNIT)
def substr_shape(c: ShapeContext) -> list[Shape]:
    """`len` bytes (or characters) from `pos`; a negative pos counts from the end."""
    place = dims.merge(c.shape(1), c.shape(2))
    return [broadcast_shapes(c.shape(0), place)]


@kernel("Substr", device="CPU")
def substr(xp: Any, x: Any, pos: Any, length: Any, *, unit: Any) -> Any:
    if pos.shape != length.shape:
        raise invalid(
            f"pos and len should have the same shape, got: {show_shape(pos.shape)} vs. "
            f"{show_shape(length.shape)}"
        )
    parts = np.broadcast_arrays(x, pos, length)
    out = np.empty(parts[0].shape, object)
    flat = out.reshape(-1)
    for i, (text, start, count) in enumerate(zip(*(p.reshape(-1) for p in parts))):
        units = text if unit == "BYTE" else text.decode("utf-8", "surrogateescape")
        if not -len(units) <= start <= len(units):
            raise invalid(f"pos {start} out of range for string b'{_shown(text)}' at index {i}")
        first = start + len(units) if start < 0 else start
        # TF reads the length as unsigned: a negative one takes all that is left.
        cut = units[first:] if count < 0 else units[first : first + count]
        flat[i] = cut if isinstance(cut, bytes) else cut.encode("utf-8", "surrogateescape")
    return out


def _shown(text: bytes) -> str:
    return text.decode("utf-8", "backslashreplace")


# ---- case and space


op("StringStrip", "input: string -> output: string", unchanged)
op("StringLower", "input: string -> output: string", unchanged, encoding="")
op("StringUpper", "input: string -> output: string", unchanged, encoding="")


@kernel("StringStrip", device="CPU")
def string_strip(xp: Any, x: Any) -> Any:
    return mapped(bytes.strip, x)


@kernel("StringLower", device="CPU")
def string_lower(xp: Any, x: Any, *, encoding: Any) -> Any:
    return _with_case(x, encoding, bytes.lower, str.lower)


@kernel("StringUpper", device="CPU")
def string_upper(xp: Any, x: Any, *, encoding: Any) -> Any:
    return _with_case(x, encoding, bytes.upper, str.upper)


def _with_case(x: Any, encoding: str, of_bytes: Any, of_text: Any) -> Any:
    if encoding == "":
        return mapped(of_bytes, x)
    if encoding != "utf-8":
        raise invalid(f"only utf-8 or '' (no encoding) is supported, received {encoding}")
    return mapped(lambda text: of_text(text.decode("utf-8", "replace")).encode(), x)


# ---- regular expressions (Python's syntax, which holds RE2's but for rare escapes)


@lru_cache(maxsize=64)
def _compiled(pattern: bytes) -> re.Pattern[bytes]:
    try:
        return re.compile(pattern)
    except re.error as e:
        raise invalid(f"Invalid pattern: {_shown(pattern)}, error: {e}") from None


_REFERENCE = re.compile(rb"\\(.)", re.DOTALL)


def _replaced(pattern: re.Pattern[bytes], rewrite: bytes, text: bytes, every: bool) -> bytes:
    """A rewrite names groups as \\0 to \\9 and a backslash as \\\\; absent groups are empty."""

    out = []
    end = 0
    for found in pattern.finditer(text):
        if out and found.start() == found.end() == end:
            continue  # RE2 takes no empty match right after another match
        out += [text[end : found.start()], _filled_in(found, rewrite)]
        end = found.end()
        if not every:
            break
    return b"".join([*out, text[end:]])


def _filled_in(found: re.Match[bytes], rewrite: bytes) -> bytes:
    def named(reference: re.Match[bytes]) -> bytes:
        what = reference[1]
        if not what.isdigit():
            return what if what == b"\\" else b""
        return (found[int(what)] or b"") if int(what) <= found.re.groups else b""

    return _REFERENCE.sub(named, rewrite)


_REPLACE = dict(replace_global=True)
op("RegexReplace", "input: string, pattern: string, rewrite: string -> output: string",
   unchanged, **_REPLACE)  # fmt: skip
op("StaticRegexReplace", "input: string -> output: string", unchanged,
   pattern=Attr("string"), rewrite=Attr("string"), **_REPLACE)  # fmt: skip
op("RegexFullMatch", "input: string, pattern: string -> output: bool", unchanged)
op("StaticRegexFullMatch", "input: string -> output: bool", unchanged, pattern=Attr("string"))


@kernel("RegexReplace", device="CPU")
def regex_replace(xp: Any, x: Any, pattern: Any, rewrite: Any, *, replace_global: Any) -> Any:
    compiled, by = _compiled(_scalar(pattern, "Pattern")), _scalar(rewrite, "Rewrite")
    return mapped(lambda text: _replaced(compiled, by, text, replace_global), x)


def _scalar(x: Any, name: str) -> bytes:
    if x.ndim:
        raise invalid(f"{name} must be scalar, but received {show_shape(x.shape)}")
    return x.reshape(1)[0]


@kernel("StaticRegexReplace", device="CPU")
def static_regex_replace(
    xp: Any, x: Any, *, pattern: Any, rewrite: Any, replace_global: Any
) -> Any:
    compiled, by = _compiled(pattern.encode("latin-1")), rewrite.encode("latin-1")
    return mapped(lambda text: _replaced(compiled, by, text, replace_global), x)


@kernel("RegexFullMatch", device="CPU")
def regex_full_match(xp: Any, x: Any, pattern: Any) -> Any:
    compiled = _compiled(_scalar(pattern, "Pattern"))
    return mapped(lambda text: compiled.fullmatch(text) is not None, x, dtype=np.bool_)


@kernel("StaticRegexFullMatch", device="CPU")
def static_regex_full_match(xp: Any, x: Any, *, pattern: Any) -> Any:
    compiled = _compiled(pattern.encode("latin-1"))
    return mapped(lambda text: compiled.fullmatch(text) is not None, x, dtype=np.bool_)


# ---- hashing to buckets


_BUCKETS = Attr("int", minimum=1)
op("StringToHashBucket", "string_tensor: string -> output: int64", unchanged, num_buckets=_BUCKETS)
op("StringToHashBucketFast", "input: string -> output: int64", unchanged, num_buckets=_BUCKETS)
op(
    "StringToHashBucketStrong",
    "input: string -> output: int64",
    unchanged,
    num_buckets=_BUCKETS,
    key=Attr("list(int)"),
)


@kernel("StringToHashBucket", device="CPU")
def string_to_hash_bucket(xp: Any, x: Any, *, num_buckets: Any) -> Any:
    return mapped(lambda text: hash64(text) % num_buckets, x, dtype=np.int64)


@kernel("StringToHashBucketFast", device="CPU")
def string_to_hash_bucket_fast(xp: Any, x: Any, *, num_buckets: Any) -> Any:
    return mapped(lambda text: fingerprint64(text) % num_buckets, x, dtype=np.int64)


@kernel("StringToHashBucketStrong", device="CPU")
def string_to_hash_bucket_strong(xp: Any, x: Any, *, num_buckets: Any, key: Any) -> Any:
    if len(key) != 2:
        raise invalid("Key must have 2 elements")
    return mapped(lambda text: siphash(key, text) % num_buckets, x, dtype=np.int64)
