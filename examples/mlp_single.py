"""A small perceptron in one process: learns to tell whether two numbers have the same sign."""

import numpy as np

import minitf as tf

rng = np.random.RandomState(0)


def batch(n):
    points = rng.uniform(-1, 1, (n, 2)).astype("f")
    return points, (points[:, 0] * points[:, 1] > 0).astype("int64")


x = tf.placeholder(tf.float32, [None, 2], name="x")
labels = tf.placeholder(tf.int64, [None], name="labels")

with tf.variable_scope("hidden"):
    w = tf.get_variable("w", [2, 16], initializer=tf.glorot_uniform_initializer(seed=1))
    b = tf.get_variable("b", [16], initializer=tf.zeros_initializer())
    hidden = tf.nn.relu(tf.matmul(x, w) + b)
with tf.variable_scope("out"):
    w = tf.get_variable("w", [16, 2], initializer=tf.glorot_uniform_initializer(seed=2))
    b = tf.get_variable("b", [2], initializer=tf.zeros_initializer())
    logits = tf.matmul(hidden, w) + b

loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), labels), tf.float32))
train = tf.train.AdamOptimizer(0.02).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(301):
        points, signs = batch(64)
        _, value = sess.run([train, loss], {x: points, labels: signs})
        if step % 100 == 0:
            print("step %3d  loss %.3f" % (step, value))
    points, signs = batch(1000)
    print("accuracy %.3f" % sess.run(accuracy, {x: points, labels: signs}))
