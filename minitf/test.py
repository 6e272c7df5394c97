"""tf.test: what tests of models need. TestCase and main, which bring in unittest, come on use."""

from __future__ import annotations

from typing import Any

from minitf.gpus import gpu_device_name, is_built_with_cuda, is_gpu_available
from minitf.gradients.checker import compute_gradient, compute_gradient_error

is_built_with_gpu_support = is_built_with_cuda

_LATE = ("TestCase", "assert_equal_graph_def", "get_temp_dir", "main", "mock")
__all__ = [
    "compute_gradient", "compute_gradient_error", "gpu_device_name", "is_built_with_cuda",
    "is_built_with_gpu_support", "is_gpu_available", *_LATE,
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module 'minitf.test' has no attribute {name!r}")
    from minitf import test_case

    globals()[name] = getattr(test_case, name)
    return globals()[name]
