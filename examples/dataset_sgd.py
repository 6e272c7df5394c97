"""Training from tf.data on a small cluster: each worker reads its own shard, until it has no more.

    minitf cluster --ps 1 --workers 2 examples/dataset_sgd.py --epochs 5

Under real TensorFlow 1.15 only the import changes. Shuffling, batching and the function of each
element run on the worker, in a thread ahead of its steps; the ps holds variables only.
"""

import sys

import numpy as np

import minitf as tf

flags = tf.app.flags
flags.DEFINE_string("job_name", "worker", "ps or worker")
flags.DEFINE_integer("task_index", 0, "index of this task in its job")
flags.DEFINE_string("ps_hosts", "", "comma-separated HOST:PORT of the ps tasks")
flags.DEFINE_string("worker_hosts", "", "comma-separated HOST:PORT of the workers")
flags.DEFINE_integer("epochs", 5, "passes of each worker over its points")
flags.DEFINE_integer("batch", 16, "points of a step")
FLAGS = flags.FLAGS

POINTS = 512


def points():
    """y = 2 x0 - x1 + 0.5 at random places."""
    x = np.random.RandomState(7).uniform(-1, 1, (POINTS, 2)).astype("f")
    return x, x.dot([2, -1]).astype("f") + np.float32(0.5)


def batches(shards, shard):
    """The batches of one worker."""
    data = tf.data.Dataset.from_tensor_slices(points())
    data = data.shard(shards, shard).shuffle(POINTS, seed=shard).repeat(FLAGS.epochs)
    data = data.map(lambda x, y: (x, tf.expand_dims(y, 0))).batch(FLAGS.batch).prefetch(2)
    return data.make_one_shot_iterator().get_next()


def model(x, y):
    w = tf.get_variable("w", [2, 1], initializer=tf.zeros_initializer())
    b = tf.get_variable("b", [1], initializer=tf.zeros_initializer())
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y), name="loss")
    step = tf.train.get_or_create_global_step()
    train = tf.train.GradientDescentOptimizer(0.2).minimize(loss, global_step=step)
    return w, b, train


def main(_):
    if not FLAGS.worker_hosts:
        sys.exit("needs --ps_hosts and --worker_hosts; try: minitf cluster " + sys.argv[0])
    workers = FLAGS.worker_hosts.split(",")
    cluster = tf.train.ClusterSpec({"ps": FLAGS.ps_hosts.split(","), "worker": workers})
    server = tf.train.Server(cluster, job_name=FLAGS.job_name, task_index=FLAGS.task_index)
    if FLAGS.job_name == "ps":
        server.join()

    here = "/job:worker/task:%d" % FLAGS.task_index
    with tf.device(tf.train.replica_device_setter(worker_device=here, cluster=cluster)):
        x, y = batches(len(workers), FLAGS.task_index)
        w, b, train = model(x, y)

    config = tf.ConfigProto(device_filters=["/job:ps", here])
    steps = 0
    with tf.train.MonitoredTrainingSession(
        server.target, is_chief=FLAGS.task_index == 0, config=config
    ) as session:
        while not session.should_stop():  # the end of the data ends it
            steps += 1
            weights, bias, _ = session.run([w, b, train])
            if steps % 40 == 0:
                fit = [*weights.ravel(), *bias]
                print("worker %d step %d: %s" % (FLAGS.task_index, steps, np.round(fit, 3)))
    print("worker %d has no more points after %d steps" % (FLAGS.task_index, steps - 1))


if __name__ == "__main__":
    tf.app.run()
