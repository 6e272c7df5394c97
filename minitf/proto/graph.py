"""Messages of graphs: NodeDef, AttrValue, GraphDef. The conversion is in minitf/graph_def.py."""

from __future__ import annotations

from minitf.proto.kinds import BOOL, BYTES, FLOAT, INT32, INT64, STRING
from minitf.proto.message import Map, Message, Nested, Repeated, Scalar
from minitf.proto.tensor import DataType, TensorProto, TensorShapeProto


class NameAttrList(Message):
    """A function's name; functions are not part of minitf."""

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

    name = Scalar(STRING, 1)
    op = Scalar(STRING, 2)
    input = Repeated(STRING, 3)
    device = Scalar(STRING, 4)
    attr = Map(STRING, AttrValue, 5)


class VersionDef(Message):
    """Which version made it, and which can read it."""

    producer = Scalar(INT32, 1)
    min_consumer = Scalar(INT32, 2)
    bad_consumers = Repeated(INT32, 3)


class FunctionDefLibrary(Message):
    """Functions and their gradients, unread."""

    function = Repeated(BYTES, 1)
    gradient = Repeated(BYTES, 2)


class GraphDef(Message):
    """All ops of a graph."""

    node = Repeated(NodeDef, 1)
    library = Nested(FunctionDefLibrary, 2)
    version = Scalar(INT32, 3)
    versions = Nested(VersionDef, 4)
