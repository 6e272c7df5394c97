"""Cases of ops/linalg.py."""

import numpy as np

from ops.cases import Given, case, f32

_GAUGE = "signs of vectors are a choice"
_EMPTY = "TF leaves the vectors that it does not compute without a shape"
_SYMMETRIC = "a step in one element leaves the symmetric matrices"


def _definite(*batch):
    """Symmetric positive definite 3x3 matrices."""
    x = np.random.RandomState(3).uniform(-1, 1, (*batch, 3, 3))
    return Given((x @ np.swapaxes(x, -1, -2) + 2 * np.eye(3)).astype("float32"))


def _triangular(*batch):
    return Given(np.tril(_definite(*batch).values))


CASES = {
    "Cholesky": [
        case(_definite()).without("gradient", why=_SYMMETRIC),
        case(_definite(2)).without("gradient", why=_SYMMETRIC),
    ],
    "MatrixInverse": [
        case(_definite()),
        case(_definite(2), adjoint=True).without("gradient", why="TF's is that of adjoint=False"),
    ],
    "MatrixDeterminant": [case(_definite()), case(f32(2, 3, 3))],
    "LogMatrixDeterminant": [case(_definite()), case(_definite(2))],
    "Qr": [
        case(f32(4, 3)).without("recorded", why=_GAUGE),
        case(f32(2, 3, 4)).without("recorded", "gradient", why=_GAUGE),
        case(f32(4, 3), full_matrices=True).without("recorded", "gradient", why=_GAUGE),
    ],
    "Svd": [
        case(f32(4, 3)).without("recorded", "gradient", why=_GAUGE),
        case(f32(2, 3, 4), full_matrices=True).without("recorded", "gradient", why=_GAUGE),
        case(f32(3, 4), compute_uv=False).without("recorded", why=_EMPTY),
    ],
    "SelfAdjointEigV2": [
        case(_definite()).without("recorded", "gradient", why=_GAUGE),
        case(_definite(2), compute_v=False).without("gradient", "recorded", why=_EMPTY),
    ],
    "MatrixSolve": [
        case(_definite(), f32(3, 2)),
        case(_definite(2), f32(2, 3, 1)),
        case(f32(2, 3, 3), f32(2, 3, 2), adjoint=True),
    ],
    "MatrixTriangularSolve": [
        case(_triangular(), f32(3, 2)),
        case(_triangular(2), f32(2, 3, 1), adjoint=True),
        case(_definite(), f32(3, 2), lower=False),
    ],
    "MatrixSolveLs": [
        case(f32(4, 3), f32(4, 2), np.float64(0.1)).no_gradient_for(2),
        case(f32(2, 3, 4), f32(2, 3, 1), np.float64(0.1)).no_gradient_for(2),
        case(f32(4, 3), f32(4, 2), np.float64(0.0), fast=False).without(
            "gradient", why="TF has one for fast=True only"
        ),
    ],
}
