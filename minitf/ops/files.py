"""Files as ops: read, write, and find by a pattern."""

from __future__ import annotations

import minitf_runtime.ops.io  # noqa: F401  (declares them)
from minitf.ops.raw import passthrough

__all__ = ["matching_files", "read_file", "write_file"]

matching_files = passthrough("MatchingFiles", "matching_files")
read_file = passthrough("ReadFile", "read_file")
write_file = passthrough("WriteFile", "write_file")
