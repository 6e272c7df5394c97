"""Ops that pick or place parts of a tensor by index tensors; one-hot, partition and stitch."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minitf_runtime.devices.arrays import synchronised
from minitf_runtime.errors import invalid
from minitf_runtime.ops import dims
from minitf_runtime.ops.array import shape_input, zeros_of
from minitf_runtime.ops.gpu_rows import change_rows, flat_rows, picked, within
from minitf_runtime.ops.indices import all_within
from minitf_runtime.ops.registry import Count, ShapeContext, Type, kernel, op
from minitf_runtime.types import (
    INDEX,
    NUMBERS,
    Shape,
    bool_,
    int32,
    int64,
    num_elements,
    show_shape,
    uint8,
)

_INDEX = Type(INDEX)


def check_indices(xp: Any, indices: Any, limit: int, name: str = "indices") -> None:
    """Raises InvalidArgumentError naming the first index that is not in [0, limit).

    A GPU's are not looked at, as in TF: gpu_rows.py.
    """
    if xp is not np or all_within(indices, limit):
        return
    wrong = (indices < 0) | (indices >= limit)
    at = np.unravel_index(int(wrong.reshape(-1).argmax()), indices.shape)
    place = f"[{','.join(map(str, at))}]" if at else ""
    raise invalid(f"{name}{place} = {indices[at]} is not in [0, {limit})")


# ---- gathering along an axis


@op(
    "Gather",
    "params: Tparams, indices: Tindices -> output: Tparams",
    validate_indices=True,
    Tparams=Type(),
    Tindices=_INDEX,
)
def gather_shape(c: ShapeContext) -> list[Shape]:
    params = dims.at_least(c.shape(0), 1)
    return [dims.concatenate(c.shape(1), None if params is None else params[1:])]


@kernel("Gather")
def gather(xp: Any, params: Any, indices: Any) -> Any:
    return _take(xp, params, indices, 0)


@op(
    "GatherV2",
    "params: Tparams, indices: Tindices, axis: Taxis -> output: Tparams",
    batch_dims=0,
    Tparams=Type(),
    Tindices=_INDEX,
    Taxis=_INDEX,
)
def gather_v2_shape(c: ShapeContext) -> list[Shape]:
    """Slices of params along an axis; the first `batch_dims` axes are walked together."""
    params, indices, at = dims.at_least(c.shape(0), 1), c.shape(1), c.value(2)
    dims.with_rank(c.shape(2), 0)
    batch = c["batch_dims"]
    if params is None or indices is None:
        return [None]
    batch = batch + len(indices) if batch < 0 else batch
    if at is None:
        return [(None,) * (len(params) + len(indices) - 1 - batch)]
    dims.axis_of(params, int(at))
    axis = int(at) % len(params)
    dims.at_least(indices, batch)
    dims.at_least(params, batch + 1)
    shared = dims.merge(params[:batch], indices[:batch]) or ()
    return [(*shared, *params[batch:axis], *indices[batch:], *params[axis + 1 :])]


@kernel("GatherV2", host_inputs="axis")
def gather_v2(xp: Any, params: Any, indices: Any, axis: Any, *, batch_dims: Any) -> Any:
    at, rank = int(axis), params.ndim
    if rank == 0:
        raise invalid("params must be at least 1 dimensional")
    if not -rank <= at < rank:
        raise invalid(f"Expected axis in the range [{-rank}, {rank}), but got {at}")
    at %= rank
    batch = batch_dims + indices.ndim if batch_dims < 0 else batch_dims
    if batch == 0:
        return _take(xp, params, indices, at)
    if not 0 <= batch <= min(at, indices.ndim):
        raise invalid(f"batch_dims ({batch}) must be at most axis ({at}) and rank of indices")
    if params.shape[:batch] != indices.shape[:batch]:
        raise invalid(
            f"params.shape[:{batch}] {show_shape(params.shape[:batch])} must be "
            f"indices.shape[:{batch}] {show_shape(indices.shape[:batch])}"
        )
    return _batch_take(xp, params, indices, at, batch)


def _take(xp: Any, params: Any, indices: Any, axis: int) -> Any:
    if params.ndim == 0:
        raise invalid("params must be at least 1 dimensional")
    check_indices(xp, indices, params.shape[axis])
    if xp is not np:
        return _take_on_gpu(xp, params, indices, axis)
    if indices.ndim == 0:
        return params[(slice(None),) * axis + (indices, ...)]
    return params.take(indices, axis)  # for rows twice as fast as an index array


def _take_on_gpu(xp: Any, params: Any, indices: Any, axis: int) -> Any:
    if not params.shape[axis]:
        shape = params.shape[:axis] + indices.shape + params.shape[axis + 1 :]
        return xp.zeros(shape, params.dtype)
    taken = xp.take(params, indices, axis)
    return picked(xp, taken, within(indices, params.shape[axis]), axis)


def _batch_take(xp: Any, params: Any, indices: Any, axis: int, batch: int) -> Any:
    check_indices(xp, indices, params.shape[axis])
    shape = params.shape[:axis] + indices.shape[batch:] + params.shape[axis + 1 :]
    front = xp.moveaxis(params, axis, batch)
    count = math.prod(indices.shape[:batch])
    rows = front.reshape(count, *front.shape[batch:])
    picks = indices.reshape(count, math.prod(indices.shape[batch:]))
    taken = rows[xp.arange(len(rows))[:, None], picks]  # [batches, picks, rest]
    if xp is not np:
        taken = picked(xp, taken, within(picks, params.shape[axis]))
    between = axis - batch
    taken = xp.moveaxis(taken, 1, 1 + between)
    return taken.reshape(shape)


# ---- gathering and scattering by index vectors


@op(
    "GatherNd",
    "params: Tparams, indices: Tindices -> output: Tparams",
    Tparams=Type(),
    Tindices=_INDEX,
)
def gather_nd_shape(c: ShapeContext) -> list[Shape]:
    """The slice of params at each index vector (the last axis of indices)."""
    params, indices = c.shape(0), dims.at_least(c.shape(1), 1)
    if params is None or indices is None or indices[-1] is None:
        return [None]
    if indices[-1] > len(params):
        raise ValueError(
            "indices.shape[-1] must be <= params.rank, but saw indices shape: "
            f"{show_shape(indices)} and params shape: {show_shape(params)}"
        )
    return [indices[:-1] + params[indices[-1] :]]


@kernel("GatherNd")
def gather_nd(xp: Any, params: Any, indices: Any) -> Any:
    if params.ndim == 0:
        raise invalid("params must be at least a vector")
    if indices.ndim == 0:
        raise invalid("indices must be at least a vector")
    depth = indices.shape[-1]
    if depth > params.ndim:
        raise invalid(
            "index innermost dimension length must be <= params rank; saw: "
            f"{depth} vs. {params.ndim}"
        )
    check_vectors(xp, indices, params.shape, "param shape")
    if depth == 0:
        return xp.broadcast_to(params, indices.shape[:-1] + params.shape)
    if xp is not np:
        rows = flat_rows(xp, indices, params.shape[:depth])
        return _take_on_gpu(xp, params.reshape(-1, *params.shape[depth:]), rows, 0)
    return params[(*xp.moveaxis(indices, -1, 0), ...)]


def check_vectors(xp: Any, indices: Any, shape: Any, what: str) -> None:
    """Raises InvalidArgumentError naming the first index vector that leaves `shape`."""
    depth = indices.shape[-1]
    if xp is not np or indices.size == 0:
        return
    vectors = indices.reshape(-1, depth)
    limits = shape[:depth]
    fits = all(
        int(vectors[:, d].min()) >= 0 and int(vectors[:, d].max()) < limits[d] for d in range(depth)
    )
    if fits:
        return
    row = next(i for i, v in enumerate(vectors) if any(not 0 <= n < m for n, m in zip(v, limits)))
    place = ",".join(map(str, np.unravel_index(row, indices.shape[:-1])))
    vector = ", ".join(str(int(n)) for n in vectors[row])
    raise invalid(
        f"indices{f'[{place}]' if place else ''} = [{vector}] does not index into {what} "
        f"{show_shape(shape)}"
    )


def scatter_nd_checks(indices: Shape, updates: Shape, output: Shape) -> None:
    """indices [batch..., depth], updates [batch..., rest...], output with rest after depth axes."""
    if num_elements(output) == 0 and (num_elements(indices) or num_elements(updates)):
        raise ValueError("Indices and updates specified for empty output shape")
    if indices is None or updates is None or indices[-1] is None:
        return
    outer = len(indices) - 1
    for what, count, a, b in (
        ("outer {} dimensions of indices.shape", outer, indices[:outer], updates[:outer]),
        (
            "inner {} dimensions of output.shape",
            len(updates) - outer,
            None if output is None else output[indices[-1] :],
            updates[outer:],
        ),
    ):
        whole = indices if "indices" in what else output
        try:
            dims.merge(a, b)
        except ValueError as e:
            kind = what.split()[0]
            raise ValueError(
                f"The {what.format(count)}={show_shape(whole)} must match the {kind} {count} "
                f"dimensions of updates.shape={show_shape(updates)}: {e}"
            ) from None


@op(
    "ScatterNd",
    "indices: Tindices, updates: T, shape: Tindices -> output: T",
    T=Type(),
    Tindices=_INDEX,
)
def scatter_nd_shape(c: ShapeContext) -> list[Shape]:
    """Zeros of `shape` with updates added at the index vectors."""
    out = shape_input(c, 2)
    indices, updates = dims.at_least(c.shape(0), 1), dims.at_least(c.shape(1), 1)
    scatter_nd_checks(indices, updates, out)
    return [out]


def _tensor_scatter_shape(c: ShapeContext) -> list[Shape]:
    x = dims.at_least(c.shape(0), 1)
    indices, updates = dims.at_least(c.shape(1), 1), dims.at_least(c.shape(2), 1)
    scatter_nd_checks(indices, updates, x)
    return [x]


_PLACED = "indices: Tindices, updates: T -> output: T"
for _name in ("TensorScatterUpdate", "TensorScatterAdd", "TensorScatterSub"):
    op(_name, f"tensor: T, {_PLACED}", _tensor_scatter_shape, T=Type(), Tindices=_INDEX)
op(
    "ScatterNdNonAliasingAdd",
    f"input: T, {_PLACED}",
    _tensor_scatter_shape,
    T=Type((*NUMBERS, bool_)),
    Tindices=_INDEX,
)


@kernel("ScatterNd", host_inputs="shape")
def scatter_nd(xp: Any, indices: Any, updates: Any, shape: Any) -> Any:
    if shape.ndim != 1:
        raise invalid("Shape must be a vector")
    out = zeros_of(xp, shape.tolist(), updates.dtype)
    scatter_into(xp, out, indices, updates, "add")
    return out


def scatter_into(xp: Any, out: Any, indices: Any, updates: Any, how: str) -> None:
    """Changes `out` at the index vectors: `how` is add, subtract or update."""
    if not out.ndim:
        raise invalid("Output must be at least 1-D, got shape: []")
    if not out.size and (indices.size or updates.size):
        raise invalid(
            "Indices and updates specified for empty output.  indices shape: "
            f"{show_shape(indices.shape)}"
        )
    if indices.ndim == 0 or indices.shape[-1] > out.ndim:
        raise invalid(
            "The inner dimension of indices must be at most the rank of the output, got indices of "
            f"shape {show_shape(indices.shape)} and output of shape {show_shape(out.shape)}"
        )
    depth, outer = indices.shape[-1], indices.ndim - 1
    if indices.shape[:-1] != updates.shape[:outer]:
        raise invalid(
            f"The outer {outer} dimensions of indices.shape={show_shape(indices.shape)} must match "
            f"the outer {outer} dimensions of updates.shape={show_shape(updates.shape)}"
        )
    if updates.shape[outer:] != out.shape[depth:]:
        inner = out.ndim - depth
        raise invalid(
            f"The inner {inner} dimensions of output.shape={show_shape(out.shape)} must match the "
            f"inner {updates.ndim - outer} dimensions of updates.shape={show_shape(updates.shape)}"
        )
    check_vectors(xp, indices, out.shape, "shape")
    if xp is not np:
        rows = flat_rows(xp, indices, out.shape[:depth]).reshape(-1)
        table = out.reshape(math.prod(out.shape[:depth]), *out.shape[depth:])
        change_rows(xp, how, table, rows, updates.reshape(-1, *out.shape[depth:]))
        return
    if depth == 0:  # every update is for the whole of `out`
        out, indices = out[None], xp.zeros((*indices.shape[:-1], 1), np.intp)
    place = (*xp.moveaxis(indices, -1, 0), ...)
    if how == "update":
        out[place] = updates
    elif updates.dtype.kind == "b":
        xp.logical_or.at(out, place, updates)
    else:
        getattr(xp, how).at(out, place, updates)


def _tensor_scatter(name: str, how: str) -> None:
    @kernel(name)
    def scatter(xp: Any, tensor: Any, indices: Any, updates: Any) -> Any:
        out = tensor.copy()
        scatter_into(xp, out, indices, updates, how)
        return out


_tensor_scatter("TensorScatterUpdate", "update")
_tensor_scatter("TensorScatterAdd", "add")
_tensor_scatter("ScatterNdNonAliasingAdd", "add")
_tensor_scatter("TensorScatterSub", "subtract")


# ---- one hot


@op(
    "OneHot",
    "indices: TI, depth: int32, on_value: T, off_value: T -> output: T",
    axis=-1,
    T=Type(),
    TI=Type((uint8, int32, int64), int64),
)
def one_hot_shape(c: ShapeContext) -> list[Shape]:
    """on_value where the new axis' position is the index, off_value elsewhere."""
    axis = c["axis"]
    if axis < -1:
        raise ValueError("axis must be >= -1")
    depth = c.value(1)
    for i in (1, 2, 3):
        dims.with_rank(c.shape(i), 0)
    size = None if depth is None else dims.size_given(int(depth), 1)
    x = c.shape(0)
    if x is None:
        return [None]
    at = len(x) if axis == -1 else axis
    return [(*x[:at], size, *x[at:])]


