"""What a step sends: one message for each transfer of the cut, a request and its answer."""

from __future__ import annotations

import mmap
from collections import Counter

import numpy as np
import pytest
import zmq

import minitf as tf
from minitf_runtime.plan.rendezvous import Rendezvous
from minitf_runtime.server.service import server_at
from minitf_runtime.transport.lane import VARIABLE, possible
from minitf_runtime.transport.zeromq import Peer
from minitf_runtime.wire.codec import decode

pytestmark = pytest.mark.cluster


@pytest.fixture
def sent(monkeypatch):
    """The messages that any server of this process sends, by kind."""
    counts = Counter()
    send = Peer.send

    def counting(peer, frames):
        header, *rest = [bytes(f) for f in frames]
        counts[type(decode(header, rest)[1]).__name__] += 1
        send(peer, frames)

    monkeypatch.setattr(Peer, "send", counting)
    return counts


def model(spec):
    with tf.device(tf.train.replica_device_setter(cluster=spec)):
        x = tf.placeholder(tf.float32, [None, 2])
        w = tf.get_variable("w", [2, 1], initializer=tf.ones_initializer())
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w)))
        return x, tf.train.GradientDescentOptimizer(0.1).minimize(loss)


def transfers(target):
    """How many transfers of the last step go from one task to another."""
    (session,) = server_at(target.removeprefix("grpc://")).master.describe().sessions
    return sum(e.src_device.split("/")[1] != e.dst_device.split("/")[1] for e in session.last.edges)


def test_a_training_step(cluster, sent):
    spec, target = cluster
    with tf.Graph().as_default():
        x, train = model(spec)
        with tf.Session(target) as sess:
            sess.run(tf.global_variables_initializer())
            sess.run(train, {x: np.ones((1, 2))})
            assert transfers(target) >= 2  # the weights down, their gradient up
            sent.clear()
            for _ in range(10):
                sess.run(train, {x: np.ones((1, 2))})
            assert sent == {"RunGraph": 10, "Reply": 10, "Tensors": 10 * transfers(target)}


@pytest.mark.parametrize(("ps", "workers"), [(1, 2), (2, 1), (3, 2)])
def test_a_step_of_several_tasks(free_ports, sent, ps, workers):
    """A request and its answer for each other task that has a part, and the cut edges."""
    ports = [f"127.0.0.1:{p}" for p in free_ports(ps + workers)]
    spec = tf.train.ClusterSpec({"ps": ports[:ps], "worker": ports[ps:]})
    target = [
        tf.train.Server(spec, job_name=job, task_index=i).target
        for job, count in (("ps", ps), ("worker", workers))
        for i in range(count)
    ][ps]
    with tf.Graph().as_default():
        with tf.device(tf.train.replica_device_setter(cluster=spec)):
            x = tf.placeholder(tf.float32, [None, 3])
            y = x
            for i in range(ps):
                y = tf.matmul(y, tf.get_variable(f"w{i}", [3, 3]))
            train = tf.train.AdagradOptimizer(0.1).minimize(tf.reduce_mean(tf.square(y)))
        with tf.Session(target) as sess:
            sess.run(tf.global_variables_initializer())
            for _ in range(2):
                sess.run(train, {x: np.ones((4, 3))})
            assert transfers(target) >= 2 * ps
            sent.clear()
            sess.run(train, {x: np.ones((4, 3))})
            assert sent == {"RunGraph": ps, "Reply": ps, "Tensors": transfers(target)}
    for address in ports:
        server_at(address).stop()


def test_large_tensors_are_handed_over_as_they_are(cluster, monkeypatch):
    """Without a copy: also the next step sends the variable's own buffer."""
    spec, target = cluster
    frames, send = [], Peer.send

    def keeping(peer, parts):
        frames.extend(np.frombuffer(p, "f") for p in parts if len(p) == 400_000)
        send(peer, parts)

    monkeypatch.setattr(Peer, "send", keeping)
    with tf.Graph().as_default():
        with tf.device("/job:ps/task:0"):
            v = tf.get_variable("v", [100_000], initializer=tf.ones_initializer())
        with tf.device("/job:worker/task:0"):
            here = tf.identity(v)
        with tf.Session(target) as sess:
            sess.run(v.initializer)
            first, second = sess.run(here), sess.run(here)
    assert len(frames) == 2
    assert np.shares_memory(*frames)
    assert not np.shares_memory(first, second)


def memory(value):
    """What holds the bytes of an array."""
    while isinstance(value, (np.ndarray, memoryview)):
        value = value.base if isinstance(value, np.ndarray) else value.obj
    return value


@pytest.mark.parametrize(
    ("lanes", "holder"),
    [
        pytest.param("1", mmap.mmap, marks=pytest.mark.skipif(not possible(), reason="no lanes")),
        ("0", zmq.Frame),
    ],
    ids=["lane", "ZeroMQ"],
)
def test_large_tensors_are_used_where_they_arrive(free_ports, monkeypatch, lanes, holder):
    """An op reads the shared memory, or the frame of ZeroMQ, that its input came in."""
    monkeypatch.setenv(VARIABLE, lanes)
    received, recv = [], Rendezvous.recv

    def keeping(rendezvous, key):
        value = recv(rendezvous, key)
        received.extend([value] if getattr(value, "nbytes", 0) == 400_000 else [])
        return value

    monkeypatch.setattr(Rendezvous, "recv", keeping)
    ports = [f"127.0.0.1:{p}" for p in free_ports(2)]
    spec = tf.train.ClusterSpec({"ps": ports[:1], "worker": ports[1:]})
    servers = [tf.train.Server(spec, job_name=job) for job in ("ps", "worker")]
    with tf.Graph().as_default():
        with tf.device("/job:ps"):
            v = tf.get_variable("v", [100_000], initializer=tf.ones_initializer())
        with tf.device("/job:worker"):
            total = tf.reduce_sum(v)
        with tf.Session(servers[1].target) as sess:
            sess.run(v.initializer)
            assert [sess.run(total) for _ in range(2)] == [100_000, 100_000]
    assert [type(memory(value)) for value in received] == [holder, holder]
    for address in ports:
        server_at(address).stop()


def test_a_failed_step_is_cleaned_up_on_the_other_task(cluster, sent):
    spec, target = cluster
    with tf.Graph().as_default(), tf.device("/job:ps"):
        wrong = tf.reshape(tf.random_uniform([3]), tf.Variable([2], trainable=False))
        with tf.Session(target) as sess:
            sess.run(tf.global_variables_initializer())
            sent.clear()
            with pytest.raises(tf.errors.InvalidArgumentError):
                sess.run(wrong)
            assert sent["CleanupStep"] == 1
