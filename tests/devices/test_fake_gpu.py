"""The fake GPU refuses what a GPU refuses, and shows too early what comes too late."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from minitf_runtime.devices.arrays import on_host, synchronised
from minitf_runtime.devices.fake_gpu import FakeGpu, HiddenSynchronisation
from minitf_runtime.devices.fake_memory import OutOfMemoryError

HOST = np.arange(6, dtype=np.float32).reshape(2, 3)


def host(gpu, array):
    pinned = gpu.to_host(array)
    gpu.synchronize()
    return pinned.view(np.ndarray)


def test_there_and_back(gpu, x):
    assert (x.shape, x.dtype) == ((2, 3), np.float32)
    np.testing.assert_array_equal(host(gpu, x), HOST)
    assert (gpu.uploads, gpu.downloads) == (1, 1)


def test_ops_give_what_numpy_gives(gpu, x):
    xp = gpu.xp
    with gpu:
        y = xp.where(x > 2, x * 2 + xp.float32(1), -x).sum(axis=1, keepdims=True).T @ x
        y += 1
    wanted = np.where(HOST > 2, HOST * 2 + 1, -HOST).sum(axis=1, keepdims=True).T @ HOST + 1
    np.testing.assert_array_equal(host(gpu, y), wanted)
    assert y.dtype == np.float32


REFUSED = {
    "operator": lambda xp, x: x + HOST,
    "reflected operator": lambda xp, x: HOST + x,
    "function": lambda xp, x: xp.maximum(x, HOST),
    "list of arrays": lambda xp, x: xp.concatenate([x, HOST]),
    "numpy's ufunc": lambda xp, x: np.add(x, HOST),
    "numpy's function": lambda xp, x: np.concatenate([x, x]),
    "conversion": lambda xp, x: np.asarray(x),
    "index": lambda xp, x: x[np.array([0])],
    "list as index": lambda xp, x: x[[0]],
    "assignment": lambda xp, x: x.__setitem__(0, HOST[0]),
    "object": lambda xp, x: xp.asarray(np.array([b"a"], object)),
    "keyword that cupy lacks": lambda xp, x: xp.sum(x, initial=0),
    "update of a type that cupy lacks": lambda xp, x: xp.maximum.at(x.astype("f2"), 0, 1),
}


@pytest.mark.parametrize("what", REFUSED)
def test_host_arrays_beside_the_device_s_are_refused(gpu, x, what):
    with gpu, pytest.raises(TypeError):
        REFUSED[what](gpu.xp, x)


def test_a_refusal_names_the_operation(gpu, x):
    with gpu, pytest.raises(TypeError, match="maximum: .* in host memory"):
        gpu.xp.maximum(x, HOST)


def test_names_that_cupy_lacks(gpu):
    for get in (lambda xp: xp.frompyfunc, lambda xp: xp.maximum.accumulate, lambda xp: xp.errstate):
        with pytest.raises(AttributeError, match="cupy has no"):
            get(gpu.xp)


WAITING = {
    "bool": lambda xp, x: bool((x > 0).all()),
    "int": lambda xp, x: int(x[0, 0]),
    "float": lambda xp, x: float(x.sum()),
    "item": lambda xp, x: x[0, 0].item(),
    "tolist": lambda xp, x: x.tolist(),
    "index": lambda xp, x: range(x[0, 0].astype(int)),
    "mask": lambda xp, x: x[x > 0],
    "nonzero": lambda xp, x: xp.nonzero(x),
    "unique": lambda xp, x: xp.unique(x),
    "linalg": lambda xp, x: xp.linalg.inv(x[:, :2]),
}


@pytest.mark.parametrize("what", WAITING)
def test_waiting_for_the_device_must_be_said(gpu, x, what):
    with gpu:
        with pytest.raises(HiddenSynchronisation):
            WAITING[what](gpu.xp, x)
        with synchronised(gpu.xp):
            WAITING[what](gpu.xp, x)
    assert gpu.synchronisations == 1


def test_an_explicit_read_waits_and_is_counted(gpu, x):
    with gpu:
        np.testing.assert_array_equal(on_host(gpu.xp, x + 1), HOST + 1)
    assert gpu.kernel_downloads == 1
    assert on_host(np, HOST) is HOST


def test_the_device_must_be_current_in_the_thread(gpu, x):
    with pytest.raises(RuntimeError, match="add: .* is not current"):
        x + 1
    with FakeGpu(1) as other:
        with pytest.raises(RuntimeError, match="is not current"):
            x + 1
        with pytest.raises(ValueError, match="used on"):
            other.xp.add(x, 1)


def test_pinned_memory_is_poison_until_the_copy_is_there(gpu, x, monkeypatch):
    monkeypatch.setattr("minitf_runtime.devices.fake_stream.LONGEST_DELAY", 0.05)
    copies = [gpu.to_host(x) for _ in range(20)]
    assert any((np.array(copy) != HOST).all() for copy in copies)
    event = gpu.record()
    event.synchronize()
    assert event.done
    np.testing.assert_array_equal(copies[-1], HOST)


def test_a_copy_is_of_what_the_array_was_then(gpu, x):
    before = gpu.to_host(x)
    with gpu:
        x += 1
    gpu.synchronize()
    np.testing.assert_array_equal(before, HOST)


def test_uploaded_memory_is_free_again(gpu):
    mine = HOST.copy()
    x = gpu.to_device(mine)
    mine[:] = 0
    np.testing.assert_array_equal(host(gpu, x), HOST)


def test_new_memory_is_poison(gpu):
    with gpu:
        assert (host(gpu, gpu.xp.empty((3,), np.uint8)) == 0xA5).all()
        assert (host(gpu, gpu.xp.empty_like(gpu.xp.ones(2, np.int32))) != 1).all()


def test_views_name_whose_memory_they_share(gpu, x):
    with gpu:
        assert x[0].base is x and x.T[1:].base is x and x.reshape(-1).base is x
        assert (x + 1).base is None


def test_indices_out_of_bounds_wrap_around(gpu, x):
    with gpu:
        at = gpu.xp.asarray(np.array([0, 2, -1]))
        np.testing.assert_array_equal(host(gpu, x[at]), HOST[[0, 0, 1]])
        np.testing.assert_array_equal(host(gpu, gpu.xp.take(x, at, axis=0)), HOST[[0, 0, 1]])


def test_of_several_values_for_one_place_the_last_need_not_win(gpu):
    with gpu:
        x = gpu.xp.zeros(2)
        x[gpu.xp.asarray(np.array([1, 1]))] = gpu.xp.asarray(np.array([3.0, 4.0]))
    np.testing.assert_array_equal(host(gpu, x), [0, 3])


def test_memory_is_counted_and_given_back(gpu):
    x = gpu.to_device(HOST)
    with gpu:
        y = x + 1
        view = y[0]
    del y
    assert gpu.memory() == (48, gpu.limit)
    del x, view
    assert gpu.memory() == (0, gpu.limit)
    assert gpu.peak == 48


def test_too_large():
    small = FakeGpu(0, total=1000)
    with small, pytest.raises(OutOfMemoryError, match="allocating 1,600 bytes .*: 1,000 bytes"):
        small.xp.zeros(200)


def test_a_device_that_is_gone_leaves_no_thread():
    gpu = FakeGpu(0)
    stream = gpu._stream
    gpu.synchronize()
    worker = stream.thread
    del gpu, stream
    gc.collect()
    worker.join(5)
    assert not worker.is_alive()
