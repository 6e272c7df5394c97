"""Messages of event files: Event, Summary and their parts."""

from __future__ import annotations

from minitf.proto.kinds import BYTES, DOUBLE, FLOAT, INT32, INT64, STRING, Enum
from minitf.proto.message import Message, Nested, Repeated, Scalar
from minitf.proto.tensor import TensorProto


class HistogramProto(Message):
    """Counts of values by bucket; `bucket_limit` are the upper ends."""

    min = Scalar(DOUBLE, 1)
    max = Scalar(DOUBLE, 2)
    num = Scalar(DOUBLE, 3)
    sum = Scalar(DOUBLE, 4)
    sum_squares = Scalar(DOUBLE, 5)
    bucket_limit = Repeated(DOUBLE, 6)
    bucket = Repeated(DOUBLE, 7)


class SummaryDescription(Message):
    type_hint = Scalar(STRING, 1)


class SummaryMetadata(Message):
    """What a plugin of TensorBoard wants to know of a tag."""

    class PluginData(Message):
        plugin_name = Scalar(STRING, 1)
        content = Scalar(BYTES, 2)

    plugin_data = Nested(PluginData, 1)
    display_name = Scalar(STRING, 2)
    summary_description = Scalar(STRING, 3)


class _Image(Message):
    height = Scalar(INT32, 1)
    width = Scalar(INT32, 2)
    colorspace = Scalar(INT32, 3)
    encoded_image_string = Scalar(BYTES, 4)


class _Audio(Message):
    sample_rate = Scalar(FLOAT, 1)
    num_channels = Scalar(INT64, 2)
    length_frames = Scalar(INT64, 3)
    encoded_audio_string = Scalar(BYTES, 4)
    content_type = Scalar(STRING, 5)


class Summary(Message):
    """Values by tag, as one step made them."""

    Image = _Image
    Audio = _Audio

    class Value(Message):
        tag = Scalar(STRING, 1)
        simple_value = Scalar(FLOAT, 2, oneof="value")
        obsolete_old_style_histogram = Scalar(BYTES, 3, oneof="value")
        image = Nested(_Image, 4, oneof="value")
        histo = Nested(HistogramProto, 5, oneof="value")
        audio = Nested(_Audio, 6, oneof="value")
        node_name = Scalar(STRING, 7)
        tensor = Nested(TensorProto, 8, oneof="value")
        metadata = Nested(SummaryMetadata, 9)

    value = Repeated(Value, 1)


class SessionLog(Message):
    """A session's start, stop or checkpoint."""

    SessionStatus = Enum(STATUS_UNSPECIFIED=0, START=1, STOP=2, CHECKPOINT=3)
    STATUS_UNSPECIFIED, START, STOP, CHECKPOINT = SessionStatus.values()

    status = Scalar(SessionStatus, 1)
    checkpoint_path = Scalar(STRING, 2)
    msg = Scalar(STRING, 3)


class LogMessage(Message):
    Level = Enum(UNKNOWN=0, DEBUGGING=10, INFO=20, WARN=30, ERROR=40, FATAL=50)
    UNKNOWN, DEBUGGING, INFO, WARN, ERROR, FATAL = Level.values()

    level = Scalar(Level, 1)
    message = Scalar(STRING, 2)


class TaggedRunMetadata(Message):
    """A serialised RunMetadata under a name."""

    tag = Scalar(STRING, 1)
    run_metadata = Scalar(BYTES, 2)


class Event(Message):
    """One record of an event file."""

    wall_time = Scalar(DOUBLE, 1)
    step = Scalar(INT64, 2)
    file_version = Scalar(STRING, 3, oneof="what")
    graph_def = Scalar(BYTES, 4, oneof="what")
    summary = Nested(Summary, 5, oneof="what")
    log_message = Nested(LogMessage, 6, oneof="what")
    session_log = Nested(SessionLog, 7, oneof="what")
    tagged_run_metadata = Nested(TaggedRunMetadata, 8, oneof="what")
    meta_graph_def = Scalar(BYTES, 9, oneof="what")
