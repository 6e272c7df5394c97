"""Ops on matrices: decompositions, solvers, determinants. Those on diagonals are in diagonal.py.

All take a batch of matrices in the two innermost dimensions. LAPACK has no half precision: float16
is computed in float32.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from minitf_runtime.devices.arrays import synchronised
from minitf_runtime.errors import invalid
from minitf_runtime.ops import dims
from minitf_runtime.ops.registry import ShapeContext, Type, kernel, op
from minitf_runtime.types import COMPLEX, FLOATS, Shape

MATRICES = Type(FLOATS + COMPLEX)


def _matrices(shape: Shape) -> tuple[Shape, dims.Size, dims.Size]:
    """The batch shape, rows and columns of a batch of matrices."""
    if dims.at_least(shape, 2) is None or shape is None:
        return None, None, None
    return shape[:-2], shape[-2], shape[-1]


def _square(shape: Shape) -> Shape:
    """The shape, its two innermost sizes being one."""
    batch, rows, columns = _matrices(shape)
    size = dims.merge_sizes(rows, columns)
    return None if batch is None else (*batch, size, size)


def _smaller(a: dims.Size, b: dims.Size) -> dims.Size:
    return None if a is None or b is None else min(a, b)


def _batch(batch: Shape, *sizes: dims.Size) -> Shape:
    return None if batch is None else (*batch, *sizes)


def _square_matrices(c: ShapeContext) -> list[Shape]:
    return [_square(c.shape(0))]


def _one_per_matrix(c: ShapeContext) -> list[Shape]:
    """Scalars for each square matrix."""
    square = _square(c.shape(0))
    return [None if square is None else square[:-2]] * len(c.opdef.outputs)


op("Cholesky", "input: T -> output: T", _square_matrices, T=MATRICES)
op("MatrixInverse", "input: T -> output: T", _square_matrices, T=MATRICES, adjoint=False)
op("MatrixDeterminant", "input: T -> output: T", _one_per_matrix, T=MATRICES)
op(
    "LogMatrixDeterminant", "input: T -> sign: T, log_abs_determinant: T", _one_per_matrix,
    T=MATRICES,
)  # fmt: skip


@op("Qr", "input: T -> q: T, r: T", T=MATRICES, full_matrices=False)
def qr_shape(c: ShapeContext) -> list[Shape]:
    batch, rows, columns = _matrices(c.shape(0))
    inner = rows if c["full_matrices"] else _smaller(rows, columns)
    return [_batch(batch, rows, inner), _batch(batch, inner, columns)]


@op("Svd", "input: T -> s: T, u: T, v: T", T=MATRICES, compute_uv=True, full_matrices=False)
def svd_shape(c: ShapeContext) -> list[Shape]:
    batch, rows, columns = _matrices(c.shape(0))
    rank = _smaller(rows, columns)
    values = _batch(batch, rank)
    if not c["compute_uv"]:
        return [values, (0,), (0,)]
    if c["full_matrices"]:
        return [values, _batch(batch, rows, rows), _batch(batch, columns, columns)]
    return [values, _batch(batch, rows, rank), _batch(batch, columns, rank)]


@op("SelfAdjointEigV2", "input: T -> e: T, v: T", T=MATRICES, compute_v=True)
def self_adjoint_eig_shape(c: ShapeContext) -> list[Shape]:
    square = _square(c.shape(0))
    return [None if square is None else square[:-1], square if c["compute_v"] else (0,)]


def _solution(c: ShapeContext, square: bool) -> list[Shape]:
    """[..., rows, columns] and [..., rows, k] give [..., columns, k]."""
    batch, rows, columns = _matrices(_square(c.shape(0)) if square else c.shape(0))
    rhs_batch, rhs_rows, count = _matrices(c.shape(1))
    dims.merge_sizes(rows, rhs_rows)
    return [_batch(dims.merge(batch, rhs_batch), columns, count)]


def _square_solution(c: ShapeContext) -> list[Shape]:
    return _solution(c, square=True)


def _any_solution(c: ShapeContext) -> list[Shape]:
    return _solution(c, square=False)


op(
    "MatrixSolve", "matrix: T, rhs: T -> output: T", _square_solution,
    T=MATRICES, adjoint=False,
)  # fmt: skip
op(
    "MatrixTriangularSolve", "matrix: T, rhs: T -> output: T", _square_solution,
    T=MATRICES, lower=True, adjoint=False,
)  # fmt: skip
op(
    "MatrixSolveLs", "matrix: T, rhs: T, l2_regularizer: double -> output: T", _any_solution,
    T=MATRICES, fast=True,
)  # fmt: skip


def in_single(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel with float16 inputs computed as float32."""

    @functools.wraps(fn)
    def run(xp: Any, *inputs: Any, **attrs: Any) -> Any:
        with synchronised(xp):  # whether it succeeded is looked at
            if inputs[0].dtype != np.float16:
                return fn(xp, *inputs, **attrs)
            outputs = fn(xp, *(x.astype(np.float32) for x in inputs), **attrs)
        if isinstance(outputs, tuple):
            return tuple(x.astype(np.float16) for x in outputs)
        return outputs.astype(np.float16)

    return run


