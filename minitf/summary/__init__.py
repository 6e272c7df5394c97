"""tf.summary: ops that tell of a training run, and the event files that TensorBoard reads."""

from minitf.proto.event import (
    Event,
    SessionLog,
    Summary,
    SummaryDescription,
    SummaryMetadata,
    TaggedRunMetadata,
)
from minitf.summary.ops import (
    audio,
    histogram,
    image,
    merge,
    merge_all,
    scalar,
    tensor_summary,
    text,
)
from minitf.summary.reader import summary_iterator
from minitf.summary.writer import FileWriter, FileWriterCache

__all__ = [
    "Event", "FileWriter", "FileWriterCache", "SessionLog", "Summary", "SummaryDescription",
    "SummaryMetadata", "TaggedRunMetadata", "audio", "histogram", "image", "merge", "merge_all",
    "scalar", "summary_iterator", "tensor_summary", "text",
]  # fmt: skip
