"""tf.io: files as ops, strings as tensors, and graphs and records as files."""

from minitf import gfile
from minitf.ops.decoding import decode_compressed, decode_csv, parse_tensor, serialize_tensor
from minitf.ops.files import matching_files, read_file, write_file
from minitf.ops.parsing import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    SparseFeature,
    VarLenFeature,
    parse_example,
    parse_sequence_example,
    parse_single_example,
    parse_single_sequence_example,
)
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
    "FixedLenFeature", "FixedLenSequenceFeature", "PaddingFIFOQueue", "PriorityQueue",
    "QueueBase", "RandomShuffleQueue", "SparseFeature", "TFRecordCompressionType",
    "TFRecordOptions", "TFRecordWriter", "VarLenFeature", "decode_base64", "decode_compressed",
    "decode_csv", "decode_raw", "encode_base64", "gfile", "match_filenames_once",
    "matching_files", "parse_example", "parse_sequence_example", "parse_single_example",
    "parse_single_sequence_example", "parse_tensor", "read_file", "serialize_tensor",
    "tf_record_iterator", "write_file", "write_graph",
]  # fmt: skip
