"""Datasets on the worker of a cluster: functions travel, the ps gets nothing, ends are clean."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import minitf as tf
from minitf_runtime.threads import Threads

pytestmark = pytest.mark.cluster

SERVE = """
import json, sys
import minitf as tf
server = tf.train.Server(json.loads(sys.argv[1]), sys.argv[2], 0)
print("up", flush=True)
server.join()
"""


@pytest.fixture
def spec(free_ports):
    ps, worker = free_ports(2)
    return {"ps": [f"127.0.0.1:{ps}"], "worker": [f"127.0.0.1:{worker}"]}


def table():
    x = np.arange(12, dtype=np.float32).reshape(6, 2)
    d = tf.data.Dataset.from_tensor_slices((x, x.sum(1))).shuffle(6, seed=1)
    return d.map(lambda a, b: (a * 2, b)).repeat(3).batch(2).prefetch(2)


def pipeline(spec):
    """Batches of a shuffled table, and a step of training on them."""
    setter = tf.train.replica_device_setter(cluster=spec, worker_device="/job:worker/task:0")
    with tf.device(setter):
        iterator = table().make_initializable_iterator()
        a, b = iterator.get_next()
        v = tf.get_variable("v", [2])
        loss = tf.reduce_sum((tf.reduce_sum(a * v, 1) - b) ** 2)
        train = tf.train.GradientDescentOptimizer(1e-4).minimize(loss)
    return iterator, train, b


@pytest.mark.parametrize("target", ["worker", "ps"])
def test_the_worker_has_it_all(spec, target):
    servers = {job: tf.train.Server(spec, job, 0) for job in ("ps", "worker")}
    iterator, train, b = pipeline(spec)
    with tf.Session(servers[target].target) as session:
        session.run([tf.global_variables_initializer(), iterator.initializer])
        graph = session._master.describe() if target == "worker" else None
        steps = 0
        with pytest.raises(tf.errors.OutOfRangeError) as e:
            while True:
                session.run(train)
                steps += 1
        assert steps == 9
        assert "From /job:worker/replica:0/task:0:\nEnd of sequence" in str(e.value)
        session.run(iterator.initializer)
        assert session.run(b).tolist() == first_here()
    if graph is not None:
        placed = graph.sessions[0].placement()
        for op in tf.get_default_graph().get_operations():
            if "Dataset" in op.type or "Iterator" in op.type:
                assert placed[op.name].device == "/job:worker/replica:0/task:0/device:CPU:0"


def first_here():
    """The first batch, from a session of this process."""
    with tf.Graph().as_default():
        iterator = table().make_initializable_iterator()
        _, b = iterator.get_next()
        with tf.Session() as session:
            session.run(iterator.initializer)
            return session.run(b).tolist()


def test_a_dataset_does_not_leave_its_task(spec):
    servers = [tf.train.Server(spec, job, 0) for job in ("ps", "worker")]
    with tf.device("/job:ps/task:0"):
        d = tf.data.Dataset.range(3)
    with tf.device("/job:worker/task:0"):
        iterator = tf.data.Iterator.from_structure(tf.int64, [])
        start = iterator.make_initializer(d)
    told = pytest.raises(tf.errors.OpError, match="cannot travel between tasks")
    with tf.Session(servers[1].target) as session, told:
        session.run(start)


def test_a_killed_worker_ends_the_step(spec):
    child = subprocess.Popen(
        [sys.executable, "-c", SERVE, json.dumps(spec), "worker"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert child.stdout.readline() == b"up\n"
        server = tf.train.Server(spec, "ps", 0)
        with tf.device("/job:worker/task:0"):
            d = tf.data.Dataset.range(10**12).filter(lambda i: i < 0).prefetch(1)
            value = d.make_one_shot_iterator().get_next()
        with tf.Session(server.target) as session:

            def kill():
                time.sleep(0.5)
                os.kill(child.pid, signal.SIGKILL)

            Threads("kill").start(kill)
            with pytest.raises((tf.errors.UnavailableError, tf.errors.AbortedError)):
                session.run(value)
    finally:
        child.kill()
        child.wait()
        child.stdout.close()
