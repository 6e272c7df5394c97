"""What a task counts of its steps: bytes by transfer, waiting, number and time."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from minitf_runtime.errors import CancelledError
from minitf_runtime.plan.counts import BLOCKED, Counter, transfer_names
from minitf_runtime.plan.part import Part
from minitf_runtime.plan.rendezvous import Rendezvous, size_of
from minitf_runtime.plan.step import Step

NAMES = {0: "w/_1", 1: "b/_3"}


@pytest.fixture
def counter():
    return Counter()


def begin(counter, number=1):
    rdv = Rendezvous(Step(number))
    counter.begin(NAMES, rdv)
    return rdv


@pytest.mark.parametrize(
    ("value", "size"),
    [
        (np.zeros((3, 4), "f"), 48),
        (np.float64(1), 8),
        (np.array([b"abc", b"", b"de"], object), 5),
        (np.array(b"abc", object), 3),
        (None, 0),
    ],
)
def test_sizes(value, size):
    assert size_of(value) == size


def test_bytes_of_each_transfer(counter):
    """Also of a loop, where one transfer has a key for each iteration; not of other strands."""
    rdv = begin(counter)
    rdv.send(0, np.zeros(10, "f"))
    rdv.recv(0)
    for i in range(3):
        rdv.send((1, i), np.zeros(2, "f"))
        rdv.recv((1, i))
    rdv.send(("x", 0, 1), np.zeros(9))
    rdv.recv(("x", 0, 1))
    assert counter.counts().received == {"w/_1": 40, "b/_3": 24}
    counter.end(1)
    rdv = begin(counter, 2)
    rdv.send(0, np.zeros(10, "f"))
    rdv.recv(0)
    counter.end(2)
    counts = counter.counts()
    assert counts.received == {"w/_1": 80, "b/_3": 24}
    assert (counts.steps, counts.running) == (2, 0)
    assert counts.seconds > 0


def test_what_was_not_taken_is_not_counted(counter):
    rdv = begin(counter)
    rdv.send(0, np.zeros(10, "f"))
    counter.end(1)
    assert counter.counts().received == {}


def wait_for(ready):
    pause = threading.Event()
    for _ in range(1000):
        if ready():
            return
        pause.wait(0.005)
    raise AssertionError("it did not come")


def test_waiting_for_a_tensor(counter):
    rdv = begin(counter)
    thread = threading.Thread(target=rdv.recv, args=[0])
    thread.start()
    wait_for(lambda: counter.counts().waiting.get("w/_1", 0) > 0.02)
    going_on = counter.counts()
    assert (going_on.steps, going_on.running) == (0, 1)
    assert going_on.seconds >= going_on.waited["w/_1"] >= 0.02
    rdv.send(0, None)
    thread.join()
    counter.end(1)
    counts = counter.counts()
    assert counts.waiting == {}
    assert counts.waited["w/_1"] >= going_on.waited["w/_1"]


def test_waiting_for_another_step(counter):
    """As a dequeue does; the step is cancelled."""
    rdv = begin(counter)
    condition = threading.Condition()

    def dequeue():
        with condition, pytest.raises(CancelledError):
            rdv.step.wait_for(condition, lambda: False)

    thread = threading.Thread(target=dequeue)
    thread.start()
    wait_for(lambda: counter.counts().waiting.get(BLOCKED, 0) > 0.02)
    rdv.step.cancel()
    thread.join()
    counter.end(1)
    assert counter.counts().waited[BLOCKED] >= 0.02
    assert counter.counts().waiting == {}


def test_names_of_transfers():
    part = Part("/job:ps/replica:0/task:0", {}, recvs={"w/_1": 0, "b/_3": 1})
    assert transfer_names(part) == NAMES
