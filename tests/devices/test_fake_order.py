"""What happens in no order on a fake GPU is an error, whatever came first this time."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from minitf_runtime.devices.fake_gpu import FakeGpu
from minitf_runtime.devices.fake_stream import OutOfOrder

HOST = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.fixture
def other(gpu):
    """A second stream."""
    return gpu.make_stream()


def elsewhere(work):
    """What another thread gets, or its error."""
    out = []

    def run():
        try:
            out.append(work())
        except Exception as e:
            out.append(e)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return out[0]


# ---- between streams


def test_reading_what_another_stream_wrote(gpu, x, other):
    text = f"add on {other.label} touches memory that is written by asarray on stream .* of <fake"
    with gpu:
        with other, pytest.raises(OutOfOrder, match=text):
            x + 1
        event = gpu.record()
        with pytest.raises(OutOfOrder), other:
            x + 1
        other.wait_event(event)
        with other:
            x + 1


def test_an_event_is_of_what_was_begun_before_it(gpu, x, other):
    event = gpu.record()
    with gpu:
        x += 1
        other.wait_event(event)
        with other, pytest.raises(OutOfOrder, match="written by add on"):
            x + 1


def test_writing_what_another_stream_reads(gpu, x, other):
    with gpu:
        other.wait_event(gpu.record())
        with other:
            x * 2
        x * 3  # both may read
        with pytest.raises(OutOfOrder, match="add on .* is read by multiply on"):
            x += 1


@pytest.mark.parametrize(
    "write",
    [
        lambda xp, x: x.__setitem__(0, 1),
        lambda xp, x: x.fill(0),
        lambda xp, x: x.sort(),
        lambda xp, x: xp.add(x, 1, out=x),
        lambda xp, x: xp.add.at(x, 0, 1),
        lambda xp, x: xp.copyto(x, x),
        lambda xp, x: x.T.reshape(-1)[:1].fill(0) or x[0].fill(0),
    ],
)
def test_each_way_to_write_counts_as_one(gpu, x, other, write):
    with gpu:
        other.wait_event(gpu.record())
        write(gpu.xp, x)
        with other, pytest.raises(OutOfOrder, match="is written by"):
            x + 1


def test_who_waits_knows_what_was_waited_for(gpu, x, other):
    """From the first stream to the second, and from there to the third."""
    third = gpu.make_stream()
    other.wait_event(gpu.record())
    third.wait_event(other.record())
    with gpu, third:
        x + 1


def test_work_that_is_asked_for_comes_after_what_its_thread_has_waited_for(gpu, x, other):
    def read():
        with gpu, other:
            return x + 1

    gpu.synchronize()
    assert isinstance(elsewhere(read), OutOfOrder)
    read()
    assert not isinstance(elsewhere(read), OutOfOrder)


def test_reading_a_value_on_the_host_uses_the_stream_that_is_current(gpu, x, other):
    with gpu, gpu.allowing(), other:
        for read in (lambda: x.item(0), lambda: bool(x[0, 0]), lambda: gpu.xp.asnumpy(x)):
            with pytest.raises(OutOfOrder):
                read()


# ---- between a device and the host


def test_the_host_waits_for_its_copy(gpu, x):
    before = gpu.record()
    copy = gpu.to_host(x)
    text = "the host touches memory that is written by a copy to the host on stream"
    for look in (
        lambda: copy[0],
        lambda: copy + 1,
        lambda: copy.view(np.ndarray),
        lambda: copy.tolist(),
        lambda: copy.T.view(np.ndarray),
        lambda: copy.__setitem__(0, 0),
    ):
        with pytest.raises(OutOfOrder, match=text):
            look()
        before.synchronize()
    after = gpu.record()
    FakeGpu(1).synchronize()
    with pytest.raises(OutOfOrder):
        copy.view(np.ndarray)
    after.synchronize()
    np.testing.assert_array_equal(copy.view(np.ndarray), HOST)


def test_who_has_not_waited_does_not_know(gpu, x):
    copy = gpu.to_host(x)
    gpu.synchronize()
    assert isinstance(elsewhere(lambda: copy.view(np.ndarray)), OutOfOrder)


def test_an_event_that_was_not_recorded_waits_for_nothing(gpu, x):
    copy = gpu.to_host(x)
    gpu.xp.cuda.Event(disable_timing=True).synchronize()
    with pytest.raises(OutOfOrder):
        copy.view(np.ndarray)


def test_what_came_from_a_device_goes_up_through_memory_of_its_own(gpu, x):
    """cupy has the device read pinned memory where it lies, later."""
    copy = gpu.to_host(x)
    gpu.synchronize()
    mine = copy.view(np.ndarray)
    with gpu, pytest.raises(OutOfOrder, match="pinned memory that the host may write to before"):
        gpu.xp.asarray(mine)
    again = gpu.to_device(mine)
    mine[:] = 0
    back = gpu.to_host(again)
    gpu.synchronize()
    np.testing.assert_array_equal(back.view(np.ndarray), HOST)


def test_pinned_memory_is_not_written_to_while_a_device_reads_it(gpu):
    pinned = gpu.xp.empty_pinned((2, 3), np.float32)
    pinned[...] = HOST
    with gpu:
        gpu.xp.array(pinned)
    with pytest.raises(OutOfOrder, match="is read by a copy from the host"):
        pinned[...] = 0
    gpu.synchronize()
    pinned[...] = 0


# ---- memory that is given back


def test_memory_is_given_back_while_another_stream_uses_it(gpu, other):
    x = gpu.to_device(HOST)
    with gpu:
        other.wait_event(gpu.record())
        with other:
            x + 1
        del x
        text = "gets memory that was given back while it was in use by add on"
        with pytest.raises(OutOfOrder, match=text):
            gpu.xp.zeros(100)


def test_memory_is_given_back_when_its_stream_has_waited(gpu, other):
    x = gpu.to_device(HOST)
    with gpu:
        other.wait_event(gpu.record())
        with other:
            x + 1
            done = other.record()
        del x
        gpu._stream.wait_event(done)
        gpu.xp.zeros(100)
    assert gpu.memory()[0] == 0


def test_pinned_memory_is_given_back_before_the_copy_is_there(gpu, x):
    gpu.to_host(x)
    with pytest.raises(OutOfOrder, match="the host gets memory that was given back while"):
        gpu.to_host(x)
    gpu.to_host(x)
    gpu.synchronize()
    gpu.to_host(x)
    gpu.synchronize()


# ---- where work goes


def test_work_without_a_stream_or_a_pool(gpu, x):
    cuda = gpu.xp.cuda
    with cuda.Device(0):
        with pytest.raises(RuntimeError, match="add: no stream of <fake GPU 0> is current"):
            x + 1
        with gpu._stream, pytest.raises(RuntimeError, match="in no pool"):
            x + 1
    with pytest.raises(RuntimeError, match="invalid device ordinal"), cuda.Device(1):
        pass
    with pytest.raises(ValueError, match="null stream"):
        cuda.Stream(non_blocking=False)
    with pytest.raises(ValueError, match="is slow"):
        cuda.Event(disable_timing=False)
