"""tf.io: files as ops, and graphs as files."""

from minitf.ops.files import matching_files, read_file, write_file
from minitf.train.graph_io import write_graph

__all__ = ["matching_files", "read_file", "write_file", "write_graph"]
