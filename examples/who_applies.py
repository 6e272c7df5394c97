"""The question: a worker calls minimize(), so who computes the gradients, and who applies them?

Run it alone (all tasks in this process), or look at it without running anything:

    python examples/who_applies.py
    minitf viz examples/who_applies.py --cluster ps=2,worker=2
"""

import socket

import numpy as np

import minitf as tf


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def build(cluster):
    """Linear regression with Adagrad: two variables, each on a ps of its own."""
    setter = tf.train.replica_device_setter(worker_device="/job:worker/task:0", cluster=cluster)
    with tf.device(setter):
        x = tf.placeholder(tf.float32, [None, 4], name="x")
        y = tf.placeholder(tf.float32, [None, 1], name="y")
        w = tf.get_variable("W", [4, 1], initializer=tf.zeros_initializer())
        b = tf.get_variable("b", [1], initializer=tf.zeros_initializer())
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y))
        step = tf.train.get_or_create_global_step()
        train = tf.train.AdagradOptimizer(0.01).minimize(loss, global_step=step)
        init = tf.global_variables_initializer()
    return x, y, loss, train, init


def main():
    tasks = {"ps": 2, "worker": 2}
    cluster = tf.train.ClusterSpec(
        {job: ["127.0.0.1:%d" % free_port() for _ in range(n)] for job, n in tasks.items()}
    )
    servers = [
        tf.train.Server(cluster, job_name=job, task_index=i)
        for job, n in tasks.items()
        for i in range(n)
    ]
    worker = servers[2]
    x, y, loss, train, init = build(cluster)
    feed = {x: np.ones((3, 4), "f"), y: np.ones((3, 1), "f")}
    with tf.Session(worker.target) as sess:
        sess.run(init)
        seen = tf.RunMetadata()
        options = tf.RunOptions(output_partition_graphs=True)
        before, _ = sess.run([loss, train], feed, options=options, run_metadata=seen)
        after = sess.run(loss, feed)
    for part in seen.partition_graphs:
        for node in part.node:
            if node.op.startswith("Apply"):
                print("%-32s is applied on %s" % (node.name, node.device))
            elif node.op == "MatMul" and "grad" in node.name:
                print("%-32s is computed on %s" % (node.name, node.device))
    print("loss %.4f -> %.4f" % (before, after))


if __name__ == "__main__":
    main()
