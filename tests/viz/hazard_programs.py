"""Programs that suffer from one hazard each, and the same programs mended."""

from __future__ import annotations

HEAD = """
import json, os
import numpy as np
import minitf as tf

config = json.loads(os.environ["TF_CONFIG"])
cluster, task = tf.train.ClusterSpec(config["cluster"]), config["task"]["index"]
here = "/job:worker/task:%d" % task
filters, soft = ["/job:ps", here], False
setter = tf.train.replica_device_setter(worker_device=here, cluster=cluster)
sgd = tf.train.GradientDescentOptimizer(0.1)


def dense(x, n, name="w"):
    return tf.matmul(x, tf.get_variable(name, [x.shape[1].value, n]))


def minimize(y, optimizer=sgd):
    step = tf.train.get_or_create_global_step()
    return optimizer.minimize(tf.reduce_mean(tf.square(y)), global_step=step)

"""

TAIL = """

server = tf.train.Server(cluster, "worker", task)
options = tf.ConfigProto(device_filters=filters, allow_soft_placement=soft)
with tf.Session(server.target, config=options) as sess:
    sess.run(tf.no_op())
"""

# kind -> (what suffers, the same mended)
PROGRAMS = {
    "whole-table": (
        """
with tf.device(setter):
    ids = tf.placeholder(tf.int32, [None])
    table = tf.get_variable("table", [2000, 64])
    with tf.device(here):
        rows = tf.gather(table, ids)
    train = minimize(dense(rows, 1))
""",
        """
with tf.device(setter):
    ids = tf.placeholder(tf.int32, [None])
    table = tf.get_variable("table", [2000, 64])
    train = minimize(dense(tf.nn.embedding_lookup(table, ids), 1))
""",
    ),
    "large-constant": (
        """
with tf.device(setter):
    x = tf.placeholder(tf.float32, [None, 200])
    with tf.device("/job:ps/task:0"):
        basis = tf.constant(np.ones((200, 200), "f"), name="basis")
    train = minimize(dense(tf.matmul(x, basis), 1))
""",
        """
with tf.device(setter):
    x = tf.placeholder(tf.float32, [None, 200])
    basis = tf.constant(np.ones((200, 200), "f"), name="basis")
    train = minimize(dense(tf.matmul(x, basis), 1))
""",
    ),
    "one-ps": (
        """
with tf.device(setter):
    h = tf.placeholder(tf.float32, [None, 300])
    for i in range(4):
        h = dense(h, 300, "w%d" % i) + tf.get_variable("b%d" % i, [300])
    train = minimize(h)
""",
        """
greedy = tf.contrib.training.GreedyLoadBalancingStrategy(2, tf.contrib.training.byte_size_load_fn)
with tf.device(tf.train.replica_device_setter(
        worker_device=here, cluster=cluster, ps_strategy=greedy)):
    h = tf.placeholder(tf.float32, [None, 300])
    for i in range(4):
        h = dense(h, 300, "w%d" % i) + tf.get_variable("b%d" % i, [300])
    train = minimize(h)
""",
    ),
    "variable-on-worker": (
        """
with tf.device(here):
    x = tf.placeholder(tf.float32, [None, 4])
    y = dense(x, 1)
with tf.device(setter):
    train = minimize(y)
""",
        """
with tf.device(setter):
    x = tf.placeholder(tf.float32, [None, 4])
    train = minimize(dense(x, 1))
    with tf.device(here):
        seen = tf.get_variable("seen", [], collections=[tf.GraphKeys.LOCAL_VARIABLES])
""",
    ),
    "variable-order": (
        """
with tf.device(setter):
    x = tf.placeholder(tf.float32, [None, 4])
    if task == 0:
        best = tf.get_variable("best", [], trainable=False)
    train = minimize(dense(dense(x, 4, "w0"), 1, "w1"))
""",
        """
with tf.device(setter):
    x = tf.placeholder(tf.float32, [None, 4])
    train = minimize(dense(dense(x, 4, "w0"), 1, "w1"))
    if task == 0:
        best = tf.get_variable("best", [], trainable=False)
""",
    ),
    "unordered": (
        """
with tf.device(setter):
    x = tf.placeholder(tf.float32, [None, 4])
    scale = tf.get_variable("scale", [], trainable=False)
    y = dense(x, 1) * scale
    with tf.control_dependencies([tf.assign(scale, 0.5)]):
        train = minimize(y)
""",
        """
with tf.device(setter):
    x = tf.placeholder(tf.float32, [None, 4])
    scale = tf.get_variable("scale", [], trainable=False)
    with tf.control_dependencies([tf.assign(scale, 0.5)]):
        y = dense(x, 1) * scale.read_value()
    train = minimize(y)
""",
    ),
    "too-few-workers": (
        """
with tf.device(setter):
    x = tf.placeholder(tf.float32, [None, 4])
    sync = tf.train.SyncReplicasOptimizer(sgd, 3, total_num_replicas=3)
    train = minimize(dense(x, 1), sync)
""",
        """
with tf.device(setter):
    x = tf.placeholder(tf.float32, [None, 4])
    sync = tf.train.SyncReplicasOptimizer(sgd, 2, total_num_replicas=2)
    train = minimize(dense(x, 1), sync)
""",
    ),
    "no-filters": (
        """
with tf.device(setter):
    x = tf.placeholder(tf.float32, [None, 4])
    train = minimize(dense(x, 1))
filters = []
""",
        """
with tf.device(setter):
    x = tf.placeholder(tf.float32, [None, 4])
    train = minimize(dense(x, 1))
""",
    ),
    "open-queue": (
        """
with tf.device(setter):
    queue = tf.FIFOQueue(9, tf.float32, [[2, 4]], name="batches")
    fill = queue.enqueue([tf.placeholder(tf.float32, [2, 4])])
    train = minimize(dense(queue.dequeue(), 1))
""",
        """
with tf.device(setter):
    queue = tf.FIFOQueue(9, tf.float32, [[2, 4]], name="batches")
    fill = queue.enqueue([tf.random_uniform([2, 4])])
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [fill]))
    train = minimize(dense(queue.dequeue(), 1))
""",
    ),
    "unfed-placeholder": (
        """
with tf.device(setter):
    x = tf.placeholder(tf.float32, [None, 4])
    rate = tf.placeholder(tf.float32, [], name="rate")
    sync = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(rate), 2)
    train = minimize(dense(x, 1), sync)
""",
        """
with tf.device(setter):
    x = tf.placeholder(tf.float32, [None, 4])
    step = tf.train.get_or_create_global_step()
    rate = tf.train.exponential_decay(0.1, step, 100, 0.9)
    sync = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(rate), 2)
    train = minimize(dense(x, 1), sync)
""",
    ),
    "no-kernel": (
        """
with tf.device(setter):
    x = tf.placeholder(tf.float32, [None, 4])
    train = minimize(dense(x, 1))
    with tf.device(here + "/device:GPU:0"):
        text = tf.string_join(["a", "b"])
""",
        """
with tf.device(setter):
    x = tf.placeholder(tf.float32, [None, 4])
    train = minimize(dense(x, 1))
    with tf.device(here + "/device:CPU:0"):
        text = tf.string_join(["a", "b"])
""",
    ),
}

