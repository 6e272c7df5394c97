"""Sparse tensors in queues of batches: kept aside, and their handles queued (TF: SparseTensorsMap).

A component of a queue is a dense tensor; so a sparse one is put into a map by the op that fills the
queue, and the batch is taken from that map when its handles are dequeued.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from minitf.convert import constant
from minitf.default import colocate_with
from minitf.operation import Operation, Tensor
from minitf.ops import array
from minitf.ops.apply import apply_op
from minitf.ops.constant_value import constant_value
from minitf.ops.control_flow import cond
from minitf.ops.group import with_dependencies
from minitf.ops.sparse import sparse_retain
from minitf.sparse_tensor import SparseTensor
from minitf_runtime.types import int64


@dataclass(frozen=True)
class Stored:
    """What a component of a queue stands for: sparse tensors of this rank, kept by `map_op`."""

    map_op: Operation
    rank: int | None


def store(
    tensors: list[Any], enqueue_many: bool, keep: Tensor, shared: list[Stored | None] | None = None
) -> tuple[list[Tensor], list[Stored | None]]:
    """The tensors with handles for the sparse ones, and what each stands for (None: itself).

    Sets of tensors that fill one queue share the maps of the first.
    """
    told = shared or [None] * len(tensors)
    out: list[Tensor] = []
    stored: list[Stored | None] = []
    for tensor, known in zip(tensors, told):
        if isinstance(tensor, SparseTensor):
            tensor, map_op, rank = _store(tensor, enqueue_many, keep, known)
            stored.append(Stored(known.map_op if known else map_op, rank))
        else:
            stored.append(None)
        out.append(tensor)
    return [
        array.expand_dims(t, [-1]) if known is not None else t for t, known in zip(out, stored)
    ], stored


def store_sets(
    sets: list[list[Any]], enqueue_many: bool, keep: Tensor
) -> tuple[list[list[Tensor]], list[Stored | None]]:
    """store() of several sets of tensors for one queue. ValueError if they differ in kind."""
    first, stored = store(sets[0], enqueue_many, keep)
    out = [first]
    for tensors in sets[1:]:
        handles, found = store(tensors, enqueue_many, keep, stored)
        if found != stored:
            raise ValueError(f"Inconsistent SparseTensors list: {sets[0]} vs. {tensors}")
        out.append(handles)
    return out, stored


def _store(
    sparse: SparseTensor, many: bool, keep: Tensor, known: Stored | None
) -> tuple[Tensor, Operation, int | None]:
    op_type = "AddManySparseToTensorsMap" if many else "AddSparseToTensorsMap"
    shared_name = known.map_op.name if known else ""
    always: Any = True
    if keep.shape.ndims == 1:
        sparse = sparse_retain(sparse, array.gather(keep, sparse.indices[:, 0]))
    else:
        always = constant_value(keep)

    def add() -> Tensor:
        parts = sparse._components()
        return apply_op(op_type, *parts, shared_name=shared_name)  # type: ignore[no-any-return]

    def nothing() -> Tensor:
        if not many:
            return constant(-1, int64)
        return -1 * array.ones(array.shape(sparse)[0:1], int64)

    branch = add if always else nothing
    handles = cond(keep, add, nothing) if always is None else branch()
    if many:
        handles.set_shape([None])
    rank = sparse.dense_shape.shape.with_rank(1)[0].value
    return handles, _map_op(handles), rank if rank is None or not many else rank - 1


def _map_op(handles: Tensor) -> Operation:
    makers = (t.op for t in handles.op.inputs)
    return next((op for op in makers if "SparseToTensorsMap" in op.type), handles.op)


def restore(values: Any, stored: list[Stored | None]) -> Any:
    """A dequeued batch with the sparse tensors in their places, all of them taken together."""
    if not any(stored):
        return values
    several = isinstance(values, list)
    parts = [
        value if known is None else _take(array.squeeze(value, [1]), known)
        for value, known in zip(values if several else [values], stored)
    ]
    wait = [p.values if isinstance(p, SparseTensor) else p for p in parts]
    whole = [
        SparseTensor(*(with_dependencies(wait, t) for t in p._components()))
        if isinstance(p, SparseTensor)
        else with_dependencies(wait, p)
        for p in parts
    ]
    return whole if several else parts[0]


def _take(handles: Tensor, stored: Stored) -> SparseTensor:
    map_op = stored.map_op
    if "SparseToTensorsMap" not in map_op.type:  # nothing is ever kept
        raise TypeError(
            "sparse_map_op must be one of AddSparseToTensorsMap or AddSparseToTensorsMap. Instead, "
            f"found `{map_op.type}`."
        )
    rank = None if stored.rank is None else stored.rank + 1
    with colocate_with(map_op):
        indices, values, sizes = apply_op(
            "TakeManySparseFromTensorsMap",
            handles,
            dtype=map_op.get_attr("T"),
            container=map_op.get_attr("container").decode(),
            shared_name=map_op.get_attr("shared_name").decode() or map_op.name,
        )
    indices.set_shape([None, rank])
    sizes.set_shape([rank])
    return SparseTensor(indices, values, sizes)
