"""How the gradient terms that arrive at one tensor are added up."""

from __future__ import annotations

from typing import Any

from minitf.default import get_default_graph, name_scope
from minitf.indexed_slices import IndexedSlices
from minitf.operation import Operation, Tensor
from minitf.ops.array import concat, gather
from minitf.ops.elementwise import cast
from minitf.ops.math import accumulate_n, add_n
from minitf_runtime.types import int32, int64, is_full, merge_shapes

__all__ = ["AggregationMethod"]


class AggregationMethod:
    """Ways to sum gradient terms (TF: AggregationMethod)."""

    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


_METHODS = (0, 1, 2)


def check_method(method: int | None) -> int:
    """The method to use. Raises ValueError for an unknown one."""
    if method is None:
        return AggregationMethod.DEFAULT
    if method not in _METHODS:
        raise ValueError(f"Invalid aggregation_method specified {method}.")
    return method


def aggregate(op: Operation, terms: list[Any], method: int) -> Any:
    """The sum of the terms for one output of `op`: a Tensor, IndexedSlices, or None for no term."""
    if len(terms) < 2:
        return terms[0] if terms else None
    if any(isinstance(t, IndexedSlices) for t in terms):
        return _sum_slices(terms)
    if method == AggregationMethod.DEFAULT:
        return _sum_by_device(terms)
    accumulates = method == AggregationMethod.EXPERIMENTAL_ACCUMULATE_N and len(terms) > 2
    if accumulates and is_full(_common_shape(terms)):
        return accumulate_n(terms)
    with name_scope(op.name + "_gradient_sum"):
        total = terms[0]
        for term in terms[1:]:
            total = add_n([total, term])
        return total


def _common_shape(terms: list[Tensor]) -> Any:
    common = None
    for t in terms:
        common = merge_shapes(common, t._shape)
    return common


def _sum_by_device(terms: list[Tensor]) -> Tensor:
    """One AddN for the terms of each requested device, and one over these partial sums."""
    by_device: dict[str, list[Tensor]] = {}
    for t in terms:
        by_device.setdefault(t.device, []).append(t)
    graph = get_default_graph()
    partial = []
    for where in sorted(by_device):
        with graph.colocate_with(by_device[where][0].op, ignore_existing=True):
            partial.append(add_n(by_device[where]))
    return add_n(partial)


def _sum_slices(terms: list[Any]) -> Any:
    """A dense sum if any term is dense, else all rows after one another."""
    if any(isinstance(t, Tensor) for t in terms):
        return add_n(terms)
    slices = [_flat(t) for t in with_one_index_type(terms)]
    return IndexedSlices(
        concat([s.values for s in slices], axis=0),
        concat([s.indices for s in slices], axis=0),
        slices[0].dense_shape,
    )


def with_one_index_type(terms: list[IndexedSlices]) -> list[IndexedSlices]:
    """The same, with int64 for all indices unless they are of one type already."""
    if len({t.indices.dtype for t in terms}) == 1:
        return terms
    return [
        IndexedSlices(t.values, cast(t.indices, int64), t.dense_shape)
        if t.indices.dtype == int32
        else t
        for t in terms
    ]


def _flat(slices: IndexedSlices) -> IndexedSlices:
    """Rows of rows as rows: values may be IndexedSlices themselves."""
    if isinstance(slices.values, Tensor):
        return slices
    inner = _flat(slices.values)
    return IndexedSlices(inner.values, gather(slices.indices, inner.indices), inner.dense_shape)