@kernel("OneHot", host_inputs="depth")
def one_hot(xp: Any, indices: Any, depth: Any, on: Any, off: Any, *, axis: Any) -> Any:
    if axis != -1 and not 0 <= axis <= indices.ndim:
        raise invalid(
            f"Expected axis to be -1 or between [0, {indices.ndim + 1}).  But received: {axis}"
        )
    for name, value in (("depth", depth), ("on_value", on), ("off_value", off)):
        if value.ndim:
            raise invalid(f"{name} must be a scalar, but got: {show_shape(value.shape)}")
    if depth < 0:
        raise invalid(f"depth must be non-negative, got: {depth}")
    at = indices.ndim if axis == -1 else axis
    steps = xp.arange(int(depth)).reshape(-1, *(1,) * (indices.ndim - at))
    return xp.where(xp.expand_dims(xp.asarray(indices), at) == steps, on, off)


# ---- partition and stitch


@op(
    "DynamicPartition",
    "data: T, partitions: int32 -> outputs: num_partitions * T",
    num_partitions=Count(),
    T=Type(),
)
def dynamic_partition_shape(c: ShapeContext) -> list[Shape]:
    """The slices of data, sorted into lists by their partition number."""
    data, partitions, count = c.shape(0), c.shape(1), c["num_partitions"]
    if partitions is None or data is None:
        return [None] * count
    for m, n in zip(dims.at_least(data, len(partitions)) or (), partitions):
        dims.merge_sizes(m, n)
    return [(None, *data[len(partitions) :])] * count


