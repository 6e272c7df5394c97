"""What the threads of a step do is read off their programs: the op, and what they still owe."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager

import pytest

import minitf as tf
from minitf_runtime.graph import Node
from minitf_runtime.plan.compile import Program
from minitf_runtime.plan.waits import _loop_around, _owed
from minitf_runtime.server.stuck import chains

TEXT = """def run(rdv, step, feeds, out):
    a
    while True:
        b
        while True:
            c
        d
    if e:
        f
    g
"""


@pytest.mark.parametrize(("at", "first"), [(2, 2), (4, 3), (6, 3), (7, 3), (9, 9), (10, 10)])
def test_what_may_run_after_a_line(at, first):
    assert _loop_around(TEXT, at) == first


def test_what_a_program_owes():
    """The tensors not sent yet, and what others may wait for of queues and accumulators."""
    get, same = Node("get", "QueueDequeueV2"), Node("same", "Identity")
    send = Node("get_S0", "_Send", attrs={"tensor_name": "edge_2_get"})
    lines = {2: get, 4: same, 5: send, 9: Node("put", "QueueEnqueueV2")}
    program = Program(lambda *_: None, TEXT, "file", "device", 0, lines)
    assert list(_owed(program, 2, set())) == ["get", "edge_2_get", "put"]
    assert list(_owed(program, 6, set())) == ["edge_2_get", "put"]
    assert list(_owed(program, 6, {"same"})) == ["same", "edge_2_get", "put"]
    assert list(_owed(program, 10, set())) == []


@contextmanager
def waiting(fetch, **config):
    """The session's chains, once its step has waited for a moment."""
    with tf.Session(config=tf.ConfigProto(**config)) as sess:
        sess.run(tf.global_variables_initializer())
        done = []

        def run():
            try:
                done.append(sess.run(fetch))
            except tf.errors.CancelledError as e:
                done.append(e)

        thread = threading.Thread(target=run)
        thread.start()
        deadline = time.monotonic() + 10
        while not (found := [c for c in chains([sess._master.waits()], {}) if c.seconds > 0.2]):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        yield found
        sess.close()
        thread.join(5)
        assert isinstance(done[0], tf.errors.CancelledError)


def told(chain):
    return [(link.wait.kind, link.wait.node, link.wait.maker) for link in chain.links]


def test_a_receive_in_a_loop_leads_to_the_loop_that_sends():
    """The second iteration waits: what it owes stands before the line that its thread is at."""
    with tf.device("/cpu:1"):
        queue = tf.FIFOQueue(4, tf.float32, shapes=[[]])

    def body(i, total):
        with tf.device("/cpu:1"):
            got = queue.dequeue(name="get")
        return i + 1, total + got

    with tf.device("/cpu:0"):
        start = queue.enqueue(1.0)
        with tf.control_dependencies([start]):
            loop = tf.while_loop(lambda i, _: i < 3, body, [tf.constant(0), tf.constant(0.0)])
    with waiting(loop[1], device_count={"CPU": 2}) as found:
        (chain,) = found
    receive, dequeue = told(chain)
    assert receive[0::2] == ("receive", "while/get")
    assert dequeue == ("blocked", "while/get", "")


def test_a_value_of_another_strand():
    """Two queues: the op that adds their elements waits for the other one's thread."""
    first, second = (tf.FIFOQueue(1, tf.float32, shapes=[[]]) for _ in range(2))
    a, b = first.dequeue(name="a"), second.dequeue(name="b")
    with waiting(tf.add(a, b, name="sum")) as found:
        ends = {chain.links[-1].wait.node: told(chain) for chain in found}
    assert ends.keys() == {"a", "b"}
    strands = [link for links in ends.values() for link in links if link[0] == "strand"]
    assert [node for _, node, _ in strands] in ([], ["sum"])


def test_an_op_that_computes():
    tf.get_variable("v", [])
    go = threading.Event()
    slow = tf.py_func(lambda: go.wait(10) and 1.0, [], tf.double, name="slow")
    with tf.Session() as sess:
        thread = threading.Thread(target=lambda: sess.run(slow))
        thread.start()
        while not (found := chains([sess._master.waits()], {})):
            time.sleep(0.01)
        go.set()
        thread.join(5)
        assert chains([sess._master.waits()], {}) == []
    assert told(found[0]) == [("compute", "slow", "")]
    assert found[0].end == ""
