"""Messages: their binary form and their text form, both ways, and damaged ones."""

from __future__ import annotations

import numpy as np
import pytest

from minitf.node_def import attr_value, set_attr
from minitf.proto.graph import AttrValue, GraphDef, NodeDef
from minitf.proto.kinds import INT32
from minitf.proto.message import Message, Scalar
from minitf.proto.meta_graph import CollectionDef, MetaGraphDef
from minitf.proto.saver import CheckpointState, SaverDef
from minitf.proto.tensor import TensorProto, array_of_proto, tensor_proto
from minitf.proto.text import ParseError, merge_text
from minitf_runtime.errors import UnimplementedError
from minitf_runtime.storage.protobuf import DecodeError
from minitf_runtime.types import as_dtype, float32, resource


def filled():
    graph = GraphDef()
    graph.versions.producer = 134
    node = graph.node.add(name="a/b", op="Const", device="/cpu:0")
    node.input.extend(["x:1", "^y"])
    for key, value in (
        ("dtype", float32), ("value", np.arange(3.0)), ("s", 'a"\\\n\x01é'), ("i", -5), ("f", 0.5),
        ("no", False), ("shape", (None, 2)), ("any_rank", None), ("list", ["x", "y"]),
        ("ints", [1, -1]), ("none", []), ("types", [float32]), ("shapes", [(1,), None]),
    ):  # fmt: skip
        set_attr(node.attr[key], value)
    return graph


def test_round_trips():
    graph = filled()
    assert GraphDef.FromString(graph.SerializeToString()) == graph
    assert merge_text(str(graph), GraphDef()) == graph


def test_attributes_come_back():
    attrs = GraphDef.FromString(filled().SerializeToString()).node[0].attr
    assert attr_value(attrs["dtype"]) is float32
    assert attr_value(attrs["value"]).tolist() == [0.0, 1.0, 2.0]
    assert attr_value(attrs["s"]) == 'a"\\\n\x01é'
    assert attr_value(attrs["i"]) == -5 and attr_value(attrs["no"]) is False
    assert attr_value(attrs["shape"]) == (None, 2) and attr_value(attrs["any_rank"]) is None
    assert attr_value(attrs["list"]) == ["x", "y"] and attr_value(attrs["none"]) == []
    assert attr_value(attrs["shapes"]) == [(1,), None]


def test_bytes_as_protobuf_writes_them():
    saver = SaverDef(filename_tensor_name="a", max_to_keep=300, sharded=True, version="V2")
    assert saver.SerializeToString().hex() == "0a016120ac0228013802"
    state = CheckpointState(all_model_checkpoint_timestamps=[1.0])
    assert state.SerializeToString().hex() == "1a08000000000000f03f"
    assert AttrValue(i=0).SerializeToString().hex() == "1800"  # set, though it is the default
    assert AttrValue(i=-1).SerializeToString().hex() == "18" + "ff" * 9 + "01"


def test_unknown_fields_are_skipped_and_unpacked_numbers_read():
    assert NodeDef.FromString(bytes.fromhex("0a0161f20703616263")).name == "a"
    numbers = CollectionDef.Int64List.FromString(bytes.fromhex("08050a020607"))
    assert list(numbers.value) == [5, 6, 7]


def test_one_of_a_group():
    attr = AttrValue(i=3)
    attr.type = 1
    assert attr.WhichOneof("value") == "type" and not attr.HasField("i")
    attr.list.i.append(4)
    assert AttrValue().WhichOneof("value") is None
    with pytest.raises(ValueError, match="no oneof"):
        attr.WhichOneof("other")


def test_maps_of_messages():
    node = NodeDef(name="n")
    node.attr["a"].i = 1
    copied = NodeDef()
    copied.CopyFrom(node)
    copied.attr["a"].i = 2
    assert node.attr["a"].i == 1 and "b" not in node.attr
    with pytest.raises(ValueError, match="May not set values directly"):
        node.attr["a"] = AttrValue()
    del node.attr["a"]
    assert not len(node.attr)


