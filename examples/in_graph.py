"""In-graph replication: one client builds one graph that uses two workers, and averages their
gradients."""

import socket

import numpy as np

import minitf as tf


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


cluster = tf.train.ClusterSpec(
    {
        "ps": ["127.0.0.1:%d" % free_port()],
        "worker": ["127.0.0.1:%d" % free_port() for _ in range(2)],
    }
)
ps = tf.train.Server(cluster, job_name="ps", task_index=0)
workers = [tf.train.Server(cluster, job_name="worker", task_index=i) for i in range(2)]

x = tf.placeholder(tf.float32, [None, 3], name="x")
y = tf.placeholder(tf.float32, [None, 1], name="y")
optimizer = tf.train.GradientDescentOptimizer(0.2)
with tf.device("/job:ps/task:0"):
    w = tf.get_variable("w", [3, 1], initializer=tf.zeros_initializer())

halves = zip(tf.split(x, 2), tf.split(y, 2))
gradients, losses = [], []
for i, (part_x, part_y) in enumerate(halves):
    with tf.device("/job:worker/task:%d" % i), tf.name_scope("tower%d" % i):
        loss = tf.reduce_mean(tf.square(tf.matmul(part_x, w) - part_y))
        gradients.append(optimizer.compute_gradients(loss, [w])[0][0])
        losses.append(loss)
with tf.device("/job:ps/task:0"):
    mean = tf.add_n(gradients) / 2.0
    train = optimizer.apply_gradients([(mean, w)])
    loss = tf.add_n(losses) / 2.0

rng = np.random.RandomState(0)
truth = np.array([[1.0], [-2.0], [0.5]], "f")
with tf.Session(workers[0].target) as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(101):
        points = rng.randn(16, 3).astype("f")
        value, _ = sess.run([loss, train], {x: points, y: points.dot(truth)})
        if step % 50 == 0:
            print("step %3d  loss %.6f" % (step, value))
    print("w = %s" % np.round(sess.run(w).ravel(), 3))
