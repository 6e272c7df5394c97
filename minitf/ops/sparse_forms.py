"""Sparse tensors in other forms: cut, merged, with other sizes or axes, as indicators."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from typing import Any

import numpy as np

from minitf.convert import constant, to_tensor
from minitf.default import name_scope
from minitf.indexed_slices import IndexedSlices
from minitf.operation import Tensor
from minitf.ops import array
from minitf.ops.apply import apply_op
from minitf.ops.arguments import renamed
from minitf.ops.check import assert_equal, assert_less_equal
from minitf.ops.constant_value import constant_value
from minitf.ops.elementwise import add, cast, maximum
from minitf.ops.group import with_dependencies
from minitf.ops.reduction import reduce_max
from minitf.ops.sorting import where_v2
from minitf.ops.sparse import checked, sparse_reorder, sparse_tensor_to_dense
from minitf.sparse_tensor import SparseTensor, is_sparse
from minitf_runtime.types import int32, int64

__all__ = [
    "edit_distance", "sparse_mask", "sparse_merge", "sparse_reset_shape", "sparse_split",
    "sparse_to_indicator",
]  # fmt: skip


def sparse_split(
    keyword_required: Any = None,
    sp_input: Any = None,
    num_split: int | None = None,
    axis: Any = None,
    name: str | None = None,
    split_dim: Any = None,
) -> list[SparseTensor]:
    """The parts of a sparse tensor along an axis; the arguments are given by name."""
    axis = renamed("axis", axis, "split_dim", split_dim)
    if keyword_required is not None:
        raise ValueError("Keyword arguments are required for this function.")
    for what, value in (("sp_input", sp_input), ("num_split", num_split), ("axis", axis)):
        if value is None:
            raise ValueError(f"{what} is required")
    sp = checked(sp_input)
    parts = apply_op("SparseSplit", axis, *sp._components(), num_split=num_split, name=name)
    return [SparseTensor(*part) for part in zip(*parts)]


def sparse_mask(a: IndexedSlices, mask_indices: Any, name: str | None = None) -> IndexedSlices:
    """The slices whose indices are not among `mask_indices`."""
    with name_scope(name, "sparse_mask", [a, mask_indices]) as scope:
        kept, places = apply_op("ListDiff", a.indices, mask_indices)
        return IndexedSlices(array.gather(a.values, places, name=scope), kept, a.dense_shape)


def sparse_reset_shape(sp_input: Any, new_shape: Any = None) -> SparseTensor:
    """The same values in a larger shape, by default in the smallest that holds them.

    Raises ValueError for a shape known to be of another rank or too small.
    """
    sp = checked(sp_input)
    indices, values, sizes = (array.identity(part) for part in sp._components())
    if new_shape is None:
        largest = reduce_max(indices, axis=0)
        wanted = maximum(constant(0, int64), add(largest, array.ones_like(sizes)))
        return SparseTensor(indices, values, wanted)
    wanted = to_tensor(new_shape)
    wanted.shape.assert_has_rank(1)
    wanted = cast(wanted, int64)
    wanted.shape[0].merge_with(sizes.shape[0])
    known = constant_value(wanted)
    if known is None or not sp.shape.is_fully_defined():
        same_rank = assert_equal(array.shape(sizes), array.shape(wanted))
        wanted = with_dependencies([same_rank], wanted)
        wanted = with_dependencies([assert_less_equal(sizes, wanted)], wanted)
        return SparseTensor(indices, values, wanted)
    least = np.array(sp.shape.as_list())
    if not (least <= known).all():
        raise ValueError(
            "Requested new_shape should have dimension sizes >= sp_input.shape.  Found new_shape "
            f"({least}), sp_input.shape ({known})."
        )
    return SparseTensor(indices, values, known)


def sparse_merge(
    sp_ids: Any,
    sp_values: Any,
    vocab_size: Any,
    name: str | None = None,
    already_sorted: bool = False,
) -> SparseTensor:
    """`sp_values` with their last index replaced by the values of `sp_ids` (of each of several)."""
    ids, sizes = _ids_and_sizes(sp_ids, vocab_size)
    with name_scope(name, "SparseMerge", [*ids, sp_values]):
        ids, sp_values = [checked(sp) for sp in ids], checked(sp_values)
        last = [array.expand_dims(cast(sp.values, int64), axis=1) for sp in ids]
        sizes = [cast(n, int64) for n in sizes]
        indices = array.concat([ids[0].indices[:, :-1], *last], 1)
        shape = array.concat([ids[0].dense_shape[:-1], sizes], 0)
        merged = SparseTensor(indices, sp_values.values, shape)
        if already_sorted:
            return merged
        ordered = sparse_reorder(merged)
        return SparseTensor(ordered.indices, ordered.values, shape)


def _ids_and_sizes(sp_ids: Any, vocab_size: Any) -> tuple[list[Any], list[Any]]:
    """Both as lists of one length. Raises TypeError or ValueError."""
    if is_sparse(sp_ids):
        sp_ids, vocab_size = [sp_ids], [vocab_size]
    elif not isinstance(sp_ids, Iterable):
        raise TypeError(f"sp_ids has to be a SparseTensor or list thereof. Found {type(sp_ids)}")
    elif not isinstance(vocab_size, Iterable) or isinstance(vocab_size, Tensor):
        raise TypeError(
            f"vocab_size has to be a list of Tensors or Python ints. Found {type(vocab_size)}"
        )
    for size in vocab_size:
        if not isinstance(size, (Tensor, numbers.Integral)):
            raise TypeError(f"vocab_size has to be a Tensor or Python int. Found {type(size)}")
    if len(sp_ids) != len(vocab_size):
        raise ValueError("sp_ids and vocab_size have to have equal lengths.")
    return list(sp_ids), list(vocab_size)


def sparse_to_indicator(sp_input: Any, vocab_size: Any, name: str | None = None) -> Tensor:
    """A dense row of bools for each row: which values occur in it."""
    sp = checked(sp_input)
    with name_scope(name, "SparseToIndicator", [sp]) as scope:
        count = array.shape(sp.indices)[0]
        found = array.fill(array.expand_dims(count, 0), True)
        merged = sparse_merge(
            sp, SparseTensor(sp.indices, found, sp.dense_shape), vocab_size, scope
        )
        return sparse_tensor_to_dense(
            merged, default_value=False, validate_indices=False, name=scope
        )


def sparse_expand_dims(sp_input: Any, axis: Any = None, name: str | None = None) -> SparseTensor:
    """A new axis of size 1, by default the last (tf.sparse.expand_dims)."""
    rank = sp_input.dense_shape.shape[0]
    axis = -1 if axis is None else axis
    with name_scope(name, "expand_dims", [sp_input]):
        if isinstance(axis, numbers.Integral):
            axis = to_tensor(axis, int32, name="axis")
        elif not isinstance(axis, Tensor):
            raise TypeError(
                "axis must be an integer value in range [-rank(sp_input) - 1, rank(sp_input)]"
            )
        axis = where_v2(axis >= 0, axis, axis + rank + 1)
        new = array.zeros([array.shape(sp_input.indices)[0], 1], dtype=int64)
        before = array.slice(sp_input.indices, [0, 0], [-1, axis])
        after = array.slice(sp_input.indices, [0, axis], [-1, -1])
        indices = array.concat([before, new, after], axis=1)
        shape_before = array.slice(sp_input.dense_shape, [0], [axis])
        shape_after = array.slice(sp_input.dense_shape, [axis], [-1])
        one = to_tensor([1], int64, name="new_shape")
        shape = array.concat([shape_before, one, shape_after], axis=0)
        return SparseTensor(indices, sp_input.values, shape)


def edit_distance(
    hypothesis: Any, truth: Any, normalize: bool = True, name: str = "edit_distance"
) -> Tensor:
    """Levenshtein's distance of rows of two sparse tensors, as a share of the truth's length."""
    for what, value in (("Hypothesis", hypothesis), ("Truth", truth)):
        if not is_sparse(value):
            raise TypeError(f"{what} must be a SparseTensor.")
    parts = [p for sp in (hypothesis, truth) for p in checked(sp)._components()]
    return apply_op("EditDistance", *parts, normalize=normalize, name=name)  # type: ignore
