"""Variables as VariableDef messages, for meta graphs, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitf.graph import Graph
from minitf.proto.meta_graph import SaveSliceInfoDef, VariableDef
from minitf.tensor_shape import TensorShape
from minitf.variables.base import (
    SaveSliceInfo,
    Variable,
    VariableAggregation,
    VariableSynchronization,
)
from minitf.variables.ref import RefVariable
from minitf.variables.resource import BaseResourceVariable, ResourceVariable


def variable_def(variable: Variable, rename: Callable[[str], str]) -> VariableDef:
    """The names of the variable's ops, as `rename` gives them, and its options."""
    is_resource = isinstance(variable, BaseResourceVariable)
    snapshot = variable._cached_value if is_resource else None
    if snapshot is None:
        snapshot = variable._graph_element if is_resource else variable.value()
    made = VariableDef(
        variable_name=rename(variable.name),
        initializer_name=rename(variable.initializer.name),
        snapshot_name=rename(snapshot.name),
        initial_value_name=rename(variable.initial_value.name),
        is_resource=is_resource,
        trainable=variable.trainable,
        synchronization=variable.synchronization.value,
        aggregation=variable.aggregation.value,
    )
    info = variable._get_save_slice_info()
    if info:
        made.save_slice_info_def.CopyFrom(SaveSliceInfoDef(**vars(info)))
    return made


def variable_of_def(made: VariableDef, graph: Graph, rename: Callable[[str], str]) -> Variable:
    """The variable whose ops are in the graph. Raises KeyError if one is missing."""

    def element(name: str) -> Any:
        return graph.as_graph_element(rename(name))

    kind = ResourceVariable if made.is_resource else RefVariable
    variable: Any = kind.__new__(kind)
    variable.constraint = None
    variable.trainable = made.trainable
    variable.synchronization = VariableSynchronization(made.synchronization)
    variable.aggregation = VariableAggregation(made.aggregation)
    variable.initializer = element(made.initializer_name)
    variable.initial_value = (
        element(made.initial_value_name)
        if made.initial_value_name
        else variable.initializer.inputs[1]
    )
    take = _take_resource if made.is_resource else _take_ref
    take(variable, element(made.variable_name), element(made.snapshot_name))
    if made.HasField("save_slice_info_def"):
        info = made.save_slice_info_def
        sizes = (list(s) for s in (info.full_shape, info.var_offset, info.var_shape))
        variable._set_save_slice_info(SaveSliceInfo(rename(info.full_name), *sizes))
    return variable  # type: ignore[no-any-return]


def _take_ref(variable: Any, element: Any, snapshot: Any) -> None:
    variable._variable = element
    variable._snapshot = snapshot


def _take_resource(variable: Any, handle: Any, snapshot: Any) -> None:
    variable.handle = handle
    variable.shape = TensorShape.of(handle.op._attrs["shape"])
    variable.dtype = handle.op.get_attr("dtype")
    is_read = snapshot.op.type == "ReadVariableOp"
    variable._cached_value = None if is_read else snapshot
    variable._graph_element = snapshot if is_read else snapshot.op.inputs[0]
