"""Messages of meta graphs: a graph with its collections and its saver."""

from __future__ import annotations

from minitf.proto.graph import GraphDef
from minitf.proto.kinds import BOOL, BYTES, FLOAT, INT32, INT64, STRING, Enum
from minitf.proto.message import Map, Message, Nested, Repeated, Scalar
from minitf.proto.saver import SaverDef


class OpList(Message):
    """Declarations of ops, unread."""

    op = Repeated(BYTES, 1)


class AnyList(Message):
    """Messages of any kind, unread."""

    value = Repeated(BYTES, 1)


class CollectionDef(Message):
    """A collection as names of ops and tensors, serialised messages, or numbers."""

    class NodeList(Message):
        value = Repeated(STRING, 1)

    class BytesList(Message):
        value = Repeated(BYTES, 1)

    class Int64List(Message):
        value = Repeated(INT64, 1)

    class FloatList(Message):
        value = Repeated(FLOAT, 1)

    AnyList = AnyList

    node_list = Nested(NodeList, 1, oneof="kind")
    bytes_list = Nested(BytesList, 2, oneof="kind")
    int64_list = Nested(Int64List, 3, oneof="kind")
    float_list = Nested(FloatList, 4, oneof="kind")
    any_list = Nested(AnyList, 5, oneof="kind")


class MetaInfoDef(Message):
    meta_graph_version = Scalar(STRING, 1)
    stripped_op_list = Nested(OpList, 2)
    any_info = Scalar(BYTES, 3)
    tags = Repeated(STRING, 4)
    tensorflow_version = Scalar(STRING, 5)
    tensorflow_git_version = Scalar(STRING, 6)
    stripped_default_attrs = Scalar(BOOL, 7)


class MetaGraphDef(Message):
    """What export_meta_graph writes."""

    MetaInfoDef = MetaInfoDef

    meta_info_def = Nested(MetaInfoDef, 1)
    graph_def = Nested(GraphDef, 2)
    saver_def = Nested(SaverDef, 3)
    collection_def = Map(STRING, CollectionDef, 4)
    signature_def = Map(STRING, AnyList, 5)
    asset_file_def = Repeated(BYTES, 6)


class SaveSliceInfoDef(Message):
    full_name = Scalar(STRING, 1)
    full_shape = Repeated(INT64, 2)
    var_offset = Repeated(INT64, 3)
    var_shape = Repeated(INT64, 4)


class VariableDef(Message):
    """The ops of a variable."""

    Synchronization = Enum(
        VARIABLE_SYNCHRONIZATION_AUTO=0,
        VARIABLE_SYNCHRONIZATION_NONE=1,
        VARIABLE_SYNCHRONIZATION_ON_WRITE=2,
        VARIABLE_SYNCHRONIZATION_ON_READ=3,
    )
    Aggregation = Enum(
        VARIABLE_AGGREGATION_NONE=0,
        VARIABLE_AGGREGATION_SUM=1,
        VARIABLE_AGGREGATION_MEAN=2,
        VARIABLE_AGGREGATION_ONLY_FIRST_REPLICA=3,
    )

    variable_name = Scalar(STRING, 1)
    initializer_name = Scalar(STRING, 2)
    snapshot_name = Scalar(STRING, 3)
    save_slice_info_def = Nested(SaveSliceInfoDef, 4)
    is_resource = Scalar(BOOL, 5)
    initial_value_name = Scalar(STRING, 6)
    trainable = Scalar(BOOL, 7)
    synchronization = Scalar(Synchronization, 8)
    aggregation = Scalar(Aggregation, 9)


class QueueRunnerDef(Message):
    """The ops of a queue runner."""

    queue_name = Scalar(STRING, 1)
    enqueue_op_name = Repeated(STRING, 2)
    close_op_name = Scalar(STRING, 3)
    cancel_op_name = Scalar(STRING, 4)
    queue_closed_exception_types = Repeated(INT32, 5)
