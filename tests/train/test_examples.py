"""Messages of data: tf.train.Example and its parts, and those of clusters."""

from __future__ import annotations

import pytest

import minitf as tf

train = tf.train


def example(**features):
    return tf.train.Example(features=tf.train.Features(feature=features))


def test_examples_and_back():
    made = example(
        a=tf.train.Feature(float_list=tf.train.FloatList(value=[1.0, 2.0])),
        b=tf.train.Feature(int64_list=tf.train.Int64List(value=[-1, 2**40])),
        c=tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"x", "y"])),
    )
    made.features.feature["d"].int64_list.value.append(7)
    again = tf.train.Example.FromString(made.SerializeToString())
    assert again == made
    found = again.features.feature
    assert {key: found[key].WhichOneof("kind") for key in found} == {
        "a": "float_list",
        "b": "int64_list",
        "c": "bytes_list",
        "d": "int64_list",
    }
    assert list(found["b"].int64_list.value) == [-1, 2**40]
    assert list(found["c"].bytes_list.value) == [b"x", b"y"]
    with pytest.raises(TypeError):
        tf.train.Int64List(value=[0.5])


def test_sequences():
    made = tf.train.SequenceExample()
    made.context.feature["length"].int64_list.value.append(2)
    steps = made.feature_lists.feature_list["steps"]
    for step in (1.0, 2.0):
        steps.feature.add().float_list.value.append(step)
    again = tf.train.SequenceExample.FromString(made.SerializeToString())
    values = again.feature_lists.feature_list["steps"].feature
    assert [f.float_list.value[0] for f in values] == [1.0, 2.0]
    assert isinstance(steps, tf.train.FeatureList)


def sequence():
    made = train.SequenceExample()
    made.context.feature["n"].int64_list.value.append(2)
    for step in (1.0, 2.0):
        made.feature_lists.feature_list["s"].feature.add().float_list.value.append(step)
    return made


# What TensorFlow 1.15.5 gives for the same message. Maps of one item: items have no order.
@pytest.mark.parametrize(
    "make, data",
    [
        (
            lambda: example(a=train.Feature(float_list=train.FloatList(value=[1.0, 2.0]))),
            "0a130a110a0161120c120a0a080000803f00000040",
        ),
        (
            lambda: example(b=train.Feature(int64_list=train.Int64List(value=[-1, 2**40]))),
            "0a1b0a190a016212141a120a10ffffffffffffffffff01808080808020",
        ),
        (
            lambda: example(c=train.Feature(bytes_list=train.BytesList(value=[b"x", b"y"]))),
            "0a0f0a0d0a016312080a060a01780a0179",
        ),
        (
            sequence,
            "0a0c0a0a0a016e12051a030a0102121b0a190a017312140a0812060a040000803f0a0812060a0400000040",
        ),
        (
            lambda: train.ServerDef(
                job_name="ps",
                task_index=1,
                protocol="grpc",
                cluster=train.ClusterDef(job=[train.JobDef(name="ps", tasks={1: "b:2"})]),
            ),
            "0a0f0a0d0a027073120708011203623a321202707318012a0467727063",
        ),
    ],
)
def test_bytes_are_tensorflows(make, data):
    made = make()
    assert made.SerializeToString().hex() == data
    assert type(made).FromString(bytes.fromhex(data)) == made
    with pytest.raises(ValueError, match="cut off"):
        type(made).FromString(bytes.fromhex(data)[:-1])
