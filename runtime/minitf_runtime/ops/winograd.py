"""Convolutions in the plane by fewer products (Winograd's minimal filtering, as cuDNN has it).

Tiles of input and filter are taken as polynomials, and their values at a few points are multiplied
instead of their coefficients: 4 x 4 outputs of a 5 x 5 window take 64 products instead of 400. The
products of all tiles at one point are one product of matrices. Sums are rounded otherwise: errors
are 2 to 5 times those of the plain sum, some 1e-6 of the result's size.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from minitf_runtime.devices.cpu import blocks, one_blas_thread, parallel
from minitf_runtime.ops import windows
from minitf_runtime.ops.windows import Axis

VARIABLE = "MINITF_WINOGRAD"  # 0: every convolution is the plain sum
TILE = 4  # outputs of a tile, along an axis
POINTS = (0, 1, -1, 2, -2, 1 / 2, -1 / 2)  # and infinity, the last row of each matrix
WINDOWS = range(2, len(POINTS) - TILE + 3)
CHANNELS = 16  # with fewer, the values at the points cost more than products save
WORK = 1 << 24  # multiplications of the plain sum
SAVED = 2  # times fewer products than that
FILTER = 1 << 21  # elements of the filter at the points: larger ones leave the cache
BLOCK_BYTES = 1 << 21
TILES = 64  # at least in a block, for the sake of BLAS


def pays(axes: Sequence[Axis], made: int, dtype: Any) -> bool:
    """Whether a convolution that makes so many channels is faster by this way."""
    space, depth = axes[1:-1], axes[-1].size
    if os.environ.get(VARIABLE) == "0":
        return False
    if len(space) != 2 or dtype.char not in "fd" or min(depth, made) < CHANNELS:
        return False
    if any(a.stride > 1 or a.dilation > 1 or a.window not in WINDOWS for a in space):
        return False
    plain = math.prod(a.out * a.window for a in space)
    here = math.prod(-(-a.out // TILE) * _points(a) for a in space)
    filter_size = math.prod(_points(a) for a in space) * depth * made
    work = plain * depth * made * axes[0].size
    return plain >= SAVED * here and filter_size <= FILTER and work >= WORK


def convolve(x: Any, f: Any, axes: Sequence[Axis]) -> Any:
    """The convolution; None if it has values that are not finite, which would leave their place."""
    height, width = axes[1:-1]
    out = np.empty((len(x), height.out, width.out, f.shape[-1]), x.dtype)
    (a, b), depth, made = (_matrices(n, x.dtype) for n in f.shape[:2]), *f.shape[2:]
    factors = _transformed(f.reshape(*f.shape[:2], -1), a.filter, b.filter)
    factors = factors.reshape(*factors.shape[:2], depth, made)
    tiles = _tiles(x, axes, _points(height), _points(width))
    finite = []

    def work(start: int, stop: int) -> None:
        for part in blocks(start, stop, step):
            values = _at_points(tiles[:, :, part], a.input, b.input)
            sums = np.matmul(values, factors).reshape(*factors.shape[:2], -1)
            sums = _transformed(sums, b.output, a.output)
            finite.append(_is_finite(sums))
            _put(out[part], sums)

    step = _step(tiles, made)
    with one_blas_thread(), np.errstate(all="ignore"):
        parallel(work, len(x), step)
    return out if all(finite) else None


def filter_gradient(x: Any, dy: Any, axes: Sequence[Axis]) -> Any:
    """The gradient of the filter; None if it has values that are not finite."""
    height, width = axes[1:-1]
    a, b = _matrices(height.window, x.dtype), _matrices(width.window, x.dtype)
    tiles = _tiles(x, axes, _points(height), _points(width))
    places = [windows.whole(len(dy)), *(Axis(n, out=n) for n in dy.shape[1:])]
    dy_tiles = _tiles(dy, places, TILE, TILE)
    sums: dict[int, Any] = {}

    def work(start: int, stop: int) -> None:
        for part in blocks(start, stop, step):
            values = _at_points(tiles[:, :, part], a.input, b.input)
            slopes = _at_points(dy_tiles[:, :, part], a.output.T, b.output.T)
            change = np.matmul(values.swapaxes(-1, -2), slopes)
            sums[start] = sums[start] + change if start in sums else change

    step = _step(tiles, dy.shape[-1])
    with one_blas_thread(), np.errstate(all="ignore"):
        parallel(work, len(x), step)
    total = sum(sums[start] for start in sorted(sums))
    shape = total.shape
    total = _transformed(total.reshape(*shape[:2], -1), b.filter.T, a.filter.T)
    if not _is_finite(total):
        return None
    return total.reshape(height.window, width.window, *shape[2:])


# ---- tiles: [row of a tile, column, image, tile down, tile across, channel]


def _points(a: Axis) -> int:
    return TILE + a.window - 1


def _tiles(x: Any, axes: Sequence[Axis], rows: int, columns: int) -> Any:
    """A view of tiles of that size, which start TILE elements apart."""
    batch, height, width, channels = axes
    cut = [_cut(height, rows), _cut(width, columns)]
    return windows.patches(np, x, [batch, *cut, channels]).transpose(3, 4, 0, 1, 2, 5)


def _cut(a: Axis, size: int) -> Axis:
    count = -(-a.out // TILE)
    after = (count - 1) * TILE + size - a.before - a.size
    return Axis(a.size, size, TILE, 1, a.before, after, count)


def _step(tiles: Any, made: int) -> int:
    """How many images make a block."""
    rows, columns, _, down, across, depth = tiles.shape
    each = tiles.itemsize * rows * columns * down * across * (depth + made)
    return int(max(1, BLOCK_BYTES // each, -(-TILES // (down * across))))


def _put(out: Any, sums: Any) -> None:
    """Puts tiles of outputs, as [row, column, tile and channel], in their places."""
    images, height, width, made = out.shape
    down, across = -(-height // TILE), -(-width // TILE)
    sums = sums.reshape(TILE, TILE, images, down, across, made).transpose(2, 3, 0, 4, 1, 5)
    if out.size == sums.size:
        out.reshape(sums.shape)[...] = sums
    else:
        full = sums.reshape(images, down * TILE, across * TILE, made)
        out[...] = full[:, :height, :width]


def _is_finite(x: Any) -> bool:
    flat = x.reshape(-1)
    return bool(np.isfinite(np.dot(flat, flat)))


# ---- values at the points


def _at_points(tiles: Any, a: Any, b: Any) -> Any:
    """Of tiles, as [point across, point down, tile, channel]."""
    flat = np.ascontiguousarray(tiles).reshape(*tiles.shape[:2], -1)
    return _transformed(flat, a, b).reshape(len(b), len(a), -1, tiles.shape[-1])


def _transformed(x: Any, a: Any, b: Any) -> Any:
    """a along the first axis and b along the second, which change places."""
    return np.matmul(a, np.matmul(b, x).swapaxes(0, 1))


class _Matrices:
    """Of one axis: output @ ((filter @ f) * (input @ x)) correlates f with a tile x."""

    def __init__(self, window: int, dtype: Any) -> None:
        points = POINTS[: TILE + window - 2]
        others = [[q for q in points if q != p] for p in points]
        scale = [math.prod(p - q for q in rest) for p, rest in zip(points, others)]
        infinity = np.eye(len(points) + 1)[-1:]
        powers = np.vander(points, increasing=True)
        self.output = np.vstack([powers[:, :TILE], infinity[:, -TILE:]]).T.astype(dtype)
        weighted = powers[:, :window] / np.array(scale)[:, None]
        self.filter = np.vstack([weighted, infinity[:, -window:]]).astype(dtype)
        rows = [[*np.poly(rest)[::-1], 0] for rest in others]
        self.input = np.array([*rows, np.poly(points)[::-1]]).astype(dtype)


@cache
def _matrices(window: int, dtype: Any) -> _Matrices:
    return _Matrices(window, dtype)
