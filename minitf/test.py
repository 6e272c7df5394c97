"""tf.test: what tests of models need. Explicit imports, no logic."""

from minitf.gpus import gpu_device_name, is_built_with_cuda, is_gpu_available
from minitf.gradients.checker import compute_gradient, compute_gradient_error

__all__ = [
    "compute_gradient",
    "compute_gradient_error",
    "gpu_device_name",
    "is_built_with_cuda",
    "is_gpu_available",
]
