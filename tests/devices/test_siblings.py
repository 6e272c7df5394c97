"""When small products keep to one thread of BLAS: what they take is given by hand."""

from __future__ import annotations

import numpy as np
import pytest

import minitf as tf
from minitf_runtime.devices import cpu, siblings
from minitf_runtime.devices.siblings import PERIOD, Siblings
from minitf_runtime.plan import compile as plan_compile


class Machine:
    """A clock, and the seconds that a product takes with all threads and with one."""

    def __init__(self, together: float, alone: float) -> None:
        self.time, self.together, self.alone, self.looks = 100.0, together, alone, 0
        self.siblings = Siblings(self.measure, lambda: self.time)

    def measure(self) -> float:
        self.looks += 1
        return self.alone if cpu.blas_is_narrow() else self.together

    def step(self) -> bool:
        """Whether the step's products keep to one thread."""
        self.time += 0.6 * PERIOD
        with self.siblings.small_products():
            return cpu.blas_is_narrow()


@pytest.fixture(autouse=True)
def two_cores(monkeypatch):
    monkeypatch.setattr(cpu, "_limit", 2)
    monkeypatch.setattr(siblings, "blas_has_threads", lambda: True)


def test_two_threads_as_long_as_they_are_faster():
    machine = Machine(together=38e-6, alone=53e-6)
    assert [machine.step() for _ in range(9)] == [False] * 9


def test_one_thread_while_two_share_a_core():
    machine = Machine(together=77e-6, alone=55e-6)
    assert [machine.step() for _ in range(5)] == [False, False, True, True, True]
    assert not cpu.blas_is_narrow()
    machine.together = 38e-6
    assert [machine.step() for _ in range(4)][-1] is False


def test_who_takes_a_single_step_does_not_look():
    machine = Machine(together=77e-6, alone=55e-6)
    machine.step()
    assert machine.looks == 0


@pytest.mark.parametrize("why", ["one core", "one thread", "narrow already"])
def test_where_there_is_no_choice_nothing_is_measured(monkeypatch, why):
    machine = Machine(together=77e-6, alone=55e-6)
    if why == "one core":
        monkeypatch.setattr(cpu, "_limit", 1)
    elif why == "one thread":
        monkeypatch.setattr(siblings, "blas_has_threads", lambda: False)
    else:
        with cpu.one_blas_thread():
            assert [machine.step() for _ in range(5)] == [True] * 5
    [machine.step() for _ in range(1 if why == "narrow already" else 5)]
    assert machine.looks == 0


def test_an_error_of_the_step_leaves_blas_as_it_was():
    machine = Machine(together=77e-6, alone=55e-6)
    [machine.step() for _ in range(4)]
    with pytest.raises(KeyError), machine.siblings.small_products():
        assert cpu.blas_is_narrow()
        raise KeyError
    assert not cpu.blas_is_narrow()


def test_a_product_takes_some_time():
    assert 0 < siblings.product_time() < 1


@pytest.mark.parametrize(("columns", "small"), [(128, True), (1024, False)])
def test_programs_of_small_products_ask(monkeypatch, columns, small):
    asked = []

    class Asked(Siblings):
        def small_products(self):
            asked.append(True)
            return super().small_products()

    monkeypatch.setattr(plan_compile, "siblings", Asked())
    x = tf.placeholder(tf.float32, [128, 128])
    w = tf.constant(np.ones([128, columns], "f"))
    y = tf.matmul(x, w)
    if not small:
        y = tf.matmul(y, tf.ones([columns, 128]))
    with tf.Session() as sess:
        got = sess.run(y, {x: np.ones([128, 128], "f")})
    assert got[0, 0] == 128 * (1 if small else columns)
    assert bool(asked) == small
