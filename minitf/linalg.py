"""tf.linalg."""

from minitf.ops.clip import global_norm
from minitf.ops.einsum import einsum
from minitf.ops.linalg import (
    adjoint,
    cholesky,
    cholesky_solve,
    eye,
    logdet,
    qr,
    svd,
)
from minitf.ops.linalg import diag as tensor_diag
from minitf.ops.linalg import diag_part as tensor_diag_part
from minitf.ops.linalg import log_matrix_determinant as slogdet
from minitf.ops.linalg import matrix_band_part as band_part
from minitf.ops.linalg import matrix_determinant as det
from minitf.ops.linalg import matrix_diag as diag
from minitf.ops.linalg import matrix_diag_part as diag_part
from minitf.ops.linalg import matrix_inverse as inv
from minitf.ops.linalg import matrix_set_diag as set_diag
from minitf.ops.linalg import matrix_solve as solve
from minitf.ops.linalg import matrix_solve_ls as lstsq
from minitf.ops.linalg import matrix_triangular_solve as triangular_solve
from minitf.ops.linalg import self_adjoint_eig as eigh
from minitf.ops.linalg import self_adjoint_eigvals as eigvalsh
from minitf.ops.matmul import cross, matmul, matvec, tensordot, trace
from minitf.ops.norm import norm
from minitf.ops.normalization import l2_normalize
from minitf.ops.shapes import matrix_transpose
from minitf.ops.shapes import matrix_transpose as transpose

__all__ = [
    "adjoint",
    "band_part",
    "cholesky",
    "cholesky_solve",
    "cross",
    "det",
    "diag",
    "diag_part",
    "eigh",
    "eigvalsh",
    "einsum",
    "eye",
    "global_norm",
    "inv",
    "l2_normalize",
    "logdet",
    "lstsq",
    "matmul",
    "matrix_transpose",
    "matvec",
    "norm",
    "qr",
    "set_diag",
    "slogdet",
    "solve",
    "svd",
    "tensor_diag",
    "tensor_diag_part",
    "tensordot",
    "trace",
    "transpose",
    "triangular_solve",
]
