"""Products of matrices, of batches of them, and of 3-vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from minitf_runtime.devices.cpu import blas_is_narrow, blocks, one_blas_thread, parallel
from minitf_runtime.errors import FailedPreconditionError, invalid
from minitf_runtime.ops import dims
from minitf_runtime.ops.registry import ShapeContext, Type, kernel, op
from minitf_runtime.types import (
    COMPLEX,
    FLOATS,
    REALS,
    Shape,
    broadcast_shapes,
    float16,
    float32,
    int32,
    int64,
    is_full,
    show_shape,
)

WORTH_SHARING = 1 << 24  # multiplications
TOGETHER = 8  # small matrices: they stay in the cache until the next factor
_FACTORS = Type((*FLOATS, int32, int64, *COMPLEX))


# ---- two matrices


def _product_shape(c: ShapeContext) -> list[Shape]:
    a, b = c.rank(0, 2), c.rank(1, 2)
    rows, inner_a = reversed(a) if c["transpose_a"] else a
    inner_b, columns = reversed(b) if c["transpose_b"] else b
    dims.merge_sizes(inner_a, inner_b)
    return [(rows, columns)]


op(
    "MatMul",
    "a: T, b: T -> product: T",
    _product_shape,
    transpose_a=False,
    transpose_b=False,
    T=_FACTORS,
)
op(
    "SparseMatMul",
    "a: Ta, b: Tb -> product: float32",
    _product_shape,
    transpose_a=False,
    transpose_b=False,
    a_is_sparse=False,
    b_is_sparse=False,
    Ta=Type((float32,), float32),
    Tb=Type((float32,), float32),
)


def multiplications(attrs: Mapping[str, Any], shapes: Sequence[Shape]) -> int | None:
    """How many a MatMul of such shapes takes; None if they are not known or do not fit."""
    left, right = shapes
    if not (is_full(left) and is_full(right)) or len(left) != 2 or len(right) != 2:
        return None
    rows, inner = left[::-1] if attrs["transpose_a"] else left
    inner_right, columns = right[::-1] if attrs["transpose_b"] else right
    return rows * inner * columns if inner == inner_right else None  # type: ignore[operator]


def _short(attrs: Mapping[str, Any], shapes: Sequence[Shape]) -> str:
    """The product as an expression: of shapes that fit, and not to be shared among threads."""
    size = multiplications(attrs, shapes)
    if size is None or size >= WORTH_SHARING:
        return ""
    a, b = (f"{{{i}}}{'.T' if attrs[f'transpose_{x}'] else ''}" for i, x in enumerate("ab"))
    return f"xp.dot({a}, {b})"


@kernel("MatMul", inline=_short)
@kernel("SparseMatMul")
def mat_mul(xp: Any, a: Any, b: Any, *, transpose_a: bool, transpose_b: bool) -> Any:
    if a.ndim != 2 or b.ndim != 2:
        i, bad = (0, a) if a.ndim != 2 else (1, b)
        raise invalid(f"In[{i}] is not a matrix. Instead it has shape {show_shape(bad.shape)}")
    left = a.T if transpose_a else a
    right = b.T if transpose_b else b
    if left.shape[1] != right.shape[0]:
        raise invalid(
            f"Matrix size-incompatible: In[0]: {show_shape(a.shape)}, In[1]: {show_shape(b.shape)}"
        )
    return product(xp, left, right)


def product(xp: Any, left: Any, right: Any) -> Any:
    """The product of two matrices; on the device's threads where those of BLAS are off."""
    rows, inner = left.shape
    columns = right.shape[1]
    if xp is not np or left.dtype != right.dtype:
        return xp.dot(left, right)
    if right.T.flags.c_contiguous and 4 * rows <= min(inner, columns):
        # BLAS would copy the large factor to transpose it; it is better to turn what comes out.
        return np.ascontiguousarray(product(np, right.T, left.T).T)
    if not blas_is_narrow():
        return np.dot(left, right)
    if rows * inner * columns < WORTH_SHARING:
        return xp.dot(left, right)
    out = np.empty((rows, columns), left.dtype)
    if rows >= columns:
        parallel(lambda a, b: np.dot(left[a:b], right, out=out[a:b]), rows, 1)
        return out

    def share(start: int, stop: int) -> None:
        out[:, start:stop] = left @ right[:, start:stop]

    parallel(share, columns, 1)
    return out


def products(xp: Any, left: Any, rights: Sequence[tuple[Any, bool, bool]]) -> Any:
    """A stack of matrices, or one for all, times a stack or one matrix, times the next ...

    Each factor comes with MatMul's transpose_a and transpose_b.
    """
    count = next(len(x) for x in (left, *(right for right, _, _ in rights)) if x.ndim == 3)
    if xp is not np:
        return _products(xp, left, rights, None)
    out = np.empty((count, *_sizes_of_last(left, rights)), left.dtype)

    def share(start: int, stop: int) -> None:
        for some in blocks(start, stop, TOGETHER):
            factors = [(right if right.ndim == 2 else right[some], a, b) for right, a, b in rights]
            first = left if left.ndim == 2 else left[some]
            _products(np, first, factors, out[some])

    with one_blas_thread():
        parallel(share, count, TOGETHER)
    return out


