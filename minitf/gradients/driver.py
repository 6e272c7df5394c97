"""tf.gradients: walks from ys back to xs and lets the gradient function of each op add its ops."""

from __future__ import annotations

import enum
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from minitf import source
from minitf.convert import constant
from minitf.default import graph_of, name_scope
from minitf.gradients.aggregation import aggregate, check_method
from minitf.gradients.flow import Flow
from minitf.gradients.handles import handle_dtype, variable_shape
from minitf.gradients.loops import make_flow
from minitf.gradients.registry import GradientFunction, get_gradient_function
from minitf.graph import Graph
from minitf.indexed_slices import IndexedSlices, tensor_or_slices
from minitf.operation import Operation, Tensor
from minitf.ops.array import fill, identity, shape, zeros, zeros_like
from minitf.ops.group import tuple as tuple_op
from minitf_runtime.garbage import collection_paused
from minitf_runtime.types import COMPLEX, FLOATS, DType, resource, variant

__all__ = ["UnconnectedGradients", "gradients"]

TRAINABLE = frozenset((*FLOATS, *COMPLEX, resource, variant))


class UnconnectedGradients(enum.Enum):
    """What the gradient is where no y depends on x (TF: UnconnectedGradients)."""

    NONE = "none"
    ZERO = "zero"


@collection_paused()
def gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    name: str | None = "gradients",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
    stop_gradients: Any = None,
    unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
) -> list[Any]:
    """The sum of dy/dx over all ys, for each x: a Tensor, IndexedSlices or None.

    Raises LookupError for an op without a registered gradient, ValueError and TypeError for
    arguments that do not fit.
    """
    unconnected = _unconnected(unconnected_gradients)
    method = check_method(aggregation_method)
    ys, xs, stop_gradients = _as_list(ys), _as_list(xs), _as_list(stop_gradients)
    grad_ys = [None] * len(ys) if grad_ys is None else _as_list(grad_ys)
    values = [*ys, *xs, *stop_gradients, *grad_ys]
    graph = graph_of(values)
    with (
        graph.as_default(),
        graph.role_scope("gradient"),
        graph.at_line(source.user_line()),
    ):
        with name_scope(name, "gradients"):
            graph.unique_name("uid")
            ys = [tensor_or_slices(y, name=f"y_{i}") for i, y in enumerate(ys)]
            xs = [
                tensor_or_slices(_handle(x), name=f"x_{i}", as_ref=True) for i, x in enumerate(xs)
            ]
            backward = _Backward(graph, colocate_gradients_with_ops, gate_gradients, method)
            backward.run(ys, xs, grad_ys, [t.op for t in stop_gradients])
        return [backward.result(x, unconnected) for x in xs]


