"""Examples and sequences as tensors: graphs as TensorFlow 1.15 makes them, values and errors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import minitf as tf
from data.pipelines.record import PROGRAMS
from minitf.errors import InvalidArgumentError
from recording import load, record

RECORDED = load(Path(__file__).parents[1] / "data" / "pipelines" / "graphs.json.gz")
NAMES = ["examples", "single_examples", "sequences", "sparse_features"]


@pytest.mark.parametrize("name", NAMES)
def test_graphs_are_as_recorded(name):
    got = record(tf, PROGRAMS[name])
    assert got["said"] == RECORDED[name]["said"]
    assert got["nodes"] == RECORDED[name]["nodes"]


def test_refusals_are_as_recorded():
    for mine, theirs in zip(record(tf, PROGRAMS["refusals"])["said"], RECORDED["refusals"]["said"]):
        assert mine[:90] == theirs[:90]


def feature(values):
    if values is None:
        return tf.train.Feature()
    lists = {bytes: ("bytes_list", tf.train.BytesList), int: ("int64_list", tf.train.Int64List)}
    kind = type(values[0]) if values else float
    name, message = lists.get(kind, ("float_list", tf.train.FloatList))
    return tf.train.Feature(**{name: message(value=values)})


def features(**values):
    return tf.train.Features(feature={key: feature(value) for key, value in values.items()})


def example(**values):
    return tf.train.Example(features=features(**values)).SerializeToString()


def sequence(context, **steps):
    lists = {k: tf.train.FeatureList(feature=map(feature, v)) for k, v in steps.items()}
    message = tf.train.SequenceExample(
        context=features(**context), feature_lists=tf.train.FeatureLists(feature_list=lists)
    )
    return message.SerializeToString()


def run(fetches):
    with tf.Session() as session:
        return session.run(fetches)


def plain(value):
    """Values as lists; a sparse one as indices, values and shape."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, tf.SparseTensorValue):
        return [part.tolist() for part in value]
    return value if isinstance(value, bytes) else value.tolist()


def test_a_batch():
    batch = [example(a=[1, 2], b=[b"x"], c=[0.5, 1.5]), example(a=[-1], c=None), example(b=[])]
    kinds = {
        "a": tf.VarLenFeature(tf.int64),
        "b": tf.FixedLenSequenceFeature([], tf.string, allow_missing=True, default_value="-"),
        "c": tf.FixedLenFeature([2], tf.float32, [7.0, 8.0]),
    }
    batch[2] = example()
    assert plain(run(tf.parse_example(batch, kinds))) == {
        "a": [[[0, 0], [0, 1], [1, 0]], [1, 2, -1], [3, 2]],
        "b": [[b"x"], [b"-"], [b"-"]],
        "c": [[0.5, 1.5], [7, 8], [7, 8]],
    }
    none = run(tf.parse_example(tf.zeros([0], tf.string), kinds))
    assert [none["a"].dense_shape.tolist(), none["b"].shape, none["c"].shape] == [
        [0, 0], (0, 0), (0, 2),
    ]  # fmt: skip


def test_one_example():
    kinds = {
        "a": tf.VarLenFeature(tf.int64),
        "b": tf.FixedLenSequenceFeature([2], tf.int64, allow_missing=True),
        "c": tf.FixedLenFeature([], tf.string, "none"),
    }
    for names in (None, "name"):
        parsed = tf.parse_single_example(
            example(a=[5, 1 << 40], b=[1, 2, 3, 4]), kinds, None, names
        )
        assert plain(run(parsed)) == {
            "a": [[[0], [1]], [5, 1 << 40], [2]],
            "b": [[1, 2], [3, 4]],
            "c": b"none",
        }


def test_numbers_that_are_not_packed():
    floats, ints = b"\x0d\x00\x00\x80\x3f" * 2, b"\x08\x05\x0a\x02\x06\x07"
    entries = ((b"f", b"\x12", floats), (b"i", b"\x1a", ints))
    data = b""
    for key, tag, values in entries:
        value = tag + bytes([len(values)]) + values
        entry = b"\x0a\x01" + key + b"\x12" + bytes([len(value)]) + value
        data += b"\x0a" + bytes([len(entry)]) + entry
    kinds = {"f": tf.FixedLenFeature([2], tf.float32), "i": tf.FixedLenFeature([3], tf.int64)}
    parsed = tf.parse_single_example(b"\x0a" + bytes([len(data)]) + data, kinds)
    assert plain(run(parsed)) == {"f": [1, 1], "i": [5, 6, 7]}


def test_values_that_have_their_indices_beside_them():
    kinds = {"s": tf.SparseFeature("at", "value", tf.float32, 10)}
    batch = [example(at=[3, 1], value=[30.0, 10.0]), example(), example(at=[9], value=[90.0])]
    assert plain(run(tf.parse_example(batch, kinds))) == {
        "s": [[[0, 1], [0, 3], [2, 9]], [10, 30, 90], [3, 10]]
    }
    kinds = {"s": tf.SparseFeature(["row", "at"], "value", tf.float32, [5, 10])}
    one = example(at=[3, 1], row=[4, 2], value=[30.0, 10.0])
    assert plain(run(tf.parse_single_example(one, kinds))) == {
        "s": [[[2, 1], [4, 3]], [10, 30], [5, 10]]
    }


