"""Ops of k-means clustering."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitf_runtime.errors import invalid
from minitf_runtime.ops.registry import ShapeContext, kernel, op
from minitf_runtime.types import Shape


@op(
    "NearestNeighbors",
    "points: float32, centers: float32, k: int64"
    " -> nearest_center_indices: int64, nearest_center_distances: float32",
)
def nearest_neighbors_shapes(c: ShapeContext) -> list[Shape]:
    """The k nearest centers of each point, and their squared distances. TF infers no shapes."""
    return [None, None]


@kernel("NearestNeighbors", host_inputs="k")
def nearest_neighbors(xp: Any, points: Any, centers: Any, k: Any) -> Any:
    for name, value in (("points", points), ("centers", centers)):
        if value.ndim != 2:
            raise invalid(f"Input {name} should be a matrix.")
    if k < 0:
        raise invalid(f"k should be at least 0, got {k}")
    (_, wide), (_, wanted) = points.shape, centers.shape
    if wide != wanted:
        raise invalid(f"Expected point_dimensions == center_dimensions: {wide} vs {wanted}.")
    lengths = (centers * centers).sum(1)
    scores = lengths - 2 * xp.dot(points, centers.T)  # but for the points' own lengths
    nearest = xp.argsort(scores, axis=1, kind="stable")[:, : int(k)].astype(np.int64)
    squared = xp.take_along_axis(scores, nearest, 1) + (points * points).sum(1, keepdims=True)
    return nearest, xp.maximum(squared, 0)
