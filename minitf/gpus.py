"""The GPUs of this process: what a ConfigProto says of them, and what tf.test tells."""

from __future__ import annotations

from typing import Any

from minitf_runtime.devices.gpu import ALL_GPUS, GpuOptions, find_gpus


def gpu_options(config: Any) -> GpuOptions:
    """The engine's options for the GPUs of a ConfigProto, or None for all GPUs."""
    if config is None:
        return ALL_GPUS
    asked = config.gpu_options
    fraction = asked.per_process_gpu_memory_fraction
    count = config.device_count.get("GPU", -1)
    return GpuOptions(count, asked.visible_device_list, fraction)


def is_gpu_available(
    cuda_only: bool = False, min_cuda_compute_capability: tuple[int, int] | None = None
) -> bool:
    """Whether a session of this process has a GPU (TF: test.is_gpu_available)."""
    del cuda_only  # there are no others
    least = min_cuda_compute_capability
    found = find_gpus(ALL_GPUS)
    return any(least is None or found.capability(i) >= least for i in range(len(found)))


def gpu_device_name() -> str:
    """The name of the first GPU, '' if there is none (TF: test.gpu_device_name)."""
    return "/device:GPU:0" if len(find_gpus(ALL_GPUS)) else ""


def is_built_with_cuda() -> bool:
    """Whether this minitf can use a GPU, if there is one."""
    return True
