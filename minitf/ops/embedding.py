"""Embedding look-ups: rows of a table that may lie in parts on several devices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitf import tf_logging
from minitf.convert import constant, to_tensor
from minitf.default import colocate_with, name_scope
from minitf.indexed_slices import IndexedSlices
from minitf.operation import Tensor
from minitf.ops import array, clip, math, segment, sparse
from minitf.ops.apply import apply_op
from minitf.sparse_tensor import SparseTensor
from minitf.tensor_shape import TensorShape, unknown_shape
from minitf.variables.partitioned import PartitionedVariable
from minitf.variables.resource import is_resource_variable
from minitf_runtime.types import bool_, float16, float32, int32

_COMBINERS = ("mean", "sqrtn", "sum")


def embedding_lookup(
    params: Any,
    ids: Any,
    partition_strategy: str = "mod",
    name: str | None = None,
    validate_indices: bool = True,
    max_norm: float | None = None,
) -> Tensor:
    """Rows `ids` of a table: [*ids.shape, *row]. The look-up runs where each part of the table is.

    `mod` deals the rows of several parts out in turn, `div` gives each part a run of rows.
    Raises ValueError without params or for another strategy.
    """
    return embed(params, ids, partition_strategy, name, max_norm)


def embed(
    params: Any,
    ids: Any,
    strategy: str,
    name: str | None,
    max_norm: float | None,
    transform: Callable[[Tensor], Tensor] | None = None,
) -> Tensor:
    """embedding_lookup, with a function that is applied to the rows where they are."""
    parts = _parts(params)
    with name_scope(name, "embedding_lookup", [*parts, ids]) as name:
        if not any(is_resource_variable(p) for p in parts):
            parts = [_as_part(p, i) for i, p in enumerate(parts)]
        ids = to_tensor(ids, name="ids")
        if len(parts) > 1 or (transform and ids.shape.ndims != 1):
            return _from_parts(parts, ids, strategy, name, max_norm, transform)
        with colocate_with(parts[0]):
            rows = _clip(array.gather(parts[0], ids, name=name), ids, max_norm)
            if transform:
                rows = transform(rows)
        return array.identity(rows)


def _parts(params: Any) -> list[Any]:
    if params is None:
        raise ValueError("params must be specified")
    if isinstance(params, (list, tuple)) and not params:
        raise ValueError("Need at least one param")
    if isinstance(params, PartitionedVariable):
        return list(params)
    return params if isinstance(params, list) else [params]


def _as_part(value: Any, i: int) -> Any:
    return value if isinstance(value, IndexedSlices) else to_tensor(value, name=f"params_{i}")


def _from_parts(
    parts: list[Any],
    ids: Tensor,
    strategy: str,
    name: str | None,
    max_norm: float | None,
    transform: Callable[[Tensor], Tensor] | None,
) -> Tensor:
    """Sends each id to the part that has it, and puts the rows back in order."""
    flat_ids = array.reshape(ids, [-1])
    places = math.range(array.size(flat_ids))
    owners, row_ids = _assign(strategy, parts, flat_ids)
    owners = math.cast(owners, int32)
    ids_of = array.dynamic_partition(row_ids, owners, len(parts))
    places_of = array.dynamic_partition(places, owners, len(parts))
    rows = []
    for part, part_ids in zip(parts, ids_of):
        with colocate_with(part):
            found = array.gather(part, part_ids)
            if transform:
                found = transform(_clip(found, part_ids, max_norm))
        rows.append(found)
    out = apply_op("ParallelDynamicStitch", places_of, rows, name=name)
    static = out.shape[1:] if transform else _row_shape(parts)
    if static.is_fully_defined():
        row_shape: Any = static
    elif transform:
        row_shape = array.shape(out)[1:]
    else:
        with colocate_with(parts[0]):
            part_shape = array.shape(parts[0])
        row_shape = part_shape[1:]
    out = array.reshape(out, array.concat([array.shape(ids), row_shape], 0))
    out.set_shape(ids.shape.concatenate(static))
    return out if transform else _clip(out, ids, max_norm)


def _row_shape(parts: list[Any]) -> TensorShape:
    shape = parts[0].shape[1:]
    for part in parts[1:]:
        shape = shape.merge_with(part.shape[1:])
    return shape  # type: ignore[no-any-return]


def _assign(strategy: str, parts: list[Any], ids: Tensor) -> tuple[Tensor, Tensor]:
    """The part that has each id, and its row there."""
    count = len(parts)
    if strategy == "mod":
        return ids % count, ids // count
    if strategy != "div":
        raise ValueError("Unrecognized partition strategy: " + strategy)
    total = _total_rows(parts, ids)
    each = total // count
    extras = total % count
    owners = math.maximum(ids // (each + 1), (ids - extras) // each)
    row_ids = array.where(owners < extras, ids % (each + 1), (ids - extras) % each)
    return owners, row_ids


def _total_rows(parts: list[Any], ids: Tensor) -> Tensor:
    known = [p.shape.dims[0].value if p.shape.dims else None for p in parts]
    if None not in known and sum(known):
        return constant(sum(known), ids.dtype)
    sizes = []
    for part, size in zip(parts, known):
        if size is None:
            with colocate_with(part):
                size = array.shape(part)[0]
        sizes.append(size)
    return math.reduce_sum(math.cast(array.stack(sizes), ids.dtype))


def _clip(rows: Tensor, ids: Tensor, max_norm: float | None) -> Tensor:
    """Rows scaled down to `max_norm` where they are longer."""
    if max_norm is None:
        return rows
    ids_rank, rows_rank = ids.shape.ndims, rows.shape.ndims
    if ids_rank and rows_rank:
        return clip.clip_by_norm(rows, max_norm, axes=list(range(ids_rank, rows_rank)))
    first = ids_rank or array.rank(ids)
    return clip.clip_by_norm(rows, max_norm, axes=math.range(first, rows_rank or array.rank(rows)))


# ---- ids as sparse rows


def embedding_lookup_sparse(
    params: Any,
    sp_ids: Any,
    sp_weights: Any,
    partition_strategy: str = "mod",
    name: str | None = None,
    combiner: str | None = None,
    max_norm: float | None = None,
) -> Tensor:
    """One row for each row of `sp_ids`: its embeddings, weighted and combined.

    Raises ValueError for an unknown combiner, TypeError for ids or weights that are not sparse.
    """
    if combiner is None:
        tf_logging.warning(
            'The default value of combiner will change from "mean" to "sqrtn" after 2016/11/01.'
        )
        combiner = "mean"
    if combiner not in _COMBINERS:
        raise ValueError("combiner must be one of 'mean', 'sqrtn' or 'sum'")
    parts = _parts(params)
    _check_sparse(sp_ids, sp_weights)
    with name_scope(name, "embedding_lookup_sparse", [*parts, sp_ids]) as name:
        segments = sp_ids.indices[:, 0]
        if segments.dtype is not int32:
            segments = math.cast(segments, int32)
        ids, places = array.unique(sp_ids.values)
        rows = embedding_lookup(parts, ids, partition_strategy, max_norm=max_norm)
        if rows.dtype is float16:
            rows = math.cast(rows, float32)
        if sp_weights is not None:
            return _combine_weighted(rows, places, segments, sp_weights.values, combiner, name)
        combine = {
            "sum": segment.sparse_segment_sum,
            "mean": segment.sparse_segment_mean,
            "sqrtn": segment.sparse_segment_sqrt_n,
        }[combiner]
        return combine(rows, places, segments, name=name)  # type: ignore[no-any-return]


def _check_sparse(sp_ids: Any, sp_weights: Any) -> None:
    if not isinstance(sp_ids, SparseTensor):
        raise TypeError("sp_ids must be SparseTensor")
    if sp_weights is None:
        return
    if not isinstance(sp_weights, SparseTensor):
        raise TypeError("sp_weights must be either None or SparseTensor")
    for field in ("values", "indices", "dense_shape"):
        shape = getattr(sp_weights, field).shape
        getattr(sp_ids, field).shape.assert_is_compatible_with(shape)


def _combine_weighted(
    rows: Tensor, places: Tensor, segments: Tensor, weights: Tensor, combiner: str, name: Any
) -> Tensor:
    if weights.dtype is not rows.dtype:
        weights = math.cast(weights, rows.dtype)
    rows = array.gather(rows, places)
    ones = array.fill(array.expand_dims(array.rank(rows) - 1, 0), 1)
    shape = array.concat([array.shape(weights), ones], 0)
    static = weights.shape
    weights = array.reshape(weights, shape)
    if rows.shape.ndims is not None:
        weights.set_shape(static.concatenate([1] * (rows.shape.ndims - 1)))
    rows = rows * weights
    if combiner == "sum":
        return segment.segment_sum(rows, segments, name=name)  # type: ignore[no-any-return]
    rows = segment.segment_sum(rows, segments)
    if combiner == "mean":
        total = segment.segment_sum(weights, segments)
    else:
        total = math.sqrt(segment.segment_sum(math.pow(weights, 2), segments))
    return math.div(rows, total, name=name)


def safe_embedding_lookup_sparse(
    embedding_weights: Any,
    sparse_ids: Any,
    sparse_weights: Any = None,
    combiner: str = "mean",
    default_id: int | None = None,
    name: str | None = None,
    partition_strategy: str = "div",
    max_norm: float | None = None,
) -> Tensor:
    """embedding_lookup_sparse that drops ids below zero and weights that are not above it.

    A row that is left empty gives the embedding of `default_id`, or zeros.
    """
    if embedding_weights is None:
        raise ValueError(f"Missing embedding_weights {embedding_weights}.")
    parts = _parts(embedding_weights)
    dtype = sparse_weights.dtype if sparse_weights is not None else None
    parts = [
        w if is_resource_variable(w) and dtype in (None, w.dtype) else to_tensor(w, dtype)
        for w in parts
    ]
    with name_scope(name, "embedding_lookup", [*parts, sparse_ids, sparse_weights]) as scope:
        shape = sparse_ids.dense_shape
        static_rank = shape.shape.dims[0].value if shape.shape.dims else None
        rank = array.size(shape) if static_rank is None else static_rank
        rows = math.reduce_prod(array.slice(shape, [0], [rank - 1]))
        ids = sparse.sparse_reshape(sparse_ids, [rows, array.gather(shape, rank - 1)])
        weights = None
        if sparse_weights is not None:
            weights = SparseTensor(ids.indices, sparse_weights.values, ids.dense_shape)
        ids, weights = _prune(ids, weights, combiner)
        ids, is_empty = sparse.sparse_fill_empty_rows(ids, default_id or 0)
        if weights is not None:
            weights, _ = sparse.sparse_fill_empty_rows(weights, 1.0)
        result = embedding_lookup_sparse(
            parts, ids, weights, partition_strategy, None if default_id is None else scope,
            combiner, max_norm,
        )  # fmt: skip
        if default_id is None:
            column = array.reshape(is_empty, [-1, 1])
            is_empty = array.tile(column, array.stack([1, array.shape(result)[1]]))
            result = array.where(is_empty, array.zeros_like(result), result, name=scope)
        outer = array.slice(math.cast(shape, int32), [0], [rank - 1])
        row = array.slice(array.shape(result), [1], [-1])
        out = array.reshape(result, array.concat([outer, row], 0))
        known = unknown_shape(None if static_rank is None else static_rank - 1)
        out.set_shape(known.concatenate(result.shape[1:]))
        return out


def _prune(ids: Any, weights: Any, combiner: str) -> tuple[Any, Any]:
    """Without ids below zero and, unless they are summed, weights that are not above it."""
    valid = math.greater_equal(ids.values, 0)
    if weights is not None:
        valid = math.logical_and(valid, array.ones_like(weights.values, dtype=bool_))
    ids = sparse.sparse_retain(ids, valid)
    if weights is None:
        return ids, None
    weights = sparse.sparse_retain(weights, valid)
    if combiner == "sum":
        return ids, weights
    valid = math.greater(weights.values, 0)
    return sparse.sparse_retain(ids, valid), sparse.sparse_retain(weights, valid)
