"""tf.io: files as ops, and graphs as files."""

from minitf.ops.files import matching_files, read_file, write_file
from minitf.train.graph_io import write_graph
from minitf.train.input import match_filenames_once

__all__ = ["match_filenames_once", "matching_files", "read_file", "write_file", "write_graph"]
