"""Functions on matrices, under their top-level names; tf.linalg is minitf/linalg.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitf.convert import convert_to_tensor
from minitf.default import name_scope
from minitf.operation import Tensor
from minitf.ops import array, math
from minitf.ops.apply import apply_op
from minitf.ops.array import matrix_transpose
from minitf.ops.raw import passthrough
from minitf_runtime.errors import UnimplementedError
from minitf_runtime.types import float32, int32

__all__ = [
    "cholesky", "cholesky_solve", "diag", "diag_part", "eye", "matrix_band_part",
    "matrix_determinant", "matrix_diag", "matrix_diag_part", "matrix_inverse", "matrix_set_diag",
    "matrix_solve", "matrix_solve_ls", "matrix_triangular_solve", "qr", "self_adjoint_eig",
    "self_adjoint_eigvals", "svd",
]  # fmt: skip

cholesky = passthrough("Cholesky", "cholesky")
matrix_band_part = passthrough("MatrixBandPart", "matrix_band_part")
matrix_determinant = passthrough("MatrixDeterminant", "matrix_determinant")
log_matrix_determinant = passthrough("LogMatrixDeterminant", "log_matrix_determinant")
matrix_inverse = passthrough("MatrixInverse", "matrix_inverse")
matrix_solve = passthrough("MatrixSolve", "matrix_solve")
matrix_triangular_solve = passthrough("MatrixTriangularSolve", "matrix_triangular_solve")
qr = passthrough("Qr", "qr")
diag = passthrough("Diag", "diag")
diag_part = passthrough("DiagPart", "diag_part")


def matrix_diag(
    diagonal: Any,
    name: str | None = "diag",
    k: int = 0,
    num_rows: int = -1,
    num_cols: int = -1,
    padding_value: Any = 0,
) -> Tensor:
    """Square matrices with these main diagonals, zero elsewhere."""
    _only_main_diagonal("MatrixDiag", k, num_rows, num_cols, padding_value)
    return apply_op("MatrixDiag", diagonal, name=name)


def matrix_diag_part(
    input: Any,  # noqa: A002
    name: str | None = "diag_part",
    k: int = 0,
    padding_value: Any = 0,
) -> Tensor:
    """The main diagonals of matrices."""
    _only_main_diagonal("MatrixDiagPart", k, -1, -1, padding_value)
    return apply_op("MatrixDiagPart", input, name=name)


def matrix_set_diag(
    input: Any,  # noqa: A002
    diagonal: Any,
    name: str | None = "set_diag",
    k: int = 0,
) -> Tensor:
    """`input` with other main diagonals."""
    _only_main_diagonal("MatrixSetDiag", k, -1, -1, 0)
    return apply_op("MatrixSetDiag", input, diagonal, name=name)


def _only_main_diagonal(op: str, k: int, rows: int, columns: int, padding: Any) -> None:
    """TF 1.15 takes these arguments for later releases and ignores them; so rather an error."""
    if (k, rows, columns, padding) != (0, -1, -1, 0):
        message = f"{op} works on the main diagonal only: k, num_rows, num_cols, padding_value"
        raise UnimplementedError(None, None, message)


def eye(
    num_rows: Any,
    num_columns: Any = None,
    batch_shape: Any = None,
    dtype: Any = float32,
    name: str | None = None,
) -> Tensor:
    """Identity matrices, of which there are `batch_shape`."""
    columns = num_rows if num_columns is None else num_columns
    with name_scope(name, "eye", [num_rows, num_columns, batch_shape]):
        if isinstance(num_rows, Tensor) or isinstance(columns, Tensor):
            square, size = num_columns is None, apply_op("Minimum", num_rows, columns)
        else:
            _check_sizes(num_rows, columns)
            square, size = num_rows == columns, min(num_rows, columns)
        batch, join = _joiner(batch_shape, size)
        ones = array.ones(join(batch, [size]), dtype=dtype)
        if square:
            return matrix_diag(ones)
        zeros = array.zeros(join(batch, [num_rows, columns]), dtype=dtype)
        return matrix_set_diag(zeros, ones)


def _check_sizes(*sizes: Any) -> None:
    for size in sizes:
        if not isinstance(size, (int, np.integer)):
            raise TypeError("num_rows and num_columns must be positive integer values.")


def _joiner(batch_shape: Any, size: Any) -> tuple[Any, Any]:
    """The batch shape, and how to append sizes to it: as lists, or as tensors when one is."""
    batch = [] if batch_shape is None else batch_shape
    if isinstance(batch, Tensor) or isinstance(size, Tensor):
        batch = convert_to_tensor(batch, int32, "shape")
        return batch, lambda a, b: array.concat((a, b), axis=0)
    return list(batch), lambda a, b: a + b


def svd(
    tensor: Any, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None
) -> Any:
    """Singular values s, and with `compute_uv` also u and v: tensor = u diag(s) adjoint(v)."""
    s, u, v = apply_op("Svd", tensor, compute_uv=compute_uv, full_matrices=full_matrices, name=name)
    return (math.real(s), u, v) if compute_uv else math.real(s)


def self_adjoint_eig(tensor: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Eigenvalues, ascending, and eigenvectors of self-adjoint matrices (lower triangle read)."""
    e, v = apply_op("SelfAdjointEigV2", tensor, compute_v=True, name=name)
    return e, v


