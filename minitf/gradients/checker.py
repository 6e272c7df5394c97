"""tf.test.compute_gradient: Jacobians by tf.gradients and by finite differences, to be compared.

Complex tensors count as twice as many real ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minitf.convert import constant
from minitf.default import get_default_session
from minitf.gradients.driver import gradients
from minitf.indexed_slices import IndexedSlices
from minitf.operation import Tensor
from minitf.ops.apply import apply_op
from minitf_runtime.types import COMPLEX, FLOATS

Jacobians = tuple[Any, Any]


def compute_gradient(
    x: Any,
    x_shape: Any,
    y: Tensor,
    y_shape: Any,
    x_init_value: Any = None,
    delta: float = 1e-3,
    init_targets: Sequence[Any] | None = None,
    extra_feed_dict: dict[Any, Any] | None = None,
) -> Jacobians | list[Jacobians]:
    """The Jacobian of y by x of shape [size of x, size of y], by theory and by differences.

    For a list of xs a list of such pairs. Needs a default session.
    """
    xs = x if isinstance(x, list) else [x]
    shapes = x_shape if isinstance(x, list) else [x_shape]
    values = x_init_value if isinstance(x, list) and x_init_value else [x_init_value] * len(xs)
    backward = [_backward(one, y, y_shape) for one in xs]
    for init in init_targets or ():
        init.run()
    extra = extra_feed_dict or {}
    made = []
    for one, shape, value, (dx, dy) in zip(xs, shapes, values, backward):
        _check_type(one, "x")
        _check_type(y, "y")
        point = _start(one, shape, value)
        by_theory = _theoretical(one, point, dx, dy, y_shape, extra)
        made.append((by_theory, _numeric(one, point, y, y_shape, delta, extra)))
    return made if isinstance(x, list) else made[0]


def compute_gradient_error(
    x: Any,
    x_shape: Any,
    y: Tensor,
    y_shape: Any,
    x_init_value: Any = None,
    delta: float = 1e-3,
    init_targets: Sequence[Any] | None = None,
    extra_feed_dict: dict[Any, Any] | None = None,
) -> float:
    """The largest difference between the two Jacobians."""
    made = compute_gradient(
        x, x_shape, y, y_shape, x_init_value, delta, init_targets, extra_feed_dict
    )
    error = 0.0
    for by_theory, by_differences in made if isinstance(made, list) else [made]:
        if by_theory.size:
            error = max(error, float(np.fabs(by_theory - by_differences).max()))
    return error


def _backward(x: Tensor, y: Tensor, y_shape: Any) -> tuple[Any, Tensor]:
    """(dx, dy): the gradient, and the constant to feed for the incoming one."""
    with x.graph.as_default():
        start = constant(1.0, y.dtype, shape=tuple(y_shape))
        # The identity keeps dx another tensor than the one that is fed.
        dy = apply_op("Identity", start)
    return gradients(y, x, dy)[0], start


def _check_type(tensor: Tensor, what: str) -> None:
    if tensor.dtype.base not in FLOATS + COMPLEX:
        raise AssertionError(f"Don't support type {tensor.dtype.name} for {what}")


def _start(x: Tensor, shape: Any, value: Any) -> Any:
    dtype = x.dtype.as_numpy_dtype
    if value is not None:
        if list(value.shape) != list(shape):
            raise AssertionError(f"x_shape = {shape}, init_data shape = {list(value.shape)}")
        return np.asarray(value, dtype)
    made = np.asarray(np.random.random_sample(shape)).astype(dtype)
    if x.dtype.is_complex:
        made.imag = np.random.random_sample(shape)
    return made


def _real(array: Any, tensor: Tensor) -> Any:
    """A flat view of an array as real numbers."""
    flat = np.asarray(array, order="C").reshape(-1)
    return flat.view(tensor.dtype.real_dtype.as_numpy_dtype)


def _theoretical(
    x: Tensor, point: Any, dx: Any, dy: Tensor, y_shape: Any, extra: dict[Any, Any]
) -> Any:
    """A column for each element of y, from the gradient of that element alone."""
    session = get_default_session()
    dy_value = np.zeros(tuple(y_shape), dy.dtype.as_numpy_dtype)
    dy_flat = _real(dy_value, dy)
    jacobian = np.zeros((_real(point, x).size, dy_flat.size), x.dtype.real_dtype.as_numpy_dtype)
    for column in range(dy_flat.size):
        dy_flat[column] = 1
        value = _dense(session, x, dx, {**extra, x: point, dy: dy_value}, point)
        jacobian[:, column] = _real(value, x)
        dy_flat[column] = 0
    if not dy_flat.size:
        _check_empty(session.run(dx, {**extra, x: point, dy: dy_value}), point)
    return jacobian


def _dense(session: Any, x: Tensor, dx: Any, feeds: dict[Any, Any], point: Any) -> Any:
    if not isinstance(dx, IndexedSlices):
        return session.run(dx, feeds)
    indices, values = session.run([dx.indices, dx.values], feeds)
    out = np.zeros_like(point)
    np.add.at(out, indices, values)
    return out


def _check_empty(value: Any, point: Any) -> None:
    if value.shape != point.shape:
        raise ValueError(
            f"Empty gradient has wrong shape: expected {point.shape}, got {value.shape}"
        )
    if np.any(value):
        raise ValueError("Empty tensor with nonzero gradients")


def _numeric(
    x: Tensor, point: Any, y: Tensor, y_shape: Any, delta: float, extra: dict[Any, Any]
) -> Any:
    """A row for each element of x, from y at two points beside it."""
    session = get_default_session()
    rows = _real(point, x).size
    width = int(np.prod(tuple(y_shape))) * (2 if y.dtype.is_complex else 1)
    jacobian = np.zeros((rows, width), x.dtype.real_dtype.as_numpy_dtype)
    scale = y.dtype.real_dtype.as_numpy_dtype(2 * delta)
    for row in range(rows):
        above, below = (
            session.run(y, {**extra, x: _moved(x, point, row, by)}) for by in (delta, -delta)
        )
        jacobian[row] = _real((above - below) / scale, y)
    return jacobian


def _moved(x: Tensor, point: Any, row: int, by: float) -> Any:
    moved = np.array(point)
    _real(moved, x)[row] += by
    return moved
