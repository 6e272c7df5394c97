"""Kernels and shape functions of the matrix ops: identities of linear algebra, errors of TF."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minitf_runtime.ops  # noqa: F401  (fills the registry)
from minitf_runtime.errors import InvalidArgumentError
from minitf_runtime.ops.registry import OPS, find_kernel, infer_shapes
from minitf_runtime.ops.static import StaticValues
from minitf_runtime.types import as_dtype

DTYPES = [np.float16, np.float32, np.float64, np.complex64, np.complex128]
TOLERANCE = {"e": 2e-2, "f": 1e-4, "d": 1e-10, "F": 1e-4, "D": 1e-10}


def complete(op: str, attrs: dict[str, Any], dtype: Any) -> dict[str, Any]:
    defaults = {name: attr.default for name, attr in OPS[op].attrs.items()}
    return {**defaults, "T": as_dtype(dtype), **attrs}


def run(op: str, *inputs: Any, **attrs: Any) -> Any:
    """The kernel's output, after a check against the op's shape function."""
    values = [np.asarray(x) for x in inputs]
    known = complete(op, attrs, values[0].dtype)
    kernel = find_kernel(op, known, "CPU")
    assert kernel is not None
    outputs = kernel.fn(np, *values, **{k: known[k] for k in kernel.keywords})
    shapes = [v.shape for v in values]
    flat = outputs if isinstance(outputs, tuple) else (outputs,)
    assert infer(op, *shapes, **known) == [x.shape for x in flat]
    assert all(x.dtype == values[0].dtype for x in flat)
    return outputs


def infer(op: str, *shapes: Any, **attrs: Any) -> Any:
    known = complete(op, attrs, attrs.get("T", np.float32))
    opdef = OPS[op]
    static = StaticValues(lambda key: ("Placeholder", {}, (), (), 0, None))
    return infer_shapes(opdef, shapes, known, len(opdef.outputs), static, range(len(shapes)))


def matrices(dtype: Any, *shape: int) -> Any:
    rng = np.random.default_rng(4)
    real = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        return (real + 1j * rng.standard_normal(shape)).astype(dtype)
    return real.astype(dtype)


def adjoint(x: Any) -> Any:
    return x.conj().swapaxes(-1, -2)


def close(got: Any, expected: Any) -> None:
    limit = TOLERANCE[got.dtype.char]
    np.testing.assert_allclose(got, expected, rtol=limit, atol=limit)


@pytest.fixture(params=DTYPES, ids=lambda d: d.__name__)
def dtype(request: Any) -> Any:
    return request.param


def positive(dtype: Any) -> Any:
    """Two well conditioned positive definite matrices."""
    x = matrices(dtype, 2, 3, 3)
    return x @ adjoint(x) + 2 * np.eye(3, dtype=dtype)


def test_cholesky(dtype: Any) -> None:
    x = positive(dtype)
    lower = run("Cholesky", x)
    close(lower @ adjoint(lower), x)
    close(lower, np.tril(lower))


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("shape", [(2, 4, 3), (2, 3, 4), (0, 3)])
def test_qr(dtype: Any, shape: tuple[int, ...], full: bool) -> None:
    x = matrices(dtype, *shape)
    q, r = run("Qr", x, full_matrices=full)
    close(q @ r, x)
    close(adjoint(q) @ q, np.broadcast_to(np.eye(q.shape[-1]), (*shape[:-2], *q.shape[-1:] * 2)))


def test_qr_has_the_signs_of_tensorflow() -> None:
    x = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], np.float32)
    q, r = run("Qr", x)
    np.testing.assert_allclose(r, [[-5.9161, -7.4374], [0.0, 0.8281]], atol=1e-4)
    np.testing.assert_allclose(
        q, [[-0.169, 0.8971], [-0.5071, 0.276], [-0.8452, -0.345]], atol=1e-4
    )


def test_inverse_and_determinant(dtype: Any) -> None:
    x = positive(dtype)
    close(run("MatrixInverse", x) @ x, np.broadcast_to(np.eye(3), (2, 3, 3)))
    close(run("MatrixInverse", x, adjoint=True), adjoint(run("MatrixInverse", x)))
    sign, log = run("LogMatrixDeterminant", x)
    determinant = run("MatrixDeterminant", x)
    close(log, np.log(determinant.astype(np.complex128) / sign).real)


def test_determinant_of_known_matrices() -> None:
    assert run("MatrixDeterminant", [[4.0, 1.0], [1.0, 3.0]]) == pytest.approx(11.0)
    assert run("MatrixDeterminant", np.zeros((0, 0))) == 1.0


@pytest.mark.parametrize("full", [False, True])
def test_svd(dtype: Any, full: bool) -> None:
    x = matrices(dtype, 2, 4, 3)
    s, u, v = run("Svd", x, full_matrices=full)
    close(u[..., :, :3] * s[..., None, :] @ adjoint(v), x)
    alone, _, _ = run("Svd", x, compute_uv=False)
    close(alone, s)


def test_self_adjoint_eigen(dtype: Any) -> None:
    x = positive(dtype)
    e, v = run("SelfAdjointEigV2", x)
    close(v * e[..., None, :], x @ v)
    alone, _ = run("SelfAdjointEigV2", x, compute_v=False)
    close(alone, e)


def test_self_adjoint_eigen_reads_the_lower_triangle() -> None:
    e, _ = run("SelfAdjointEigV2", [[2.0, 99.0], [1.0, 2.0]])
    np.testing.assert_allclose(e, [1.0, 3.0])


@pytest.mark.parametrize("with_adjoint", [False, True])
def test_solvers(dtype: Any, with_adjoint: bool) -> None:
    x, rhs = positive(dtype), matrices(dtype, 2, 3, 2)
    operand = adjoint(x) if with_adjoint else x
    close(operand @ run("MatrixSolve", x, rhs, adjoint=with_adjoint), rhs)
    for lower, half in ((True, np.tril(x)), (False, np.triu(x))):
        got = run("MatrixTriangularSolve", x, rhs, lower=lower, adjoint=with_adjoint)
        close((adjoint(half) if with_adjoint else half) @ got, rhs)


def test_least_squares_as_tensorflow() -> None:
    tall, rhs = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [[1.0], [2.0], [4.0]]
    ridge = run_ls(tall, rhs, 0.5, fast=True)
    np.testing.assert_allclose(ridge, [[0.4229], [0.2724]], atol=1e-4)
    plain = run_ls(tall, rhs, 0.5, fast=False)
    np.testing.assert_allclose(plain, [[0.6667], [0.0833]], atol=1e-4)
    for fast in (False, True):
        wide = run_ls(np.transpose(tall), [[1.0], [2.0]], 0.0, fast=fast)
        np.testing.assert_allclose(wide, [[0.8333], [0.3333], [-0.1667]], atol=1e-4)


def run_ls(matrix: Any, rhs: Any, ridge: float, **attrs: Any) -> Any:
    kernel = find_kernel("MatrixSolveLs", {"T": as_dtype(np.float64)}, "CPU")
    assert kernel is not None
    return kernel.fn(np, np.array(matrix), np.array(rhs), np.array(ridge), **attrs)


def test_diagonals() -> None:
    np.testing.assert_array_equal(
        run("MatrixDiag", [[1, 2], [3, 4]]), [[[1, 0], [0, 2]], [[3, 0], [0, 4]]]
    )
    np.testing.assert_array_equal(run("MatrixDiagPart", [[1, 2, 3], [3, 4, 5]]), [1, 4])
    np.testing.assert_array_equal(
        run("MatrixSetDiag", [[1, 2, 3], [3, 4, 5]], [8, 9]), [[8, 2, 3], [3, 9, 5]]
    )
    np.testing.assert_array_equal(run("Diag", [1, 2]), [[1, 0], [0, 2]])
    higher = run("Diag", [[1, 2], [3, 4]])
    np.testing.assert_array_equal(higher.reshape(4, 4), np.diag([1, 2, 3, 4]))
    np.testing.assert_array_equal(run("DiagPart", higher), [[1, 2], [3, 4]])
    assert run("Diag", np.zeros(0)).shape == (0, 0)


@pytest.mark.parametrize(
    "lower, upper, expected",
    [
        (0, 1, [[1, 2, 0], [0, 4, 5], [0, 0, 8]]),
        (-1, 0, [[1, 0, 0], [3, 4, 0], [6, 7, 8]]),
        (-1, -1, [[1, 2, 3], [3, 4, 5], [6, 7, 8]]),
    ],
)
def test_band_part(lower: int, upper: int, expected: Any) -> None:
    x = [[1, 2, 3], [3, 4, 5], [6, 7, 8]]
    np.testing.assert_array_equal(run("MatrixBandPart", x, lower, upper), expected)


SINGULAR = np.array([[1.0, 2.0], [2.0, 4.0]])
WIDE = np.zeros((2, 3))
COLUMN = np.zeros((2, 1))


@pytest.mark.parametrize(
    "op, inputs, message",
    [
        ("Cholesky", [[[1.0, 2.0], [2.0, 1.0]]], "Cholesky decomposition was not successful"),
        ("Cholesky", [WIDE], "Input matrix must be square."),
        ("MatrixInverse", [SINGULAR], "Input is not invertible."),
        ("MatrixSolve", [SINGULAR, COLUMN], "Input matrix is not invertible."),
        ("MatrixSolve", [np.eye(3), COLUMN], "must have equal batches and rows"),
        ("MatrixTriangularSolve", [np.diag([1.0, 0.0]), COLUMN], "Input matrix is not invertible."),
        ("MatrixDeterminant", [WIDE], "Input matrix must be square."),
        ("Qr", [np.zeros(3)], "must have rank >= 2"),
        ("DiagPart", [WIDE], "Invalid shape [2,3]: dimensions 0 and 1 do not match."),
        ("DiagPart", [np.zeros(3)], "even and non-zero rank, input rank is 1"),
        ("MatrixSetDiag", [WIDE, np.zeros(3)], "diagonal must have shape [2]"),
        ("MatrixBandPart", [WIDE, 5, 0], "less or equal to number of rows (2) got: 5"),
        ("MatrixBandPart", [WIDE, 0, 5], "less or equal to number of columns (3) got: 5"),
    ],
)
def test_bad_values(op: str, inputs: Any, message: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        run(op, *inputs)
    assert message in caught.value.message


@pytest.mark.parametrize(
    "op, shapes, message",
    [
        ("Qr", [(2,)], "Shape must be at least rank 2 but is rank 1"),
        ("Cholesky", [(2, 3)], "Dimensions must be equal, but are 2 and 3"),
        ("MatrixSolve", [(2, 2), (3, 1)], "Dimensions must be equal, but are 2 and 3"),
        ("MatrixDiag", [()], "Shape must be at least rank 1 but is rank 0"),
        ("MatrixSetDiag", [(2, 3), (3,)], "Dimensions must be equal, but are 2 and 3"),
        ("Diag", [()], "Shape must be at least rank 1 but is rank 0"),
        ("DiagPart", [(2, 3)], "Dimensions must be equal, but are 2 and 3"),
        ("DiagPart", [(3,)], "Input must have even and non-zero rank, input rank is 1"),
    ],
)
def test_bad_shapes(op: str, shapes: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        infer(op, *shapes)


def test_unknown_shapes() -> None:
    assert infer("Qr", None) == [None, None]
    assert infer("Qr", (None, 4, 3)) == [(None, 4, 3), (None, 3, 3)]
    assert infer("Svd", (None, 3)) == [(None,), (None, None), (3, None)]
    assert infer("MatrixSolve", (None, 3), (None, 2)) == [(3, 2)]
    assert infer("MatrixInverse", (None, 3)) == [(3, 3)]
    assert infer("MatrixDiagPart", (5, None, 3)) == [(5, None)]
    assert infer("DiagPart", (None, 2, 3, None)) == [(3, 2)]