def self_adjoint_eigvals(tensor: Any, name: str | None = None) -> Tensor:
    """Eigenvalues, ascending, of self-adjoint matrices."""
    e, _ = apply_op("SelfAdjointEigV2", tensor, compute_v=False, name=name)
    return e


def cholesky_solve(chol: Any, rhs: Any, name: str | None = None) -> Tensor:
    """x of A x = rhs, given the Cholesky factor of A."""
    with name_scope(name, "cholesky_solve", [chol, rhs]):
        y = matrix_triangular_solve(chol, rhs, lower=True, adjoint=False)
        return matrix_triangular_solve(chol, y, lower=True, adjoint=True)


def logdet(matrix: Any, name: str | None = None) -> Tensor:
    """The logarithm of the determinant of positive definite matrices."""
    with name_scope(name, "logdet", [matrix]):
        diagonal = math.real(matrix_diag_part(cholesky(matrix)))
        return 2.0 * math.reduce_sum(math.log(diagonal), axis=[-1])


def adjoint(matrix: Any, name: str | None = None) -> Tensor:
    """The conjugate transpose of matrices."""
    with name_scope(name, "adjoint", [matrix]):
        matrix = convert_to_tensor(matrix, name="matrix")
        return matrix_transpose(matrix, conjugate=True)


_IN_CACHE = 256_000  # bytes below which TF always solves by the normal equations


def matrix_solve_ls(
    matrix: Any, rhs: Any, l2_regularizer: Any = 0.0, fast: bool = True, name: str | None = None
) -> Tensor:
    """The least-squares solution of matrix x = rhs, by Cholesky decomposition if `fast`."""
    matrix = convert_to_tensor(matrix, name="matrix")
    shape = matrix.shape
    if not fast or _many_small_matrices(matrix):
        return apply_op("MatrixSolveLs", matrix, rhs, l2_regularizer, fast=fast, name=name)
    if shape.ndims is None or not shape[-2:].is_fully_defined():
        message = "matrix_solve_ls needs the matrix's rows and columns when the graph is made"
        raise UnimplementedError(None, matrix.op, f"{message}, got shape {shape}")
    with name_scope(name, "matrix_solve_ls", [matrix, rhs, l2_regularizer]):
        rows, columns = shape.as_list()[-2:]
        if rows >= columns:
            factor = gram_cholesky(matrix, l2_regularizer, columns, adjoint_a=True)
            return cholesky_solve(factor, math.matmul(matrix, rhs, adjoint_a=True))
        factor = gram_cholesky(matrix, l2_regularizer, rows, adjoint_b=True)
        return math.matmul(matrix, cholesky_solve(factor, rhs), adjoint_a=True)


def _many_small_matrices(matrix: Tensor) -> bool:
    """Whether TF prefers the op of its own: more matrices than rows, and more than the cache."""
    if not matrix.shape.is_fully_defined():
        return False
    sizes = matrix.shape.as_list()
    count = np.prod(sizes[:-2], dtype=np.int64)
    size = np.prod(sizes, dtype=np.int64) * matrix.dtype.size
    return bool(size > _IN_CACHE and count > min(sizes[-2:]))


def gram_cholesky(matrix: Tensor, ridge: Any, size: int, **adjoint: bool) -> Tensor:
    """The Cholesky factor of matrix times its adjoint (in the order asked) plus ridge."""
    gram = math.matmul(matrix, matrix, **adjoint)
    if isinstance(ridge, Tensor) or ridge != 0:
        shape = array.shape(matrix)
        batch = shape[:-2]
        small = shape[-1] if adjoint.get("adjoint_a") else shape[-2]
        identity = eye(small, batch_shape=batch, dtype=matrix.dtype)
        identity.set_shape(matrix.shape[:-2].concatenate([size, size]))
        gram = gram + ridge * identity
    return cholesky(gram)
