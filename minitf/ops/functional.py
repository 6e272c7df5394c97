"""tf.map_fn, tf.scan, tf.foldl and tf.foldr: a function of each slice, as a loop over arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from minitf import nest
from minitf.convert import constant, to_tensor
from minitf.default import name_scope
from minitf.operation import Tensor
from minitf.ops.control_flow import while_loop
from minitf.ops.shapes import shape
from minitf.ops.tensor_array import TensorArray
from minitf.sparse_tensor import SparseTensor
from minitf.tensor_shape import Dimension, TensorShape
from minitf.variable_scope import get_variable_scope

__all__ = ["foldl", "foldr", "map_fn", "scan"]


def map_fn(
    fn: Callable[[Any], Any],
    elems: Any,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
) -> Any:
    """`fn` of each slice along the first axis, the results stacked (TF: map_fn).

    `dtype` is the structure of types that `fn` returns, where it is not that of `elems`. Raises
    TypeError or ValueError for a result of another structure.
    """
    loop = _Loop(parallel_iterations or 10, back_prop, swap_memory)
    if isinstance(elems, SparseTensor):
        raise TypeError(
            "To perform a map on the values of a sparse tensor use either "
            " SparseTensor(input.indices, fn(input.values), input.dense_shape) or "
            " SparseTensor(input.indices, map_fn(fn, input.values), input.dense_shape)"
        )
    flat = nest.flatten(elems)
    with _function_of_slices(fn, name, "map", flat):
        flat = [to_tensor(e, name="elem") for e in flat]
        if flat[0]._shape == ():
            raise ValueError(
                "elems must be a 1+ dimensional Tensor, not a scalar"
                if len(flat) == 1
                else "elements in elems must be 1+ dimensional Tensors, not scalars"
            )
        result = dtype or nest.pack_sequence_as(elems, [e.dtype for e in flat])
        n = _length(flat[0])
        inputs = [TensorArray(e.dtype, n) for e in flat]
        inputs = [array.unstack(e) for array, e in zip(inputs, flat)]
        start = constant(0)
        outputs = [TensorArray(t, n, infer_shape=infer_shape) for t in nest.flatten(result)]

        def body(i: Tensor, arrays: list[TensorArray]) -> Any:
            value = fn(nest.pack_sequence_as(elems, [array.read(i) for array in inputs]))
            nest.assert_same_structure(result, value)
            arrays = _write(arrays, i, value)
            return i + 1, arrays

        _, arrays = loop(lambda i, _: i < n, body, (start, outputs), n)
        return nest.pack_sequence_as(result, _stacked(arrays, flat))


def scan(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """All that `fn(accumulated, slice)` gives from slice to slice, stacked (TF: scan).

    Raises TypeError or ValueError when `fn` returns another structure than the initializer's.
    """
    loop = _Loop(parallel_iterations, back_prop, swap_memory)
    result = elems if initializer is None else initializer
    flat = nest.flatten(elems)
    with _function_of_slices(fn, name, "scan", flat):
        flat = [to_tensor(e, name="elem") for e in flat]
        n = _static_length(flat[0])
        if n is None:
            n = shape(flat[0])[0]
        inputs = [TensorArray(e.dtype, n, element_shape=e.shape[1:]) for e in flat]
        inputs = [array.unstack(e) for array, e in zip(inputs, flat)]
        done = int(initializer is None)
        if initializer is None:
            first = [array.read(n - 1 if reverse else 0) for array in inputs]
        else:
            first = [to_tensor(value) for value in nest.flatten(initializer)]
        outputs = [
            TensorArray(
                a.dtype, n, element_shape=a.shape if infer_shape else None, infer_shape=infer_shape
            )
            for a in first
        ]
        if initializer is None:
            outputs = [a.write(n - 1 if reverse else 0, v) for a, v in zip(outputs, first)]

        def body(i: Tensor, values: list[Tensor], arrays: list[TensorArray]) -> Any:
            elem = nest.pack_sequence_as(elems, [array.read(i) for array in inputs])
            value = fn(nest.pack_sequence_as(result, values), elem)
            nest.assert_same_structure(result, value)
            arrays = _write(arrays, i, value)
            return i - 1 if reverse else i + 1, nest.flatten(value), arrays

        cond = (lambda i, *_: i >= 0) if reverse else (lambda i, *_: i < n)
        start = n - 1 - done if reverse else done
        _, _, arrays = loop(cond, body, (start, first, outputs), n)
        return nest.pack_sequence_as(result, _stacked(arrays, flat))


def foldl(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """What `fn(accumulated, slice)` gives after the last slice (TF: foldl)."""
    loop = _Loop(parallel_iterations, back_prop, swap_memory)
    with _function_of_slices(fn, name, "foldl", [elems]):
        n, arrays = _unstacked(elems)
        if initializer is None:
            initializer, start = _read(arrays, 0), constant(1)
        else:
            start = constant(0)

        def body(i: Tensor, value: Any) -> list[Any]:
            value = fn(value, _read(arrays, i))
            return [i + 1, value]

        return loop(lambda i, _: i < n, body, [start, initializer], n)[1]


def foldr(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """foldl from the last slice to the first (TF: foldr)."""
    loop = _Loop(parallel_iterations, back_prop, swap_memory)
    with _function_of_slices(fn, name, "foldr", [elems]):
        n, arrays = _unstacked(elems)
        start = n
        if initializer is None:
            start = n - 1
            initializer = _read(arrays, start)

        def body(i: Tensor, value: Any) -> list[Any]:
            i -= 1
            return [i, fn(value, _read(arrays, i))]

        return loop(lambda i, _: i > 0, body, [start, initializer], n)[1]


@dataclass(frozen=True)
class _Loop:
    """while_loop with the options that all of these functions hand on."""

    parallel_iterations: int
    back_prop: bool
    swap_memory: bool

    def __call__(self, cond: Any, body: Any, loop_vars: Any, n: Any) -> Any:
        return while_loop(cond, body, loop_vars, maximum_iterations=n, **vars(self))


@contextmanager
def _function_of_slices(
    fn: Any, name: str | None, default_name: str, values: Any
) -> Iterator[None]:
    """The name scope of such a function; a variable that `fn` gets is read once, not per slice."""
    if not callable(fn):
        raise TypeError("fn must be callable.")
    with name_scope(name, default_name, values):
        scope = get_variable_scope()
        outer = scope.caching_device
        if outer is None:
            scope.set_caching_device(lambda op: op.device)
        try:
            yield
        finally:
            scope.set_caching_device(outer)


def _static_length(value: Tensor) -> int | None:
    return value.shape.with_rank_at_least(1)[0].value


def _length(value: Tensor) -> Any:
    """The size of the first axis: an int if it is known and not 0, else a tensor, as in TF."""
    return _static_length(value) or shape(value)[0]


def _unstacked(elems: Any) -> tuple[Any, Any]:
    """The number of slices, and the arrays that hold them, in the structure of `elems`."""
    n = _length([to_tensor(e, name="elem") for e in nest.flatten(elems)][0])
    return n, nest.map_structure(lambda e: TensorArray(e.dtype, n).unstack(e), elems)


def _read(arrays: Any, i: Any) -> Any:
    return nest.map_structure(lambda array: array.read(i), arrays)


def _write(arrays: list[TensorArray], i: Tensor, value: Any) -> list[TensorArray]:
    return [array.write(i, part) for array, part in zip(arrays, nest.flatten(value))]


def _stacked(arrays: list[TensorArray], elems: list[Tensor]) -> list[Tensor]:
    """The elements of each array as one tensor, as long as the inputs are known to be."""
    results = [array.stack() for array in arrays]
    n = Dimension(_static_length(elems[0]))
    for e in elems[1:]:
        n.assert_is_compatible_with(_static_length(e))
    for r in results:
        r.set_shape(TensorShape(n).concatenate(r.shape[1:]))
    return results
