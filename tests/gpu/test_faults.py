"""Faults planted in what uses a GPU: each is an error at once, and not now and then."""

from __future__ import annotations

import numpy as np
import pytest

import minitf as tf
from minitf_runtime.devices.fake_gpu import FakeGpu
from minitf_runtime.devices.gpu_device import GpuDevice
from minitf_runtime.plan.copies import Copies


def training():
    """Three steps: variables on GPU:0, feeds, fetches, a value that goes over to GPU:1."""
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 3])
        with tf.device("/gpu:0"):
            w = tf.Variable(tf.ones([3, 2]), use_resource=False)
            y = tf.matmul(x, w)
            train = tf.assign_sub(w, tf.matmul(x, y, transpose_a=True) * 0.01)
        with tf.device("/gpu:1"), tf.control_dependencies([y]):
            total = tf.reduce_sum(y + tf.ones([2]))
        with tf.Session() as session:
            session.run(w.initializer)
            fed = {x: np.ones((4, 3), np.float32)}
            return [session.run([train.op, total], fed)[1] for _ in range(3)]


def test_without_a_fault():
    assert np.allclose(training(), [32, 29.12, 26.5856])


class _Lost:
    """An event that nobody waits for."""

    def synchronize(self):
        pass


def no_wait(patch):
    patch.setattr(GpuDevice, "record", lambda self: _Lost())


def recorded_too_early(patch):
    copy = GpuDevice.to_host

    def to_host(self, array):
        self.too_early = self.record_now()
        return copy(self, array)

    patch.setattr(GpuDevice, "record_now", GpuDevice.record, raising=False)
    patch.setattr(GpuDevice, "to_host", to_host)
    patch.setattr(GpuDevice, "record", lambda self: self.too_early)


def recorded_on_another_stream(patch):
    patch.setattr(GpuDevice, "record", lambda self: self.make_stream().record())


def copy_down_on_another_stream(patch):
    def to_host(self, array):
        with self, self.make_stream():
            pinned = self._pinned(array)
            self.xp.asnumpy(array, out=pinned, blocking=False)
        return pinned

    patch.setattr(GpuDevice, "to_host", to_host)


def copy_up_on_another_stream(patch):
    def to_device(self, array):
        with self, self.make_stream():
            return self.xp.array(array)

    patch.setattr(GpuDevice, "to_device", to_device)


def copy_up_from_where_it_lies(patch):
    def to_device(self, array):
        with self:
            return self.xp.array(array)

    patch.setattr(GpuDevice, "to_device", to_device)


def each_program_on_a_stream_of_its_own(patch):
    enter = GpuDevice.__enter__

    def fresh(self):
        self._stream = self.make_stream()
        return enter(self)

    patch.setattr(GpuDevice, "__enter__", fresh)


def no_stream(patch):
    def enter(self):
        here = self.xp.cuda.Device(self.index)
        here.__enter__()
        self._entered.__dict__.setdefault("stacks", []).append(here)
        return self

    patch.setattr(GpuDevice, "__enter__", enter)
    patch.setattr(GpuDevice, "__exit__", lambda self, *e: self._entered.stacks.pop().__exit__(*e))


def handed_on_at_once(patch):
    def copy(self, rdv, value, send):
        send(self.device.to_host(value).view(np.ndarray))

    patch.setattr(Copies, "_copy", copy)


def one_op_on_another_stream(patch):
    current = FakeGpu.current_stream

    def elsewhere(self, work):
        stream = current(self, work)
        return self.make_stream() if work == "multiply" else stream

    patch.setattr(FakeGpu, "current_stream", elsewhere)


FAULTS = {
    no_wait: "the host touches memory that is written by a copy to the host",
    recorded_too_early: "the host touches memory that is written by a copy to the host",
    recorded_on_another_stream: "the host touches memory that is written by a copy to the host",
    copy_down_on_another_stream: "asnumpy on .* touches memory that is written by",
    copy_up_on_another_stream: "touches memory that is written by asarray",
    copy_up_from_where_it_lies: "pinned memory that the host may write to",
    each_program_on_a_stream_of_its_own: "touches memory that is written by",
    no_stream: "no stream of <fake GPU 0> is current",
    handed_on_at_once: "the host touches memory that is written by a copy to the host",
    one_op_on_another_stream: "multiply on .* touches memory that is written by dot",
}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_fault(fault, monkeypatch):
    fault(monkeypatch)
    with pytest.raises((tf.errors.InternalError, RuntimeError), match=FAULTS[fault]):
        training()