def _check_matrices(x: Any) -> None:
    if x.ndim < 2:
        raise invalid(f"Input tensor must have rank >= 2, got {x.ndim}")


def _check_square(x: Any) -> None:
    _check_matrices(x)
    if x.shape[-1] != x.shape[-2]:
        raise invalid("Input matrix must be square.")


def _adjoint(x: Any) -> Any:
    return x.conj().swapaxes(-1, -2)


@kernel("Cholesky")
@in_single
def cholesky(xp: Any, x: Any) -> Any:
    _check_square(x)
    try:
        return xp.linalg.cholesky(x)
    except np.linalg.LinAlgError:
        raise invalid(
            "Cholesky decomposition was not successful. The input might not be valid."
        ) from None


@kernel("MatrixInverse")
@in_single
def matrix_inverse(xp: Any, x: Any, *, adjoint: bool) -> Any:
    _check_square(x)
    try:
        return xp.linalg.inv(_adjoint(x) if adjoint else x)
    except np.linalg.LinAlgError:
        raise invalid("Input is not invertible.") from None


@kernel("MatrixDeterminant")
@in_single
def matrix_determinant(xp: Any, x: Any) -> Any:
    _check_square(x)
    return xp.linalg.det(x)


@kernel("LogMatrixDeterminant")
@in_single
def log_matrix_determinant(xp: Any, x: Any) -> Any:
    _check_square(x)
    sign, log = xp.linalg.slogdet(x)
    return sign, log.astype(x.dtype)


@kernel("Qr")
@in_single
def qr(xp: Any, x: Any, *, full_matrices: bool) -> Any:
    _check_matrices(x)
    q, r = xp.linalg.qr(x, mode="complete" if full_matrices else "reduced")
    return q, r


@kernel("Svd")
@in_single
def svd(xp: Any, x: Any, *, compute_uv: bool, full_matrices: bool) -> Any:
    _check_matrices(x)
    if not compute_uv:
        nothing = xp.empty((0,), x.dtype)
        return xp.linalg.svd(x, compute_uv=False).astype(x.dtype), nothing, nothing
    u, s, vh = xp.linalg.svd(x, full_matrices=full_matrices)
    return s.astype(x.dtype), u, _adjoint(vh)


@kernel("SelfAdjointEigV2")
@in_single
def self_adjoint_eig(xp: Any, x: Any, *, compute_v: bool) -> Any:
    _check_square(x)
    if not compute_v:
        return xp.linalg.eigvalsh(x).astype(x.dtype), xp.empty((0,), x.dtype)
    e, v = xp.linalg.eigh(x)
    return e.astype(x.dtype), v


def _check_system(matrix: Any, rhs: Any) -> None:
    _check_matrices(matrix)
    _check_matrices(rhs)
    if matrix.shape[:-1] != rhs.shape[:-1]:
        raise invalid(
            f"Input matrix and right-hand side must have equal batches and rows, got shapes "
            f"{list(matrix.shape)} and {list(rhs.shape)}"
        )


@kernel("MatrixSolve")
@in_single
def matrix_solve(xp: Any, matrix: Any, rhs: Any, *, adjoint: bool) -> Any:
    _check_square(matrix)
    _check_system(matrix, rhs)
    try:
        return xp.linalg.solve(_adjoint(matrix) if adjoint else matrix, rhs)
    except np.linalg.LinAlgError:
        raise invalid("Input matrix is not invertible.") from None


@kernel("MatrixTriangularSolve")
@in_single
def matrix_triangular_solve(xp: Any, matrix: Any, rhs: Any, *, lower: bool, adjoint: bool) -> Any:
    _check_square(matrix)
    half = xp.tril(matrix) if lower else xp.triu(matrix)
    return matrix_solve(xp, half, rhs, adjoint=adjoint)


@kernel("MatrixSolveLs", host_inputs="l2_regularizer")
def matrix_solve_ls(xp: Any, matrix: Any, rhs: Any, l2_regularizer: Any, *, fast: bool) -> Any:
    """Least squares: by the normal equations if `fast`, else by the pseudo-inverse (TF: by QR)."""
    _check_system(matrix, rhs)
    solve = _normal_equations if fast else _pseudo_inverse
    return in_single(functools.partial(solve, ridge=float(l2_regularizer)))(xp, matrix, rhs)


def _pseudo_inverse(xp: Any, matrix: Any, rhs: Any, ridge: float) -> Any:
    """The solution of least norm; TF ignores the ridge here."""
    return xp.linalg.pinv(matrix) @ rhs


def _normal_equations(xp: Any, matrix: Any, rhs: Any, ridge: float) -> Any:
    adjoint = _adjoint(matrix)
    tall = matrix.shape[-2] >= matrix.shape[-1]
    gram = adjoint @ matrix if tall else matrix @ adjoint
    gram = gram + ridge * xp.eye(gram.shape[-1], dtype=gram.dtype)
    try:
        xp.linalg.cholesky(gram)
    except np.linalg.LinAlgError:
        raise invalid(
            "Input matrix was rank deficient or ill-conditioned. Try setting fast=False or provide "
            "a larger l2_regularizer > 0."
        ) from None
    return xp.linalg.solve(gram, adjoint @ rhs) if tall else adjoint @ xp.linalg.solve(gram, rhs)
