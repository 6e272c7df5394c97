"""Messages of data: tf.train.Example and SequenceExample, as record files hold them."""

from __future__ import annotations

from minitf.proto.kinds import BYTES, FLOAT, INT64, STRING
from minitf.proto.message import Map, Message, Nested, Repeated


class BytesList(Message):
    value = Repeated(BYTES, 1)


class FloatList(Message):
    value = Repeated(FLOAT, 1)


class Int64List(Message):
    value = Repeated(INT64, 1)


class Feature(Message):
    """A list of one of three types."""

    bytes_list = Nested(BytesList, 1, oneof="kind")
    float_list = Nested(FloatList, 2, oneof="kind")
    int64_list = Nested(Int64List, 3, oneof="kind")


class Features(Message):
    feature = Map(STRING, Feature, 1)


class FeatureList(Message):
    """The steps of one feature of a sequence."""

    feature = Repeated(Feature, 1)


class FeatureLists(Message):
    feature_list = Map(STRING, FeatureList, 1)


class Example(Message):
    """Features by name."""

    features = Nested(Features, 1)


class SequenceExample(Message):
    """Features of a whole sequence, and those of its steps."""

    context = Nested(Features, 1)
    feature_lists = Nested(FeatureLists, 2)
