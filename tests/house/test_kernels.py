"""Kernels of a GPU touch data only through the array module that they are given."""

from __future__ import annotations

import inspect
from pathlib import Path

import numpy as np
import pytest

import minitf_runtime
from house import faulty_kernels, kernel_source
from house.kernel_source import numpy_on_data
from minitf_runtime.devices.gpu_kernels import host_arguments
from minitf_runtime.ops.registry import OPS
from minitf_runtime.types import string

ENGINE = Path(minitf_runtime.__file__).parent
ON_GPU = [name for name in OPS if host_arguments(name, {}) is not None]


def kernels_of(name):
    """The kernels that may run on a GPU, with the names of their parameters that hold data."""
    host = host_arguments(name, {}) or frozenset()
    for kernel in OPS[name].kernels:
        if kernel.device == "CPU" or kernel.types == (string,):
            continue
        given = [
            p.name
            for p in inspect.signature(kernel.fn).parameters.values()
            if p.kind is not inspect.Parameter.KEYWORD_ONLY
        ][1:]
        stays = host | kernel.host_inputs
        yield kernel, {p for p, arg in zip(given, OPS[name].inputs) if arg.name not in stays}


@pytest.mark.parametrize("name", ON_GPU)
def test_numpy_is_not_called_on_data(name):
    assert [w for kernel, data in kernels_of(name) for w in numpy_on_data(kernel.fn, data)] == []


def faulty(xp, x, axis):
    y = x * 2
    if xp is np:
        return np.sum(y)
    return helper(xp, np.zeros(x.shape), y) + np.arange(axis)


def helper(xp, zeros, values):
    for row in values:
        zeros += np.square(row)
    return zeros


def test_a_planted_fault_is_found(monkeypatch):
    monkeypatch.setattr(kernel_source, "_file", lambda fn: "minitf_runtime/ops/faulty.py")
    (found,) = numpy_on_data(faulty, {"x"})
    assert found.endswith("np.square")
    assert numpy_on_data(faulty, {"axis"})[0].endswith("np.arange")
    assert numpy_on_data(faulty, set()) == []


@pytest.mark.parametrize(
    "kernel",
    [f for n, f in vars(faulty_kernels).items() if inspect.isfunction(f) and n[0] != "_"],
    ids=lambda kernel: kernel.__name__,
)
def test_every_way_to_call_numpy_is_found(kernel, monkeypatch):
    monkeypatch.setattr(kernel_source, "_file", lambda fn: "minitf_runtime/ops/faulty.py")
    assert len(numpy_on_data(kernel, {"x"})) == 1
    assert numpy_on_data(kernel, set()) == []


def test_every_op_has_the_kernel_that_the_table_promises():
    """One for the CPU alone will do where all is in host memory."""
    without = {
        name for name in ON_GPU if all(kernel.device == "CPU" for kernel in OPS[name].kernels)
    }
    assert without == set()


def test_cupy_is_named_in_one_file():
    code = [p for p in sorted(ENGINE.rglob("*.py")) if _imports_cupy(p.read_text())]
    assert [p.name for p in code] == ["gpu.py"]


def _imports_cupy(text):
    return any(line.strip().startswith(("import cupy", "from cupy")) for line in text.splitlines())
