"""tf.version, and the same constants at top level: what this is, for programs that ask."""

import platform

from minitf_runtime.version import API_VERSION as VERSION
from minitf_runtime.version import GRAPH_DEF_VERSION
from minitf_runtime.version import VERSION as _OWN_VERSION

__all__ = [
    "COMPILER_VERSION", "GIT_VERSION", "GRAPH_DEF_VERSION", "GRAPH_DEF_VERSION_MIN_CONSUMER",
    "GRAPH_DEF_VERSION_MIN_PRODUCER", "VERSION",
]  # fmt: skip

COMPILER_VERSION = platform.python_compiler()
GIT_VERSION = f"minitf {_OWN_VERSION}"
GRAPH_DEF_VERSION_MIN_CONSUMER = 0
GRAPH_DEF_VERSION_MIN_PRODUCER = 0
CXX11_ABI_FLAG = 0
MONOLITHIC_BUILD = 0
