"""Fetches and feeds of every form TF takes, flattened to tensor and op names and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from minitf.graph import Graph
from minitf.indexed_slices import IndexedSlices, IndexedSlicesValue
from minitf.operation import Operation, Tensor
from minitf.sparse_tensor import SparseTensor, SparseTensorValue
from minitf_runtime.types import string

Expand = Callable[[Any], tuple[list[Any], Callable[[list[Any]], Any]]]
FeedExpand = Callable[[Any, Any], list[tuple[Any, Any]]]
_expansions: list[tuple[type, Expand, FeedExpand | None, Any]] = []


def register_session_run_conversion_functions(
    tensor_type: type,
    fetch_function: Any = None,
    feed_function: Any = None,
    feed_for_partial_run: Any = None,
) -> None:
    """Teaches sessions to fetch and feed a composite type (TF: the same)."""
    for known, *_ in _expansions:
        if issubclass(tensor_type, known):
            raise ValueError(f"{tensor_type} has already been registered so ignore it.")
    _expansions.insert(0, (tensor_type, fetch_function, feed_function, feed_for_partial_run))


class FetchPlan:
    """A fetch structure flattened once: `tensors` and `ops` to run, and how to put values back."""

    def __init__(self, graph: Graph, fetches: Any) -> None:
        self.tensors: list[Tensor] = []
        self.ops: list[Operation] = []
        self._graph = graph
        self._places: dict[Any, int] = {}
        self.build = self._expand(fetches)

    def _expand(self, fetch: Any) -> Callable[[Sequence[Any]], Any]:
        if fetch is None:
            raise TypeError(f"Fetch argument {fetch!r} has invalid type {type(fetch)!r}")
        if isinstance(fetch, (list, tuple)):
            return self._sequence(fetch)
        if isinstance(fetch, Mapping):
            return self._mapping(fetch)
        if hasattr(type(fetch), "__attrs_attrs__"):
            names = [a.name for a in type(fetch).__attrs_attrs__]
            parts = [self._expand(getattr(fetch, n)) for n in names]
            kind = type(fetch)
            return lambda values: kind(*[p(values) for p in parts])
        for kind, expand, *_ in _expansions:
            if isinstance(fetch, kind) and expand is not None:
                members, contract = expand(fetch)
                parts = [self._leaf(m) for m in members]
                return lambda values: contract([p(values) for p in parts])
        return self._leaf(fetch)

    def _sequence(self, fetch: Any) -> Callable[[Sequence[Any]], Any]:
        parts = [self._expand(f) for f in fetch]
        kind = type(fetch)
        if hasattr(fetch, "_fields"):
            return lambda values: kind(*[p(values) for p in parts])
        return lambda values: kind([p(values) for p in parts])

    def _mapping(self, fetch: Any) -> Callable[[Sequence[Any]], Any]:
        parts = {k: self._expand(f) for k, f in fetch.items()}
        kind = type(fetch)
        return lambda values: kind((k, p(values)) for k, p in parts.items())

    def _leaf(self, fetch: Any) -> Callable[[Sequence[Any]], Any]:
        element = self._element(fetch)
        if not self._graph.is_fetchable(element):
            op = element.op if isinstance(element, Tensor) else element
            raise ValueError(f"Operation {op.name!r} has been marked as not fetchable.")
        if isinstance(element, Operation):
            if element not in self._places:
                self._places[element] = -1
                self.ops.append(element)
            return lambda values: None
        place = self._places.get(element)
        if place is None:
            place = self._places[element] = len(self.tensors)
            self.tensors.append(element)
        return lambda values: values[place]

    def _element(self, fetch: Any) -> Any:
        try:
            return self._graph.as_graph_element(fetch)
        except TypeError as e:
            raise TypeError(
                f"Fetch argument {fetch!r} has invalid type {type(fetch)!r}, must be a string or "
                f"Tensor. ({e})"
            ) from None
        except (KeyError, ValueError) as e:
            text = e.args[0] if e.args else e
            raise ValueError(
                f"Fetch argument {fetch!r} cannot be interpreted as a Tensor. ({text!r})"
            ) from None


def flatten_feeds(graph: Graph, feed_dict: Any) -> dict[Tensor, Any]:
    """Tensor -> array for a feed_dict. Raises TypeError and ValueError as TF does."""
    if feed_dict is None:
        return {}
    out = {}
    for key, value in _pairs(feed_dict):
        for part, one in _expand_feed(key, value):
            try:
                tensor = graph.as_graph_element(part, allow_operation=False)
            except Exception as e:
                raise TypeError(f"Cannot interpret feed_dict key as Tensor: {e.args[0]}") from None
            out[tensor] = feed_value(graph, tensor, one)
    return out


def _pairs(feed_dict: Any) -> list[tuple[Any, Any]]:
    """Keys may be nested tuples matched by nested values."""
    if not isinstance(feed_dict, Mapping):
        raise TypeError(f"feed_dict must be a dictionary, got {type(feed_dict).__name__}")
    out: list[tuple[Any, Any]] = []
    for key, value in feed_dict.items():
        if isinstance(key, tuple):
            if not isinstance(value, (tuple, list)) or len(key) != len(value):
                raise ValueError(f"The feed value {value!r} does not match its key {key!r}")
            out += zip(key, value)
        else:
            out.append((key, value))
    return out


def _expand_feed(key: Any, value: Any) -> list[tuple[Any, Any]]:
    for kind, _, expand, _ in _expansions:
        if isinstance(key, kind) and expand is not None:
            return list(expand(key, value))
    return [(key, value)]


def feed_value(graph: Graph, tensor: Tensor, value: Any) -> Any:
    """A fed value as an array of the tensor's type, its shape checked."""
    if isinstance(value, Tensor):
        raise TypeError(
            "The value of a feed cannot be a tf.Tensor object. Acceptable feed values include "
            "Python scalars, strings, lists, numpy ndarrays, or TensorHandles. For reference, the "
            "tensor "
            f"object was {value} which was passed to the feed with key {tensor}."
        )
    dtype = tensor.dtype.base
    if dtype is string:
        array = _string_array(value)
    else:
        if isinstance(value, int) and not isinstance(value, bool) and dtype.is_integer:
            _check_int(tensor, value)
        array = np.asarray(value, dtype.as_numpy_dtype)
    shape = tensor._shape
    if shape is not None and array.shape != shape and not _fits(array.shape, shape):
        raise ValueError(
            f"Cannot feed value of shape {array.shape!r} for Tensor {tensor.name!r}, which has "
            f"shape '{tensor.shape}'"
        )
    if not graph.is_feedable(tensor):
        raise ValueError(f"Tensor {tensor} may not be fed.")
    return array


