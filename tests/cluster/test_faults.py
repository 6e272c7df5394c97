"""What happens when a task fails, is not there, or is killed in the middle of a step."""

import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import minitf as tf
from minitf_runtime.server import cluster as engine_cluster

pytestmark = pytest.mark.cluster

SERVE = """
import json, sys
import minitf as tf
spec, job, task = json.loads(sys.argv[1]), sys.argv[2], int(sys.argv[3])
server = tf.train.Server(spec, job, task)
print("up", flush=True)
server.join()
"""


class Process:
    """A server in a process of its own."""

    def __init__(self, spec, job, task):
        self.child = subprocess.Popen(
            [sys.executable, "-c", SERVE, json.dumps(spec), job, str(task)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self.child.stdout.readline() == b"up\n"

    def kill(self):
        os.kill(self.child.pid, signal.SIGKILL)
        self.child.wait()
        self.child.stdout.close()


@pytest.fixture
def spec(free_ports):
    ps, *workers = (f"127.0.0.1:{port}" for port in free_ports(3))
    return {"ps": [ps], "worker": workers}


@pytest.fixture
def processes(spec):
    """The ps and worker 1 as processes; worker 0 is here."""
    made = {"ps": Process(spec, "ps", 0), "worker": Process(spec, "worker", 1)}
    yield made
    for process in made.values():
        if process.child.poll() is None:
            process.kill()


def test_an_error_on_another_task_says_all(spec, processes):
    server = tf.train.Server(spec, "worker", 0)
    with tf.device("/job:worker/task:1"):
        i = tf.placeholder(tf.int32, [])
        bad = tf.gather([1.0, 2.0], i, name="bad")
    with tf.Session(server.target) as sess:
        with pytest.raises(tf.errors.InvalidArgumentError) as e:
            sess.run(bad, {i: 7})
        text = str(e.value)
        assert "From /job:worker/replica:0/task:1:" in text
        assert "indices = 7 is not in [0, 2)" in text
        assert "'bad'" in text and "test_faults.py" in text
        assert e.value.op is bad.op
        assert sess.run(bad, {i: 1}) == 2.0


def blocked_step(spec, server, job, task):
    """A step that waits for ever on a queue of that task, in a thread; and its outcome."""
    with tf.device(f"/job:{job}/task:{task}"):
        q = tf.FIFOQueue(1, tf.float32, shapes=[[]], shared_name="q")
        waiting = q.dequeue() + 1.0
    with tf.device("/job:worker/task:0"):
        here = tf.identity(waiting)
    session = tf.Session(server.target)
    session.run(q.size())
    outcome = []

    def run():
        try:
            outcome.append(session.run(here))
        except Exception as e:
            outcome.append(e)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    time.sleep(0.3)
    assert thread.is_alive()
    return session, thread, outcome


@pytest.mark.parametrize("job, task", [("worker", 1), ("ps", 0)])
def test_a_task_killed_in_the_middle_of_a_step(spec, processes, job, task):
    server = tf.train.Server(spec, "worker", 0)
    _, thread, outcome = blocked_step(spec, server, job, task)
    processes[job].kill()
    thread.join(20)
    assert isinstance(outcome[0], tf.errors.UnavailableError)
    assert f"/job:{job}/replica:0/task:{task}" in str(outcome[0])
    assert spec[job][task] in str(outcome[0])


def test_others_go_on_when_a_worker_is_killed(spec, processes):
    server = tf.train.Server(spec, "worker", 0)
    with tf.device("/job:ps/task:0"):
        v = tf.get_variable("v", [], initializer=tf.zeros_initializer())
    add = tf.assign_add(v, 1.0)
    config = tf.ConfigProto(device_filters=["/job:ps", "/job:worker/task:0"])
    with tf.Session(server.target, config=config) as sess:
        sess.run(v.initializer)
        sess.run(add)
        processes["worker"].kill()
        for _ in range(20):
            sess.run(add)
        assert sess.run(v) == 21.0


def test_a_task_that_never_comes_is_named(spec, monkeypatch, caplog):
    monkeypatch.setattr(engine_cluster, "REPORT_SECONDS", 0.2)
    server = tf.train.Server(spec, "worker", 0)
    config = tf.ConfigProto(operation_timeout_in_ms=700)
    a = tf.constant(1.0)
    session = tf.Session(server.target, config=config)
    caplog.set_level(logging.WARNING, "minitf")
    with pytest.raises(tf.errors.DeadlineExceededError) as e:
        session.run(a)
    assert f"/job:ps/replica:0/task:0 ({spec['ps'][0]})" in str(e.value)
    said = [r.getMessage() for r in caplog.records]
    assert any(
        "still waiting for response from worker: /job:ps/replica:0/task:0" in m for m in said
    )
    assert any(spec["ps"][0] in m and "since" in m for m in said)


def test_a_reset_of_a_server_that_is_not_there_ends_in_time(spec):
    config = tf.ConfigProto(operation_timeout_in_ms=5)
    with pytest.raises(tf.errors.DeadlineExceededError, match=spec["ps"][0]):
        tf.Session.reset(f"grpc://{spec['ps'][0]}", ["container"], config=config)


def test_ctrl_c_ends_the_wait_for_a_task(spec):
    program = (
        "import json, sys, minitf as tf\n"
        "server = tf.train.Server(json.loads(sys.argv[1]), 'worker', 0)\n"
        "a = tf.constant(1.0)\n"
        "print('up', flush=True)\n"
        "try:\n"
        "    tf.Session(server.target).run(a)\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted', flush=True)\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", program, json.dumps(spec)], stdout=subprocess.PIPE
    )
    try:
        assert child.stdout.readline() == b"up\n"
        time.sleep(0.5)
        os.kill(child.pid, signal.SIGINT)
        assert child.stdout.readline() == b"interrupted\n"
        assert child.wait(10) == 0
    finally:
        child.kill()
        child.wait()
        child.stdout.close()


def test_a_late_task_is_waited_for(spec):
    server = tf.train.Server(spec, "worker", 0)
    with tf.device("/job:ps/task:0"):
        a = tf.constant([1.0, 2.0]) * 2.0
    got = []
    session = tf.Session(server.target)
    thread = threading.Thread(target=lambda: got.append(session.run(a)), daemon=True)
    thread.start()
    time.sleep(0.3)
    late = [Process(spec, "ps", 0), Process(spec, "worker", 1)]
    thread.join(20)
    for process in late:
        process.kill()
    np.testing.assert_array_equal(got[0], [2.0, 4.0])


def test_time_limits_end_a_step_and_leave_the_session(spec, processes):
    server = tf.train.Server(spec, "worker", 0)
    with tf.device("/job:ps/task:0"):
        q = tf.FIFOQueue(1, tf.float32, shapes=[[]])
        get, put = q.dequeue(), q.enqueue(3.0)
    with tf.Session(server.target) as sess:
        with pytest.raises(tf.errors.DeadlineExceededError):
            sess.run(get, options=tf.RunOptions(timeout_in_ms=300))
        sess.run(put)
        assert sess.run(get) == 3.0


def test_a_session_from_a_process_without_server(spec, processes):
    """The master is elsewhere: feeds, fetches and errors come over the wire."""
    server = Process(spec, "worker", 0)
    try:
        x = tf.placeholder(tf.float32, [None])
        with tf.device("/job:ps/task:0"):
            y = tf.reduce_sum(x * 2.0, name="y")
        with tf.Session("grpc://" + spec["worker"][0]) as sess:
            assert sess.run(y, {x: [1, 2, 3]}) == 12.0
            with pytest.raises(tf.errors.InvalidArgumentError, match="You must feed a value"):
                sess.run(y)
            large = np.arange(1_000_000, dtype="f")
            assert sess.run(tf.identity(x), {x: large}).tolist() == large.tolist()
    finally:
        server.kill()


def test_the_masters_process_is_killed(spec, processes):
    server = Process(spec, "worker", 0)
    a = tf.constant(1.0)
    session = tf.Session("grpc://" + spec["worker"][0])
    assert session.run(a) == 1.0
    server.kill()
    with pytest.raises((tf.errors.UnavailableError, tf.errors.DeadlineExceededError)):
        session.run(a, options=tf.RunOptions(timeout_in_ms=2000))
    session.close()


def test_a_port_in_use(spec):
    first = tf.train.Server(spec, "worker", 0)
    with pytest.raises(tf.errors.UnknownError, match="Could not start server"):
        tf.train.Server(spec, "worker", 0)
    a = tf.constant(2.0)
    config = tf.ConfigProto(device_filters=["/job:worker/task:0"])
    with tf.Session(first.target, config=config) as sess:
        assert sess.run(a) == 2.0
