"""RefVariable: a variable that updates get by reference (op VariableV2)."""

from __future__ import annotations

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
from minitf.ops import state
from minitf.ops.apply import apply_op
from minitf.tensor_shape import TensorShape, as_shape
from minitf.variables.base import Variable, variable_role
from minitf.variables.initial import check_outside_control_flow, guarded
from minitf_runtime.types import DType, Shape


class RefVariable(Variable):
    """Reading gives a snapshot, made once (`v/read`); Assign* and Apply* take the reference."""

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
            self._make(initial_value, scope, dtype, validate_shape, shape)
            if validate_shape and not self.initial_value.shape.is_fully_defined():
                raise ValueError(f"initial_value must have a shape specified: {self.initial_value}")
            with graph.role_scope("init"):
                start = guarded(scope, self.initial_value)
                stored = state.assign(self._variable, start, validate_shape=validate_shape)
            self.initializer: Operation = stored.op
            where = device(caching_device) if caching_device else colocate_with(self._variable.op)
            with where:
                self._snapshot: Tensor = apply_op("Identity", self._variable, name="read")
        self.graph.add_to_collections(collections, self)

    def _make(self, value: Any, scope: str, dtype: Any, validate_shape: bool, shape: Any) -> None:
        """The initial value and the variable; they share a class if the value is made here."""
        if not callable(value):
            self.initial_value = to_tensor(value, dtype, "initial_value")
            check_outside_control_flow(self.initial_value, scope)
            self._variable = self._variable_op(scope, validate_shape, shape)
            return
        graph = get_default_graph()
        with graph.attr_scope({"_class": [scope[:-1]]}):
            with name_scope("Initializer"), device(None), graph.role_scope("init"):
                self.initial_value = to_tensor(value(), dtype, "initial_value")
            self._variable = self._variable_op(scope, validate_shape, shape)

    def _variable_op(self, scope: str, validate_shape: bool, shape: Any) -> Tensor:
        known: Shape = as_shape(shape)
        if shape is None and validate_shape:
            known = self.initial_value._shape
        dtype = self.initial_value.dtype.base
        return apply_op("VariableV2", shape=known, dtype=dtype, name=scope)  # type: ignore[no-any-return]

    @property
    def _element(self) -> Tensor:
        return self._variable

    def _ref(self) -> Tensor:
        return self._variable

    @property
    def dtype(self) -> DType:  # type: ignore[override]
        return self._variable.dtype

    @property
    def shape(self) -> TensorShape:  # type: ignore[override]
        return self._variable.shape

    def set_shape(self, shape: Any) -> None:
        self._variable.set_shape(shape)
        self._snapshot.set_shape(shape)

    def value(self) -> Tensor:
        return self._snapshot

    def read_value(self) -> Tensor:
        return apply_op("Identity", self._variable, name="read")  # type: ignore[no-any-return]

    def assign(
        self, value: Any, use_locking: bool = False, name: Any = None, read_value: bool = True
    ) -> Any:
        made = state.assign(self._variable, value, use_locking=use_locking, name=name)
        return made if read_value else made.op

    def assign_add(
        self, delta: Any, use_locking: bool = False, name: Any = None, read_value: bool = True
    ) -> Any:
        made = state.assign_add(self._variable, delta, use_locking=use_locking, name=name)
        return made if read_value else made.op

    def assign_sub(
        self, delta: Any, use_locking: bool = False, name: Any = None, read_value: bool = True
    ) -> Any:
        made = state.assign_sub(self._variable, delta, use_locking=use_locking, name=name)
        return made if read_value else made.op

    def count_up_to(self, limit: int) -> Tensor:
        return state.count_up_to(self._variable, limit)  # type: ignore[no-any-return]

    def _scatter(self, op: str, *inputs: Any, name: str | None, **attrs: Any) -> Any:
        return apply_op(op, self._variable, *inputs, name=name, **attrs)