CONTEXT = {"a": tf.VarLenFeature(tf.int64), "b": tf.FixedLenFeature([], tf.string, "d")}
STEPS = {
    "c": tf.VarLenFeature(tf.int64),
    "e": tf.FixedLenSequenceFeature([2], tf.float32),
    "f": tf.FixedLenSequenceFeature([], tf.string, allow_missing=True),
}
ONE = sequence({"a": [1, 2]}, c=[[1], None, [2, 3]], e=[[1.0, 2.0], [3.0, 4.0]])
OTHER = sequence({"b": [b"x"]}, e=[[5.0, 6.0]], f=[[b"y"], [b"z"], [b""]])


def test_one_sequence():
    context, steps = run(tf.parse_single_sequence_example(ONE, CONTEXT, STEPS))
    assert plain(context) == {"a": [[[0], [1]], [1, 2], [2]], "b": b"d"}
    assert plain(steps) == {
        "c": [[[0, 0], [2, 0], [2, 1]], [1, 2, 3], [3, 2]],
        "e": [[1, 2], [3, 4]],
        "f": [],
    }


def test_a_batch_of_sequences():
    context, steps, lengths = run(tf.io.parse_sequence_example([ONE, OTHER], CONTEXT, STEPS))
    assert plain(context) == {"a": [[[0, 0], [0, 1]], [1, 2], [2, 2]], "b": [b"d", b"x"]}
    assert plain(steps) == {
        "c": [[[0, 0, 0], [0, 2, 0], [0, 2, 1]], [1, 2, 3], [2, 3, 2]],
        "e": [[[1, 2], [3, 4]], [[5, 6], [0, 0]]],
        "f": [[b"", b"", b""], [b"y", b"z", b""]],
    }
    assert plain(lengths) == {"e": [2, 1], "f": [0, 3]}


INT = tf.FixedLenFeature([], tf.int64)
MANY = tf.FixedLenSequenceFeature([2], tf.int64, allow_missing=True)


@pytest.mark.parametrize(
    "values, kind, error",
    [
        (dict(b=[1]), INT, "Feature: a (data type: int64) is required but could not be found."),
        (dict(a=[1.5]), INT, "a, Index: 1.  Data types don't match. Data type: float but expected"),
        (dict(a=[1, 2]), INT, "Number of int64 values != expected.  Values size: 2 but output"),
        (dict(a=[1]), MANY, "Number of int64 values is not a multiple of stride length. Saw 1"),
        (dict(a=[1.5]), tf.VarLenFeature(tf.int64), "Expected type: int64, Actual type: float"),
        (None, INT, "Could not parse example input, value: 'no example'"),
    ],
)
def test_examples_that_do_not_fit(values, kind, error):
    bad = b"no example" if values is None else example(**values)
    parsed = tf.parse_example([example(a=[1, 2][: 1 + (kind is MANY)]), bad], {"a": kind})
    with pytest.raises(InvalidArgumentError) as caught:
        run(parsed)
    assert error in caught.value.message


@pytest.mark.parametrize(
    "context, steps, kinds, error",
    [
        ({}, {}, ({"a": INT}, None), "Context feature 'a' is required but could not be found"),
        ({"a": [1.0]}, {}, ({"a": INT}, None), "Context feature: a.  Data types don't match."),
        ({"a": [1, 2]}, {}, ({"a": INT}, None), "Key: a, Index: 0.  Number of int64 values !="),
        ({}, {}, (None, {"e": STEPS["e"]}), "Name: who, Feature list 'e' is required"),
        ({}, {"e": [[1.0, 2.0], [3]]}, (None, {"e": STEPS["e"]}), "Feature list: e, Index: 1.  D"),
        ({}, {"e": [[1.0]]}, (None, {"e": STEPS["e"]}), "values size: 1 but output shape: [2]"),
        ({}, {"c": [[1.0]]}, (None, {"c": STEPS["c"]}), "Feature List: c, Index: 0.  Data types"),
    ],
)
def test_sequences_that_do_not_fit(context, steps, kinds, error):
    parsed = tf.parse_single_sequence_example(sequence(context, **steps), *kinds, "who")
    with pytest.raises(InvalidArgumentError) as caught:
        run(parsed)
    assert error in caught.value.message


def test_names_are_as_many_as_examples():
    parsed = tf.parse_example([example(a=[1])], {"a": INT}, example_names=["x", "y"])
    with pytest.raises(InvalidArgumentError, match="len.names. == len.serialized., but got: 2"):
        run(parsed)


def test_examples_in_a_pipeline(tmp_path):
    path = str(tmp_path / "examples")
    with tf.python_io.TFRecordWriter(path, "GZIP") as writer:
        for i in range(6):
            pixels = np.full(4, i, np.uint8).tobytes()
            writer.write(example(label=[i], image=[pixels]))
    queue = tf.train.string_input_producer([path], num_epochs=2)
    _, text = tf.TFRecordReader(options="GZIP").read(queue)
    kinds = {"label": INT, "image": tf.FixedLenFeature([], tf.string)}
    one = tf.parse_single_example(text, kinds)
    image = tf.reshape(tf.decode_raw(one["image"], tf.uint8), [2, 2])
    images, labels = tf.train.shuffle_batch([image, one["label"]], 4, 20, 8)
    coord, seen = tf.train.Coordinator(), []
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        threads = tf.train.start_queue_runners(session, coord)
        for _ in range(3):
            picture, label = session.run([images, labels])
            assert (picture == label[:, None, None]).all()
            seen += label.tolist()
        coord.request_stop()
        coord.join(threads)
    assert sorted(seen) == sorted([*range(6)] * 2)
