"""Variables are copy-on-write: no reader ever sees a value change under it."""

import threading

import numpy as np
import pytest

from minitf_runtime.errors import FailedPreconditionError
from minitf_runtime.ops.training_rules import updating
from minitf_runtime.plan.state import Resources, Variable
from minitf_runtime.types import float32


def variable(value):
    v = Variable("v", float32, None)
    v.assign(np.asarray(value, "f"))
    return v


def test_uninitialized():
    v = Variable("layer/w", float32, (2,))
    with pytest.raises(
        FailedPreconditionError, match="Attempting to use uninitialized value layer/w"
    ):
        v.read()
    with pytest.raises(FailedPreconditionError, match="layer/w"), v.writable():
        raise AssertionError("not reached")


def test_an_update_without_readers_is_in_place():
    v = variable([1, 2])
    where = v.read().ctypes.data
    with v.writable() as a:
        a += 1
    assert v.read().ctypes.data == where
    assert v.read().tolist() == [2, 3]


def test_a_reader_keeps_what_it_read():
    v = variable([1, 2])
    seen = v.read()
    with v.writable() as a:
        a += 1
    assert seen.tolist() == [1, 2]
    assert v.read().tolist() == [2, 3]


def test_a_view_is_a_reader_too():
    v = variable([[1, 2], [3, 4]])
    row = v.read()[1]
    with v.writable() as a:
        a[...] = 0
    assert row.tolist() == [3, 4]


def test_a_memoryview_is_a_reader_too():
    v = variable([1, 2])
    frame = memoryview(v.read())
    with v.writable() as a:
        a[...] = 9
    v.assign(np.array([7, 7], "f"))
    assert np.frombuffer(frame, "f").tolist() == [1, 2]


def test_assign_takes_a_copy():
    v = Variable("v", float32, None)
    mine = np.array([1, 2], "f")
    v.assign(mine)
    mine[:] = 0
    assert v.read().tolist() == [1, 2]


def test_assign_does_not_change_what_was_read():
    v = variable([1, 2])
    seen = v.read()
    v.assign(np.array([5, 6], "f"))
    assert seen.tolist() == [1, 2] and v.read().tolist() == [5, 6]


def test_readers_cannot_write():
    v = variable([1, 2])
    with pytest.raises(ValueError, match="read-only"):
        v.read()[0] = 5


def test_a_failed_update_leaves_a_readable_variable():
    v = variable([1, 2])
    with pytest.raises(ZeroDivisionError), v.writable():
        raise ZeroDivisionError
    assert v.read().tolist() == [1, 2]


def test_several_variables_may_repeat():
    v, w = variable([1.0]), variable([2.0])
    with updating((v, w, v)) as (a, b, c):
        assert a is c
        a += b
    assert v.read().tolist() == [3]


def test_readers_never_see_a_half_written_value():
    v = variable(np.zeros(200_000))
    stop = threading.Event()
    torn = []

    def read():
        while not stop.is_set():
            value = v.read()
            if value[0] != value[-1]:
                torn.append(value)

    threads = [threading.Thread(target=read) for _ in range(2)]
    for t in threads:
        t.start()
    for _ in range(200):
        with v.writable() as a:
            np.add(a, 1, out=a)
    stop.set()
    for t in threads:
        t.join()
    assert not torn and v.read()[0] == 200


def test_resources_are_shared_by_container_and_name():
    r = Resources("ps")
    a = r.variable("", "w", "w", float32, (1,))
    assert r.variable("", "w", "w", float32, (1,)) is a
    assert r.variable("other", "w", "w", float32, (1,)) is not a
    assert r.variable("ps", "w", "w", float32, (1,)) is a
    r.clear([])
    assert r.variable("", "w", "w", float32, (1,)) is not a
    assert [key for key, _ in r.items()] == [("other", "variable", "w"), ("ps", "variable", "w")]


def test_private_names_differ():
    r = Resources("ps")
    assert r.private_name("q") != r.private_name("q")
