"""Variable, the class that tf.Variable is: what both kinds of variables have in common."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from typing import Any

from minitf.convert import register_tensor_conversion_function
from minitf.default import (
    GraphKeys,
    control_dependencies,
    get_default_graph,
    get_default_session,
)
from minitf.indexed_slices import IndexedSlices
from minitf.operation import Operation, Tensor
from minitf.ops.control_flow import cond
from minitf.ops.slicing import slice_helper
from minitf.ops.state import batch_scatter_update, is_variable_initialized
from minitf.proto.meta_graph import SaveSliceInfoDef, VariableDef
from minitf.scoped_names import is_below, within_scope, without_scope
from minitf.tensor_shape import TensorShape
from minitf_runtime.types import DType


class VariableSynchronization(enum.Enum):
    """When replicas of a variable are brought together."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(enum.Enum):
    """How replicas of a variable are brought together."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3
    ONLY_FIRST_TOWER = 3

    def __hash__(self) -> int:
        return hash(self.value)


class SaveSliceInfo:
    """Which box of a larger tensor a variable holds, for the saver."""

    def __init__(
        self,
        full_name: str = "",
        full_shape: Sequence[int] = (),
        var_offset: Sequence[int] = (),
        var_shape: Sequence[int] = (),
        save_slice_info_def: SaveSliceInfoDef | None = None,
        import_scope: str | None = None,
    ) -> None:
        made = save_slice_info_def or SaveSliceInfoDef(
            full_name=full_name, full_shape=full_shape, var_offset=var_offset, var_shape=var_shape
        )
        self.full_name = within_scope(import_scope)(made.full_name)
        self.full_shape = list(made.full_shape)
        self.var_offset = list(made.var_offset)
        self.var_shape = list(made.var_shape)

    def to_proto(self, export_scope: str | None = None) -> SaveSliceInfoDef | None:
        """The message, with the name below the scope; None if it is not below it."""
        if not is_below(self.full_name, export_scope):
            return None
        made = SaveSliceInfoDef(**vars(self))
        made.full_name = without_scope(export_scope)(self.full_name)
        return made

    @property
    def spec(self) -> str:
        """The slice as checkpoints name it: '10 4 0,5:0,4'."""
        sizes = "".join(f"{n} " for n in self.full_shape)
        return sizes + ":".join(f"{o},{n}" for o, n in zip(self.var_offset, self.var_shape))


class _CreatesByKind(type):
    """Calling Variable itself makes a variable of the kind that is wanted; see create.py."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls is not Variable:
            return super().__call__(*args, **kwargs)
        from minitf.variables.create import create_variable

        return create_variable(*args, **kwargs)


