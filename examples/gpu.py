"""A network on a GPU, its data pipeline on the CPU; without a GPU all of it runs on the CPU.

    python examples/gpu.py
    MINITF_FAKE_GPUS=1 python examples/gpu.py    # a stand-in, to see what would go where

Under real TensorFlow 1.15 only the import changes.
"""

import numpy as np

import minitf as tf

with tf.device("/cpu:0"):
    x = tf.placeholder(tf.float32, [None, 16], name="x")
    y = tf.placeholder(tf.float32, [None, 1], name="y")
    scaled = tf.clip_by_value(x, -1.0, 1.0, name="scaled")

with tf.device("/gpu:0"):
    w = tf.get_variable("w", [16, 32], initializer=tf.random_normal_initializer(0, 0.25, seed=1))
    v = tf.get_variable("v", [32, 1], initializer=tf.random_normal_initializer(0, 0.2, seed=2))
    loss = tf.reduce_mean(
        tf.square(tf.matmul(tf.nn.relu(tf.matmul(scaled, w)), v) - y), name="loss"
    )
    train = tf.train.AdamOptimizer(0.01).minimize(loss)

rng = np.random.RandomState(1)
points = rng.uniform(-1, 1, (256, 16)).astype("f")
values = np.abs(points).sum(axis=1, keepdims=True) / 4

config = tf.ConfigProto(allow_soft_placement=True)
config.gpu_options.per_process_gpu_memory_fraction = 0.5
with tf.Session(config=config) as sess:
    print("GPU: %s" % (tf.test.gpu_device_name() or "none, the CPU does it"))
    sess.run(tf.global_variables_initializer())
    feeds = {x: points, y: values}
    before = sess.run(loss, feeds)
    for _ in range(200):
        sess.run(train, feeds)
    print("loss %.3f, then %.3f" % (before, sess.run(loss, feeds)))
