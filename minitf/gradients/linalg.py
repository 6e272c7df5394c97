"""Gradients of matrix decompositions, solvers and diagonals."""

from __future__ import annotations

from typing import Any

from minitf.default import control_dependencies
from minitf.gradients.registry import gradient
from minitf.ops.apply import apply_op
from minitf.ops.array import concat, expand_dims, matrix_transpose, shape, zeros_like
from minitf.ops.elementwise import cast
from minitf.ops.linalg import (
    adjoint,
    cholesky_solve,
    eye,
    gram_cholesky,
    matrix_diag,
    matrix_diag_part,
    matrix_set_diag,
    matrix_triangular_solve,
    self_adjoint_eig,
    svd,
)
from minitf.ops.matmul import matmul
from minitf_runtime.errors import UnimplementedError

# ---- determinants and inverses


@gradient("MatrixInverse")
def matrix_inverse(op: Any, grad: Any) -> Any:
    inverse = op.outputs[0]
    return -matmul(inverse, matmul(grad, inverse, adjoint_b=True), adjoint_a=True)


@gradient("MatrixDeterminant")
def matrix_determinant(op: Any, grad: Any) -> Any:
    det = op.outputs[0]
    inverse = apply_op("MatrixInverse", op.inputs[0], adjoint=True)
    return _per_matrix(grad * det, det) * inverse


@gradient("LogMatrixDeterminant")
def log_matrix_determinant(op: Any, _: Any, grad: Any) -> Any:
    inverse = apply_op("MatrixInverse", op.inputs[0], adjoint=True)
    return _per_matrix(grad, op.outputs[1]) * inverse


def _per_matrix(values: Any, like: Any) -> Any:
    """One number for each matrix of a batch, as 1 x 1 matrices."""
    return apply_op("Reshape", values, concat([shape(like), [1, 1]], 0))


# ---- decompositions


@gradient("Cholesky")
def cholesky(op: Any, grad: Any) -> Any:
    factor = op.outputs[0]
    rows = shape(factor)[-1]
    batch = shape(factor)[:-2]
    inverse = matrix_triangular_solve(factor, eye(rows, batch_shape=batch, dtype=factor.dtype))
    middle = matmul(factor, grad, adjoint_a=True)
    middle = matrix_set_diag(middle, 0.5 * matrix_diag_part(middle))
    middle = apply_op("MatrixBandPart", middle, -1, 0)
    back = matmul(matmul(inverse, middle, adjoint_a=True), inverse)
    back = back + adjoint(back)
    return back * 0.5


@gradient("Qr")
def qr(op: Any, dq: Any, dr: Any) -> Any:
    """Raises NotImplementedError for complex, unknown or wide matrices, as in TF."""
    q, r = op.outputs
    if q.dtype.is_complex:
        raise NotImplementedError(f"QrGrad not implemented for dtype: {q.dtype}")
    if r._shape is None or None in r._shape[-2:]:
        raise NotImplementedError("QrGrad not implemented with dynamic shapes.")
    if r._shape[-2] != r._shape[-1]:
        raise NotImplementedError(
            "QrGrad not implemented when ncols > nrows or full_matrices is true and ncols != nrows."
        )
    qdq = matmul(q, dq, adjoint_a=True)
    q_part = qdq - adjoint(qdq)
    rdr = matmul(r, dr, adjoint_b=True)
    r_part = rdr - adjoint(rdr)
    lower = apply_op("MatrixBandPart", q_part + r_part, -1, 0)
    first = matmul(q, dr + _solve_right(lower, r))
    return first + _solve_right(dq - matmul(q, qdq), r)


def _solve_right(x: Any, r: Any) -> Any:
    """x times the adjoint of the inverse of the upper triangle r."""
    return adjoint(matrix_triangular_solve(r, adjoint(x), lower=False, adjoint=False))


@gradient("SelfAdjointEigV2")
def self_adjoint_eig_v2(op: Any, grad_e: Any, grad_v: Any) -> Any:
    """Infinite where eigenvalues coincide."""
    e = op.outputs[0]
    with control_dependencies([grad_e, grad_v]):
        if op.get_attr("compute_v"):
            v = op.outputs[1]
            gaps = apply_op("Reciprocal", expand_dims(e, -2) - expand_dims(e, -1))
            factors = matrix_set_diag(gaps, zeros_like(e))
            inner = matrix_diag(grad_e) + factors * matmul(v, grad_v, adjoint_a=True)
        else:
            _, v = self_adjoint_eig(op.inputs[0])
            inner = matrix_diag(grad_e)
        back = matmul(v, matmul(inner, v, adjoint_b=True))
        # The op reads the lower triangle alone.
        back = apply_op("MatrixBandPart", back + adjoint(back), -1, 0)
        return matrix_set_diag(back, 0.5 * matrix_diag_part(back))


