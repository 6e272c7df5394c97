"""The bytes of --wire are those that the tasks of a real cluster take down as received."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import minitf as tf
from minitf.viz.capture import Captured, step_of
from minitf.viz.transfers import bytes_at, read_wire

BATCH = 6
OPTIMIZERS = {
    "SGD": lambda: tf.train.GradientDescentOptimizer(0.1),
    "Momentum": lambda: tf.train.MomentumOptimizer(0.1, 0.9),
    "Adam": lambda: tf.train.AdamOptimizer(0.1),
    "Adagrad": lambda: tf.train.AdagradOptimizer(0.1),
    "RMSProp": lambda: tf.train.RMSPropOptimizer(0.1),
}


@pytest.fixture(scope="module")
def cluster():
    """Two ps and two workers, in this process."""
    import socket

    sockets = [socket.socket() for _ in range(4)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    hosts = [f"localhost:{port}" for port in ports]
    spec = tf.train.ClusterSpec({"ps": hosts[:2], "worker": hosts[2:]})
    servers = [tf.train.Server(spec, job, i) for job in ("ps", "worker") for i in range(2)]
    return spec, servers[2].target


def build(cluster, optimizer):
    """An embedding, badly pinned, below a dense layer: dense and sparse updates."""
    here = "/job:worker/task:0"
    with tf.device(tf.train.replica_device_setter(worker_device=here, cluster=cluster)):
        ids = tf.placeholder(tf.int32, [None], name="ids")
        y = tf.placeholder(tf.float32, [None, 1], name="y")
        table = tf.get_variable("table", [50, 4], initializer=tf.ones_initializer())
        with tf.device(here):
            rows = tf.gather(table, ids)
        w = tf.get_variable("w", [4, 1], initializer=tf.ones_initializer())
        b = tf.get_variable("b", [1], initializer=tf.zeros_initializer())
        loss = tf.reduce_mean(tf.square(tf.matmul(rows, w) + b - y))
        train = optimizer.minimize(loss, global_step=tf.train.get_or_create_global_step())
    return ids, y, train


def received(metadata):
    """(from, to, bytes) of every transfer that the tasks took down."""
    found = []
    for device in metadata.step_stats.dev_stats:
        for stats in device.node_stats:
            if stats.node_name == "RecvTensor":
                _, _, src, _, dst = stats.timeline_label.rsplit(" ", 4)
                nbytes = stats.output[0].tensor_description.allocation_description.requested_bytes
                found.append((src.split(" ")[-1], dst, nbytes))
    return Counter(found)


@pytest.mark.cluster
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_what_is_shown_is_what_crosses(cluster, name):
    spec, target = cluster
    tf.reset_default_graph()
    ids, y, train = build(spec, OPTIMIZERS[name]())
    init = tf.global_variables_initializer()
    captured = Captured(("worker", 0), spec)
    cut = step_of(captured, [train.name])
    seen = tf.RunMetadata()
    with tf.Session(target) as sess:
        sess.run(init)
        feed = {ids: [0, 1, 2, 3, 4, 5], y: np.zeros((BATCH, 1), "f")}
        sess.run(train, feed, tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), seen)
    shown = read_wire(captured, cut, BATCH)
    assert shown.total.unknown == 0
    rows = Counter((r.src, r.dst, bytes_at(r, BATCH)) for r in shown.rows)
    assert rows == received(seen)
    assert shown.total.known.fixed == sum(k[2] * n for k, n in received(seen).items())
    symbolic = read_wire(captured, cut)
    assert symbolic.total.known.at(BATCH) == shown.total.known.fixed
    assert symbolic.total.known.per_example > 0
