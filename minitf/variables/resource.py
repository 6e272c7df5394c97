"""ResourceVariable: a variable behind a handle (op VarHandleOp), read by an op at each use."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from minitf.convert import to_tensor
from minitf.default import (
    colocate_with,
    control_dependencies,
    device,
    get_default_graph,
    name_scope,
)
from minitf.operation import Operation, Tensor
from minitf.ops.apply import apply_op
from minitf.tensor_shape import TensorShape
from minitf.variables.base import (
    Variable,
    VariableAggregation,
    VariableSynchronization,
    variable_role,
)
from minitf.variables.initial import check_outside_control_flow, guarded
from minitf_runtime.types import DType


class BaseResourceVariable(Variable):
    """What a ResourceVariable and the result of an update of one have in common."""

    handle: Tensor
    _graph_element: Tensor
    _cached_value: Tensor | None = None

    @property
    def _element(self) -> Tensor:
        return self.handle

    def _as_graph_element(self) -> Tensor:
        return self._graph_element

    @property
    def create(self) -> Operation:
        return self.initializer

    def is_initialized(self, name: str | None = None) -> Tensor:
        return apply_op("VarIsInitializedOp", self.handle, name=name)  # type: ignore[no-any-return]

    def value(self) -> Tensor:
        if self._cached_value is not None:
            return self._cached_value
        with colocate_with(None, ignore_existing=True), device(self.handle.device):
            return self._read()

    def read_value(self) -> Tensor:
        with name_scope("Read"), device(self.handle.device):
            value = self._read()
        return apply_op("Identity", value)  # type: ignore[no-any-return]

    def _read(self) -> Tensor:
        return apply_op("ReadVariableOp", self.handle, dtype=self.dtype)  # type: ignore[no-any-return]

    def sparse_read(self, indices: Any, name: str | None = None) -> Tensor:
        """The rows at `indices`, gathered where the variable is."""
        return self._gathered("ResourceGather", indices, name or "Gather")

    def gather_nd(self, indices: Any, name: str | None = None) -> Tensor:
        return self._gathered("ResourceGatherNd", indices, name or "GatherNd")

    def _gathered(self, op: str, indices: Any, name: str) -> Tensor:
        with name_scope(name) as scope:
            value = apply_op(op, self.handle, indices, dtype=self.dtype, name=scope)
        return apply_op("Identity", value)  # type: ignore[no-any-return]

    def assign(
        self, value: Any, use_locking: Any = None, name: Any = None, read_value: bool = True
    ) -> Any:
        with self.handle.graph.as_default():
            value = to_tensor(value, self.dtype)
        self.shape.assert_is_compatible_with(value.shape)
        made = apply_op("AssignVariableOp", self.handle, value, name=name)
        return self._lazy_read(made) if read_value else made

    def assign_add(
        self, delta: Any, use_locking: Any = None, name: Any = None, read_value: bool = True
    ) -> Any:
        return self._changed("AssignAddVariableOp", delta, name, read_value)

    def assign_sub(
        self, delta: Any, use_locking: Any = None, name: Any = None, read_value: bool = True
    ) -> Any:
        return self._changed("AssignSubVariableOp", delta, name, read_value)

    def _changed(self, op: str, delta: Any, name: str | None, read_value: bool) -> Any:
        cached = self._cached_value
        with control_dependencies([cached]) if cached is not None else nullcontext():
            with self.handle.graph.as_default():
                delta = to_tensor(delta, self.dtype)
            made = apply_op(op, self.handle, delta, name=name)
        return self._lazy_read(made) if read_value else made

    def __deepcopy__(self, memo: Any) -> Any:
        raise NotImplementedError(
            "__deepcopy__() is only available when eager execution is enabled."
        )

    def count_up_to(self, limit: int) -> Tensor:
        return apply_op("ResourceCountUpTo", self.handle, limit=limit, T=self.dtype)  # type: ignore[no-any-return]

    def _scatter(
        self, op: str, *inputs: Any, name: str | None, use_locking: Any = None, **attrs: Any
    ) -> Any:
        *places, updates = inputs
        updates = to_tensor(updates, self.dtype)
        made = apply_op(f"Resource{op}", self.handle, *places, updates, name=name, **attrs)
        return self._lazy_read(made)

    def _lazy_read(self, made: Operation) -> UnreadVariable:
        return UnreadVariable(self, made)

    def set_shape(self, shape: Any) -> None:
        raise NotImplementedError("ResourceVariable does not implement set_shape()")

    def __bool__(self) -> bool:
        return bool(self.read_value())


_IN_PLACE = {
    "__iadd__": ("+=", "variable.assign_add(value)", "+"),
    "__isub__": ("-=", "variable.assign_sub(value)", "-"),
    "__imul__": ("*=", "variable.assign(variable * value)", "*"),
    "__itruediv__": ("/=", "variable.assign(variable / value)", "/"),
    "__ipow__": ("**=", "variable.assign(variable ** value)", "**"),
}


def _refused(operator: str, update: str, plain: str) -> Any:
    def run(self: BaseResourceVariable, other: Any) -> Any:
        raise RuntimeError(
            f"Variable {operator} value not supported. Use {update} to modify the variable value "
            f"and variable = variable {plain} value to get a new Tensor object."
        )

    return run


for _name, _texts in _IN_PLACE.items():
    setattr(BaseResourceVariable, _name, _refused(*_texts))


class ResourceVariable(BaseResourceVariable):
    """Each read is an op of its own, ordered by data and control edges alone."""

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        collections: Any = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        dtype: Any = None,
        constraint: Any = None,
        synchronization: Any = None,
        aggregation: Any = None,
        shape: Any = None,
    ) -> None:
        """Adds the variable's ops. Raises ValueError for an initial value that does not fit."""
        collections = self._settle(
            name, initial_value, trainable, collections, constraint, synchronization, aggregation
        )
        graph = get_default_graph()
        values = [] if callable(initial_value) else [initial_value]
        with (
            graph.role_scope(variable_role()),
            control_dependencies(None),
            name_scope(name, "Variable", values) as scope,
        ):
            self._make(initial_value, scope, dtype, shape)
            self._make_initializer(scope)
            self._make_reader(caching_device)
        self.graph.add_to_collections(collections, self)

    def _make(self, value: Any, scope: str, dtype: Any, shape: Any) -> None:
        graph = get_default_graph()
        shared = scope[:-1]
        with graph.attr_scope({"_class": [shared]}):
            with name_scope("Initializer"), device(None), graph.role_scope("init"):
                start = value() if callable(value) else value
                self.initial_value = to_tensor(start, dtype, "initial_value")
            given = self.initial_value.shape if shape is None else TensorShape(shape)
            if not self.initial_value.shape.is_compatible_with(given):
                raise ValueError(
                    f"The initial value's shape ({self.initial_value.shape}) is not compatible "
                    f"with the explicitly supplied `shape` argument ({given})."
                )
            self.shape = given
            self.dtype: DType = self.initial_value.dtype.base
            self.handle = apply_op(
                "VarHandleOp",
                shape=given,
                dtype=self.dtype,
                shared_name=shared,
                name=scope,
            )
        check_outside_control_flow(self.initial_value, scope)

    def _make_initializer(self, scope: str) -> None:
        with get_default_graph().role_scope("init"):
            with name_scope("IsInitialized"):
                self._is_initialized_op = apply_op("VarIsInitializedOp", self.handle)
            with (
                name_scope("Assign") as assign_scope,
                colocate_with(None, ignore_existing=True),
                device(self.handle.device),
            ):
                start = guarded(scope, self.initial_value)
                self.initializer = apply_op(
                    "AssignVariableOp", self.handle, start, name=assign_scope
                )

    def _make_reader(self, caching_device: Any) -> None:
        with name_scope("Read"):
            with device(self.handle.device):
                self._graph_element = self._read()
            if caching_device is not None:
                with colocate_with(None, ignore_existing=True), device(caching_device):
                    self._cached_value = apply_op("Identity", self._graph_element)


class UnreadVariable(BaseResourceVariable):
    """A variable just after an update of it: reading waits for the update."""

    trainable = True
    synchronization = VariableSynchronization.AUTO
    aggregation = VariableAggregation.NONE
    constraint = None

    def __init__(self, variable: BaseResourceVariable, update: Operation) -> None:
        self.handle = variable.handle
        self.dtype = variable.dtype
        self.shape = variable.shape
        self._update = update
        self._graph_element = self._read()

    @property
    def name(self) -> str:
        return self._update.name

    @property
    def op(self) -> Operation:
        return self._update

    def _read(self) -> Tensor:
        with self._update.graph.as_default(), control_dependencies([self._update]):
            return super()._read()

    def value(self) -> Tensor:
        return self._read()

    def read_value(self) -> Tensor:
        return self._read()


def is_resource_variable(value: Any) -> bool:
    return isinstance(value, BaseResourceVariable)
