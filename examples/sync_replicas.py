"""Synchronous replicas: each update is made from the averaged gradients of all workers.

    minitf cluster --ps 2 --workers 2 examples/sync_replicas.py --steps 30
    minitf viz --wire examples/sync_replicas.py --cluster ps=2,worker=2
    minitf viz --check examples/sync_replicas.py --cluster ps=2,worker=2 -- --replicas 3

The workers give gradients to accumulators beside the variables and then wait for a token. The
chief's queue runner takes the averages, applies them, and hands out the tokens of the next step.
"""

import sys
import time

import numpy as np

import minitf as tf

flags = tf.app.flags
flags.DEFINE_string("job_name", "worker", "ps or worker")
flags.DEFINE_integer("task_index", 0, "index of this task in its job")
flags.DEFINE_string("ps_hosts", "", "comma-separated HOST:PORT of the ps tasks")
flags.DEFINE_string("worker_hosts", "", "comma-separated HOST:PORT of the workers")
flags.DEFINE_integer("steps", 30, "updates to make")
flags.DEFINE_integer("replicas", 0, "gradients in an update (0: one of each worker)")
FLAGS = flags.FLAGS


def model(workers):
    """Linear regression with an optimizer that waits for all workers."""
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    y = tf.placeholder(tf.float32, [None, 1], name="y")
    w = tf.get_variable("w", [4, 1], initializer=tf.zeros_initializer())
    b = tf.get_variable("b", [1], initializer=tf.zeros_initializer())
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y), name="loss")
    step = tf.train.get_or_create_global_step()
    sgd = tf.train.GradientDescentOptimizer(0.2)
    replicas = FLAGS.replicas or workers
    optimizer = tf.train.SyncReplicasOptimizer(sgd, replicas, total_num_replicas=replicas)
    train = optimizer.minimize(loss, global_step=step)
    return x, y, loss, step, train, optimizer


def main(_):
    if not FLAGS.worker_hosts:
        sys.exit("needs --ps_hosts and --worker_hosts; try: minitf cluster " + sys.argv[0])
    workers = FLAGS.worker_hosts.split(",")
    cluster = tf.train.ClusterSpec({"ps": FLAGS.ps_hosts.split(","), "worker": workers})
    server = tf.train.Server(cluster, job_name=FLAGS.job_name, task_index=FLAGS.task_index)
    if FLAGS.job_name == "ps":
        server.join()

    here = "/job:worker/task:%d" % FLAGS.task_index
    chief = FLAGS.task_index == 0
    with tf.device(tf.train.replica_device_setter(worker_device=here, cluster=cluster)):
        x, y, loss, step, train, optimizer = model(len(workers))
        runner = optimizer.get_chief_queue_runner()
        init = tf.global_variables_initializer()
        missing = tf.report_uninitialized_variables(tf.global_variables())

    rng = np.random.RandomState(FLAGS.task_index)
    config = tf.ConfigProto(device_filters=["/job:ps", here])
    with tf.Session(server.target, config=config) as sess:
        if chief:
            sess.run(init)
            sess.run(optimizer.chief_init_op)
            runner.create_threads(sess, daemon=True, start=True)
        while sess.run(missing).size:
            time.sleep(0.05)
        sess.run(optimizer.local_step_init_op)
        losses = []
        while sess.run(step) < FLAGS.steps:
            px = rng.uniform(-1, 1, (32, 4)).astype("f")
            py = px.sum(axis=1, keepdims=True) + 0.5
            value, _ = sess.run([loss, train], {x: px, y: py})
            losses.append(value)
    print("worker %d: loss %.4f -> %.4f" % (FLAGS.task_index, losses[0], losses[-1]))


if __name__ == "__main__":
    tf.app.run()