class _Backward:
    """One walk: the terms that arrived at each output of each op, and how to treat them."""

    def __init__(self, graph: Graph, colocate: bool, gate: bool, method: int) -> None:
        self.graph = graph
        self.colocate = colocate
        self.gate = gate
        self.method = method
        self.terms: dict[Operation, list[list[Any]]] = {}
        self.sums: dict[Operation, list[Any]] = {}  # of the ops visited

    def run(
        self, ys: list[Any], xs: list[Any], grad_ys: list[Any], stop: Iterable[Operation]
    ) -> None:
        for y, grad in zip(ys, self._initial(ys, grad_ys)):
            self._add(y, grad)
        y_ops, x_ops = [y.op for y in ys], [x.op for x in xs]
        between = _between(y_ops, _reached(x_ops))
        flow = make_flow(between, self._add, self._colocated)
        pending = _pending(between)
        stops = {op for op in x_ops if all(pending[t.op] <= 0 for t in op._inputs)} | set(stop)
        path = set(between)
        queue = deque(op for op in dict.fromkeys(y_ops) if pending[op] == 0 and op in path)
        queue += flow.start(pending, set(y_ops))
        while queue:
            op = queue.popleft()
            with self._colocated(op):
                with flow.summing(op):
                    out_grads = self._sums(op)
                fn = None if op in stops or _all_none(out_grads) else _function(op)
                with flow.differentiating(op):
                    if fn is not None:
                        self._pass_on(op, self._differentiate(op, fn, out_grads, flow))
            for t in op._inputs:
                pending[t.op] -= 1
                queue += flow.ready(t.op, pending[t.op], self._has_terms)
        flow.finish()

    def result(self, x: Any, unconnected: UnconnectedGradients) -> Any:
        if x.op in self.sums:
            return self.sums[x.op][x.value_index]
        if unconnected is UnconnectedGradients.NONE:
            return None
        if x.dtype.base is resource:
            return zeros(variable_shape(x), handle_dtype(x))
        return zeros_like(x)

    def _initial(self, ys: list[Any], grad_ys: list[Any]) -> Iterator[Any]:
        """The gradients to begin with: ones, or what the caller gave."""
        if len(grad_ys) != len(ys):
            raise ValueError(f"Passed {len(grad_ys)} grad_ys for {len(ys)} ys")
        given = [
            None if g is None else tensor_or_slices(g, name=f"grad_y_{i}")
            for i, g in enumerate(grad_ys)
        ]
        for i, (y, grad) in enumerate(zip(ys, given)):
            with self._colocated(y.op):
                yield _ones(y, i) if grad is None else _named(y, grad, i)

    def _terms(self, op: Operation) -> list[list[Any]]:
        if op not in self.terms:
            self.terms[op] = [[] for _ in op.outputs]
        return self.terms[op]

    def _add(self, tensor: Any, grad: Any) -> None:
        terms = self._terms(tensor.op)[tensor.value_index]
        if tensor.op in self.sums:  # the Switch of a loop is visited once more
            terms.clear()
        terms.append(grad)

    def _has_terms(self, op: Operation) -> bool:
        return any(self.terms.get(op, ()))

    def _sums(self, op: Operation) -> list[Any]:
        """The sum of the terms of each output, which then takes the place of its terms."""
        sums = [aggregate(op, terms, self.method) for terms in self._terms(op)]
        self.terms[op] = [[] if s is None else [s] for s in sums]
        self.sums[op] = sums
        return sums

    def _differentiate(
        self, op: Operation, fn: GradientFunction, out_grads: list[Any], flow: Flow
    ) -> list[Any]:
        """What the gradient function of `op` gives for its inputs."""
        grads = [
            flow.zeros_like(t) if g is None and _is_trainable(t.dtype) else g
            for t, g in zip(op.outputs, out_grads)
        ]
        with self.graph.name_scope(op.name + "_grad"), _original(self.graph, op, fn):
            made = fn(op, *grads)
            in_grads = list(made) if isinstance(made, (list, tuple)) else [made]
            if len(in_grads) != len(op._inputs):
                raise ValueError(
                    f"Num gradients {len(in_grads)} generated for op {op.node_def} do not match "
                    f"num inputs {len(op._inputs)}"
                )
            if self.gate and sum(g is not None for g in in_grads) > 1:
                # The devices of the gate come from the gradients alone.
                with self.graph.device(None), self.graph.colocate_with(None, ignore_existing=True):
                    in_grads = tuple_op(in_grads)
        return in_grads

    def _pass_on(self, op: Operation, in_grads: list[Any]) -> None:
        for i, (t, grad) in enumerate(zip(op._inputs, in_grads)):
            if grad is None:
                continue
            if isinstance(grad, Tensor) and t.dtype.base is not resource:
                _merge_shape(op, i, t, grad)
            self._add(t, grad)

    def _colocated(self, op: Operation) -> AbstractContextManager[Any]:
        return self.graph.colocate_with(op) if self.colocate else nullcontext()


def _reached(starts: list[Operation]) -> set[Operation]:
    """All ops that depend on `starts` through differentiable tensors."""
    reached: set[Operation] = set()
    stack = list(starts)
    while stack:
        op = stack.pop()
        if op not in reached:
            reached.add(op)
            for t in op.outputs:
                if _is_trainable(t.dtype):
                    stack += t._consumers
    return reached


def _between(ends: list[Operation], reached: set[Operation]) -> list[Operation]:
    """The reached ops that `ends` depend on, walking back breadth first."""
    between: dict[Operation, None] = {}
    queue = deque(ends)
    while queue:
        op = queue.popleft()
        if op in reached and op not in between:
            between[op] = None
            queue += (t.op for t in op._inputs)
    return list(between)


