"""When ops keep to one core: the times that threads of other programs take are given by hand."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest
from threadpoolctl import threadpool_limits

import minitf as tf
from minitf_runtime.devices import cpu
from minitf_runtime.devices.crowd import LOOKS, PATIENCE, PERIOD, Crowd, thread_times
from minitf_runtime.plan import executor
from minitf_runtime.server import blas


class Machine:
    """A clock and the thread's times; `step` lets both pass, then a step looks."""

    def __init__(self) -> None:
        self.time, self.ran, self.waited = 100.0, 0, 0
        self.crowd = Crowd(lambda: (self.ran, self.waited), lambda: self.time)

    def step(self, waiting: float, seconds: float = 1.01 * PERIOD) -> int:
        """`waiting`: the part without a core. How many cores ops use after it."""
        self.time += seconds
        self.ran += int((1 - waiting) * seconds * 1e9)
        self.waited += int(waiting * seconds * 1e9)
        self.crowd.look()
        return cpu.cores_of_ops()


@pytest.fixture
def machine(monkeypatch):
    monkeypatch.setattr(cpu, "_limit", 2)
    machine = Machine()
    machine.step(0.0)
    yield machine
    machine.crowd.leave()


def test_alone_ops_use_all_cores(machine):
    assert [machine.step(0.15) for _ in range(50)] == [2] * 50
    assert not cpu.blas_is_narrow()


def test_one_bad_moment_is_nothing(machine):
    assert [machine.step(waiting) for waiting in (0.9, 0.0, 0.9, 0.0)] == [2] * 4


def test_in_a_crowd_they_keep_to_one_and_try_again_less_and_less_often(machine):
    for patience in (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 32.0):
        assert [machine.step(0.5) for _ in range(LOOKS)] == [2] * (LOOKS - 1) + [1]
        assert cpu.blas_is_narrow()
        assert machine.step(0.0, 0.9 * patience) == 1
        assert machine.step(0.0, 0.2 * patience) == 2  # looks from here on
        assert not cpu.blas_is_narrow()
    assert PATIENCE == (1.0, 32.0)


def test_after_a_quiet_time_the_patience_is_short_again(machine):
    for _ in range(3):
        assert [machine.step(0.5) for _ in range(LOOKS)][-1] == 1
        assert machine.step(0.0, 5.0) == 2
    for _ in range(500):
        machine.step(0.0)
    assert [machine.step(0.5) for _ in range(LOOKS)][-1] == 1
    assert machine.step(0.0, 1.1) == 2


def test_short_work_says_nothing(machine):
    for _ in range(20):
        machine.waited += 10  # nanoseconds
        machine.time += 2 * PERIOD
        machine.crowd.look()
    assert cpu.cores_of_ops() == 2


def test_threads_are_not_mixed_up(machine):
    """Another thread's times are others: they begin anew."""
    machine.waited += 10**12
    machine.time += 2 * PERIOD
    other = threading.Thread(target=machine.crowd.look)
    other.start()
    other.join()
    assert cpu.cores_of_ops() == 2


def test_a_task_with_one_core_never_looks(monkeypatch):
    monkeypatch.setattr(cpu, "_limit", 1)
    crowd = Crowd(lambda: pytest.fail("looked"), lambda: 1.0)
    crowd.look()


def test_where_the_system_does_not_tell_nothing_changes(monkeypatch):
    monkeypatch.setattr(cpu, "_limit", 2)
    times = iter(range(1, 100))
    asked = []
    crowd = Crowd(lambda: asked.append(1), lambda: float(next(times)))
    for _ in range(50):
        crowd.look()
    assert (len(asked), cpu.cores_of_ops()) == (1, 2)


def test_a_task_of_a_cluster_keeps_its_share_whatever_was_before(machine, monkeypatch):
    monkeypatch.setattr(blas, "crowd", machine.crowd)
    for _ in range(LOOKS):
        machine.step(0.5)
    assert (cpu.cores_of_ops(), cpu.blas_is_narrow()) == (1, True)
    with threadpool_limits():  # puts the threads of BLAS back
        blas.bound_threads("127.0.0.1:1", [f"127.0.0.1:{i}" for i in range(1, 200)])
        assert (cpu.cores_of_ops(), cpu.blas_is_narrow()) == (1, False)
        assert machine.step(0.0, 100.0) == 1  # not the two that it had before


def test_each_step_looks(monkeypatch):
    looks = []
    monkeypatch.setattr(executor.crowd, "look", lambda: looks.append(1))
    with tf.Graph().as_default(), tf.Session() as session:
        a = tf.constant(1.0) + tf.placeholder_with_default(1.0, [])
        session.run(a)
        before = len(looks)
        session.run(a)
    assert before and len(looks) == before + 1


@pytest.mark.skipif(not os.path.exists("/proc/thread-self/schedstat"), reason="not told here")
def test_the_system_tells_of_a_thread_that_waits_for_a_core():
    """Two busy programs on one core: each waits for about half of the time."""
    program = (
        "import os, time\n"
        "from minitf_runtime.devices.crowd import thread_times\n"
        "os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
        "child = os.fork()\n"
        "before, end = thread_times(), time.monotonic() + 0.5\n"
        "while time.monotonic() < end: sum(range(1000))\n"
        "if not child: os._exit(0)\n"
        "os.waitpid(child, 0)\n"
        "ran, waited = (b - a for a, b in zip(before, thread_times()))\n"
        "print(waited / (ran + waited))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert 0.3 < float(done.stdout) < 0.9, done.stderr
    assert thread_times()[0] > 0
