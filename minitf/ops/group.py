"""tf.group, tf.tuple, no_op and with_dependencies: ops that wait for others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from minitf import nest
from minitf.convert import to_tensor
from minitf.default import colocate_with, control_dependencies, device, name_scope
from minitf.indexed_slices import IndexedSlices
from minitf.operation import Operation, Tensor
from minitf.ops.apply import apply_op

__all__ = ["group", "no_op", "tuple"]


def no_op(name: str | None = None) -> Operation:
    """An op that does nothing but take control edges."""
    return apply_op("NoOp", name=name)  # type: ignore[no-any-return]


def group(*inputs: Any, name: str | None = None) -> Operation:
    """An op that runs after all `inputs`: one NoOp, or one per requested device and a root."""
    with name_scope(name, "group_deps", _graph_values(inputs)) as scope:
        if not inputs:
            return no_op(name=scope)
        by_device: dict[str, list[Any]] = {}
        for item in nest.flatten(inputs, expand_composites=True):
            if not hasattr(item, "device"):
                raise TypeError(
                    f"Expected tf.group() expected Tensor arguments not '{item}' with type "
                    f"'{type(item)}'"
                )
            by_device.setdefault(item.device or "", []).append(item)
        if len(by_device) == 1:
            ((where, deps),) = by_device.items()
            return _gate(where, deps, scope)
        gates = [_gate(where, by_device[where]) for where in sorted(by_device)]
        with control_dependencies(gates):
            return no_op(name=scope)


def _gate(where: str, deps: list[Any], name: str | None = None) -> Operation:
    with control_dependencies(deps), device(where):
        return no_op(name=name)


def _graph_values(inputs: Any) -> list[Any]:
    return [v for v in inputs if not isinstance(v, (list, dict))]


def tuple(  # noqa: A001
    tensors: Sequence[Any], name: str | None = None, control_inputs: Any = None
) -> list[Any]:
    """The same tensors, each available only when all of them (and `control_inputs`) are.

    Raises ValueError if there is no tensor, TypeError for a control input that is no op or tensor.
    """
    with name_scope(name, "tuple", tensors):
        items = [_as_item(t) for t in tensors]
        gating = [_op_of(t) for t in items if t is not None]
        for c in control_inputs or ():
            if not isinstance(c, (Tensor, Operation)):
                raise TypeError(f"Control input must be Operation or Tensor: {c}")
            gating.append(_op_of(c))
        if not gating:
            raise ValueError(f"Must have at least one Tensor: {items}")
        gate = group(*sorted(set(gating), key=lambda op: op._id))
        return [_gated(gate, t) for t in items]


def _as_item(value: Any) -> Any:
    if value is None or isinstance(value, (Operation, Tensor, IndexedSlices)):
        return value
    return to_tensor(value)


def _op_of(item: Any) -> Operation:
    return item if isinstance(item, Operation) else item.op  # type: ignore[no-any-return]


def _gated(gate: Operation, item: Any) -> Any:
    if isinstance(item, Operation):
        with control_dependencies([gate]):
            return group(item)
    return None if item is None else with_dependencies([gate], item)


def with_dependencies(dependencies: Iterable[Any], output: Any, name: str | None = None) -> Any:
    """`output` (a Tensor or IndexedSlices), available only after `dependencies` have run."""
    dependencies = list(dependencies)
    with (
        name_scope(name, "control_dependency", [*dependencies, output]) as scope,
        colocate_with(output),
        control_dependencies(dependencies),
    ):
        if isinstance(output, IndexedSlices):
            values = apply_op("Identity", output.values, name=scope)
            return IndexedSlices(values, output.indices, output.dense_shape)
        return apply_op("Identity", to_tensor(output), name=scope)
