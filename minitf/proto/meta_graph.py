"""Messages of meta graphs: a graph with its collections and its saver."""

from __future__ import annotations

from minitf.proto.graph import GraphDef, OpDef
from minitf.proto.kinds import BOOL, BYTES, FLOAT, INT32, INT64, STRING, Enum
from minitf.proto.message import Map, Message, Nested, Repeated, Scalar
from minitf.proto.saver import SaverDef
from minitf.proto.tensor import DataType, TensorShapeProto


class OpList(Message):
    op = Repeated(OpDef, 1)


class Any(Message):
    """A message of some kind, with the name of the kind."""

    type_url = Scalar(STRING, 1)
    value = Scalar(BYTES, 2)

    def Pack(self, msg: Message, type_url_prefix: str = "type.googleapis.com/") -> None:
        self.type_url = f"{type_url_prefix.rstrip('/')}/tensorflow.{type(msg).__name__}"
        self.value = msg.SerializeToString()

    def Unpack(self, msg: Message) -> bool:
        """Fills the message if it is of the kind; says whether it is. Raises DecodeError."""
        if self.type_url.rpartition("/")[2] != f"tensorflow.{type(msg).__name__}":
            return False
        msg.ParseFromString(self.value)
        return True


class AnyList(Message):
    value = Repeated(Any, 1)


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
    any_info = Nested(Any, 3)
    tags = Repeated(STRING, 4)
    tensorflow_version = Scalar(STRING, 5)
    tensorflow_git_version = Scalar(STRING, 6)
    stripped_default_attrs = Scalar(BOOL, 7)


class TensorInfo(Message):
    """What a signature says of a tensor."""

    class CooSparse(Message):
        values_tensor_name = Scalar(STRING, 1)
        indices_tensor_name = Scalar(STRING, 2)
        dense_shape_tensor_name = Scalar(STRING, 3)

    name = Scalar(STRING, 1, oneof="encoding")
    dtype = Scalar(DataType, 2)
    tensor_shape = Nested(TensorShapeProto, 3)
    coo_sparse = Nested(CooSparse, 4, oneof="encoding")


class SignatureDef(Message):
    """The inputs and outputs of a model that is served."""

    inputs = Map(STRING, TensorInfo, 1)
    outputs = Map(STRING, TensorInfo, 2)
    method_name = Scalar(STRING, 3)


class AssetFileDef(Message):
    tensor_info = Nested(TensorInfo, 1)
    filename = Scalar(STRING, 2)


class MetaGraphDef(Message):
    """What export_meta_graph writes."""

    MetaInfoDef = MetaInfoDef

    meta_info_def = Nested(MetaInfoDef, 1)
    graph_def = Nested(GraphDef, 2)
    saver_def = Nested(SaverDef, 3)
    collection_def = Map(STRING, CollectionDef, 4)
    signature_def = Map(STRING, SignatureDef, 5)
    asset_file_def = Repeated(AssetFileDef, 6)


class SavedModel(Message):
    """The graphs of a SavedModel."""

    saved_model_schema_version = Scalar(INT64, 1)
    meta_graphs = Repeated(MetaGraphDef, 2)


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
