"""Messages survive the wire; nothing else gets in."""

import msgpack
import numpy as np
import pytest

from minitf_runtime.errors import DataLossError, InvalidArgumentError
from minitf_runtime.graph import Node, Reason
from minitf_runtime.plan.part import Part
from minitf_runtime.server import service  # noqa: F401  (registers the records)
from minitf_runtime.types import float32, int64
from minitf_runtime.wire import messages as m
from minitf_runtime.wire.codec import decode, encode


def through(message):
    frames = encode(message)
    return decode(frames[0], [memoryview(bytes(f)) for f in frames[1:]])


ARRAYS = [
    np.arange(6, dtype="f").reshape(2, 3),
    np.zeros((0, 4), "i4"),
    np.array(3.5),
    np.arange(100_000, dtype="i8"),
    np.asfortranarray(np.arange(5000.0).reshape(50, 100)),
    np.arange(20000)[::2],
    np.array([True, False]),
    np.array([1 + 2j], "complex64"),
    np.array([1.5], "float16"),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda a: f"{a.dtype}{a.shape}")
def test_arrays(array):
    got = through(m.Tensors(7, {3: array})).values[3]
    assert got.dtype == array.dtype and got.shape == array.shape
    np.testing.assert_array_equal(got, array)


def test_large_arrays_are_not_copied():
    array = np.ones(100_000, "f")
    frames = encode(m.Tensors(1, {0: array}))
    assert np.shares_memory(np.frombuffer(frames[1], "f"), array)


def test_scalars_strings_and_keys():
    words = np.empty(2, object)
    words[:] = [b"a", b"\xff\x00"]
    values = {0: np.float32(1.25), (1, 2): words, "x": None}
    got = through(m.Tensors(1, values)).values
    assert isinstance(got[0], np.float32) and got[0] == np.float32(1.25)
    assert got[1, 2].tolist() == [b"a", b"\xff\x00"]


def test_nodes_and_parts():
    node = Node(
        "a/b", "MatMul", (("x", 0), ("w/read", 1)), ("^c",), "/job:ps/task:0",
        {"T": float32, "transpose_a": True, "shape": (2, None), "value": np.ones(3)},
        ("w",), (float32, float32), (int64.ref,), ((2, None), None), "train.py:3", "gradient",
        (Reason("scope", "with tf.device", "train.py:1"),),
    )  # fmt: skip
    part = Part("/job:ps/replica:0/task:0", {"d": (node,)}, {"s": (1, "t")}, {"r": 2})
    got = through(m.RegisterGraph("h", part)).part.nodes["d"][0]
    assert np.array_equal(got.attrs["value"], np.ones(3))
    assert got.with_(attrs={}) == node.with_(attrs={})
    assert got.attrs["shape"] == (2, None) and got.output_types == (int64.ref,)


def test_errors_keep_class_text_and_place():
    error = InvalidArgumentError(None, None, "no good")
    error.node, error.device, error.source = "n", "/job:ps", "a.py:1"
    got = through(m.Reply(4, None, error)).error
    assert type(got) is InvalidArgumentError
    assert (got.message, got.node, got.device, got.source) == ("no good", "n", "/job:ps", "a.py:1")


def test_what_cannot_travel_is_refused_by_the_sender():
    with pytest.raises(TypeError, match="cannot travel"):
        encode(m.Tensors(1, {0: object()}))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x80\x04\x95",  # the head of a pickle
        msgpack.packb(msgpack.ExtType(99, b"")),
        msgpack.packb(msgpack.ExtType(6, msgpack.packb(["Popen", ["ls"]]))),
        msgpack.packb(msgpack.ExtType(1, msgpack.packb(["O", [1], b"12345678"]))),
        msgpack.packb(msgpack.ExtType(2, msgpack.packb(["<f4", [10], 5]))),
    ],
    ids=range(7),
)
def test_garbage_is_refused(data):
    with pytest.raises(DataLossError):
        decode(data, [])


def test_truncated_messages_are_refused():
    frames = encode(m.Tensors(1, {0: np.arange(10.0), 1: "text"}))
    for end in range(len(frames[0])):
        with pytest.raises(DataLossError):
            decode(frames[0][:end], frames[1:])
