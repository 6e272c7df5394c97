"""An embedding model with a badly pinned gather: the whole table crosses the wire in every step.

Look at it first, then run it (all tasks in this process); --mend looks the rows up at the table:

    minitf viz --wire examples/embedding_pinned.py --cluster ps=2,worker=1
    minitf viz --wire examples/embedding_pinned.py --cluster ps=2,worker=1 -- --mend
    python examples/embedding_pinned.py
"""

import socket
import sys

import numpy as np

import minitf as tf

WORDS, SIZE, BATCH = 100000, 64, 1024


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def look_up(table, ids, mend):
    """The rows of some words."""
    if mend:
        return tf.nn.embedding_lookup(table, ids)
    with tf.device("/job:worker/task:0"):
        return tf.gather(table, ids)


def build(cluster, mend):
    """Sorts words into two classes by what their rows say."""
    setter = tf.train.replica_device_setter(worker_device="/job:worker/task:0", cluster=cluster)
    with tf.device(setter):
        ids = tf.placeholder(tf.int32, [None], name="ids")
        label = tf.placeholder(tf.float32, [None, 1], name="label")
        init = tf.random_uniform_initializer(-0.1, 0.1, seed=1)
        table = tf.get_variable("table", [WORDS, SIZE], initializer=init)
        w = tf.get_variable("w", [SIZE, 1], initializer=tf.ones_initializer())
        logits = tf.matmul(look_up(table, ids, mend), w)
        losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=label, logits=logits)
        loss = tf.reduce_mean(losses, name="loss")
        train = tf.train.GradientDescentOptimizer(50.0).minimize(loss)
    return ids, label, loss, train


def main():
    tasks = {"ps": 2, "worker": 1}
    cluster = tf.train.ClusterSpec(
        {job: ["127.0.0.1:%d" % free_port() for _ in range(n)] for job, n in tasks.items()}
    )
    servers = [
        tf.train.Server(cluster, job_name=job, task_index=i)
        for job, n in tasks.items()
        for i in range(n)
    ]
    ids, label, loss, train = build(cluster, "--mend" in sys.argv)
    rng = np.random.RandomState(0)
    words = rng.randint(0, WORDS, BATCH)
    feed = {ids: words, label: (words % 2)[:, None].astype("f")}
    with tf.Session(servers[-1].target) as sess:
        sess.run(tf.global_variables_initializer())
        seen = tf.RunMetadata()
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        before, _ = sess.run([loss, train], feed, options=options, run_metadata=seen)
        for _ in range(4):
            after, _ = sess.run([loss, train], feed)
    sent = [
        stats.output[0].tensor_description.allocation_description.requested_bytes
        for device in seen.step_stats.dev_stats
        for stats in device.node_stats
        if stats.node_name == "RecvTensor"
    ]
    print("%d transfers, %.2f MB a step" % (len(sent), sum(sent) / 1e6))
    print("loss %.4f -> %.4f" % (before, after))


if __name__ == "__main__":
    main()
