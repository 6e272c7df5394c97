"""Placement by your own rule: a device function that puts large variables on the second ps."""

import numpy as np

import minitf as tf


def by_size(op):
    """Variables of more than 100 elements go to ps 1, small ones to ps 0, all else to the
    worker."""
    if op.type == "VariableV2":
        size = np.prod([d.value for d in op.outputs[0].shape])
        return "/job:ps/task:%d" % (size > 100)
    return "/job:worker/task:0"


with tf.device(by_size):
    x = tf.placeholder(tf.float32, [None, 20], name="x")
    w = tf.get_variable("w", [20, 10], initializer=tf.zeros_initializer())
    b = tf.get_variable("b", [10], initializer=tf.zeros_initializer())
    loss = tf.reduce_sum(tf.square(tf.matmul(x, w) + b))
    train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)

for v in tf.global_variables():
    print("%-14s asks for %s" % (v.op.name, v.device))
print("see where the rest goes: minitf viz %s --cluster ps=2,worker=1" % "custom_placement.py")
