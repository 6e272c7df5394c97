"""Ops that wait for other steps, in branches and loops, and beside the rest of a step."""

from __future__ import annotations

import threading

import pytest

import minitf as tf


def queue_of(*values):
    queue = tf.FIFOQueue(10, tf.int32, shapes=[[]])
    return queue, queue.enqueue_many([list(values)])


def test_a_dequeue_in_a_branch_runs_only_if_it_is_taken():
    queue, fill = queue_of(7, 8)
    wanted = tf.placeholder(tf.bool, [])
    value = tf.cond(wanted, lambda: queue.dequeue() * 2, lambda: tf.constant(-1))
    after = value + 1
    with tf.Session() as session:
        session.run(fill)
        assert session.run([after, value], {wanted: True}) == [15, 14]
        assert session.run([after, value], {wanted: False}) == [0, -1]
        assert session.run(queue.size()) == 1


def test_a_branch_that_waits_is_woken_by_another_step():
    queue, fill = queue_of(5)
    wanted = tf.placeholder(tf.bool, [])
    value = tf.cond(wanted, lambda: queue.dequeue(), lambda: tf.constant(-1))
    got = []
    with tf.Session() as session:
        waiting = threading.Thread(target=lambda: got.append(session.run(value, {wanted: True})))
        waiting.start()
        assert session.run(value, {wanted: False}) == -1
        session.run(fill)
        waiting.join(10)
    assert got == [5]


def test_a_loop_dequeues_until_it_has_enough():
    queue, fill = queue_of(1, 2, 3, 4)
    total = tf.while_loop(lambda t: t < 6, lambda t: t + queue.dequeue(), [0])
    with tf.Session() as session:
        session.run(fill)
        assert session.run([total, total + 1]) == [6, 7]
        assert session.run(queue.size()) == 1


@pytest.mark.parametrize("device", ["/cpu:0", "/cpu:1"])
def test_an_op_that_waited_sees_the_variable_as_it_is_then(device):
    """As SyncReplicasOptimizer's tokens need it: `step/read` runs early, the Fill takes it late.

    TensorFlow's devices of one memory share the variable's buffer.
    """
    queue, fill = queue_of(1, 2, 3)
    step = tf.Variable(0, name="step")
    with tf.control_dependencies([queue.dequeue()]):
        add = tf.assign_add(step, 1)
    with tf.control_dependencies([add]), tf.device(device):
        tokens = tf.fill([2], step)
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
        session.run(step.initializer)
        session.run(fill)
        assert [session.run(tokens).tolist() for _ in range(3)] == [[1, 1], [2, 2], [3, 3]]
