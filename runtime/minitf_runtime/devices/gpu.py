"""GPUs: real ones through cupy, which no other file names, and fake ones for tests (fake_gpu.py).

A device is opened when a plan first places an op there; until then nothing but their number is
asked of the driver.
"""

from __future__ import annotations

import ctypes
import logging
import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec

from minitf_runtime.devices.gpu_device import GpuDevice
from minitf_runtime.errors import InvalidArgumentError

FAKES = "MINITF_FAKE_GPUS"
INSTALL = "pip install 'minitf-graph[gpu]'"
log = logging.getLogger("minitf")


@dataclass(frozen=True)
class GpuOptions:
    """Which GPUs a process uses, and how much of their memory (TF: GPUOptions).

    count: at most so many, -1 for all. visible: "1,0" names those that become GPU:0 and GPU:1.
    fraction: of each device's memory, 0 for all of it.
    """

    count: int = -1
    visible: str = ""
    fraction: float = 0.0


ALL_GPUS = GpuOptions()


class Gpus:
    """The GPUs of a task; `open` makes one ready for work."""

    def __init__(self, ids: Sequence[int], options: GpuOptions, fake: bool) -> None:
        self._ids = ids
        self._options = options
        self._fake = fake

    def __len__(self) -> int:
        return len(self._ids)

    def capability(self, number: int) -> tuple[int, int]:
        """The CUDA compute capability of a device; a fake one has all."""
        if self._fake:
            return 99, 0
        return _capability(self._ids[number])

    def open(self, number: int) -> GpuDevice:
        """The device GPU:number; a process opens each only once, with
        the options of the first who wants it."""
        if not 0 <= number < len(self._ids):
            text = f"There is no device GPU:{number}; this task has {len(self)} of them"
            raise InvalidArgumentError(None, None, text)
        key = self._fake, self._ids[number]
        with _lock:
            if key not in _opened:
                _opened[key] = self._make(self._ids[number])
            return _opened[key]

    def _make(self, index: int) -> GpuDevice:
        fraction = self._options.fraction
        if self._fake:
            from minitf_runtime.devices.fake_gpu import FakeGpu

            return FakeGpu(index, fraction)
        import cupy
        import cupyx

        return GpuDevice(index, cupy, cupyx.empty_pinned, fraction)


def stand_ins(count: int) -> Gpus:
    """Fake GPUs, for a plan that is shown where there are none."""
    return Gpus(range(count), ALL_GPUS, True)


_opened: dict[tuple[bool, int], GpuDevice] = {}
_lock = threading.Lock()


def find_gpus(options: GpuOptions) -> Gpus:
    """The GPUs that a process may use, none of them opened.

    MINITF_FAKE_GPUS=N stands in for N of them. Raises InvalidArgumentError for a device that is
    not there.
    """
    fakes = os.environ.get(FAKES, "")
    if fakes and not fakes.isdecimal():
        raise InvalidArgumentError(None, None, f"{FAKES} must be a number, but is '{fakes}'")
    ids = _chosen(options.visible, int(fakes) if fakes else _driver()[0])
    return Gpus(ids if options.count < 0 else ids[: options.count], options, bool(fakes))


def why_none() -> str:
    """What keeps the GPUs of this machine from being used, if a driver for them is there."""
    return "" if os.environ.get(FAKES) else _driver()[1]


def _chosen(visible: str, there: int) -> list[int]:
    """The devices that `visible_device_list` names, in its order; all if it is empty."""
    if not visible:
        return list(range(there))
    ids = []
    for entry in visible.split(","):
        if not entry.strip().isdecimal():
            text = f"Could not parse entry in 'visible_device_list': '{entry}'. "
            raise InvalidArgumentError(None, None, f"{text}visible_device_list = {visible}")
        ids.append(int(entry))
        if ids[-1] >= there:
            text = f"'visible_device_list' listed an invalid GPU id '{entry.strip()}' but visible "
            raise InvalidArgumentError(None, None, f"{text}device count is {there}")
    if len(set(ids)) < len(ids):
        text = f"visible_device_list contained a duplicate entry: {visible}"
        raise InvalidArgumentError(None, None, text)
    return ids


@cache
def _driver() -> tuple[int, str]:
    """How many GPUs the driver has for cupy, and why there are none though there is a driver."""
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return 0, ""
    if find_spec("cupy") is None:
        why = f"there is an NVIDIA driver, but cupy is not installed: {INSTALL}"
    else:
        try:
            import cupy

            return int(cupy.cuda.runtime.getDeviceCount()), ""
        except Exception as e:  # whatever is wrong with the installation: the CPU is there
            why = _broken(e)
    log.warning("No GPU is used: %s", why)
    return 0, why


def _capability(index: int) -> tuple[int, int]:
    import cupy

    text = cupy.cuda.Device(index).compute_capability  # "90": 9.0
    return int(text[:-1]), int(text[-1])


def _broken(error: Exception) -> str:
    text = str(error)
    if "InsufficientDriver" in text:
        return f"the NVIDIA driver is too old for the installed cupy ({text})"
    if "NoDevice" in text:
        return f"the NVIDIA driver shows no device to this process ({text})"
    return f"cupy does not work here: {type(error).__name__}: {text}"
