"""A recurrent network adds up sequences of different lengths: its weights are on a parameter
server, its loop runs on a worker."""

import socket

import numpy as np

import minitf as tf


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def batch(rng, size=32, longest=6):
    lengths = rng.randint(1, longest + 1, size)
    values = rng.rand(size, longest, 1).astype("f") - 0.5
    counts = np.arange(longest) < lengths[:, None]
    return values, lengths, (values[:, :, 0] * counts).sum(1)


cluster = tf.train.ClusterSpec({job: ["127.0.0.1:%d" % free_port()] for job in ("ps", "worker")})
ps, worker = (tf.train.Server(cluster, job_name=job, task_index=0) for job in ("ps", "worker"))

with tf.device(tf.train.replica_device_setter(cluster=cluster)):
    x = tf.placeholder(tf.float32, [None, None, 1], name="x")
    lengths = tf.placeholder(tf.int32, [None], name="lengths")
    sums = tf.placeholder(tf.float32, [None], name="sums")
    cell = tf.nn.rnn_cell.GRUCell(8)
    _, state = tf.nn.dynamic_rnn(cell, x, sequence_length=lengths, dtype=tf.float32)
    found = tf.layers.dense(state, 1)[:, 0]
    loss = tf.reduce_mean(tf.square(found - sums))
    train = tf.train.AdamOptimizer(0.02).minimize(loss)

for variable in tf.trainable_variables():
    print("%-26s on %s" % (variable.op.name, variable.device))
rng = np.random.RandomState(0)
with tf.Session(worker.target) as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(151):
        feeds = dict(zip((x, lengths, sums), batch(rng)))
        value, _ = sess.run([loss, train], feeds)
        if step % 50 == 0:
            print("step %3d  loss %.4f" % (step, value))
