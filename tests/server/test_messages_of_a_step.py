"""What a step sends: one message for each transfer of the cut, a request and its answer."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import minitf as tf
from minitf_runtime.server.service import server_at
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


@pytest.fixture
def cluster(free_ports):
    ps, worker = (f"127.0.0.1:{p}" for p in free_ports(2))
    spec = tf.train.ClusterSpec({"ps": [ps], "worker": [worker]})
    servers = [tf.train.Server(spec, job_name=job, task_index=0) for job in ("ps", "worker")]
    yield spec, servers[1].target
    for address in (ps, worker):
        server_at(address).stop()


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