class Variable(metaclass=_CreatesByKind):
    """State that outlives a step, read and updated by ops (TF: Variable)."""

    __array_priority__ = 100
    SaveSliceInfo = SaveSliceInfo

    trainable: bool
    synchronization: VariableSynchronization
    aggregation: VariableAggregation
    constraint: Any
    initializer: Operation
    initial_value: Tensor
    dtype: DType
    shape: TensorShape
    _save_slice_info: SaveSliceInfo | None = None

    def _settle(
        self,
        name: str | None,
        initial_value: Any,
        trainable: bool | None,
        collections: Any,
        constraint: Any,
        synchronization: Any,
        aggregation: Any,
    ) -> list[Any]:
        """Keeps the options of a new variable; gives its collections. Raises ValueError."""
        if initial_value is None:
            raise ValueError("initial_value must be specified.")
        if constraint is not None and not callable(constraint):
            raise ValueError("The `constraint` argument must be a callable.")
        self.constraint = constraint
        self.synchronization, self.aggregation, self.trainable = settle_options(
            synchronization, aggregation, trainable, name
        )
        if collections is None:
            collections = [GraphKeys.GLOBAL_VARIABLES]
        if not isinstance(collections, (list, tuple, set)):
            raise ValueError(
                "collections argument to Variable constructor must be a list, tuple, or set. Got "
                f"{collections} of type {type(collections)}"
            )
        wanted = [GraphKeys.TRAINABLE_VARIABLES] if self.trainable else []
        return [*collections, *(key for key in wanted if key not in collections)]

    # ---- what each kind has of its own

    @property
    def _element(self) -> Tensor:
        """The tensor that stands for the variable in the graph: a reference or the handle."""
        raise NotImplementedError

    def value(self) -> Tensor:
        """The tensor that ops get which read this variable."""
        raise NotImplementedError

    def _scatter(self, op: str, *inputs: Any, name: str | None, **attrs: Any) -> Any:
        raise NotImplementedError

    # ---- what follows from that

    @property
    def name(self) -> str:
        return self._element.name

    @property
    def op(self) -> Operation:
        return self._element.op

    @property
    def graph(self) -> Any:
        return self._element.graph

    @property
    def device(self) -> str:
        return self._element.device

    @property
    def _shared_name(self) -> str:
        return self.name.partition(":")[0]

    def get_shape(self) -> TensorShape:
        return self.shape

    def _as_graph_element(self) -> Tensor:
        return self._element

    def eval(self, session: Any = None) -> Any:
        """The variable's value in `session` or in the default session."""
        return self._as_graph_element().eval(session=session)

    def load(self, value: Any, session: Any = None) -> None:
        """Stores a value at once, by feeding it to the initializer."""
        session = session or get_default_session()
        if session is None:
            raise ValueError(
                "Either session argument should be provided or default session should be "
                "established"
            )
        session.run(self.initializer, {self.initializer.inputs[1]: value})

    def initialized_value(self) -> Tensor:
        """The value if there is one yet, else the initial value."""
        with control_dependencies(None):
            return cond(  # type: ignore[no-any-return]
                is_variable_initialized(self), self.read_value, lambda: self.initial_value
            )

    def read_value(self) -> Tensor:
        """The value as it is where this is called: after its control dependencies."""
        raise NotImplementedError

    def _get_save_slice_info(self) -> SaveSliceInfo | None:
        return self._save_slice_info

    def _set_save_slice_info(self, info: SaveSliceInfo) -> None:
        self._save_slice_info = info

    def to_proto(self, export_scope: str | None = None) -> VariableDef | None:
        """The variable as a message, for a meta graph; None if it is not in the scope."""
        from minitf.variables.definition import variable_def

        return variable_def(self, export_scope)

    @staticmethod
    def from_proto(variable_def: VariableDef, import_scope: str | None = None) -> Any:
        """The variable of a message, whose ops are in the default graph. Raises KeyError."""
        from minitf.variables.definition import variable_of_def

        return variable_of_def(variable_def, import_scope)

    # ---- updates of some rows or elements

    def scatter_sub(self, sparse_delta: Any, use_locking: bool = False, name: Any = None) -> Any:
        return self._scatter_rows("ScatterSub", sparse_delta, use_locking, name)

    def scatter_add(self, sparse_delta: Any, use_locking: bool = False, name: Any = None) -> Any:
        return self._scatter_rows("ScatterAdd", sparse_delta, use_locking, name)

    def scatter_max(self, sparse_delta: Any, use_locking: bool = False, name: Any = None) -> Any:
        return self._scatter_rows("ScatterMax", sparse_delta, use_locking, name)

    def scatter_min(self, sparse_delta: Any, use_locking: bool = False, name: Any = None) -> Any:
        return self._scatter_rows("ScatterMin", sparse_delta, use_locking, name)

    def scatter_mul(self, sparse_delta: Any, use_locking: bool = False, name: Any = None) -> Any:
        return self._scatter_rows("ScatterMul", sparse_delta, use_locking, name)

    def scatter_div(self, sparse_delta: Any, use_locking: bool = False, name: Any = None) -> Any:
        return self._scatter_rows("ScatterDiv", sparse_delta, use_locking, name)

    def scatter_update(self, sparse_delta: Any, use_locking: bool = False, name: Any = None) -> Any:
        return self._scatter_rows("ScatterUpdate", sparse_delta, use_locking, name)

    def _scatter_rows(self, op: str, sparse_delta: Any, use_locking: bool, name: Any) -> Any:
        if not isinstance(sparse_delta, IndexedSlices):
            raise TypeError(f"sparse_delta is not IndexedSlices: {sparse_delta}")
        rows = sparse_delta.indices, sparse_delta.values
        return self._scatter(op, *rows, name=name, use_locking=use_locking)

    def scatter_nd_sub(self, indices: Any, updates: Any, name: Any = None) -> Any:
        return self._scatter("ScatterNdSub", indices, updates, name=name, use_locking=True)

    def scatter_nd_add(self, indices: Any, updates: Any, name: Any = None) -> Any:
        return self._scatter("ScatterNdAdd", indices, updates, name=name, use_locking=True)

    def scatter_nd_update(self, indices: Any, updates: Any, name: Any = None) -> Any:
        return self._scatter("ScatterNdUpdate", indices, updates, name=name, use_locking=True)

    def batch_scatter_update(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: Any = None
    ) -> Any:
        """Row updates in the last axis of the indices; the axes before it are a batch."""
        rows = sparse_delta.indices, sparse_delta.values
        return batch_scatter_update(self, *rows, use_locking=use_locking, name=name)

    def __getitem__(self, key: Any) -> Tensor:
        """A part of the value; it has `assign(value)`, which stores into the variable."""
        return slice_helper(self.value(), key, self)

    def __iter__(self) -> Iterator[Any]:
        raise TypeError("'Variable' object is not iterable.")

    def __repr__(self) -> str:
        return f"<tf.Variable {self.name!r} shape={self.shape} dtype={self.dtype.name}>"


VariableV1 = Variable


def settle_options(
    synchronization: Any, aggregation: Any, trainable: bool | None, name: Any
) -> tuple[VariableSynchronization, VariableAggregation, bool]:
    """The three options with their defaults. Raises ValueError for one that does not exist."""
    try:
        aggregation = VariableAggregation(aggregation or VariableAggregation.NONE)
    except ValueError:
        raise ValueError(
            f"Invalid variable aggregation mode: {aggregation} for variable: {name}"
        ) from None
    try:
        synchronization = VariableSynchronization(synchronization or VariableSynchronization.AUTO)
    except ValueError:
        raise ValueError(
            f"Invalid variable synchronization mode: {synchronization} for variable: {name}"
        ) from None
    if trainable is None:
        trainable = synchronization is not VariableSynchronization.ON_READ
    return synchronization, aggregation, trainable


def variable_role() -> str:
    """What the ops of a variable are for: a slot's say so themselves."""
    role = get_default_graph().role
    return role if role == "slot" else "variable"


def _to_tensor(
    variable: Variable, dtype: DType | None = None, name: Any = None, as_ref: bool = False
) -> Tensor:
    if dtype is not None and dtype is not variable.dtype.base:
        raise ValueError(
            f"Incompatible type conversion requested to type '{dtype.name}' for variable of type "
            f"'{variable.dtype.name}'"
        )
    return variable._element if as_ref and variable.dtype.is_ref else variable.value()


def _operator(name: str) -> Any:
    def run(self: Variable, *args: Any, **kwargs: Any) -> Any:
        return getattr(Tensor, name)(self.value(), *args, **kwargs)

    run.__name__ = name
    return run


for _name in Tensor.OVERLOADABLE_OPERATORS - {"__getitem__"}:
    setattr(Variable, _name, _operator(_name))
register_tensor_conversion_function(Variable, _to_tensor)
