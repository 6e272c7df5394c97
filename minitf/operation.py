"""Operation and Tensor: the live objects of a client graph. How they are made: graph.py."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from minitf import source
from minitf.node_def import check_inputs, find_op_def, node_def, read_attrs
from minitf.proto.graph import NodeDef
from minitf.proto.tensor import tensor_proto
from minitf.tensor_shape import ShapeView, TensorShape, as_shape
from minitf_runtime.graph import Node, Reason
from minitf_runtime.ops.registry import OpDef
from minitf_runtime.types import DType, Shape, merge_shapes, show_shape

if TYPE_CHECKING:
    from minitf.graph import Graph


class Tensor:
    """Output `value_index` of an Operation. Operators are added by minitf.ops (see `override`)."""

    __slots__ = ("op", "value_index", "_dtype", "_shape", "_consumers", "__dict__", "__weakref__")
    __array_priority__ = 100

    def __init__(self, op: Operation, value_index: int, dtype: DType, shape: Shape = None) -> None:
        self.op = op
        self.value_index = value_index
        self._dtype = dtype
        self._shape = shape
        self._consumers: list[Operation] = []

    @property
    def name(self) -> str:
        return f"{self.op.name}:{self.value_index}"

    @property
    def dtype(self) -> DType:
        return self._dtype

    @property
    def graph(self) -> Graph:
        return self.op.graph

    @property
    def device(self) -> str:
        return self.op.device

    @property
    def shape(self) -> TensorShape:
        return TensorShape.of(self._shape)

    def get_shape(self) -> TensorShape:
        return TensorShape.of(self._shape)

    def set_shape(self, shape: Any) -> None:
        """Adds what the caller knows of the static shape. Raises ValueError if incompatible."""
        self._shape = merge_shapes(self._shape, as_shape(shape))

    @property
    def _shape_tuple(self) -> Shape:
        return self._shape

    def consumers(self) -> list[Operation]:
        return list(self._consumers)

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """The value of this tensor in `session` or in the default session."""
        return self.graph.session_for(session, "eval").run(self, feed_dict)

    def __iter__(self) -> Iterator[Any]:
        raise TypeError("Tensor objects are only iterable when eager execution is enabled.")

    def __len__(self) -> int:
        raise TypeError("object of type 'Tensor' has no len()")

    def __bool__(self) -> bool:
        raise TypeError(
            "Using a `tf.Tensor` as a Python `bool` is not allowed. Use `if t is not "
            "None:` instead of `if t:` to test if a tensor is defined, and use TensorFlow ops "
            "such as tf.cond to "
            "execute subgraphs conditioned on the value of a tensor."
        )

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise NotImplementedError(
            f"Cannot convert a symbolic Tensor ({self.name}) to a numpy array."
        )

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __copy__(self) -> Tensor:
        return self

    def __str__(self) -> str:
        shape = "" if self._shape is None else f", shape={self.shape}"
        device = f", device={self.device}" if self.device else ""
        return f'Tensor("{self.name}"{shape}, dtype={self._dtype.name}{device})'

    def __repr__(self) -> str:
        return f"<tf.Tensor {self.name!r} shape={self.shape} dtype={self._dtype.name}>"

    OVERLOADABLE_OPERATORS = {
        "__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__", "__div__", "__rdiv__",
        "__truediv__", "__rtruediv__", "__floordiv__", "__rfloordiv__", "__mod__", "__rmod__",
        "__lt__", "__le__", "__gt__", "__ge__", "__and__", "__rand__", "__or__", "__ror__",
        "__xor__", "__rxor__", "__getitem__", "__pow__", "__rpow__", "__invert__", "__neg__",
        "__abs__", "__matmul__", "__rmatmul__",
    }  # fmt: skip

    @classmethod
    def override(cls, operator: str, fn: Any) -> None:
        """Gives the class an operator; minitf.ops does so when it is imported."""
        setattr(cls, operator, fn)


class Operation:
    """A node of a client graph. Its inputs never change after construction, save by `_update`."""

    def __init__(
        self,
        node_def: NodeDef,
        g: Graph,
        inputs: list[Tensor] | None = None,
        output_types: Any = None,
        control_inputs: Any = None,
        input_types: Any = None,
        original_op: Operation | None = None,
        op_def: Any = None,
    ) -> None:
        """Adds an op to `g` just as `node_def` says it, scopes left aside (TF: Operation).

        The node's own `input` list does not count, and the output types follow from its attributes.
        Raises TypeError for arguments of another kind, ValueError for a node that does not fit.
        """
        if not isinstance(node_def, NodeDef):
            raise TypeError(f"node_def needs to be a NodeDef: {node_def}")
        if not hasattr(g, "adopt"):
            raise TypeError(f"g needs to be a Graph: {g}")
        if not isinstance(inputs or [], list):
            raise TypeError(f"inputs needs to be a list of Tensors: {inputs}")
        for tensor in inputs or []:
            if not isinstance(tensor, Tensor):
                raise TypeError(f"input needs to be a Tensor: {tensor}")
        known = find_op_def(node_def)
        attrs, _ = read_attrs(node_def, known)
        taken, given = known.types(attrs)
        check_inputs(inputs or [], taken)
        self._set(
            g,
            node_def.name,
            known,
            tuple(inputs or ()),
            taken,
            given,
            tuple(g.as_operation(c) for c in control_inputs or ()),
            attrs,
        )
        self._original_op = original_op
        self._device = node_def.device
        g.adopt(self)

    @classmethod
    def made(cls, *fields: Any) -> Operation:
        """An op of checked fields that is not in its graph yet; Graph.create_op adds it."""
        op = cls.__new__(cls)
        op._set(*fields)
        return op

    def _set(
        self,
        graph: Graph,
        name: str,
        op_def: OpDef,
        inputs: tuple[Tensor, ...],
        input_types: tuple[DType, ...],
        output_types: tuple[DType, ...],
        control_inputs: tuple[Operation, ...],
        attrs: dict[str, Any],
    ) -> None:
        self.graph = graph
        self.name = name
        self.op_def = op_def
        self._inputs = inputs
        self._input_types = input_types
        self._output_types = output_types
        self._control_inputs = control_inputs
        self._control_outputs: Any = ()  # a list once there are some
        self._class: tuple[str, ...] = ()  # colocation groups
        if "_class" in attrs:
            self._class = tuple(c.removeprefix("loc:@") for c in attrs.pop("_class") or ())
        self._attrs = attrs
        self._device = ""
        self._asked: tuple[Reason, ...] = ()
        self._source = graph.user_line()
        self._role = graph.role
        self._context = graph.control_flow_context
        self._original_op: Operation | None = graph.original_op
        self._gradient_function: Any = None  # one of this op's own (custom_gradient)
        self._id = -1
        self.outputs = [Tensor(self, i, t) for i, t in enumerate(output_types)]
        for t in inputs:
            t._consumers.append(self)
        for c in control_inputs:
            c._add_control_output(self)

    @property
    def type(self) -> str:
        return self.op_def.name

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        return self._inputs

    @property
    def control_inputs(self) -> list[Operation]:
        return list(self._control_inputs)

    @property
    def _control_flow_context(self) -> Any:
        return self._context

    @property
    def device(self) -> str:
        return self._device

    @property
    def traceback(self) -> list[tuple[str, int, str, None]]:
        return [(*self._source, None)]

    def _set_device(self, device: str) -> None:
        self._device = device

    def _add_control_input(self, op: Operation) -> None:
        self._add_control_inputs([op])

    def _add_control_inputs(self, ops: list[Operation]) -> None:
        for op in ops:
            if op not in self._control_inputs:
                self._control_inputs += (op,)
                op._add_control_output(self)

    def _add_control_output(self, op: Operation) -> None:
        if not self._control_outputs:  # of most ops none: a list for each takes time and space
            self._control_outputs = []
        self._control_outputs.append(op)

    def _remove_all_control_inputs(self) -> None:
        for op in self._control_inputs:
            op._control_outputs.remove(self)
        self._control_inputs = ()

    def _update_input(self, index: int, tensor: Tensor) -> None:
        """Replaces an input: a loop closes its back edge so."""
        self._inputs[index]._consumers.remove(self)
        self._inputs = (*self._inputs[:index], tensor, *self._inputs[index + 1 :])
        tensor._consumers.append(self)

    def get_attr(self, name: str) -> Any:
        """The value of an attribute. Raises ValueError if the op has none of that name."""
        if name == "_class" and self._class:
            return [f"loc:@{c}".encode() for c in self._class]
        if name not in self._attrs:
            raise ValueError(f"Operation '{self.name}' has no attr named '{name}'.")
        value = self._attrs[name]
        declared = self.op_def.attrs.get(name)
        kind = None if declared is None else declared.kind
        if kind == "shape":
            return ShapeView(value)
        if kind == "tensor":
            return tensor_proto(value)
        return value.encode() if isinstance(value, str) else value

    def colocation_groups(self) -> list[bytes]:
        names = self._class or (self.name,)
        return [f"loc:@{c}".encode() for c in names]

    @property
    def node_def(self) -> NodeDef:
        return node_def(self.to_node())

    def values(self) -> tuple[Tensor, ...]:
        return tuple(self.outputs)

    def run(self, feed_dict: Any = None, session: Any = None) -> None:
        """Runs this op in `session` or in the default session."""
        self.graph.session_for(session, "run").run(self, feed_dict)

    def to_node(self) -> Node:
        """This op as plain data for the engine."""
        return Node(
            self.name,
            self.op_def.name,
            tuple([(t.op.name, t.value_index) for t in self._inputs]),
            tuple([c.name for c in self._control_inputs]),
            self._device,
            self._attrs,
            self._class,
            self._input_types,
            self._output_types,
            tuple([t._shape for t in self.outputs]),
            source.show(self._source),
            self._role,
            self._asked,
        )

    def __str__(self) -> str:
        return str(self.node_def)

    def __repr__(self) -> str:
        return f"<tf.Operation {self.name!r} type={self.type}>"


def show_inputs(tensors: list[Tensor]) -> str:
    return ", ".join("?" if t._shape is None else show_shape(t._shape) for t in tensors)