def _sizes_of_last(left: Any, rights: Sequence[tuple[Any, bool, bool]]) -> tuple[int, int]:
    rows, columns = left.shape[-2:]
    for right, transpose_a, transpose_b in rights:
        rows = columns if transpose_a else rows
        columns = right.shape[-2 if transpose_b else -1]
    return rows, columns


def _products(xp: Any, product: Any, rights: Sequence[tuple[Any, bool, bool]], out: Any) -> Any:
    for i, (right, transpose_a, transpose_b) in enumerate(rights, 1):
        left = product.swapaxes(-1, -2) if transpose_a else product
        right = right.swapaxes(-1, -2) if transpose_b else right
        product = xp.matmul(left, right, out=out if i == len(rights) else None)
    return product


@kernel("MatMul", types=(float16,), priority=1)
def mat_mul_half(xp: Any, a: Any, b: Any, *, transpose_a: bool, transpose_b: bool) -> Any:
    a, b = a.astype(xp.float32), b.astype(xp.float32)
    product = mat_mul(xp, a, b, transpose_a=transpose_a, transpose_b=transpose_b)
    return product.astype(xp.float16)


# ---- batches of matrices


def _batch_product_shape(c: ShapeContext, broadcasts: bool) -> list[Shape]:
    x, y = dims.at_least(c.shape(0), 2), dims.at_least(c.shape(1), 2)
    if x is None or y is None:
        return [None]
    rows, inner_x = x[-1:-3:-1] if c["adj_x"] else x[-2:]
    inner_y, columns = y[-1:-3:-1] if c["adj_y"] else y[-2:]
    batch = broadcast_shapes(x[:-2], y[:-2]) if broadcasts else dims.merge(x[:-2], y[:-2])
    dims.merge_sizes(inner_x, inner_y)
    return [dims.concatenate(batch, (rows, columns))]


for _name, _broadcasts in (("BatchMatMul", False), ("BatchMatMulV2", True)):
    op(
        _name,
        "x: T, y: T -> output: T",
        lambda c, b=_broadcasts: _batch_product_shape(c, b),  # type: ignore[misc]
        T=_FACTORS,
        adj_x=False,
        adj_y=False,
    )


def _adjoint(x: Any, wanted: bool) -> Any:
    return x.conj().swapaxes(-1, -2) if wanted else x


def _batch_product(xp: Any, x: Any, y: Any, adj_x: bool, adj_y: bool) -> Any:
    left, right = _adjoint(x, adj_x), _adjoint(y, adj_y)
    if left.shape[-1] != right.shape[-2]:
        raise invalid(
            f"In[0] mismatch In[1] shape: {left.shape[-1]} vs. {right.shape[-2]}: "
            f"{show_shape(x.shape)} {show_shape(y.shape)} {int(adj_x)} {int(adj_y)}"
        )
    if left.dtype == xp.float16:
        wide = xp.matmul(left.astype(xp.float32), right.astype(xp.float32))
        return wide.astype(xp.float16)
    return xp.matmul(left, right)


@kernel("BatchMatMul")
def batch_mat_mul(xp: Any, x: Any, y: Any, *, adj_x: bool, adj_y: bool) -> Any:
    both = f"{show_shape(x.shape)} vs. {show_shape(y.shape)}"
    if x.ndim != y.ndim:
        raise invalid(f"In[0] and In[1] has different ndims: {both}")
    if x.ndim < 2:
        raise invalid(f"In[0] and In[1] ndims must be >= 2: {x.ndim}")
    for i in range(x.ndim - 2):
        if x.shape[i] != y.shape[i]:
            raise invalid(
                f"In[0].dim({i}) and In[1].dim({i}) must be the same: {both.replace('.', '')}"
            )
    return _batch_product(xp, x, y, adj_x, adj_y)


@kernel("BatchMatMulV2")
def batch_mat_mul_v2(xp: Any, x: Any, y: Any, *, adj_x: bool, adj_y: bool) -> Any:
    for i, one in enumerate((x, y)):
        if one.ndim < 2:
            raise invalid(f"In[{i}] ndims must be >= 2: {one.ndim}")
    try:
        broadcast_shapes(x.shape[:-2], y.shape[:-2])
    except ValueError:
        raise invalid(
            "In[0] and In[1] must have compatible batch dimensions: "
            f"{show_shape(x.shape)} vs. {show_shape(y.shape)}"
        ) from None
    return _batch_product(xp, x, y, adj_x, adj_y)


# ---- vectors


@op("Cross", "a: T, b: T -> product: T", T=Type(REALS))
def cross_shape(c: ShapeContext) -> list[Shape]:
    """The cross products of 3-vectors along the last axis."""
    a, b = dims.at_least(c.shape(0), 1), dims.at_least(c.shape(1), 1)
    for shape in (a, b):
        dims.fixed_size(None if shape is None else shape[-1], 3)
    return [dims.merge(a, b)]


@kernel("Cross")
def cross(xp: Any, a: Any, b: Any) -> Any:
    if a.shape != b.shape:
        raise invalid(
            f"Both inputs must be of same shape: {show_shape(a.shape)} vs. {show_shape(b.shape)}"
        )
    if not a.ndim or a.shape[-1] != 3:
        raise FailedPreconditionError(
            None, None, "Cross-products are only defined for 3-element vectors."
        )
    return xp.cross(a, b)
