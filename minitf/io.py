"""tf.io: files as ops, strings as tensors, and graphs and records as files."""

from minitf import gfile
from minitf.ops.decoding import decode_compressed, decode_csv, parse_tensor, serialize_tensor
from minitf.ops.files import matching_files, read_file, write_file
from minitf.ops.queue import PaddingFIFOQueue, PriorityQueue, QueueBase, RandomShuffleQueue
from minitf.ops.strings import decode_base64, decode_raw, encode_base64
from minitf.record_files import (
    TFRecordCompressionType,
    TFRecordOptions,
    TFRecordWriter,
    tf_record_iterator,
)
from minitf.train.graph_io import write_graph
from minitf.train.input import match_filenames_once

__all__ = [
    "PaddingFIFOQueue", "PriorityQueue", "QueueBase", "RandomShuffleQueue",
    "TFRecordCompressionType", "TFRecordOptions", "TFRecordWriter", "decode_base64",
    "decode_compressed", "decode_csv", "decode_raw", "encode_base64", "gfile",
    "match_filenames_once", "matching_files", "parse_tensor", "read_file", "serialize_tensor",
    "tf_record_iterator", "write_file", "write_graph",
]  # fmt: skip
