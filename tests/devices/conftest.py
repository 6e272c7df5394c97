"""A fake GPU, and an array on it."""

import numpy as np
import pytest

from minitf_runtime.devices.fake_gpu import FakeGpu


@pytest.fixture
def gpu():
    return FakeGpu(0)


@pytest.fixture
def x(gpu):
    """0 to 5, in two rows."""
    return gpu.to_device(np.arange(6, dtype=np.float32).reshape(2, 3))