@pytest.mark.parametrize(
    "array",
    [
        np.float32(3.5), np.zeros((2, 3), np.complex64), np.array([1 + 2j]), np.float16(1.5),
        np.array([], np.int32), np.array(True), np.full((2, 2), 7, np.uint8), np.arange(4),
        np.array([b"a", b"\0\xff"], object), np.array(-1, np.int16), np.uint64(2**64 - 1),
        np.array([-0.0, 0.0]), np.array([np.nan, np.nan], np.float32), np.uint32(2**32 - 1),
    ],
)  # fmt: skip
def test_tensors_come_back(array):
    proto = tensor_proto(array)
    for read in (TensorProto.FromString(proto.SerializeToString()),
                 merge_text(str(proto), TensorProto())):  # fmt: skip
        got = array_of_proto(read)
        assert got.dtype == array.dtype and got.shape == array.shape
        assert got.dtype == object or got.tobytes() == array.tobytes()
        assert got.dtype != object or got.tolist() == array.tolist()


def test_tensors_that_cannot_be():
    for proto in (
        TensorProto(dtype=1, tensor_content=b"abc"),
        TensorProto(dtype=1, float_val=[1, 2]),
        TensorProto(dtype=1, tensor_shape=dict(unknown_rank=True)),
        TensorProto(dtype=7, tensor_content=b"abc"),
    ):
        with pytest.raises(ValueError, match="shape"):
            array_of_proto(proto)
    with pytest.raises(UnimplementedError, match="resource"):
        tensor_proto(0, resource)
    assert array_of_proto(TensorProto(dtype=3, tensor_shape=dict(dim=[dict(size=2)]))).any() == 0
    assert as_dtype("float32") is float32


@pytest.mark.parametrize(
    "data",
    ["0a", "0a05616263", "0800", "0b", "ff" * 12, "0a02616212", "0a036162632a020a05"],
)
def test_damaged_bytes(data):
    with pytest.raises(DecodeError):
        NodeDef.FromString(bytes.fromhex(data))


def test_damaged_bytes_tell_the_field():
    with pytest.raises(DecodeError, match=r"GraphDef.node\[0\]: NodeDef.name: .*utf-8.* byte 4"):
        GraphDef.FromString(bytes.fromhex("0a040a02c3c3"))


def test_a_field_without_a_number_has_no_binary_form():
    class Unnumbered(Message):
        x = Scalar(INT32)

    with pytest.raises(TypeError, match="Unnumbered.x has no binary form"):
        Unnumbered(x=1).SerializeToString()


@pytest.mark.parametrize(
    "text, said",
    [
        ('name: "x', "line 1, column 7: cannot read this"),
        ('name: "x"\n other: 1', 'line 2, column 2: message type "NodeDef" has no field named'),
        ("name 3", "line 1, column 1: expected ':' after name"),
        ("name: 3", "name: expected a quoted string, got 3"),
        ('attr { key: "a" value { i: "x" } }', "i: expected a number"),
        ('attr { key: "a"', "line 1, column 16: the text is cut off"),
        ('attr "a"', "expected '{' of a Entry"),
        ('attr { key: "a" value { b: maybe } }', "expected true or false"),
        ('attr { key: "a" value { type: DT_NONE } }', "type: "),
    ],
)
def test_damaged_text(text, said):
    with pytest.raises(ParseError) as error:
        merge_text(text, NodeDef())
    assert said in str(error.value)


def test_text_in_all_its_forms():
    text = """
        # a comment
        name: 'a' "b"; op: "\\x41\\102\\n",
        input: ["x", "y"] input: "z"
        attr < key: "f" value { f: 1.5f } >
        attr: { key: "inf" value { f: -inf } }
        attr { key: "t" value { type: DT_INT32 } }
        attr { key: "n" value { i: 0x10 b: true } }
    """
    node = merge_text(text, NodeDef())
    assert (node.name, node.op, list(node.input)) == ("ab", "AB\n", ["x", "y", "z"])
    assert node.attr["f"].f == 1.5 and node.attr["inf"].f == -np.inf
    assert node.attr["t"].type == 3 and node.attr["n"].WhichOneof("value") == "b"


def test_a_meta_graph_with_parts_that_nobody_reads():
    made = MetaGraphDef()
    made.meta_info_def.stripped_op_list.op.add(name="x", is_stateful=True)
    made.collection_def["c"].float_list.value.extend([1.5])
    assert MetaGraphDef.FromString(made.SerializeToString()) == made