@kernel("DynamicPartition")
def dynamic_partition(xp: Any, data: Any, partitions: Any, *, num_partitions: Any) -> Any:
    if data.shape[: partitions.ndim] != partitions.shape:
        raise invalid(
            f"data.shape must start with partitions.shape, got data.shape = "
            f"{show_shape(data.shape)}, partitions.shape = {show_shape(partitions.shape)}"
        )
    check_indices(xp, partitions, num_partitions, "partitions")
    rows = data.reshape(partitions.size, *data.shape[partitions.ndim :])
    flat = partitions.reshape(-1)
    with synchronised(xp):
        return tuple(rows[flat == i] for i in range(num_partitions))


def _stitch_shape(c: ShapeContext) -> list[Shape]:
    count = c["N"]
    rest: Shape = None
    last: int | None = -1
    for i in range(count):
        indices, data, value = c.shape(i), c.shape(count + i), c.value(i)
        last = None if value is None or last is None else max(last, int(value.max(initial=-1)))
        if indices is None:
            continue
        if data is not None:
            dims.merge((dims.at_least(data, len(indices)) or ())[: len(indices)], indices)
            rest = dims.merge(rest, data[len(indices) :])
    return [None if rest is None else (dims.add(last, 1), *rest)]


for _name in ("DynamicStitch", "ParallelDynamicStitch"):
    op(_name, "indices: N * int32, data: N * T -> merged: T", _stitch_shape, N=Count(), T=Type())