def _check_int(tensor: Tensor, value: int) -> None:
    low, high = tensor.dtype.base.limits
    if not low <= value <= high:
        raise TypeError(
            f"Type of feed value {value} with type {type(value)} is not compatible with Tensor "
            f"type {tensor.dtype.as_numpy_dtype}. Try explicitly setting the type of the feed "
            "tensor to "
            "a larger type (e.g. int64)."
        )


def _fits(got: tuple[int, ...], shape: tuple[int | None, ...]) -> bool:
    return len(got) == len(shape) and all(n is None or n == m for m, n in zip(got, shape))


def _string_array(value: Any) -> Any:
    array = np.asarray(value, dtype=object)
    flat = [v.encode() if isinstance(v, str) else v for v in array.ravel().tolist()]
    for v in flat:
        if not isinstance(v, bytes):
            raise TypeError(f"Expected a string to feed, got {v!r} of type {type(v).__name__}")
    out = np.empty(array.shape, object)
    out.ravel()[:] = flat if array.ndim else flat
    if array.ndim == 0:
        out[()] = flat[0]
    return out


def result(value: Any) -> Any:
    """A fetched value as the user gets it: scalars as NumPy scalars, shared buffers copied."""
    if isinstance(value, np.ndarray):
        if value.ndim == 0:
            return value[()]
        return value if value.flags.writeable and value.base is None else value.copy()
    return value


def _fetch_slices(fetch: IndexedSlices) -> Any:
    parts = [fetch.values, fetch.indices]
    if fetch.dense_shape is not None:
        parts.append(fetch.dense_shape)
    return parts, lambda v: IndexedSlicesValue(v[0], v[1], v[2] if len(v) > 2 else None)


def _feed_slices(key: IndexedSlices, value: Any) -> Any:
    names = ("values", "indices", "dense_shape")
    given = value if isinstance(value, tuple) else tuple(getattr(value, n) for n in names)
    parts = (key.values, key.indices, key.dense_shape)
    return [(k, v) for k, v in zip(parts, given) if k is not None]


def _fetch_sparse(fetch: SparseTensor) -> Any:
    return fetch._components(), lambda values: SparseTensorValue(*values)


def _feed_sparse(key: SparseTensor, value: Any) -> Any:
    return list(zip(key._components(), value))


_expansions.append((SparseTensor, _fetch_sparse, _feed_sparse, None))
_expansions.append((IndexedSlices, _fetch_slices, _feed_slices, None))
