"""Folding: what is known before the step runs needs no op (TF: constant folding, shape folding).

Works on the nodes of one device after the cut, so it never changes what crosses between devices.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from minitf_runtime.graph import Graph, Node
from minitf_runtime.ops.registry import OPS
from minitf_runtime.ops.static import SHAPES, StaticValues
from minitf_runtime.passes.carried import STACK, handed_on, pushed
from minitf_runtime.plan.regions import CONTROL_FLOW, RECVS
from minitf_runtime.plan.stacks import without_unused_stacks
from minitf_runtime.types import is_full

Tensor = tuple[str, int]
_REDUCTIONS = frozenset(("Sum", "Mean", "Max", "Min", "Prod", "All", "Any"))
_UNIFORM = {"Tile": 0, "BroadcastTo": 0, "Fill": 1}  # op -> the input that it spreads
_CHECKS = frozenset(("CheckNumerics", "EnsureShape"))  # they are there to fail
_RESHAPES = frozenset(("Reshape", "BroadcastTo", "ExpandDims", "Squeeze"))


class Folded(NamedTuple):
    """The nodes that are left, and the values of those that are not."""

    nodes: tuple[Node, ...]
    constants: Mapping[Tensor, Any]


def fold(nodes: Sequence[Node], tested: Iterable[Tensor] = (), one_strand: bool = False) -> Folded:
    """Takes out nodes of known value; a reduction over no axis or a reshape to the same shape
    becomes an Identity.

    Left alone: nodes that others wait for by a control edge, and those of control flow. A node that
    may not run has its value all the same: who takes it does not run either. `tested`: what guards
    test, which stays. `one_strand`: the nodes run one after the other as they stand here, so
    control edges say nothing more.
    """
    used = set(tested)
    awaited: set[str] = set()
    if one_strand:
        nodes = without_unused(nodes, used, True)
    else:
        awaited.update(c for n in nodes for c in n.control)
    by_name = {n.name: n for n in nodes}
    popped = pushed(Graph(nodes)) if any(n.op == STACK for n in nodes) else {}
    static = StaticValues(lambda key: _describe(by_name, popped, key))
    constants: dict[Tensor, Any] = {}
    uniform = {n.name for n in nodes if n.op in _UNIFORM}
    kept = []
    for n in nodes:
        values = _values(n, static) if n.name not in awaited else None
        if values is not None:
            constants.update(((n.name, i), v) for i, v in enumerate(values))
        elif _changes_nothing(n, by_name, static):
            kept.append(n.with_(op="Identity", inputs=n.inputs[:1], attrs={}))
        else:
            n = _as_addition(n, by_name)
            if not uniform.isdisjoint([name for name, _ in n.inputs]):
                n = _with_scalars(n, by_name, static, constants)
            kept.append(n)
    left = without_unused(kept, used, one_strand)
    if popped:
        left = without_unused(without_unused_stacks(left), used, one_strand)
    return Folded(left, constants)


def _with_scalars(
    n: Node, by_name: Mapping[str, Node], static: StaticValues, constants: dict[Tensor, Any]
) -> Node:
    """An elementwise op takes a tensor of equal elements as a scalar, if another has its shape."""
    if len(n.inputs) < 2 or not _is_elementwise(n) or not is_full(_shape(by_name, (n.name, 0))):
        return n
    if any(a.is_list for a in OPS[n.op].inputs):
        return n  # AddN does not broadcast
    inputs = []
    for source in n.inputs:
        value = _the_element(by_name.get(source[0]), static)
        if value is not None:
            source = (f"{source[0]}:element", 0)
            constants[source] = value
        inputs.append(source)
    rest = [_shape(by_name, s) for s in inputs if s not in constants]
    return n.with_(inputs=tuple(inputs)) if n.output_shapes[0] in rest else n


def _as_addition(n: Node, by_name: Mapping[str, Node]) -> Node:
    """An addition, for a BiasAdd along the last axis or a sum of two, once the shapes are
    checked."""
    if n.op not in ("BiasAdd", "AddN") or len(n.inputs) != 2:
        return n
    value, other = (_shape(by_name, source) for source in n.inputs)
    if n.op == "AddN":
        adds = is_full(other) and value == other
    else:
        is_bias = value is not None and len(value) > 1 and is_full(other) and other == value[-1:]
        adds = is_bias and n.attrs["data_format"] == "NHWC"
    return n.with_(op="AddV2", attrs={"T": n.attrs["T"]}) if adds else n


def _the_element(n: Node | None, static: StaticValues) -> Any:
    """The value that all elements of the node's output have, if it is known."""
    if n is None or n.op not in _UNIFORM:
        return None
    value = static.value(n.inputs[_UNIFORM[n.op]])
    return value.reshape(()) if value is not None and value.size == 1 else None