@kernel("DynamicStitch", "ParallelDynamicStitch", host_inputs="indices")
def dynamic_stitch(xp: Any, indices: Any, data: Any) -> Any:
    """Rows that no index names are zero (TF leaves them undefined)."""
    rest = data[0].shape[indices[0].ndim :]
    for i, (at, rows) in enumerate(zip(indices, data)):
        if rows.shape != at.shape + rest:
            raise invalid(
                f"Need data[0].shape[{indices[0].ndim}:] = data[{i}].shape[{at.ndim}:], got "
                f"data[0].shape = {show_shape(data[0].shape)}, data[{i}].shape = "
                f"{show_shape(rows.shape)}, indices[0].shape = {show_shape(indices[0].shape)}, "
                f"indices[{i}].shape = {show_shape(at.shape)}"
            )
        if at.size and int(at.min()) < 0:
            raise invalid(f"indices[{int((at < 0).reshape(-1).argmax())}] is out of range")
    size = max((int(at.max()) + 1 for at in indices if at.size), default=0)
    if xp is not np:
        return _stitch_on_gpu(xp, indices, data, (size, *rest))
    out = zeros_of(xp, (size, *rest), data[0].dtype)
    for at, rows in zip(indices, data):
        out[at] = rows
    return out


def _stitch_on_gpu(xp: Any, indices: Any, data: Any, shape: Any) -> Any:
    """As one gather, since it is not said which of several values for one row stays."""
    rows = [d.reshape(at.size, *shape[1:]) for at, d in zip(indices, data)]
    rows.append(xp.zeros((1, *shape[1:]), data[0].dtype))
    source = np.full(shape[0], sum(at.size for at in indices), np.int64)
    start = 0
    for at in indices:
        source[at.reshape(-1)] = np.arange(start, start + at.size)
        start += at.size
    return xp.concatenate(rows)[xp.asarray(source)]
