"""A recurrent network whose variables are on a parameter server and whose loop is on a worker."""

from __future__ import annotations

import numpy as np
import pytest

import minitf as tf

pytestmark = pytest.mark.cluster


def losses(target: str, setter: object) -> list[float]:
    """Four steps of training, from fixed weights."""
    with tf.Graph().as_default(), tf.device(setter):
        x = tf.constant(np.linspace(-1, 1, 24, dtype=np.float32).reshape(2, 4, 3))
        with tf.variable_scope("net", initializer=tf.constant_initializer(0.1)):
            cells = [tf.nn.rnn_cell.BasicLSTMCell(3), tf.nn.rnn_cell.GRUCell(2)]
            cell = tf.nn.rnn_cell.MultiRNNCell(cells)
            out, _ = tf.nn.dynamic_rnn(cell, x, sequence_length=[4, 2], dtype=tf.float32)
        loss = tf.reduce_sum(tf.square(out - 1.0))
        train = tf.train.AdamOptimizer(0.1).minimize(loss)
        with tf.Session(target) as session:
            session.run(tf.global_variables_initializer())
            return [session.run([loss, train])[0] for _ in range(4)]


def test_learns_as_in_one_process(free_ports):
    ports = free_ports(3)
    jobs = {"ps": ports[:2], "worker": ports[2:]}
    cluster = tf.train.ClusterSpec({j: [f"127.0.0.1:{n}" for n in p] for j, p in jobs.items()})
    servers = [
        tf.train.Server(cluster, job_name=job, task_index=i)
        for job in jobs
        for i in range(len(jobs[job]))
    ]
    setter = tf.train.replica_device_setter(cluster=cluster)
    found = losses(servers[-1].target, setter)
    np.testing.assert_allclose(found, losses("", None), rtol=1e-5)
    assert found[-1] < found[0]
