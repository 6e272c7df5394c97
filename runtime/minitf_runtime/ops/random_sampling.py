"""Distributions over a Philox stream, value for value those of TensorFlow's CPU kernels.

Each function takes the place in the stream where its op's reservation starts and returns an array.
The ops and their checks are in random.py, conversions of single numbers in box_muller.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitf_runtime.ops.box_muller import (
    libm,
    normal32,
    normal64,
    uniform16,
    uniform32,
    uniform64,
)
from minitf_runtime.ops.philox import BLOCK, OUTPUT_SAMPLES, Stream

Array = np.ndarray[Any, Any]
Convert = Callable[[Array], Array]

_UNIFORM: dict[Any, Convert] = {
    np.float16: uniform16,
    np.float32: uniform32,
    np.float64: uniform64,
}
_NORMAL: dict[Any, Convert] = {np.float16: normal32, np.float32: normal32, np.float64: normal64}


def uniform(stream: Stream, shape: Sequence[int], dtype: Any) -> Array:
    """Floats in [0, 1)."""
    return _fill(stream, shape, dtype, _UNIFORM[np.dtype(dtype).type])


def normal(stream: Stream, shape: Sequence[int], dtype: Any) -> Array:
    """Floats of mean 0 and deviation 1."""
    return _fill(stream, shape, dtype, _NORMAL[np.dtype(dtype).type])


def uniform_int(stream: Stream, shape: Sequence[int], low: int, high: int, dtype: Any) -> Array:
    """Integers (int32 or int64) in [low, high), by remainder as TF does."""
    unsigned = np.dtype(f"u{np.dtype(dtype).itemsize}")
    modulus = 2 ** (8 * unsigned.itemsize)
    span = unsigned.type((high - low) % modulus)
    start = unsigned.type(low % modulus)

    def convert(bits: Array) -> Array:
        drawn = bits.view(unsigned)
        remainder: Array = drawn - drawn // span * span
        return (remainder + start).view(dtype)

    return _fill(stream, shape, dtype, convert)


def _fill(stream: Stream, shape: Sequence[int], dtype: Any, convert: Convert) -> Array:
    """`convert` over consecutive samples; what the last one gives too much is dropped."""
    size = math.prod(shape)
    per_sample = 2 if np.dtype(dtype).itemsize == 8 else 4
    count = -(-size // per_sample)
    out = np.empty((count, per_sample), dtype)
    for start in range(0, count, BLOCK):
        part = out[start : start + BLOCK]
        part[...] = convert(stream.skip(start).samples(len(part)))
    return out.reshape(-1)[:size].reshape(shape)


def truncated_normal(stream: Stream, shape: Sequence[int], dtype: Any) -> Array:
    """Normals redrawn until they lie within two deviations.

    The values of one group (as many as one sample makes) share a stretch of the stream.
    """
    size = math.prod(shape)
    draw = _NORMAL[np.dtype(dtype).type]
    per_group = 2 if draw is normal64 else 4
    groups = -(-size // per_group)
    out = np.empty((groups, per_group), dtype)
    stretch = per_group * OUTPUT_SAMPLES // 4
    for start in range(0, groups, BLOCK):
        _fill_truncated(stream.skip(start * stretch), out[start : start + BLOCK], draw, stretch)
    return out.reshape(-1)[:size].reshape(shape)


def _fill_truncated(stream: Stream, out: Array, draw: Convert, stretch: int) -> None:
    rows = np.arange(len(out))  # groups that still want values
    places = rows.astype(np.uint64) * np.uint64(stretch)
    filled = np.zeros(len(out), np.intp)
    while rows.size:
        values = draw(stream.samples_at(places))
        fits = np.abs(values) < 2
        slot = filled[:, None] + np.cumsum(fits, axis=1) - 1
        taken = fits & (slot < out.shape[1])
        which, _ = np.nonzero(taken)
        out[rows[which], slot[taken]] = values[taken]
        filled += fits.sum(axis=1)
        left = filled < out.shape[1]
        rows, filled = rows[left], filled[left]
        places = places[left] + np.uint64(1)


def permutation(stream: Stream, size: int) -> Array:
    """A shuffled range(size): Fisher-Yates from the front, one uint32 a step."""
    order = list(range(size))
    steps = max(size - 1, 0)
    bits = stream.samples(-(-steps // 4)).reshape(-1)[:steps]
    ahead = bits % np.arange(size, 1, -1).astype(np.uint32)
    for i, distance in enumerate(ahead.tolist()):
        j = i + distance
        order[i], order[j] = order[j], order[i]
    return np.array(order, np.int64)


def multinomial(stream: Stream, logits: Array, count: int, dtype: Any) -> Array:
    """Class indices [batch, count] drawn by unnormalised log-probabilities [batch, classes].

    The rows draw one after the other, as TF does with one thread; TF with several restarts the
    stream in places that depend on their number.
    """
    batch = len(logits)
    drawn = uniform(stream, (batch, count), np.float64)
    out = np.empty((batch, count), dtype)
    for i, row in enumerate(logits.astype(np.float64)):
        finite = np.isfinite(row)
        largest = row[finite].max(initial=-np.inf)
        weights = np.zeros_like(row)
        weights[finite] = np.exp(row[finite] - largest)
        total = np.cumsum(weights)
        out[i] = np.searchsorted(total, drawn[i] * total[-1], side="right")
    return out


class _Cursors:
    """One place in the stream for each output element, moving on its own."""

    def __init__(self, stream: Stream, count: int) -> None:
        self._stream = stream
        self._places = np.arange(count, dtype=np.uint64) * np.uint64(OUTPUT_SAMPLES)

    def next(self, rows: Array) -> Array:
        """The next sample of each of these elements: uint32 [len(rows), 4]."""
        bits = self._stream.samples_at(self._places[rows])
        self._places[rows] += np.uint64(1)
        return bits


class _Doubles:
    """Numbers made two at a time from the cursors; the second of a pair is given out first."""

    def __init__(self, cursors: _Cursors, count: int, convert: Convert) -> None:
        self._cursors = cursors
        self._convert = convert
        self._pairs = np.empty((count, 2))
        self._left = np.zeros(count, np.intp)

    def take(self, rows: Array) -> Array:
        empty = rows[self._left[rows] == 0]
        if empty.size:
            self._pairs[empty] = self._convert(self._cursors.next(empty))
            self._left[empty] = 2
        self._left[rows] -= 1
        taken: Array = self._pairs[rows, self._left[rows]]
        return taken


def gamma(stream: Stream, shape: Sequence[int], alpha: Array) -> Array:
    """Gamma draws of `alpha`'s dtype: `shape` for each alpha, of shape `shape` + alpha.shape."""
    out = _for_each(stream, shape, alpha, _gamma, alpha.dtype)
    if out.dtype != np.float16:
        out[out < np.finfo(out.dtype).tiny] = 0  # TF's threads flush subnormal numbers
    return out


