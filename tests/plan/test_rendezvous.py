"""Values meet; a cancelled step ends every wait; late values are dropped."""

import threading

import pytest

from minitf_runtime.errors import CancelledError, InvalidArgumentError
from minitf_runtime.plan.rendezvous import Rendezvous, StepTable
from minitf_runtime.plan.step import Step


def in_thread(work):
    out = []

    def run():
        try:
            out.append(work())
        except BaseException as e:
            out.append(e)

    t = threading.Thread(target=run)
    t.start()
    return t, out


def test_send_then_receive():
    r = Rendezvous(Step(1))
    r.send(3, "value")
    assert r.recv(3) == "value"


def test_receive_waits_for_send():
    r = Rendezvous(Step(1))
    t, out = in_thread(lambda: r.recv(3))
    while not r.waiting():
        t.join(0.001)
    r.send(3, None)
    t.join(5)
    assert out == [None]


def test_cancel_ends_a_wait_with_its_error():
    step = Step(1)
    r = Rendezvous(step)
    t, out = in_thread(lambda: r.recv(3))
    while not r.waiting():
        t.join(0.001)
    error = InvalidArgumentError(None, None, "first")
    step.cancel(error)
    step.cancel(CancelledError(None, None, "second"))
    t.join(5)
    assert out == [error]
    with pytest.raises(InvalidArgumentError, match="first"):
        r.recv(4)


def test_a_value_may_come_before_its_step_and_after_its_end():
    table = StepTable()
    table.deliver(7, 1, "early")
    assert table.open(7).recv(1) == "early"
    table.close(7)
    table.deliver(7, 2, "late")
    assert table.running() == []


def test_a_cancel_may_come_before_the_step_starts():
    table = StepTable()
    table.cancel(7, CancelledError(None, None, "gone"))
    with pytest.raises(CancelledError, match="gone"):
        table.open(7).recv(1)


def test_values_for_other_tasks_are_pushed():
    pushed = []
    table = StepTable(lambda *a: pushed.append(a))
    table.open(5).send_to("/job:ps/replica:0/task:0", 2, "v")
    assert pushed == [("/job:ps/replica:0/task:0", 5, 2, "v")]


def test_a_kernel_waits_for_a_condition_until_cancelled():
    step = Step(1)
    condition = threading.Condition()

    def work():
        with condition:
            step.wait_for(condition, lambda: False)

    t, out = in_thread(work)
    t.join(0.05)
    step.cancel()
    t.join(5)
    assert isinstance(out[0], CancelledError)
