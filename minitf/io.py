"""tf.io: files as ops, strings as tensors, and graphs and records as files.

The functions are loaded when one of them is first used.
"""

from __future__ import annotations

from minitf import gfile
from minitf.lazily import lazily as _lazily

_HOMES = {
    "minitf.ops.decoding": "decode_compressed decode_csv parse_tensor serialize_tensor",
    "minitf.ops.features": "FixedLenFeature FixedLenSequenceFeature SparseFeature VarLenFeature",
    "minitf.ops.files": "matching_files read_file write_file",
    "minitf.ops.image.codecs": """
        decode_and_crop_jpeg decode_bmp decode_gif decode_image decode_jpeg decode_png encode_jpeg
        extract_jpeg_shape is_jpeg""",
    "minitf.ops.parsing": """
        parse_example parse_sequence_example parse_single_example parse_single_sequence_example""",
    "minitf.ops.queue": "PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue",
    "minitf.ops.strings": "decode_base64 decode_raw encode_base64",
    "minitf.record_files": """
        TFRecordCompressionType TFRecordOptions TFRecordWriter tf_record_iterator""",
    "minitf.train.graph_io": "write_graph",
    "minitf.train.input": "match_filenames_once",
}
__getattr__, __dir__ = _lazily(globals(), _HOMES)