def poisson(stream: Stream, shape: Sequence[int], rate: Array, dtype: Any) -> Array:
    """Poisson draws: `shape` for each rate, of shape `shape` + rate.shape."""
    return _for_each(stream, shape, rate, _poisson, dtype)


def _for_each(
    stream: Stream, shape: Sequence[int], parameter: Array, draw: Any, dtype: Any
) -> Array:
    """Elements are numbered parameter by parameter, and laid out with the parameter last."""
    samples = math.prod(shape)
    repeated = np.repeat(parameter.reshape(-1).astype(np.float64), samples)
    cursors = _Cursors(stream, repeated.size)
    uniforms = _Doubles(cursors, repeated.size, uniform64)
    with np.errstate(all="ignore"):  # of a value that the method rejects
        drawn = draw(repeated, cursors, uniforms)
        laid_out = drawn.reshape(parameter.size, samples).T.astype(dtype, order="C")
    return laid_out.reshape(*shape, *parameter.shape)


def _gamma(alpha: Array, cursors: _Cursors, uniforms: _Doubles) -> Array:
    """Marsaglia and Tsang's rejection method; alpha 1 is the exponential distribution."""
    out = np.full_like(alpha, np.nan)  # for an alpha below 0
    exponential = np.flatnonzero(alpha == 1)
    out[exponential] = -libm(math.log, 1.0 - uniforms.take(exponential))
    normals = _Doubles(cursors, alpha.size, normal64)
    small = alpha < 1
    d = alpha + np.where(small, 2.0 / 3, -1.0 / 3)
    c = 1.0 / 3 / np.sqrt(d)
    rows = np.flatnonzero((alpha >= 0) & (alpha != 1))
    while rows.size:
        x = normals.take(rows)
        v = 1 + c[rows] * x
        positive = v > 0
        tried, x, v = rows[positive], x[positive], v[positive]
        v = v * v * v
        u = uniforms.take(tried)
        bound = 0.5 * x * x + d[tried] * (1 - v + np.log(v))
        good = (u < 1 - 0.0331 * (x * x) * (x * x)) | (np.log(u) < bound)
        done = tried[good]
        out[done] = d[done] * v[good]
        boosted = done[small[done]]
        out[boosted] *= libm(math.pow, uniforms.take(boosted), 1 / alpha[boosted])
        rows = np.setdiff1d(rows, done, assume_unique=True)
    return out


def _poisson(rate: Array, cursors: _Cursors, uniforms: _Doubles) -> Array:
    out = np.full_like(rate, np.nan)  # for a rate that is not a number
    _poisson_by_product(rate, np.flatnonzero(rate < 10), uniforms, out)
    _poisson_by_rejection(rate, np.flatnonzero(rate >= 10), uniforms, out)
    return out


def _poisson_by_product(rate: Array, rows: Array, uniforms: _Doubles, out: Array) -> None:
    """Knuth: count uniforms until their product falls to exp(-rate)."""
    limit = np.exp(-rate)
    product = np.ones_like(rate)
    out[rows] = 0
    while rows.size:
        product[rows] *= uniforms.take(rows)
        rows = rows[product[rows] > limit[rows]]
        out[rows] += 1


def _poisson_by_rejection(rate: Array, rows: Array, uniforms: _Doubles, out: Array) -> None:
    """Transformed rejection (Hoermann, 1993, 'The transformed rejection method for Poisson')."""
    b = 0.931 + 2.53 * np.sqrt(rate)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    squeeze = 0.9277 - 3.6224 / (b - 2)
    log_rate = np.log(rate)
    while rows.size:
        u = uniforms.take(rows) - 0.5
        v = uniforms.take(rows)
        shifted = 0.5 - np.abs(u)
        k = np.floor((2 * a[rows] / shifted + b[rows]) * u + rate[rows] + 0.43)
        surely = (shifted >= 0.07) & (v <= squeeze[rows])
        never = (k < 0) | ((shifted < 0.013) & (v > shifted))
        height = v * inverse_alpha[rows] / (a[rows] / (shifted * shifted) + b[rows])
        unsure = np.where(surely | never, 0.0, k)
        density = -rate[rows] + k * log_rate[rows] - libm(math.lgamma, unsure + 1)
        good = surely | (~never & (np.log(height) <= density))
        out[rows[good]] = k[good]
        rows = rows[~good]
