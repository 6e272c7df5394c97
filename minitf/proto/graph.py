"""Messages of graphs: NodeDef, AttrValue, OpDef, GraphDef. The conversion is in minitf/node_def.py.

Functions: minitf/function_def.py.
"""

from __future__ import annotations

from minitf.proto.kinds import BOOL, BYTES, FLOAT, INT32, INT64, STRING
from minitf.proto.message import Map, Message, Nested, Repeated, Scalar
from minitf.proto.tensor import DataType, TensorProto, TensorShapeProto


class NameAttrList(Message):
    """A function's name."""

    name = Scalar(STRING, 1)


class AttrValue(Message):
    """The value of one attribute."""

    class ListValue(Message):
        s = Repeated(BYTES, 2)
        i = Repeated(INT64, 3)
        f = Repeated(FLOAT, 4)
        b = Repeated(BOOL, 5)
        type = Repeated(DataType, 6)
        shape = Repeated(TensorShapeProto, 7)
        tensor = Repeated(TensorProto, 8)
        func = Repeated(NameAttrList, 9)

    list = Nested(ListValue, 1, oneof="value")
    s = Scalar(BYTES, 2, oneof="value")
    i = Scalar(INT64, 3, oneof="value")
    f = Scalar(FLOAT, 4, oneof="value")
    b = Scalar(BOOL, 5, oneof="value")
    type = Scalar(DataType, 6, oneof="value")
    shape = Nested(TensorShapeProto, 7, oneof="value")
    tensor = Nested(TensorProto, 8, oneof="value")
    placeholder = Scalar(STRING, 9, oneof="value")
    func = Nested(NameAttrList, 10, oneof="value")


class NodeDef(Message):
    """One op: its inputs are 'name', 'name:1', or '^name' for a control edge."""

    class ExperimentalDebugInfo(Message):
        original_node_names = Repeated(STRING, 1)

    name = Scalar(STRING, 1)
    op = Scalar(STRING, 2)
    input = Repeated(STRING, 3)
    device = Scalar(STRING, 4)
    attr = Map(STRING, AttrValue, 5)
    experimental_debug_info = Nested(ExperimentalDebugInfo, 6)


class VersionDef(Message):
    """Which version made it, and which can read it."""

    producer = Scalar(INT32, 1)
    min_consumer = Scalar(INT32, 2)
    bad_consumers = Repeated(INT32, 3)


class OpDef(Message):
    """The declaration of an op, or the signature of a function."""

    class ArgDef(Message):
        name = Scalar(STRING, 1)
        description = Scalar(STRING, 2)
        type = Scalar(DataType, 3)
        type_attr = Scalar(STRING, 4)
        number_attr = Scalar(STRING, 5)
        type_list_attr = Scalar(STRING, 6)
        is_ref = Scalar(BOOL, 16)

    class AttrDef(Message):
        name = Scalar(STRING, 1)
        type = Scalar(STRING, 2)
        default_value = Nested(AttrValue, 3)
        description = Scalar(STRING, 4)
        has_minimum = Scalar(BOOL, 5)
        minimum = Scalar(INT64, 6)
        allowed_values = Nested(AttrValue, 7)

    class OpDeprecation(Message):
        version = Scalar(INT32, 1)
        explanation = Scalar(STRING, 2)

    name = Scalar(STRING, 1)
    input_arg = Repeated(ArgDef, 2)
    output_arg = Repeated(ArgDef, 3)
    attr = Repeated(AttrDef, 4)
    summary = Scalar(STRING, 5)
    description = Scalar(STRING, 6)
    deprecation = Nested(OpDeprecation, 8)
    is_aggregate = Scalar(BOOL, 16)
    is_stateful = Scalar(BOOL, 17)
    is_commutative = Scalar(BOOL, 18)
    allows_uninitialized_input = Scalar(BOOL, 19)
    control_output = Repeated(STRING, 20)


class FunctionDef(Message):
    """A graph with arguments and results."""

    class ArgAttrs(Message):
        attr = Map(STRING, AttrValue, 1)

    signature = Nested(OpDef, 1)
    node_def = Repeated(NodeDef, 3)
    ret = Map(STRING, STRING, 4)
    attr = Map(STRING, AttrValue, 5)
    control_ret = Map(STRING, STRING, 6)
    arg_attr = Map(INT64, ArgAttrs, 7)


class GradientDef(Message):
    function_name = Scalar(STRING, 1)
    gradient_func = Scalar(STRING, 2)


class FunctionDefLibrary(Message):
    function = Repeated(FunctionDef, 1)
    gradient = Repeated(GradientDef, 2)


class GraphDef(Message):
    """All ops of a graph."""

    node = Repeated(NodeDef, 1)
    library = Nested(FunctionDefLibrary, 2)
    version = Scalar(INT32, 3)
    versions = Nested(VersionDef, 4)
