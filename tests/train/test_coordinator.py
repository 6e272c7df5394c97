"""Coordinator and LooperThread: threads stop together, and the first error is reported."""

from __future__ import annotations

import threading
import time

import pytest

import minitf as tf


def start(*targets):
    threads = [threading.Thread(target=t, daemon=True) for t in targets]
    for t in threads:
        t.start()
    return threads


def test_join_waits_for_threads_that_end_by_themselves():
    coord = tf.train.Coordinator()
    coord.join(start(lambda: time.sleep(0.05)))
    assert coord.joined
    assert not coord.should_stop()


def test_a_stop_reaches_all():
    coord = tf.train.Coordinator()
    threads = start(coord.wait_for_stop, coord.wait_for_stop, coord.request_stop)
    coord.join(threads, stop_grace_period_secs=5)
    assert coord.should_stop()
    assert not any(t.is_alive() for t in threads)


@pytest.mark.parametrize("how", ["with", "exception", "exc_info"])
def test_join_raises_the_first_error(how):
    coord = tf.train.Coordinator()

    def fail():
        if how == "with":
            with coord.stop_on_exception():
                raise ValueError("first")
        try:
            raise ValueError("first")
        except ValueError as e:
            coord.request_stop(e if how == "exception" else (ValueError, e, e.__traceback__))

    threads = start(fail)
    threads[0].join()
    coord.request_stop(ValueError("second"))
    with pytest.raises(ValueError, match="first"):
        coord.raise_requested_exception()
    with pytest.raises(ValueError, match="first"):
        coord.join(threads)


def test_the_end_of_input_is_no_error():
    coord = tf.train.Coordinator()
    with coord.stop_on_exception():
        raise tf.errors.OutOfRangeError(None, None, "end")
    coord.join([])
    own = tf.train.Coordinator(clean_stop_exception_types=(ValueError,))
    with own.stop_on_exception():
        raise ValueError("clean")
    own.join([])
    assert own.should_stop()


def test_stragglers():
    coord = tf.train.Coordinator()
    release = threading.Event()
    (thread,) = start(release.wait)
    coord.register_thread(thread)
    coord.request_stop()
    with pytest.raises(RuntimeError, match="threads still running"):
        coord.join(stop_grace_period_secs=0.05)
    coord.join([thread], stop_grace_period_secs=0.05, ignore_live_threads=True)
    release.set()


def test_after_join():
    coord = tf.train.Coordinator()
    coord.request_stop()
    coord.join([])
    coord.request_stop()
    with pytest.raises(ValueError, match="late"):
        coord.request_stop(ValueError("late"))
    coord.clear_stop()
    assert not coord.should_stop()
    assert not coord.joined
    assert not coord.wait_for_stop(0.01)


def test_what_is_no_exception_is_reported_as_such():
    coord = tf.train.Coordinator()
    coord.request_stop("a text")
    with pytest.raises(ValueError, match="ex must be an exception"):
        coord.join([])


def test_looper_turns_until_stopped():
    coord = tf.train.Coordinator()
    turns = []

    def turn(limit):
        turns.append(1)
        if len(turns) == limit:
            coord.request_stop()

    for pause in (0.001, None):
        turns.clear()
        coord.clear_stop()
        looper = tf.train.LooperThread.loop(coord, pause, target=turn, args=(3,))
        coord.join()
        assert len(turns) == 3
        assert not looper.is_alive()


def test_looper_reports_errors():
    coord = tf.train.Coordinator()
    tf.train.LooperThread.loop(coord, None, target=lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        coord.join()


def test_looper_arguments():
    with pytest.raises(ValueError, match="must be a Coordinator"):
        tf.train.LooperThread(None, 1)
    with pytest.raises(ValueError, match="also pass 'target'"):
        tf.train.LooperThread(tf.train.Coordinator(), 1, args=(1,))
