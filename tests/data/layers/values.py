"""Numbers of layers in TensorFlow 1.15.5; recorded in values.json.gz.

TF=tensorflow PYTHONPATH=tests PYTHON tests/data/layers/values.py > tests/data/layers/values.json.gz
"""

import numpy as np

from recording import evaluate, main

PROGRAMS = {}


def program(fn):
    PROGRAMS[fn.__name__] = fn
    return fn


def inputs(*shape):
    size = int(np.prod(shape))
    return np.sin(np.arange(size, dtype=np.float32) * 1.7).reshape(shape)


def learn(tf, out, *more):
    """Outputs, variables and gradients, after two steps of training."""
    loss = tf.reduce_sum(tf.square(out - 0.5)) + tf.losses.get_regularization_loss()
    variables = tf.trainable_variables()
    gradients = tf.gradients(loss, variables)
    pairs = list(zip(gradients, variables))
    # no update of a variable before all gradients are there
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    with tf.control_dependencies(gradients + updates):
        train = tf.train.GradientDescentOptimizer(0.01).apply_gradients(pairs)
    values = [v.read_value() for v in tf.global_variables()]
    return [out, loss] + list(more) + gradients + values, train, {}


@program
def dense(tf):
    x = tf.layers.dense(tf.constant(inputs(4, 3)), 5, tf.nn.tanh, kernel_regularizer=tf.nn.l2_loss)
    return learn(tf, tf.layers.dense(x, 2, activity_regularizer=tf.reduce_sum))


@program
def dense_of_cubes(tf):
    return learn(tf, tf.layers.dense(tf.constant(inputs(2, 3, 4)), 2, "sigmoid"))


@program
def network(tf):
    x = tf.layers.conv2d(tf.constant(inputs(2, 7, 6, 2)), 3, 3, activation=tf.nn.relu)
    x = tf.layers.batch_normalization(x, training=True, momentum=0.5)
    x = tf.layers.max_pooling2d(x, 2, 2)
    x = tf.layers.dropout(tf.layers.flatten(x), 0.3, training=True, seed=2)
    return learn(tf, tf.layers.dense(x, 2, use_bias=False))


@program
def rows(tf):
    x = tf.layers.conv1d(tf.constant(inputs(2, 8, 2)), 3, 2, padding="causal", dilation_rate=2)
    x = tf.layers.average_pooling1d(x, 2, 2)
    return learn(tf, tf.layers.separable_conv1d(x, 2, 2, padding="same"))


@program
def volumes(tf):
    x = tf.layers.conv3d(tf.constant(inputs(1, 4, 4, 4, 2)), 2, 2, padding="same")
    x = tf.layers.average_pooling3d(tf.layers.max_pooling3d(x, 2, 1), 2, 1)
    return learn(tf, tf.layers.conv3d_transpose(x, 2, 2, strides=2))


@program
def gaps_and_back(tf):
    x = tf.layers.conv2d(tf.constant(inputs(1, 7, 7, 2)), 3, 2, padding="same", dilation_rate=2)
    x = tf.layers.separable_conv2d(x, 2, 2, depth_multiplier=2)
    return learn(tf, tf.layers.conv2d_transpose(x, 2, 3, strides=2, padding="same"))


@program
def normalized(tf):
    x = tf.layers.batch_normalization(tf.constant(inputs(6, 3)), training=True, momentum=0.6)
    layer = tf.layers.BatchNormalization(momentum=0.7)
    return learn(tf, layer(x, training=tf.constant(True)), layer(x))


@program
def renormalized(tf):
    clipping = {"rmax": 3.0, "rmin": 0.3, "dmax": 5.0}
    x = tf.layers.batch_normalization(
        tf.constant(inputs(6, 3)), training=True, renorm=True, renorm_clipping=clipping,
        renorm_momentum=0.8,
    )  # fmt: skip
    return learn(tf, tf.layers.batch_normalization(x, training=True, virtual_batch_size=3))


if __name__ == "__main__":
    main(PROGRAMS, evaluate)
