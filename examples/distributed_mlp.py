"""The usual parameter-server script: between-graph replication, asynchronous SGD.

    minitf cluster --ps 2 --workers 2 examples/distributed_mlp.py --steps 50

Under real TensorFlow 1.15 only the import changes. Each worker learns the same function of its own
points.
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
flags.DEFINE_integer("steps", 100, "steps of each worker")
flags.DEFINE_float("learning_rate", 0.1, "learning rate of SGD")
flags.DEFINE_integer("print_every", 25, "print the loss every so many steps")
FLAGS = flags.FLAGS


def points(rng, n):
    x = rng.uniform(-1, 1, (n, 4)).astype("f")
    y = np.sin(x.sum(axis=1, keepdims=True)).astype("f")
    return x, y


def dense(x, n_in, n_out, name, seed):
    with tf.variable_scope(name):
        init = tf.random_normal_initializer(stddev=n_in**-0.5, seed=seed)
        w = tf.get_variable("w", [n_in, n_out], initializer=init)
        b = tf.get_variable("b", [n_out], initializer=tf.zeros_initializer())
    return tf.matmul(x, w) + b


def model():
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    y = tf.placeholder(tf.float32, [None, 1], name="y")
    out = dense(tf.nn.tanh(dense(x, 4, 32, "hidden", 1)), 32, 1, "out", 2)
    loss = tf.reduce_mean(tf.square(out - y), name="loss")
    step = tf.train.get_or_create_global_step()
    optimizer = tf.train.GradientDescentOptimizer(FLAGS.learning_rate)
    train = optimizer.minimize(loss, global_step=step)
    return x, y, loss, step, train


def main(_):
    if not FLAGS.worker_hosts:
        sys.exit("needs --ps_hosts and --worker_hosts; try: minitf cluster " + sys.argv[0])
    cluster = tf.train.ClusterSpec(
        {"ps": FLAGS.ps_hosts.split(","), "worker": FLAGS.worker_hosts.split(",")}
    )
    server = tf.train.Server(cluster, job_name=FLAGS.job_name, task_index=FLAGS.task_index)
    if FLAGS.job_name == "ps":
        server.join()

    here = "/job:worker/task:%d" % FLAGS.task_index
    with tf.device(tf.train.replica_device_setter(worker_device=here, cluster=cluster)):
        x, y, loss, step, train = model()
        init = tf.global_variables_initializer()
        missing = tf.report_uninitialized_variables()

    rng = np.random.RandomState(FLAGS.task_index)
    config = tf.ConfigProto(device_filters=["/job:ps", here])
    with tf.Session(server.target, config=config) as sess:
        if FLAGS.task_index == 0:
            sess.run(init)
        while sess.run(missing).size:
            time.sleep(0.05)
        for i in range(FLAGS.steps):
            px, py = points(rng, 32)
            value, _ = sess.run([loss, train], {x: px, y: py})
            if i % FLAGS.print_every == 0:
                print("worker %d step %d loss %.6f" % (FLAGS.task_index, i, value))
        print("worker %d done at global step %d" % (FLAGS.task_index, sess.run(step)))


if __name__ == "__main__":
    tf.app.run()
