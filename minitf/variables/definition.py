"""Variables as VariableDef messages, for meta graphs, and back."""

from __future__ import annotations

from typing import Any

from minitf.default import get_default_graph
from minitf.proto.meta_graph import VariableDef
from minitf.scoped_names import is_below, within_scope, without_scope
from minitf.tensor_shape import TensorShape
from minitf.variables.base import SaveSliceInfo, Variable, settle_options
from minitf.variables.ref import RefVariable
from minitf.variables.resource import BaseResourceVariable, ResourceVariable


def variable_def(variable: Variable, export_scope: str | None = None) -> VariableDef | None:
    """The names of the variable's ops, without the scope; None if it is not in the scope."""
    if not is_below(variable.name, export_scope):
        return None
    rename = without_scope(export_scope)
    is_resource = isinstance(variable, BaseResourceVariable)
    snapshot = variable._cached_value if is_resource else None
    if snapshot is None:
        snapshot = variable._graph_element if is_resource else variable.value()
    made = VariableDef(
        variable_name=rename(variable.name),
        initializer_name=rename(variable.initializer.name),
        snapshot_name=rename(snapshot.name),
        is_resource=is_resource,
        trainable=variable.trainable,
        synchronization=variable.synchronization.value,
        aggregation=variable.aggregation.value,
    )
    if variable.initial_value is not None:
        made.initial_value_name = rename(variable.initial_value.name)
    info = variable._get_save_slice_info()
    told = info.to_proto(export_scope) if info else None
    if told is not None:
        made.save_slice_info_def.CopyFrom(told)
    return made


def variable_of_def(made: VariableDef, import_scope: str | None = None) -> Variable:
    """The variable whose ops are in the default graph. Raises KeyError if one is missing."""
    rename = within_scope(import_scope)
    graph = get_default_graph()

    def element(name: str) -> Any:
        return graph.as_graph_element(rename(name))

    kind = ResourceVariable if made.is_resource else RefVariable
    variable: Any = kind.__new__(kind)
    variable.constraint = None
    variable.synchronization, variable.aggregation, variable.trainable = settle_options(
        made.synchronization, made.aggregation, made.trainable, made.variable_name
    )
    variable.initializer = element(made.initializer_name)
    known = made.initial_value_name  # old messages have none
    variable.initial_value = element(known) if known else None
    take = _take_resource if made.is_resource else _take_ref
    take(variable, element(made.variable_name), element(made.snapshot_name))
    if made.HasField("save_slice_info_def"):
        info = SaveSliceInfo(
            save_slice_info_def=made.save_slice_info_def, import_scope=import_scope
        )
        variable._set_save_slice_info(info)
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
