"""Ops that move blocks of space to depth or to batch and back, and that cut images into patches."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minitf_runtime.errors import UnimplementedError, invalid
from minitf_runtime.ops import dims
from minitf_runtime.ops.registry import Attr, ShapeContext, Type, kernel, op
from minitf_runtime.types import INDEX, REALS, Shape, int32, show_shape

# ---- depth

_FORMATS = Attr("string", "NHWC", ("NHWC", "NCHW", "NCHW_VECT_C"))
_BLOCK = Attr("int", minimum=2)


def _axes(data_format: str) -> tuple[int, int, int]:
    """Positions of height, width and channels."""
    if data_format == "NCHW_VECT_C":
        raise UnimplementedError(None, None, "data_format NCHW_VECT_C is not supported")
    return (1, 2, 3) if data_format == "NHWC" else (2, 3, 1)


def _depth_shape(c: ShapeContext, to_depth: bool) -> list[Shape]:
    x = dims.with_rank(c.shape(0), 4)
    h, w, ch = _axes(c["data_format"])
    block = c["block_size"]
    out = list(x)
    for axis in (h, w):
        out[axis] = dims.divide(x[axis], block) if to_depth else dims.multiply(x[axis], block)
    area = block * block
    out[ch] = dims.multiply(x[ch], area) if to_depth else dims.divide(x[ch], area)
    return [tuple(out)]


op(
    "SpaceToDepth",
    "input: T -> output: T",
    lambda c: _depth_shape(c, True),
    T=Type(),
    block_size=_BLOCK,
    data_format=_FORMATS,
)
op(
    "DepthToSpace",
    "input: T -> output: T",
    lambda c: _depth_shape(c, False),
    T=Type(),
    block_size=_BLOCK,
    data_format=_FORMATS,
)


def _checked_image(x: Any) -> None:
    if x.ndim != 4:
        raise invalid(f"Input rank should be: 4 instead of: {x.ndim}")


@kernel("SpaceToDepth")
def space_to_depth(xp: Any, x: Any, *, block_size: Any, data_format: Any) -> Any:
    _checked_image(x)
    x = xp.moveaxis(x, _axes(data_format), (1, 2, 3))
    n, h, w, ch = x.shape
    b = block_size
    if h % b or w % b:
        raise invalid(f"Image width {w} and height {h} should be divisible by block_size: {b}")
    blocks = x.reshape(n, h // b, b, w // b, b, ch).transpose(0, 1, 3, 2, 4, 5)
    out = blocks.reshape(n, h // b, w // b, b * b * ch)
    return xp.moveaxis(out, (1, 2, 3), _axes(data_format))


@kernel("DepthToSpace")
def depth_to_space(xp: Any, x: Any, *, block_size: Any, data_format: Any) -> Any:
    _checked_image(x)
    x = xp.moveaxis(x, _axes(data_format), (1, 2, 3))
    n, h, w, ch = x.shape
    b = block_size
    if ch % (b * b):
        raise invalid(f"Input depth dimension {ch} should be divisible by: {b * b}")
    blocks = x.reshape(n, h, w, b, b, ch // (b * b)).transpose(0, 1, 3, 2, 4, 5)
    out = blocks.reshape(n, h * b, w * b, ch // (b * b))
    return xp.moveaxis(out, (1, 2, 3), _axes(data_format))


# ---- batch


def _batch_shape(c: ShapeContext, to_batch: bool) -> list[Shape]:
    if c.shape(1) is None or len(c.shape(1) or ()) != 1:
        raise ValueError("block_shape must have rank 1.")
    (count,) = dims.with_rank(c.shape(1), 1)
    if count is None:
        raise ValueError("block_shape must have known size.")
    dims.merge(dims.with_rank(c.shape(2), 2), (count, 2))
    x = dims.at_least(c.shape(0), count + 1)
    if x is None:
        return [None]
    block, pads = c.value(1), c.value(2)
    batch = None
    if block is not None:
        area = math.prod(int(b) for b in block)
        batch = dims.multiply(x[0], area) if to_batch else dims.divide(x[0], area)
    space: list[dims.Size] = [None] * count
    for i in range(count if block is not None and pads is not None else 0):
        around = int(pads[i].sum())
        if to_batch:
            space[i] = dims.divide(dims.add(x[i + 1], around), int(block[i]))
        else:
            space[i] = dims.add(dims.multiply(x[i + 1], int(block[i])), -around)
    return [(batch, *space, *x[count + 1 :])]


_BLOCKS = "input: T, block_shape: Tblock_shape"
_INT32 = Type(INDEX, int32)
op(
    "SpaceToBatchND",
    f"{_BLOCKS}, paddings: Tpaddings -> output: T",
    lambda c: _batch_shape(c, True),
    T=Type(),
    Tblock_shape=_INT32,
    Tpaddings=_INT32,
)
op(
    "BatchToSpaceND",
    f"{_BLOCKS}, crops: Tcrops -> output: T",
    lambda c: _batch_shape(c, False),
    T=Type(),
    Tblock_shape=_INT32,
    Tcrops=_INT32,
)


def _blocks(x: Any, block_shape: Any, around: Any, what: str) -> tuple[list[int], list[Any]]:
    if block_shape.ndim != 1:
        raise invalid(f"block_shape rank should be 1 instead of {block_shape.ndim}")
    block = block_shape.tolist()
    if x.ndim < 1 + len(block):
        raise invalid(f"input rank should be >= {1 + len(block)} instead of {x.ndim}")
    if around.shape != (len(block), 2):
        raise invalid(
            f"{what} should have shape [{len(block)}, 2] instead of {show_shape(around.shape)}"
        )
    if any(b < 1 for b in block):
        raise invalid("All values in block_shape must be positive")
    if (around < 0).any():
        raise invalid(f"All {what} must be non-negative")
    return block, around.tolist()


@kernel("SpaceToBatchND", host_inputs="block_shape paddings")
def space_to_batch_nd(xp: Any, x: Any, block_shape: Any, paddings: Any) -> Any:
    block, around = _blocks(x, block_shape, paddings, "paddings")
    m, rest = len(block), x.shape[1 + len(block) :]
    x = xp.pad(x, [(0, 0), *around, *[(0, 0)] * len(rest)])
    split = [x.shape[0]]
    for i, b in enumerate(block):
        size = x.shape[i + 1]
        if size % b:
            raise invalid(f"padded_shape[{i}]={size} is not divisible by block_shape[{i}]={b}")
        split += [size // b, b]
    inside = list(range(2, 2 * m + 1, 2))
    outside = list(range(1, 2 * m, 2))
    tail = list(range(2 * m + 1, 2 * m + 1 + len(rest)))
    moved = x.reshape(*split, *rest).transpose(*inside, 0, *outside, *tail)
    sizes = [n // b for n, b in zip(x.shape[1 : m + 1], block)]
    return moved.reshape(x.shape[0] * math.prod(block), *sizes, *rest)


@kernel("BatchToSpaceND", host_inputs="block_shape crops")
def batch_to_space_nd(xp: Any, x: Any, block_shape: Any, crops: Any) -> Any:
    block, around = _blocks(x, block_shape, crops, "crops")
    m, rest = len(block), x.shape[1 + len(block) :]
    area = math.prod(block)
    if x.shape[0] % area:
        raise invalid(
            f"Input batch dimension ({x.shape[0]}) is not divisible by product of block sizes "
            f"({area})"
        )
    batch, space = x.shape[0] // area, x.shape[1 : m + 1]
    order = [m]
    for i in range(m):
        order += [m + 1 + i, i]
    tail = range(2 * m + 1, 2 * m + 1 + len(rest))
    moved = x.reshape(*block, batch, *space, *rest).transpose(*order, *tail)
    sizes = [n * b for n, b in zip(space, block)]
    for i, (size, (a, b)) in enumerate(zip(sizes, around)):
        if size < a + b:
            raise invalid(f"cropped_shape[{i}]={size - a - b} must be non-negative")
    inside = [slice(a, n - b) for n, (a, b) in zip(sizes, around)]
    return moved.reshape(batch, *sizes, *rest)[(slice(None), *inside)]


# ---- patches


@op(
    "ExtractImagePatches",
    "images: T -> patches: T",
    ksizes=Attr("list(int)"),
    strides=Attr("list(int)"),
    rates=Attr("list(int)"),
    T=Type(REALS),
    padding=Attr("string", allowed=("SAME", "VALID")),
)
def extract_image_patches_shape(c: ShapeContext) -> list[Shape]:
    """Each output position holds the pixels of one window, depth last."""
    n, h, w, ch = dims.with_rank(c.shape(0), 4)
    _, rows, cols, _ = c["ksizes"]
    out_h, _ = _windows(h, rows, c["strides"][1], c["rates"][1], c["padding"])
    out_w, _ = _windows(w, cols, c["strides"][2], c["rates"][2], c["padding"])
    return [(n, out_h, out_w, dims.multiply(ch, rows * cols))]


def _windows(
    size: dims.Size, window: int, stride: int, rate: int, padding: str
) -> tuple[dims.Size, int]:
    """How many windows fit along an axis, and how much zero padding goes before it."""
    if size is None:
        return None, 0
    reach = window + (window - 1) * (rate - 1)
    if padding == "VALID":
        return max(-(-(size - reach + 1) // stride), 0), 0
    count = -(-size // stride)
    return count, max((count - 1) * stride + reach - size, 0) // 2


@kernel("ExtractImagePatches")
def extract_image_patches(
    xp: Any, images: Any, *, ksizes: Any, strides: Any, rates: Any, padding: Any
) -> Any:
    _checked_image(images)
    n, h, w, ch = images.shape
    rows, before_h = _picks(h, ksizes[1], strides[1], rates[1], padding)
    cols, before_w = _picks(w, ksizes[2], strides[2], rates[2], padding)
    far_h, far_w = int(rows.max(initial=0)) + 1, int(cols.max(initial=0)) + 1
    around = ((before_h, max(far_h - before_h - h, 0)), (before_w, max(far_w - before_w - w, 0)))
    padded = xp.pad(images, ((0, 0), *around, (0, 0)))
    rows, cols = xp.asarray(rows), xp.asarray(cols)
    patches = padded[:, rows[:, None, :, None], cols[None, :, None, :]]
    return patches.reshape(n, rows.shape[0], cols.shape[0], ksizes[1] * ksizes[2] * ch)


def _picks(size: int, window: int, stride: int, rate: int, padding: str) -> tuple[Any, int]:
    """For each window along an axis the positions that it covers in the padded axis."""
    count, before = _windows(size, window, stride, rate, padding)
    starts = np.arange(count or 0)[:, None] * stride
    return starts + np.arange(window)[None, :] * rate, before
