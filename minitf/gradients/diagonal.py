"""Gradients of ops on diagonals and bands of matrices."""

from __future__ import annotations

from typing import Any

from minitf.default import colocate_with
from minitf.gradients.registry import gradient
from minitf.ops.apply import apply_op
from minitf.ops.array import concat, rank, shape, zeros, zeros_like
from minitf.ops.array import slice as slice_op
from minitf.ops.linalg import matrix_diag, matrix_diag_part, matrix_set_diag
from minitf.ops.reduction import reduce_min
from minitf_runtime.types import Shape, is_full, merge_shapes


@gradient("Diag")
def diag(op: Any, grad: Any) -> Any:
    return apply_op("DiagPart", grad)


@gradient("DiagPart")
def diag_part(op: Any, grad: Any) -> Any:
    return apply_op("Diag", grad)


@gradient("MatrixDiag")
def matrix_diag_(op: Any, grad: Any) -> Any:
    return matrix_diag_part(grad)


@gradient("MatrixDiagPart")
def matrix_diag_part_(op: Any, grad: Any) -> Any:
    x = op.inputs[0]
    sizes = () if x._shape is None else x._shape[-2:]
    if sizes and None not in sizes and sizes[0] == sizes[1]:
        return matrix_diag(grad)
    return matrix_set_diag(zeros_like(x), grad)


@gradient("MatrixSetDiag")
def matrix_set_diag_(op: Any, grad: Any) -> Any:
    x, diagonal = op.inputs
    known = _known_diagonal(merge_shapes(x._shape, grad._shape), diagonal._shape)
    if known is None:
        known = _diagonal_shape(grad)
    rest = matrix_set_diag(grad, zeros(known, grad.dtype))
    return rest, matrix_diag_part(grad)


def _known_diagonal(matrix: Shape, diagonal: Shape) -> Shape:
    if matrix is None or None in matrix[-2:]:
        return None
    batch = merge_shapes(matrix[:-2], None if diagonal is None else diagonal[:-1])
    return (*batch, min(matrix[-2:])) if is_full(batch) else None  # type: ignore[misc,type-var]


def _diagonal_shape(matrix: Any) -> Any:
    with colocate_with(matrix):
        sizes = shape(matrix)
        last = rank(matrix)
        batch = slice_op(sizes, [0], [last - 2])
        least = reduce_min(slice_op(sizes, [last - 2], [2]))
        return concat([batch, [least]], 0)


@gradient("MatrixBandPart")
def matrix_band_part(op: Any, grad: Any) -> Any:
    return apply_op("MatrixBandPart", grad, *op.inputs[1:]), None, None


@gradient("Cross")
def cross(op: Any, grad: Any) -> Any:
    u, v = op.inputs
    return apply_op("Cross", v, grad), apply_op("Cross", grad, u)
