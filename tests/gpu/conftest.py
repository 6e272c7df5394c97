"""Fake GPUs for every test here, opened afresh."""

import pytest

from minitf import default
from minitf_runtime.devices import gpu
from minitf_runtime.devices.fake_gpu import FakeGpu


@pytest.fixture(autouse=True)
def two_gpus(monkeypatch):
    monkeypatch.setenv(gpu.FAKES, "2")
    monkeypatch.setattr(gpu, "_opened", {})
    default.reset_default_graph()


@pytest.fixture
def fake():
    """Opens GPU:0 with a memory limit of its own."""

    def make(**options):
        device = FakeGpu(0, **options)
        gpu._opened[True, 0] = device
        return device

    return make