@gradient("Svd")
def svd_(op: Any, grad_s: Any, grad_u: Any, grad_v: Any) -> Any:
    """Infinite where singular values coincide. Raises NotImplementedError where TF does."""
    a = op.inputs[0]
    grad_s_matrix = matrix_diag(grad_s)
    if not op.get_attr("compute_uv"):
        _, u, v = svd(a, compute_uv=True)
        back = matmul(u, matmul(grad_s_matrix, v, adjoint_b=True))
        back.set_shape(a.shape)
        return back
    if a.dtype.is_complex:
        raise NotImplementedError(
            "SVD gradient is not implemented for complex types and compute_uv=True."
        )
    sizes = a.shape.with_rank_at_least(2)
    m, n = sizes[-2].value, sizes[-1].value
    if m is None or n is None:
        raise NotImplementedError(
            "SVD gradient has not been implemented for input with unknown inner matrix shape."
        )
    s, u, v = op.outputs
    full = op.get_attr("full_matrices")
    # A tall matrix is differentiated as its transpose.
    wide = m <= n
    if not wide:
        m, n, u, v, grad_u, grad_v = n, m, v, u, grad_v, grad_u
    with control_dependencies([grad_s, grad_u, grad_v]):
        if full and abs(m - n) > 1:
            raise NotImplementedError(
                "svd gradient is not implemented for abs(m - n) > 1 when full_matrices is True"
            )
        back = _svd_wide(s, u, v, grad_s_matrix, grad_u, grad_v, m, n, full)
        back = back if wide else matrix_transpose(back)
        back.set_shape(a.shape)
        return back


def _svd_wide(
    s: Any, u: Any, v: Any, grad_s: Any, grad_u: Any, grad_v: Any, m: int, n: int, full: bool
) -> Any:
    """The gradient of A = U S V^T with at least as many columns as rows."""
    s_matrix = matrix_diag(s)
    s2 = apply_op("Square", s)
    s_shape = shape(s)
    unit = eye(s_shape[-1], batch_shape=s_shape[:-1], dtype=s.dtype)
    gaps = expand_dims(s2, -2) - expand_dims(s2, -1) + unit
    factors = matrix_set_diag(apply_op("Reciprocal", gaps), zeros_like(s))
    s_inverse = matrix_diag(apply_op("Reciprocal", s))
    v1 = v[..., :, :m]
    grad_v1 = grad_v[..., :, :m]
    u_part = matmul(u, grad_u, adjoint_a=True)
    v_part = matmul(v1, grad_v1, adjoint_a=True)
    u_part = factors * u_part
    v_part = factors * v_part
    inner = (
        grad_s
        + matmul(u_part + adjoint(u_part), s_matrix)
        + matmul(s_matrix, v_part + adjoint(v_part))
    )
    first = matmul(u, matmul(inner, v1, adjoint_b=True))
    if m == n:
        return first
    flipped = matrix_transpose(grad_v1)
    outside = flipped - matmul(matmul(flipped, v1), v1, adjoint_b=True)
    if full:
        v2 = v[..., :, m:n]
        cross = matmul(v1, grad_v[..., :, m:n], adjoint_a=True)
        outside = outside - matmul(cross, v2, adjoint_b=True)
    return first + matmul(matmul(u, s_inverse), outside)


# ---- solvers


def _solved(op: Any, grad_b: Any) -> Any:
    """The matrix's gradient, from that of the right side."""
    c = op.outputs[0]
    left, right = (c, grad_b) if op.get_attr("adjoint") else (grad_b, c)
    return -matmul(left, right, adjoint_b=True)


@gradient("MatrixSolve")
def matrix_solve(op: Any, grad: Any) -> Any:
    flipped = not op.get_attr("adjoint")
    grad_b = apply_op("MatrixSolve", op.inputs[0], grad, adjoint=flipped)
    return _solved(op, grad_b), grad_b


@gradient("MatrixTriangularSolve")
def matrix_triangular_solve_(op: Any, grad: Any) -> Any:
    lower = op.get_attr("lower")
    flipped = not op.get_attr("adjoint")
    grad_b = matrix_triangular_solve(op.inputs[0], grad, lower=lower, adjoint=flipped)
    band = (-1, 0) if lower else (0, -1)
    return apply_op("MatrixBandPart", _solved(op, grad_b), *band), grad_b


@gradient("MatrixSolveLs")
def matrix_solve_ls(op: Any, grad: Any) -> Any:
    """Raises ValueError for fast=False, as in TF."""
    if not op.get_attr("fast"):
        raise ValueError("Gradient not defined for fast=False")
    a = op.inputs[0]
    rows, columns = (d.value for d in a.shape[-2:])
    if rows is None or columns is None:
        raise UnimplementedError(
            None,
            op,
            f"The gradient of MatrixSolveLs (op '{op.name}') needs a static matrix shape, "
            f"got {a.shape}",
        )
    weight = cast(op.inputs[2], a.dtype.base)
    if rows >= columns:
        return *_overdetermined(op, grad, weight), None
    return *_underdetermined(op, grad, weight), None


def _overdetermined(op: Any, grad: Any, weight: Any) -> Any:
    """Of X = (A^T A + weight I)^-1 A^T B."""
    a, b, _ = op.inputs
    chol = gram_cholesky(a, weight, a._shape[-1], adjoint_a=True)
    z = cholesky_solve(chol, grad)
    xz = matmul(op.outputs[0], z, adjoint_b=True)
    symmetric = xz + matrix_transpose(xz)
    grad_a = -matmul(a, symmetric) + matmul(b, z, adjoint_b=True)
    return grad_a, matmul(a, z)


def _underdetermined(op: Any, grad: Any, weight: Any) -> Any:
    """Of X = A^T (A A^T + weight I)^-1 B."""
    a, b, _ = op.inputs
    chol = gram_cholesky(a, weight, a._shape[-2], adjoint_b=True)
    grad_b = cholesky_solve(chol, matmul(a, grad))
    z = cholesky_solve(chol, b)
    first = -matmul(grad_b, matmul(z, a, adjoint_a=True))
    rest = grad - matmul(a, grad_b, adjoint_a=True)
    return first + matmul(z, rest, adjoint_b=True), grad_b
