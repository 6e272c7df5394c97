"""QueueRunner: threads that fill a queue, and how they end."""

from __future__ import annotations

import pytest

import minitf as tf


def counting(limit, capacity=3):
    """A queue, its runner, and an op that takes one element: 0, 1, ... limit - 1."""
    queue = tf.FIFOQueue(capacity, tf.int32, [()])
    count = tf.Variable(0).count_up_to(limit)
    runner = tf.train.QueueRunner(queue, [queue.enqueue(count)])
    return queue, runner, queue.dequeue()


def test_runs_until_the_input_ends():
    _, runner, take = counting(5)
    tf.train.add_queue_runner(runner)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coord)
        assert [session.run(take) for _ in range(5)] == [0, 1, 2, 3, 4]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(take)
        coord.request_stop()
        coord.join(threads, stop_grace_period_secs=5)
    assert runner.exceptions_raised == []


def test_a_stop_ends_a_blocked_enqueue():
    _, runner, take = counting(1000, capacity=1)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        coord = tf.train.Coordinator()
        threads = runner.create_threads(session, coord, daemon=True, start=True)
        assert len(threads) == 2
        assert runner.create_threads(session, coord) == []
        assert session.run(take) == 0
        coord.request_stop()
        coord.join(stop_grace_period_secs=5)
        assert not any(t.is_alive() for t in threads)


def test_an_error_stops_the_coordinator():
    queue = tf.FIFOQueue(3, tf.float32)
    fed = tf.placeholder(tf.float32)
    runner = tf.train.QueueRunner(queue, [queue.enqueue(fed)])
    with tf.Session() as session:
        coord = tf.train.Coordinator()
        threads = runner.create_threads(session, coord, start=True)
        with pytest.raises(tf.errors.InvalidArgumentError, match="must feed a value"):
            coord.join(threads)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_an_error_without_coordinator_is_kept():
    queue = tf.FIFOQueue(3, tf.float32)
    runner = tf.train.QueueRunner(queue, [queue.enqueue(tf.placeholder(tf.float32))])
    with tf.Session() as session:
        (thread,) = runner.create_threads(session, start=True)
        thread.join(5)
    assert [type(e) for e in runner.exceptions_raised] == [tf.errors.InvalidArgumentError]


def test_arguments():
    queue = tf.FIFOQueue(3, tf.int32)
    with pytest.raises(ValueError, match="Must provide queue and enqueue_ops"):
        tf.train.QueueRunner(queue, [])
    with pytest.raises(TypeError, match="must be a tuple of tf.error types"):
        tf.train.QueueRunner(queue, [tf.no_op()], queue_closed_exception_types=(ValueError,))
    with pytest.raises(ValueError, match="No default session"):
        tf.train.start_queue_runners()
    with pytest.raises(TypeError, match=r"must be a `tf.Session` object"):
        tf.train.start_queue_runners(3)
    with tf.Session():
        assert tf.train.start_queue_runners() == []