def _is_elementwise(n: Node) -> bool:
    return n.op in OPS and any(k.elementwise for k in OPS[n.op].kernels)


def without_unused(
    nodes: Sequence[Node], used_beside: Iterable[Tensor], one_strand: bool = False
) -> tuple[Node, ...]:
    """Takes out ops whose value nobody takes; who waited for one waits for its inputs, but not for
    those that are known already."""
    there = {n.name for n in nodes}
    used = {name for name, _ in used_beside}
    awaited: set[str] = set()
    kept = []
    for n in reversed(nodes):
        if n.name not in used and _has_no_effect(n):
            if n.name not in awaited:
                continue
            sources = [name for name, _ in n.inputs if name in there]
            waits = dict.fromkeys((*n.control, *sources))
            n = n.with_(op="NoOp", inputs=(), input_types=(), control=tuple(waits), attrs={})
        used.update([name for name, _ in n.inputs])
        if not one_strand:
            awaited.update(n.control)
        kept.append(n)
    return tuple(reversed(kept))


def _has_no_effect(n: Node) -> bool:
    """Whether nobody can tell that the op ran, but by its value."""
    known = OPS.get(n.op)
    if known is None or not known.only_computes or not n.output_types:
        return False
    return not (n.op in _CHECKS or n.op in CONTROL_FLOW or n.op in RECVS)


def _describe(by_name: Mapping[str, Node], popped: Mapping[str, Tensor], key: Any) -> Any:
    """A tensor as StaticValues wants it."""
    name, index = key
    n = by_name[name]
    op, attrs, inputs = n.op, n.attrs, n.inputs
    source = handed_on(n, popped)
    if source is not None:
        op, attrs, inputs = "Identity", {"T": n.output_types[index]}, (source,)
    elif op in CONTROL_FLOW:
        inputs = ()
    shapes = [_shape(by_name, source) for source in inputs]
    return op, attrs, inputs, shapes, index, _shape(by_name, key)


def _shape(by_name: Mapping[str, Node], tensor: Tensor) -> Any:
    shapes = by_name[tensor[0]].output_shapes
    return shapes[tensor[1]] if tensor[1] < len(shapes) else None


def _values(n: Node, static: StaticValues) -> list[Any] | None:
    """The values of all outputs of an op that only computes, or None."""
    if n.op == "Const" or not _has_no_effect(n):
        return None
    tensors = [(n.name, i) for i in range(len(n.output_types))]
    if n.op not in SHAPES:
        for source in n.inputs:
            if static.value(source) is None:
                for tensor in tensors:
                    static.has_none(tensor)
                return None
    values = [static.value(tensor) for tensor in tensors]
    return None if any(v is None for v in values) else values


def _changes_nothing(n: Node, by_name: Mapping[str, Node], static: StaticValues) -> bool:
    if n.op in _REDUCTIONS:
        axes = static.value(n.inputs[1])
        return axes is not None and axes.size == 0
    if n.op == "Cast":
        return n.attrs["SrcT"] is n.attrs["DstT"]
    if n.op not in _RESHAPES or not n.output_shapes:
        return False
    for source in n.inputs[1:]:
        wanted = static.value(source)
        if wanted is None or (wanted < -1).any():
            return False  # only the kernel can tell whether that shape is possible
    return is_full(n.output_shapes[0]) and n.output_shapes[0] == _shape(by_name, n.inputs[0])