def _pending(between: list[Operation]) -> dict[Operation, int]:
    """For each op, how many inputs of ops on the path come from it."""
    path = set(between)
    pending: dict[Operation, int] = defaultdict(int)
    for op in between:
        for t in op._inputs:
            if t.op in path:
                pending[t.op] += 1
    return pending


def _function(op: Operation) -> GradientFunction | None:
    try:
        return get_gradient_function(op)
    except LookupError:
        raise LookupError(
            f"No gradient defined for operation '{op.name}' (op type: {op.type})"
        ) from None


def _merge_shape(op: Operation, i: int, given: Tensor, grad: Tensor) -> None:
    try:
        grad.set_shape(given._shape)
    except ValueError:
        raise ValueError(
            "Incompatible shapes between op input and calculated input gradient.  "
            f"Forward operation: {op.name}.  Input index: {i}. "
            f"Original input shape: {given.shape}.  Calculated input gradient shape: {grad.shape}"
        ) from None


@contextmanager
def _original(graph: Graph, op: Operation, fn: GradientFunction) -> Iterator[None]:
    """Ops made inside know that they belong to the gradient of `op`; those that a user's function
    makes belong to lines of its own."""
    outer = graph.original_op, graph.line
    graph.original_op = op
    if fn is op._gradient_function or source.is_user(_file(fn)):
        graph.line = None
    try:
        yield
    finally:
        graph.original_op, graph.line = outer


def _file(fn: GradientFunction) -> str:
    code = getattr(fn, "__code__", None)
    return code.co_filename if code else ""  # any callable may be a user's


def _ones(y: Any, i: int) -> Tensor:
    if y.dtype.is_complex:
        raise TypeError(f"Gradients of complex tensors must set grad_ys (y.dtype = {y.dtype!r})")
    sizes = shape(y)
    return fill(sizes, constant(1, y.dtype, name=f"grad_ys_{i}"))


def _named(y: Any, grad: Any, i: int) -> Any:
    """The caller's gradient under the name grad_ys_i. Raises TypeError if it cannot be one of y."""
    _check_kind(y, grad)
    name = f"grad_ys_{i}"
    if not isinstance(grad, IndexedSlices):
        return identity(grad, name=name)
    indices, values, rows = (
        identity(part, name=f"{name}_{suffix}") if isinstance(part, Tensor) else part
        for part, suffix in (
            (grad.indices, "indices"),
            (grad.values, "values"),
            (grad.dense_shape, "shape"),
        )
    )
    return IndexedSlices(values, indices, rows)


def _check_kind(y: Any, grad: Any) -> None:
    own, given = y.dtype.base, grad.dtype.base
    told = f"{y} with type {own.name}"
    if own.is_floating or own.is_integer:
        if not given.is_floating and not given.is_integer:
            raise TypeError(
                f"Gradient type {given.name} generated for real or integer-valued tensor {told} "
                "must be real or integer"
            )
    elif own.is_complex:
        if not given.is_complex:
            raise TypeError(
                f"Gradient type {given.name} generated for complex-valued tensor {told} must be "
                "real"
            )
    elif own is variant:
        if given is not variant:
            raise TypeError(
                f"Gradient type {given.name} generated for variant tensor {told} must be variant"
            )
    elif own is not resource:
        raise TypeError(f"Tensor {told} must be numeric to obtain a default gradient")
    elif given is resource:
        raise TypeError(f"Input gradient {grad} for resource tensor {y} should not be a resource")


def _unconnected(value: UnconnectedGradients | str) -> UnconnectedGradients:
    try:
        return UnconnectedGradients(value)
    except ValueError:
        raise ValueError(f"Unknown value for unconnected_gradients: {value!r}") from None


def _handle(x: Any) -> Any:
    """A resource variable is differentiated by its handle."""
    handle = getattr(x, "handle", None)
    return handle if isinstance(handle, Tensor) else x


def _is_trainable(dtype: DType) -> bool:
    return dtype.base in TRAINABLE


def _all_none(grads: list[Any]) -> bool:
    return all(g is None for g in grads)


def _as_list(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]