# Sound programs of the usual kinds.
SOUND = {
    "adam": """
with tf.device(setter):
    x = tf.placeholder(tf.float32, [None, 4])
    train = minimize(dense(tf.nn.relu(dense(x, 8, "w0")), 1, "w1"), tf.train.AdamOptimizer())
""",
    "resource variables": """
with tf.device(setter), tf.variable_scope("", use_resource=True):
    x = tf.placeholder(tf.float32, [None, 4])
    train = minimize(dense(x, 1), tf.train.MomentumOptimizer(0.1, 0.9))
""",
    "schedule and moving average": """
with tf.device(setter):
    x = tf.placeholder(tf.float32, [None, 4])
    step = tf.train.get_or_create_global_step()
    rate = tf.train.exponential_decay(0.1, step, 100, 0.9)
    sgd = minimize(dense(x, 1), tf.train.GradientDescentOptimizer(rate))
    average = tf.train.ExponentialMovingAverage(0.9, step)
    with tf.control_dependencies([sgd]):
        train = average.apply(tf.trainable_variables())
    tf.add_to_collection(tf.GraphKeys.TRAIN_OP, train)
""",
    "loop": """
with tf.device(setter):
    x = tf.placeholder(tf.float32, [None, 4])
    w = tf.get_variable("w", [4, 4])
    _, y = tf.while_loop(lambda i, a: i < 3, lambda i, a: [i + 1, tf.matmul(a, w)], [0, x])
    train = minimize(y)
""",
    "branch that assigns": """
with tf.device(setter):
    x = tf.placeholder(tf.float32, [None, 4])
    v = tf.get_variable("v", [], trainable=False)
    kept = tf.cond(tf.size(x) > 0, lambda: tf.assign_add(v, 1.0), lambda: tf.identity(v))
    train = minimize(dense(x, 1) * kept)
""",
    "partitioned embedding": """
with tf.device(setter):
    ids = tf.placeholder(tf.int64, [None])
    parts = tf.fixed_size_partitioner(2)
    table = tf.get_variable("table", [4000, 64], partitioner=parts)
    rows = tf.nn.embedding_lookup(table, ids, partition_strategy="mod")
    train = minimize(dense(tf.reshape(rows, [-1, 64]), 1), tf.train.AdagradOptimizer(0.1))
""",
    "clipped": """
with tf.device(setter):
    x = tf.placeholder(tf.float32, [None, 4])
    loss = tf.reduce_mean(tf.square(dense(x, 1)))
    grads, variables = zip(*sgd.compute_gradients(loss))
    clipped, _ = tf.clip_by_global_norm(grads, 1.0)
    train = sgd.apply_gradients(zip(clipped, variables))
""",
    "saver and summaries": """
with tf.device(setter):
    x = tf.placeholder(tf.float32, [None, 4])
    train = minimize(dense(x, 1))
    tf.summary.histogram("w", tf.trainable_variables()[0])
    saver, summaries = tf.train.Saver(sharded=True), tf.summary.merge_all()
""",
    "in-graph replicas, of which the step uses none": """
filters = []
with tf.device("/job:ps/task:0"):
    count = tf.get_variable("count", [], trainable=False)
    train = tf.assign_add(count, 1.0)
for i in range(2):
    with tf.device("/job:worker/task:%d" % i):
        tf.exp(count)
tf.add_to_collection(tf.GraphKeys.TRAIN_OP, train.op)
""",
}
