"""Shapes, with the short names that TensorFlow has for them inside."""

from minitf.tensor_shape import Dimension, TensorShape, unknown_shape

__all__ = ["Dimension", "TensorShape", "as_shape", "matrix", "scalar", "unknown_shape", "vector"]

as_shape = TensorShape


def scalar() -> TensorShape:
    return TensorShape([])


def vector(length: int | None) -> TensorShape:
    return TensorShape([length])


def matrix(rows: int | None, columns: int | None) -> TensorShape:
    return TensorShape([rows, columns])
