"""Ops on the diagonals and bands of matrices and of higher tensors."""

from __future__ import annotations

from typing import Any

from minitf_runtime.errors import invalid
from minitf_runtime.ops import dims
from minitf_runtime.ops.registry import ShapeContext, Type, kernel, op, unchanged
from minitf_runtime.types import COMPLEX, FLOATS, INDEX, Shape, int64, show_shape

_DIAGONALS = Type(FLOATS + INDEX + COMPLEX)


@op("MatrixDiag", "diagonal: T -> output: T", T=Type())
def matrix_diag_shape(c: ShapeContext) -> list[Shape]:
    shape = dims.at_least(c.shape(0), 1)
    return [None if shape is None else (*shape, shape[-1])]


@op("MatrixDiagPart", "input: T -> diagonal: T", T=Type())
def matrix_diag_part_shape(c: ShapeContext) -> list[Shape]:
    return [_diagonal_of(c.shape(0))]


@op("MatrixSetDiag", "input: T, diagonal: T -> output: T", T=Type())
def matrix_set_diag_shape(c: ShapeContext) -> list[Shape]:
    shape, diagonal = dims.at_least(c.shape(0), 2), dims.at_least(c.shape(1), 1)
    own = _diagonal_of(shape)
    if own is not None and diagonal is not None:
        dims.merge(own[:-1], diagonal[:-1])
        dims.merge_sizes(own[-1], diagonal[-1])
    return [shape]


def _diagonal_of(shape: Shape) -> Shape:
    """The shape of the main diagonals of a batch of matrices."""
    if dims.at_least(shape, 2) is None or shape is None:
        return None
    rows, columns = shape[-2:]
    return (*shape[:-2], None if rows is None or columns is None else min(rows, columns))


op(
    "MatrixBandPart", "input: T, num_lower: Tindex, num_upper: Tindex -> band: T", unchanged,
    T=Type(), Tindex=Type(INDEX, int64),
)  # fmt: skip


@op("Diag", "diagonal: T -> output: T", T=_DIAGONALS)
def diag_shape(c: ShapeContext) -> list[Shape]:
    shape = dims.at_least(c.shape(0), 1)
    return [dims.concatenate(shape, shape)]


@op("DiagPart", "input: T -> diagonal: T", T=_DIAGONALS)
def diag_part_shape(c: ShapeContext) -> list[Shape]:
    shape = c.shape(0)
    if shape is None:
        return [None]
    rank = len(shape)
    if rank == 0 or rank % 2:
        raise ValueError(_bad_rank(rank))
    pairs = zip(shape[: rank // 2], shape[rank // 2 :], strict=True)
    return [tuple(dims.merge_sizes(m, n) for m, n in pairs)]


@kernel("MatrixDiag")
def matrix_diag(xp: Any, diagonal: Any) -> Any:
    if diagonal.ndim < 1:
        raise invalid(f"diagonal must be at least 1-dim, received shape: {_shown(diagonal)}")
    size = diagonal.shape[-1]
    out = xp.zeros((*diagonal.shape, size), diagonal.dtype)
    each = xp.arange(size)
    out[..., each, each] = diagonal
    return out


@kernel("MatrixDiagPart")
def matrix_diag_part(xp: Any, x: Any) -> Any:
    _check_matrices(x)
    return xp.diagonal(x, axis1=-2, axis2=-1).copy()


@kernel("MatrixSetDiag")
def matrix_set_diag(xp: Any, x: Any, diagonal: Any) -> Any:
    _check_matrices(x)
    each = xp.arange(min(x.shape[-2:]))
    if diagonal.shape != (*x.shape[:-2], len(each)):
        raise invalid(
            f"diagonal must have shape {show_shape((*x.shape[:-2], len(each)))} for an input of "
            f"shape {_shown(x)}, got {_shown(diagonal)}"
        )
    out = x.copy()
    out[..., each, each] = diagonal
    return out


@kernel("MatrixBandPart", host_inputs="num_lower num_upper")
def matrix_band_part(xp: Any, x: Any, num_lower: Any, num_upper: Any) -> Any:
    _check_matrices(x)
    rows, columns = x.shape[-2:]
    lower = _width("num_lower", num_lower, "rows", rows)
    upper = _width("num_upper", num_upper, "columns", columns)
    ahead = xp.arange(columns) - xp.arange(rows)[:, None]
    return xp.where((ahead >= -lower) & (ahead <= upper), x, xp.zeros((), x.dtype))


def _width(name: str, value: Any, side: str, size: int) -> int:
    """How far a band reaches; a negative number means all the way."""
    if value.ndim != 0:
        raise invalid(f"{name} must be scalar, got shape {_shown(value)}")
    if value > size:
        raise invalid(
            f"{name} must be negative or less or equal to number of {side} ({size}) "
            f"got: {int(value)}"
        )
    return size if value < 0 else int(value)


@kernel("Diag")
def diag(xp: Any, diagonal: Any) -> Any:
    out = xp.zeros((diagonal.size, diagonal.size), diagonal.dtype)
    xp.fill_diagonal(out, diagonal.reshape(-1))
    return out.reshape(diagonal.shape * 2)


@kernel("DiagPart")
def diag_part(xp: Any, x: Any) -> Any:
    half = x.ndim // 2
    if half == 0 or x.ndim % 2:
        raise invalid(_bad_rank(x.ndim))
    for i in range(half):
        if x.shape[i] != x.shape[i + half]:
            raise invalid(f"Invalid shape {_shown(x)}: dimensions {i} and {i + half} do not match.")
    size = int(x.size**0.5)
    return xp.diagonal(x.reshape(size, size)).reshape(x.shape[:half]).copy()


def _bad_rank(rank: int) -> str:
    return f"Input must have even and non-zero rank, input rank is {rank}"


def _check_matrices(x: Any) -> None:
    if x.ndim < 2:
        raise invalid(f"input must be at least 2-dim, received shape: {_shown(x)}")


def _shown(x: Any) -> str:
    return show_shape(x.shape)
